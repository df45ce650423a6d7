"""knowledge.jsonl and its archive: a line and its record have the same, also without stamps."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ademem.core.memory import Category, Status
from ademem.core.registers import Record, conflict_candidates, join, values_of, write
from ademem.core.value import replace
from ademem.files import ARCHIVE, KNOWLEDGE, knowledge
from ademem.files.knowledge import from_line, ordered_lines, render_lines, rotate, to_line
from tests.builders import NOW, memory, record_of
from tests.core.test_registers import BEN, JUNK, STRANGE, at, honest

STAMP = "2026-02-01T00:00:00.000Z-0000-aaaaaaaa"
MEMORY = memory(
    "Deploys run at noon.",
    tags=("deploy", "api"),
    anchors=("ci.py:1-2@12345678", "$ make"),
    knowledge_key="deploys",
)
LINE = to_line(record_of(MEMORY))


def test_a_line_begins_with_the_fields_of_beads_in_their_order():
    row = memory(
        "TaskGroup needs @Sendable",
        knowledge_key="learned-taskgroup-needs-sendable",
        tags=("learned", "concurrency"),
        source_type="orchestrator",
        bead="BD-1",
        status=Status.CANDIDATE,
        category=Category.GOTCHA,
    )
    found = to_line(record_of(row))

    assert list(found.items())[:7] == [
        ("key", "learned-taskgroup-needs-sendable"),
        ("type", "learned"),
        ("content", "TaskGroup needs @Sendable"),
        ("source", "orchestrator"),
        ("tags", ["learned", "concurrency"]),
        ("ts", 1769860800),
        ("bead", "BD-1"),
    ]
    assert (found["id"], found["category"], found["status"]) == (row.id, "gotcha", "candidate")


@pytest.mark.parametrize(
    ("tags", "kind"),
    [
        pytest.param(("investigation", "db"), "investigation", id="what the text began with"),
        pytest.param(("db", "learned"), "fact", id="only the first tag counts"),
        pytest.param((), "fact", id="the category"),
    ],
)
def test_the_type_is_the_prefix_or_else_the_category(tags, kind):
    assert to_line(record_of(memory(tags=tags)))["type"] == kind


def test_the_source_is_the_agent_when_one_is_known():
    assert to_line(record_of(memory(agent_id="tester")))["source"] == "tester"


def test_keys_made_from_texts_that_begin_alike_differ():
    same = "the same sixty characters at the beginning of both of these texts: "
    rows = [memory(same + "one"), memory(same + "two"), memory("🙂")]

    lines = ordered_lines(map(record_of, rows))
    keys = [json.loads(text)["key"] for _, text in lines]
    assert keys[0] == "fact-the-same-sixty-characters-at-the-beginning-of-both-of-these"
    assert keys[1:] == [f"{keys[0]}-{rows[1].id}", f"fact-{rows[2].id}"]


def test_a_line_is_one_line_for_every_reader():
    text = knowledge.render_line(to_line(record_of(memory("a\x85b\u2028c\u2029d\ne 漢"))))

    assert len(text.splitlines()) == 1
    assert json.loads(text)["content"] == "ab\u2028c\u2029d\ne 漢"  # without the control
    assert "漢" in text


@pytest.mark.parametrize(
    ("lines", "archived", "live"),
    [
        pytest.param(1000, 0, 1000, id="full"),
        pytest.param(1001, 500, 501, id="one too many"),
        pytest.param(1500, 500, 1000, id="full again"),
        pytest.param(1501, 1000, 501, id="twice"),
        pytest.param(0, 0, 0, id="empty"),
    ],
)
def test_the_oldest_lines_rotate_into_the_archive(lines, archived, live):
    given = [str(number) for number in range(lines)]
    old, new = rotate(given, above=1000, by=500)

    assert (len(old), len(new)) == (archived, live)
    assert [*old, *new] == given


@given(
    lines=st.integers(0, 50).map(lambda count: [str(number) for number in range(count)]),
    above=st.integers(-1, 60),
    by=st.integers(-1, 20),
)
def test_rotation_loses_nothing_and_keeps_the_bound(lines, above, by):
    old, new = rotate(lines, above=above, by=by)

    assert [*old, *new] == lines
    assert len(new) <= max(0, above)


def test_there_is_no_archive_before_there_is_something_in_it():
    assert list(render_lines([record_of(memory())], [])) == [KNOWLEDGE]


def test_the_files_hold_the_memories_in_order(monkeypatch):
    monkeypatch.setattr(knowledge, "ROTATE_ABOVE", 3)
    rows = [memory(f"fact {n}", created_at=NOW + timedelta(seconds=n)) for n in range(5)]
    files = render_lines(map(record_of, rows), [])

    def contents(path: str) -> list[str]:
        return [json.loads(line)["content"] for line in files[path].splitlines()]

    assert contents(ARCHIVE) == ["fact 0", "fact 1"]
    assert contents(KNOWLEDGE) == ["fact 2", "fact 3", "fact 4"]


def test_what_two_people_add_is_in_the_order_of_the_ids_so_that_it_rarely_meets():
    old = [record_of(memory(f"fact {n}", created_at=NOW + timedelta(seconds=n))) for n in range(3)]
    new = [
        replace(record, texts={STAMP: record.text}, over={"aaaaaaaa": STAMP})
        for record in (record_of(memory(f"new {n}")) for n in range(9))
    ]
    text = render_lines([*old, *new], [])[KNOWLEDGE]
    ids = [json.loads(line)["id"] for line in text.splitlines()]

    assert ids[:3] == [record.id for record in old]
    assert ids[3:] == sorted(record.id for record in new)


def test_a_duplicate_that_is_not_shown_is_in_the_archive_with_its_text():
    hidden = record_of(memory("the same"))
    files = render_lines([], [hidden])
    line = json.loads(files[ARCHIVE])

    assert (line["status"], line["life"], line["content"]) == ("archived", "live", "the same")
    assert from_line(line) == hidden


def test_a_line_from_before_there_were_stamps_stays_as_it_is():
    assert json.dumps(to_line(from_line(LINE))) == json.dumps(LINE)


def test_the_stamps_are_one_short_key_at_the_end():
    record = from_line(LINE)
    edited = write(record, {"content": "Deploys run at one."}, at(5))

    *fields, last = to_line(edited).items()

    changed = {name for name, value in fields if value != LINE[name]}
    assert changed == {"content", "updated_at"}
    assert last == (
        "stamps",
        {
            "0000-aaaaaaaa": ["life", "text"],
            f"{LINE['updated_at']}-0000-00000000": [],
            "over": [f"{LINE['updated_at']}-0000-00000000"],
        },
    )


def test_an_archived_memory_is_a_line_without_its_text():
    record = from_line(LINE)
    line = to_line(write(record, {"life": "superseded m2"}, at(5)))

    assert "noon" not in json.dumps(line)
    assert (line["type"], line["status"]) == ("tombstone", "archived")
    assert join(record, from_line(line)).life == "superseded m2"
    restored = write(record, {}, at(6), confirms=True)
    assert join(restored, from_line(line)) == restored


def test_a_text_that_an_archiving_did_not_know_stays_in_the_line_until_somebody_decides():
    record = from_line(LINE)
    edited = write(record, {"content": "Deploys run at one."}, at(5))
    archived = write(record, {"life": "rejected"}, at(6, BEN))

    joined = join(from_line(to_line(edited)), from_line(to_line(archived)))
    line = json.loads(json.dumps(to_line(joined)))
    assert (line["status"], line["content"]) == ("archived", "Deploys run at one.")
    assert from_line(line) == joined
    assert joined.value("status") == record.value("status")
    assert [one.content for one in conflict_candidates(joined)] == ["Deploys run at one."]
    assert "at one" not in json.dumps(to_line(write(joined, {"life": "archived"}, at(7))))


@given(honest())
def test_a_record_is_in_its_line(copies):
    for record in copies:
        line = json.loads(json.dumps(to_line(record)))
        if record.life == "live" or conflict_candidates(record):
            assert from_line(line) == record
        else:
            assert from_line(line).seen == record.seen
            assert from_line(line).registers["life"] == record.registers["life"]
            assert join(record, from_line(line)) == record


@given(STRANGE)
def test_what_a_stranger_wrote_is_in_its_line(record):
    values = {"life": "live", "category": "fact", "key": None, "source": "me", "bead": None}
    record = write(record, values, "2500-01-01T00:00:00.000Z-0000-aaaaaaaa")
    if record.texts:
        assert from_line(json.loads(json.dumps(to_line(record)))) == record


@pytest.mark.parametrize("line", [None, [], "text", {}, {"id": 7}, {"id": "a b"}])
def test_what_names_no_memory_is_no_record(line):
    assert from_line(line) is None


@given(st.dictionaries(st.sampled_from([*LINE, "stamps", "life", "values"]), JUNK))
def test_any_object_with_an_id_is_read(changes):
    record = from_line(LINE | changes | {"id": "m1"})

    assert isinstance(record, Record)
    assert isinstance(values_of(record), dict)
    json.dumps(to_line(record))
