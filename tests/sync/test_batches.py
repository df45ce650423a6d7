"""An import of many changes: in batches, with the same outcome as at once."""

from __future__ import annotations

import json

import pytest

from ademem.core import confined
from ademem.core.clock import Deadline
from ademem.core.project import files_changed, import_waits
from ademem.store import memories
from ademem.store.transitions import Act
from ademem.sync import checks, importer
from ademem.synthesis.undoing import undo_event
from tests import builders
from tests.sync.clone import FACTS, GOTCHAS, LINES, Clone

SHEET = ".ade/memory/candidates.md"


@pytest.fixture(autouse=True)
def small_batches(monkeypatch):
    monkeypatch.setattr(importer, "BATCH", 3)


class Killed(Exception):
    """What a kill between two batches is to a test."""


def after(batches):
    """A pause that kills the process after so many batches."""
    left = [batches]

    def pause():
        left[0] -= 1
        if not left[0]:
            raise Killed

    return pause


def record(number, content=None, **fields):
    id = f"memory{number:06}"
    at = f"2026-01-{1 + number % 28:02}T10:00:00.000Z"
    return {
        "key": f"fact-{number}",
        "type": "fact",
        "content": content or f"Lesson {number} of the {number % 7}th subsystem counts",
        "source": "user",
        "tags": [],
        "ts": 1767225600 + number,
        "bead": "",
        "id": id,
        "sync_id": id + "0" * 20,
        "category": "fact",
        "status": "promoted",
        "created_at": at,
        "updated_at": at,
    } | fields


def text(records):
    return "".join(json.dumps(each, separators=(",", ":")) + "\n" for each in records)


def give(clone, records):
    (clone.root / ".ade/memory").mkdir(parents=True, exist_ok=True)
    clone.write(LINES, text(records))


def take(clone, **options):
    return importer.import_changes(clone.open(), pause=lambda: None, **options)


def take_until_killed(clone, batches):
    with pytest.raises(Killed):
        importer.import_changes(clone.open(), pause=after(batches))


def rows(clone):
    """All that is known, whenever it was learned here."""
    found = memories.find(clone.store, "true", "order by content, id")
    return [(row.id, row.content, row.status, row.observation_count, row.live) for row in found]


def events(clone):
    query = "select distinct event_id from memory_revisions where operation <> 'branch'"
    return [row[0] for row in clone.store.db.execute(query)]


def test_batches_lead_to_what_one_transaction_leads_to(clone, tmp_path, monkeypatch):
    given = [record(number) for number in range(20)]
    given += [record(50, content=given[3]["content"]), record(51, content=given[4]["content"])]
    given += [{"key": f"other-{n}", "content": f"Written by tool number {n}"} for n in range(8)]
    page = "# Facts\n\n" + "".join(f"- Typed by a person: {n}\n" for n in range(8))
    sheet = "# Candidates\n\n" + "".join(f"- [x] Proposed to everybody: {n}\n" for n in range(8))
    other = Clone(tmp_path / "other")
    for each in (clone, other):
        give(each, given)
        each.write(FACTS, page)
        each.write(SHEET, sheet)
    batched = take(clone)
    monkeypatch.setattr(importer, "BATCH", 10_000)
    at_once = take(other)

    assert len(rows(clone)) >= 44
    assert [row[1:] for row in rows(clone)] == [row[1:] for row in rows(other)]
    assert {kind: len(getattr(batched, kind)) for kind in ("added", "edited", "archived")} == {
        kind: len(getattr(at_once, kind)) for kind in ("added", "edited", "archived")
    }
    other.store.close()


@pytest.mark.parametrize("batches", [1, 2, 5, 7])
def test_after_a_kill_the_import_goes_on_behind_the_last_batch(clone, batches, monkeypatch):
    give(clone, [record(number) for number in range(20)])
    take_until_killed(clone, batches)
    assert len(rows(clone)) == min(20, 3 * batches)
    assert import_waits(clone.project)

    looked_at = []
    original = importer._apply
    monkeypatch.setattr(importer, "_apply", lambda *given: looked_at.append(1) or original(*given))
    taken = take(clone)

    assert len(looked_at) == max(0, 20 - 3 * batches)
    assert len(rows(clone)) == len(taken.added) == 20
    assert not import_waits(clone.project)
    assert take(clone).count == 0


def test_a_database_that_replaces_one_in_the_middle_of_an_import_imports_all(clone, tmp_path):
    give(clone, [record(number) for number in range(20)])
    take_until_killed(clone, 3)
    clone.store.close()
    for path in (tmp_path / ".ade").glob("ade.db*"):
        path.unlink()
    clone.store = builders.open_project(tmp_path)
    clone.refresh()

    assert len(rows(clone)) == 20


def test_batches_are_one_act_that_is_taken_back_at_once(clone):
    give(clone, [record(number) for number in range(20)])
    take_until_killed(clone, 2)
    taken = take(clone)

    assert events(clone) == [taken.event]

    undo_event(taken.event, Act(store=clone.store, now=clone.tick()))
    assert not any(row[-1] for row in rows(clone))


def test_a_file_that_changes_between_two_batches_is_taken_as_it_is_then(clone):
    given = [record(number) for number in range(20)]
    give(clone, given)
    clone.write(FACTS, "# Facts\n\n- Typed by a person\n")
    take_until_killed(clone, 3)
    give(clone, [record(30), *given[5:], record(2, content="Lesson 2 says something else now")])
    clone.write(FACTS, "# Facts\n\n- Typed before it\n- Typed by a person\n")
    taken = take(clone)

    contents = [row[1] for row in rows(clone)]
    assert len(contents) == len(set(contents))
    assert {each["content"] for each in given[5:]} <= set(contents)
    assert {"Typed by a person", "Typed before it", record(30)["content"]} <= set(contents)
    assert all(row[3] == 1 for row in rows(clone) if row[1] == "Typed by a person")
    assert events(clone) == [taken.event]


def test_memories_exchange_their_texts_across_batches(clone):
    given = [record(number) for number in range(10)]
    give(clone, given)
    take(clone)
    later = "2026-02-01T10:00:00.000Z"
    turned = [
        one | {"content": other["content"], "updated_at": later}
        for one, other in zip(given, [*given[1:], given[0]], strict=True)
    ]
    give(clone, turned)
    take_until_killed(clone, 2)
    take(clone)

    found = {row.id: row for row in memories.find(clone.store, "true")}
    assert {id: row.content for id, row in found.items()} == {
        each["id"]: each["content"] for each in turned
    }
    assert all(row.live for row in found.values())


def test_a_refused_line_stays_in_the_file_though_the_import_was_killed_after_it(clone):
    bad = record(1, updated_at="some day")
    give(clone, [record(0), bad, *(record(number) for number in range(2, 12))])
    take_until_killed(clone, 2)
    refreshed = clone.refresh()

    assert [problem.line for problem in refreshed.taken.refused] == [2]
    assert text([bad]) in clone.read(LINES)
    assert len(clone.live()) == 11


def test_files_are_written_when_the_import_is_complete(clone):
    give(clone, [record(number) for number in range(20)])
    given = clone.read(LINES)
    take_until_killed(clone, 3)
    with pytest.raises(Killed):
        clone.refresh(pause=after(1))
    assert clone.read(LINES) == given

    clone.refresh()
    assert len(clone.read(LINES).splitlines()) == 20
    assert len(clone.live()) == 20


def test_progress_is_reported_after_each_batch(clone):
    give(clone, [record(number) for number in range(7)])
    heard = []
    take(clone, on_batch=lambda done, total: heard.append((done, total)))

    assert heard == [(3, 7), (6, 7), (7, 7)]


def test_what_waits_is_described_in_words(clone):
    give(clone, [record(number) for number in range(20)])
    clone.write(FACTS, "# Facts\n\n- Typed by a person\n")
    take_until_killed(clone, 3)

    assert importer.describe_waiting(clone.project) == [
        "1 line of facts.md waits for the worker",
        "11 lines of knowledge.jsonl wait for the worker",
    ]


# --- a deadline ---


class Clock:
    """A clock that moves a second whenever somebody looks at it."""

    def __init__(self):
        self.seconds = 0.0

    def __call__(self):
        self.seconds += 1
        return self.seconds


def take_until(clone, seconds):
    deadline = Deadline(Clock(), seconds)
    return importer.import_changes_until(deadline, clone.open())


def test_before_its_deadline_a_hook_takes_all(clone):
    give(clone, [record(number) for number in range(5)])

    assert len(take_until(clone, 1000).added) == 5
    assert not files_changed(clone.project)


@pytest.mark.parametrize("seconds", [0, 2, 5, 8])
def test_when_the_deadline_passes_nothing_is_taken_and_the_worker_takes_all(repository, seconds):
    give(repository, [record(number) for number in range(8)])
    repository.commit()

    assert take_until(repository, seconds) is None
    assert rows(repository) == []
    assert import_waits(repository.project)

    repository.refresh()
    assert len(repository.live()) == 8
    assert not import_waits(repository.project)


def test_hooks_after_the_first_leave_what_waits_alone(clone, monkeypatch):
    give(clone, [record(number) for number in range(8)])
    take_until(clone, 2)
    monkeypatch.setattr(importer, "present", None)

    assert take_until(clone, 1000) is None


def test_large_files_are_left_to_the_worker_unread(clone, monkeypatch):
    give(clone, [record(number) for number in range(8)])
    monkeypatch.setattr(importer, "HOOK_BYTES", 100)
    monkeypatch.setattr(importer, "present", None)

    assert take_until(clone, 1000) is None
    assert importer.describe_waiting(clone.project) == [
        "8 lines of knowledge.jsonl wait for the worker"
    ]


# --- bounds ---


def test_a_line_beyond_its_bound_is_named_and_the_others_are_taken(clone):
    long = "x" * 300_000
    given = text([record(0)]) + long + "\n" + text([record(1)])
    give(clone, [])
    clone.write(LINES, given)
    taken = clone.refresh().taken

    assert len(taken.added) == 2
    assert [(it.path, it.line, "300,000 bytes" in it.message) for it in taken.problems] == [
        (LINES, 2, True)
    ]
    assert clone.read(LINES) == given


def test_files_with_such_a_line_are_never_written_and_later_edits_of_them_are_taken(clone):
    long = "x" * 300_000 + "\n"
    give(clone, [])
    clone.write(LINES, text([record(0), record(1)]) + long)
    clone.refresh()
    clone.know("learned meanwhile, and not in the file")
    clone.refresh(force=True)
    assert clone.read(LINES) == text([record(0), record(1)]) + long

    clone.write(LINES, text([record(0), record(1), record(2)]) + long)
    assert len(clone.refresh().taken.added) == 1

    clone.write(LINES, text([record(0), record(1), record(2)]))
    clone.refresh()
    assert len(clone.read(LINES).splitlines()) == 4


@pytest.mark.parametrize(
    ("page", "line"),
    [
        pytest.param("# Gotchas\n\n- " + "y" * 300_000 + "\n", 3, id="one line"),
        pytest.param("# Gotchas\n\n- many\n" + "  lines of it\n" * 9000, 3, id="many lines"),
    ],
)
def test_an_item_beyond_its_bound_is_named_and_stays(clone, page, line):
    page += "\n- the cache is not thread safe\n"
    give(clone, [])
    clone.write(GOTCHAS, page)
    taken = clone.refresh().taken

    assert [(it.path, it.line) for it in taken.problems] == [(GOTCHAS, line)]
    assert clone.live() == ["the cache is not thread safe"]
    assert clone.read(GOTCHAS) == page


def test_memories_of_a_page_that_grew_too_large_are_not_taken_for_deleted(clone, monkeypatch):
    row = clone.know("the cache is not thread safe", category="gotcha")
    clone.refresh()
    page = clone.read(GOTCHAS)
    clone.write(GOTCHAS, "z" * 300 + page)
    most = confined.limit_of
    monkeypatch.setattr(
        confined, "limit_of", lambda root, path: 200 if "gotchas" in path else most(root, path)
    )
    clone.refresh()

    assert clone.get(row).live
    assert clone.read(GOTCHAS) == "z" * 300 + page


@pytest.mark.parametrize(
    "odd",
    [
        pytest.param({"updated_at": "some day"}, id="a time that is none"),
        pytest.param({"updated_at": 7}, id="a number for a time"),
        pytest.param({"observation_count": float("inf")}, id="an endless count"),
        pytest.param({"observation_count": 10**30}, id="a count beyond 64 bits"),
        pytest.param({"tags": [{"a": [1]}]}, id="tags that are objects"),
        pytest.param({"content": "half a \ud800 character"}, id="half a character"),
        pytest.param({"anchors": 5}, id="anchors that are a number"),
        pytest.param({"values": 5}, id="values that are a number"),
        pytest.param({"values": {"a.py:1": [5]}}, id="values that are not texts"),
    ],
)
def test_a_line_that_no_memory_can_come_of_is_named_and_the_others_are_taken(clone, odd):
    twin = record(1, **odd)
    give(clone, [record(0), twin, record(2), record(3, **odd) | {"content": twin["content"]}])
    taken = clone.refresh().taken

    assert {record(0)["content"], record(2)["content"]} <= set(clone.live())
    assert {problem.path for problem in taken.problems} <= {LINES}


def test_lines_nested_deeply_are_named_and_the_others_are_taken(clone):
    give(clone, [])
    deep = [
        f'{{"key":"d","content":"nested {depth} deep","x":{"[" * depth}{"]" * depth}}}\n'
        for depth in (300, 900, 50_000)
    ]
    clone.write(LINES, text([record(0)]) + "".join(deep) + text([record(1)]))
    taken = clone.refresh().taken

    assert {record(0)["content"], record(1)["content"]} <= set(clone.live())
    assert [problem.line for problem in taken.problems] == [4] or len(taken.problems) == 3
    assert "nested 50000 deep" in clone.read(LINES)
    checks.check(clone.project, clone.store, clone.settings.mirror)


# --- costs that grow with the number of lines alone ---


def test_another_memory_of_the_same_text_is_found_by_an_index(clone):
    asked = []
    clone.store.db.set_trace_callback(asked.append)
    give(clone, [record(0)])
    take(clone)
    clone.store.db.set_trace_callback(None)
    queries = [each for each in asked if "dedupe_key = " in each and "id <>" in each]
    plans = [clone.store.db.execute(f"explain query plan {each}").fetchone() for each in queries]

    assert plans
    assert all("dedupe_key=?" in plan["detail"] for plan in plans)
