"""From the store to the files: the same bytes, nothing private, nobody's edits lost."""

from __future__ import annotations

import json
import os
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ademem.core import confined, shared_files
from ademem.core.memory import Category, Scope, Status
from ademem.core.settings import MirrorSettings, Settings
from ademem.core.value import replace
from ademem.files import project_brief
from ademem.files.texts import Texts
from ademem.store import changes, memories
from ademem.store.memories import Change
from ademem.sync import mirror, rendering
from tests.builders import NOW, Lines, insert, memory, open_project, opened, project
from tests.sync.clone import without_stamps

SETTINGS = MirrorSettings()
CANARY = "canary-7Qx"
INDEX = ".ade/memory/MEMORY.md"
GOTCHAS = ".ade/memory/gotchas.md"
MINE = "<!-- ademem:keep -->\nmine\n<!-- /ademem:keep -->"


@pytest.fixture
def refresh(here, store):
    def refresh(settings=SETTINGS, **flags):
        return mirror.refresh(opened(here, store, Settings(mirror=settings), NOW), **flags)

    return refresh


def gotcha(text: str = "the cache is not thread safe", **changes):
    return memory(text, category=Category.GOTCHA, **changes)


def change(store, row, **changes):
    updated = Change(operation="edit", actor="user", at=NOW)
    return memories.update(store, replace(row, **changes), updated)


def tree(root) -> dict[str, str]:
    """Every file of the project that git would see."""
    found = {}
    for folder, _, names in os.walk(root / ".ade"):
        for name in names:
            path = os.path.join(folder, name)
            if f"{os.sep}run{os.sep}" not in path and "ade.db" not in name:
                found[os.path.relpath(path, root)] = shared_files.read_text(path)
    return found


def edit(root, path: str, old: str, new: str) -> str:
    text = shared_files.read_text(root / path)
    assert old in text
    shared_files.write_atomic(str(root / path), text.replace(old, new))
    return shared_files.read_text(root / path)


def test_the_files_say_what_the_store_knows(store, here, refresh, tmp_path):
    (row,) = insert(store, gotcha())
    project_brief.patch(store, here, {"summary": "Builds maps."}, NOW)
    refreshed = refresh()

    found = tree(tmp_path)
    assert set(refreshed.written) == set(found) - {".ade/cto/core-memory.json"}
    assert refreshed.bytes == sum(len(found[path].encode()) for path in refreshed.written)
    for path in (INDEX, GOTCHAS, ".ade/memory/knowledge.jsonl", ".ade/cto/MEMORY.md"):
        assert row.content in found[path]
    assert "Builds maps." in found[INDEX]
    assert "Builds maps." in found[".ade/cto/MEMORY.md"]


def test_an_unchanged_store_writes_nothing(store, refresh, tmp_path):
    insert(store, gotcha())
    refresh()
    before = {path: os.stat(tmp_path / path).st_mtime_ns for path in tree(tmp_path)}
    state = os.stat(tmp_path / ".ade/run/mirror.json").st_mtime_ns

    assert refresh() == mirror.Refreshed(written=(), removed=(), kept=(), bytes=0)
    assert {path: os.stat(tmp_path / path).st_mtime_ns for path in tree(tmp_path)} == before
    assert os.stat(tmp_path / ".ade/run/mirror.json").st_mtime_ns == state


def test_an_idle_refresh_reads_no_memory(store, refresh, monkeypatch):
    insert(store, gotcha())
    refresh()
    monkeypatch.setattr(mirror, "survey", None)
    monkeypatch.setattr(mirror, "update_store", None)

    assert refresh() == mirror.Refreshed(written=(), removed=(), kept=(), bytes=0)


def test_a_candidate_that_no_file_has_renders_none(store, refresh, monkeypatch):
    insert(store, gotcha())
    refresh()
    row = insert(store, gotcha("maybe so", status="candidate", promoted_at=None))[0]
    with monkeypatch.context() as patch:
        patch.setattr(mirror, "survey", None)

        assert refresh() == mirror.Refreshed(written=(), removed=(), kept=(), bytes=0)
    change(store, row, status="promoted")
    assert GOTCHAS in refresh().written


def forget_records(root, **_):
    (root / ".ade/run/agreed").unlink()


def update_code(monkeypatch, **_):
    monkeypatch.setattr(mirror, "source_state", lambda: ["another"])


CAUSES = {
    "a candidate with a line": lambda store, **_: insert(
        store, gotcha("deploys are slow", status="candidate", knowledge_key="slow")
    ),
    "a new memory": lambda store, **_: insert(store, gotcha("deploys are slow")),
    "an edit": lambda store, row, **_: change(store, row, content="the cache is safe"),
    "a change without a revision": lambda store, row, **_: memories.set_anchors(
        store, row, ["src/cache.py:1-9"]
    ),
    "a removal for good": lambda store, row, **_: memories.delete(
        store, row, Change(operation="delete", actor="user", at=NOW)
    ),
    "a brief": lambda store, here, **_: project_brief.patch(store, here, {"summary": "Maps."}, NOW),
    "a page edited": lambda root, **_: edit(root, GOTCHAS, "thread safe", "fork safe"),
    "a page removed": lambda root, **_: (root / GOTCHAS).unlink(),
    "the page of the brief removed": lambda root, **_: (root / ".ade/cto/MEMORY.md").unlink(),
    "no record of the files": forget_records,
    "another version of the code": update_code,
}


@pytest.mark.parametrize("cause", CAUSES.values(), ids=CAUSES.keys())
def test_a_refresh_looks_again_after(store, here, refresh, tmp_path, monkeypatch, cause):
    (row,) = insert(store, gotcha())
    refresh()
    looked = []
    survey = mirror.survey
    monkeypatch.setattr(mirror, "survey", lambda *given: looked.append(1) or survey(*given))
    cause(store=store, here=here, root=tmp_path, row=row, monkeypatch=monkeypatch)
    refresh()
    refresh()

    assert looked == [1]


def test_what_another_process_writes_during_a_refresh_is_in_the_files_after_the_next(
    store, refresh, tmp_path, monkeypatch
):
    insert(store, gotcha())
    survey = mirror.survey

    def survey_late(*given):
        found = survey(*given)
        insert(store, gotcha("confirmed while the worker wrote the files"))
        return found

    monkeypatch.setattr(mirror, "survey", survey_late)
    refresh()
    monkeypatch.setattr(mirror, "survey", survey)
    refresh()

    page = (tmp_path / ".ade/memory/gotchas.md").read_text()
    assert "confirmed while the worker wrote the files" in page


def test_a_refresh_looks_again_while_an_edit_is_left_alone(store, refresh, tmp_path):
    insert(store, gotcha())
    refresh()
    edit(tmp_path, INDEX, "# Project memory", "# Ours")

    assert refresh().kept == (INDEX,)
    assert refresh().kept == (INDEX,)
    assert refresh(force=True).written == (INDEX,)


@pytest.mark.parametrize("step", ["_choose_due", "save_known"])
def test_what_a_person_types_during_a_refresh_is_read_by_the_next(
    store, refresh, tmp_path, monkeypatch, step
):
    insert(store, gotcha())
    refresh()
    insert(store, gotcha("another"))
    go_on = getattr(mirror, step)

    def while_typing(*given, **options):
        edit(tmp_path, GOTCHAS, "thread safe", "typed by hand")
        return go_on(*given, **options)

    monkeypatch.setattr(mirror, step, while_typing)
    refresh()
    monkeypatch.undo()
    refresh()

    assert any("typed by hand" in row.content for row in memories.find(store, "true"))


def test_another_bound_of_the_pages_is_looked_at(store, refresh):
    insert(store, *(gotcha(f"gotcha {n}", tags=("api",)) for n in range(9)))
    refresh()

    assert refresh(replace(SETTINGS, topic_entries=5)).written


@pytest.mark.parametrize("column", [name for name in memories.COLUMNS if name != "seq"])
def test_every_column_but_those_of_an_access_moves_the_count_of_changes(store, column):
    (row,) = insert(store, gotcha())
    before = changes(store)
    store.db.execute(f"update unified_memories set {column} = {column} where seq = ?", (row.seq,))
    assert changes(store) == before + 1

    memories.touch(store, row, 1.0, NOW + timedelta(days=3))
    assert changes(store) == before + 1


def test_access_and_scores_are_not_in_the_files(store, refresh):
    (row,) = insert(store, gotcha())
    refresh()
    memories.touch(store, row, 1.0, NOW + timedelta(days=3))

    assert refresh().written == ()


def test_the_same_memories_give_the_same_files_whatever_the_order_they_came_in(tmp_path):
    rows = [gotcha(f"gotcha {n}", created_at=NOW + timedelta(minutes=n)) for n in range(30)]
    trees = []
    for name, order in (("one", rows), ("two", rows[::-1])):
        (tmp_path / name).mkdir()
        store = open_project(tmp_path / name)
        insert(store, *order)
        mirror.refresh(opened(project(tmp_path / name), store, Settings(), NOW))
        store.close()
        trees.append(tree(tmp_path / name))

    assert without_stamps(trees[0]) == without_stamps(trees[1])


HIDDEN = [
    pytest.param({"scope": Scope.AGENT, "scope_owner_id": "me"}, id="an agent's"),
    pytest.param({"scope": Scope.MISSION, "scope_owner_id": "m1"}, id="a mission's"),
    pytest.param({"quarantine_reason": "gives orders"}, id="quarantined"),
    pytest.param({"status": Status.ARCHIVED}, id="archived"),
    pytest.param({"deleted_at": NOW}, id="deleted"),
    pytest.param({"superseded_by": "other"}, id="superseded"),
]


@pytest.mark.parametrize("changes", HIDDEN)
@pytest.mark.parametrize("key", [None, "learned-canary"])
def test_no_byte_of_a_private_row_is_in_any_file(store, refresh, tmp_path, changes, key):
    insert(
        store,
        gotcha(),
        gotcha(
            f"text {CANARY}",
            title=f"title {CANARY}",
            tags=(CANARY,),
            file_scope_pattern=CANARY,
            pinned=True,
            knowledge_key=key,
            **changes,
        ),
    )
    refresh()

    assert not [path for path, text in tree(tmp_path).items() if CANARY in text]


def test_what_became_private_leaves_the_files(store, refresh, tmp_path):
    (row,) = insert(store, gotcha(CANARY))
    refresh()
    change(store, row, status=Status.ARCHIVED)
    refresh()

    assert not [path for path, text in tree(tmp_path).items() if CANARY in text]


def test_a_learned_candidate_is_in_the_lines_and_on_no_page(store, refresh, tmp_path):
    insert(store, gotcha("learned", status=Status.CANDIDATE, knowledge_key="learned-learned"))
    insert(store, gotcha("only noticed", status=Status.CANDIDATE))
    refresh()

    found = tree(tmp_path)
    lines = [json.loads(line) for line in found[".ade/memory/knowledge.jsonl"].splitlines()]
    assert [line["key"] for line in lines] == ["learned-learned"]
    assert GOTCHAS not in found
    assert "only noticed" not in "".join(found.values())


def test_split_files_that_are_not_needed_any_more_are_removed(store, refresh, tmp_path):
    small = MirrorSettings(topic_entries=1)
    first, _ = insert(store, gotcha("a", tags=("api",)), gotcha("b", tags=("db",)))
    refresh(small)
    assert ".ade/memory/gotchas-api.md" in tree(tmp_path)

    change(store, first, status=Status.ARCHIVED)
    refreshed = refresh(small)
    assert refreshed.removed == (".ade/memory/gotchas-api.md", ".ade/memory/gotchas-db.md")
    assert not any("gotchas-" in path for path in tree(tmp_path))


def test_a_file_that_somebody_else_made_is_never_removed(store, refresh, tmp_path):
    insert(store, gotcha())
    shared_files.write_atomic(str(tmp_path / ".ade/memory/gotchas-mine.md"), "mine\n")
    refresh(force=True)

    assert tree(tmp_path)[".ade/memory/gotchas-mine.md"] == "mine\n"


def test_an_index_edited_by_hand_is_kept_until_it_is_forced(store, refresh, tmp_path):
    insert(store, gotcha())
    refresh()
    edited = edit(tmp_path, INDEX, "# Project memory", "edited")
    insert(store, gotcha("another"))

    kept = refresh()
    assert kept.kept == (INDEX,)
    assert INDEX not in kept.written
    assert tree(tmp_path)[INDEX] == edited

    assert INDEX in refresh(force=True).written
    assert "edited" not in tree(tmp_path)[INDEX]
    assert refresh().kept == ()


def test_force_drops_what_was_edited(store, refresh, tmp_path):
    (row,) = insert(store, gotcha())
    refresh()
    before = tree(tmp_path)[GOTCHAS]
    edit(tmp_path, GOTCHAS, "thread safe", "edited")

    assert GOTCHAS in refresh(force=True).written
    assert tree(tmp_path)[GOTCHAS] == before
    assert memories.get(store, row.id).content == row.content


@pytest.mark.parametrize("rows", [(), (gotcha(),)], ids=["without entries", "with one"])
def test_a_file_that_is_not_text_is_kept_whatever_is_reported(store, refresh, tmp_path, rows):
    insert(store, *rows)
    refresh()
    (tmp_path / GOTCHAS).write_bytes(b"caf\xe9\n")

    assert refresh(force=True).kept == (GOTCHAS,)
    assert (tmp_path / GOTCHAS).read_bytes() == b"caf\xe9\n"


def test_a_file_that_was_deleted_comes_back(store, refresh, tmp_path):
    insert(store, gotcha())
    refresh()
    shared_files.remove(str(tmp_path / GOTCHAS))

    assert refresh().written == (GOTCHAS,)


def test_hand_written_lines_of_the_index_are_no_obstacle_and_survive(store, refresh, tmp_path):
    insert(store, gotcha())
    refresh()
    edit(tmp_path, INDEX, "## Files", f"{MINE}\n\n## Files")
    insert(store, gotcha("another"))

    assert INDEX in refresh().written
    text = tree(tmp_path)[INDEX]
    assert MINE in text
    assert "another" in text
    assert refresh().written == ()


def test_hand_written_lines_survive_force(store, refresh, tmp_path):
    refresh()
    edit(tmp_path, INDEX, "# Project memory", f"# Mine now\n\n{MINE}")
    refresh(force=True)

    assert MINE in tree(tmp_path)[INDEX]
    assert "# Mine now" not in tree(tmp_path)[INDEX]


def test_after_a_kill_between_two_files_nothing_counts_as_edited_by_hand(
    store, refresh, tmp_path, monkeypatch
):
    insert(store, gotcha())
    refresh()
    insert(store, gotcha("another"))

    def killed(root, path, text):
        if path.endswith("gotchas.md"):
            raise KeyboardInterrupt
        return write_text(root, path, text)

    write_text = confined.write_text
    with monkeypatch.context() as patched:
        patched.setattr(confined, "write_text", killed)
        with pytest.raises(KeyboardInterrupt):
            refresh()
    insert(store, gotcha("a third"))

    assert refresh().kept == ()
    assert "a third" in tree(tmp_path)[INDEX]
    assert "a third" in tree(tmp_path)[GOTCHAS]


def test_without_its_record_files_that_are_right_are_taken_for_ours(store, here, refresh, tmp_path):
    insert(store, gotcha())
    refresh()
    shared_files.write_atomic(str(tmp_path / ".ade/run/mirror.json"), "{half")

    assert refresh() == mirror.Refreshed(written=(), removed=(), kept=(), bytes=0)
    assert GOTCHAS in mirror.load_fingerprints(here, store)


def test_a_preview_tells_what_would_be_written_and_writes_nothing(store, here, refresh, tmp_path):
    project_brief.patch(store, here, {"notes": ["ours"]}, NOW)
    document = json.loads(shared_files.read_text(project_brief.file_path(here))) | {
        "version": 4,
        "notes": ["new"],
    }
    shared_files.write_atomic(project_brief.file_path(here), json.dumps(document))
    insert(store, gotcha())
    before = tree(tmp_path)
    foreseen = mirror.preview(opened(here, store, Settings(mirror=SETTINGS), NOW))

    assert tree(tmp_path) == before
    assert not (tmp_path / ".ade/run/mirror.json").exists()
    assert project_brief.load(store).notes == ("ours",)
    assert tuple(file.path for file in foreseen.files) == refresh().written
    assert project_brief.load(store).notes == ("new",)


def test_the_brief_of_a_newer_file_reaches_database_and_pages(store, here, refresh, tmp_path):
    project_brief.patch(store, here, {"notes": ["ours"]}, NOW)
    edit(tmp_path, ".ade/cto/core-memory.json", '"ours"', '"edited"')
    refreshed = refresh()

    assert project_brief.load(store).notes == ("edited",)
    assert ".ade/cto/core-memory.json" in refreshed.written
    assert json.loads(tree(tmp_path)[".ade/cto/core-memory.json"])["version"] == 2
    assert "edited" in tree(tmp_path)[".ade/cto/MEMORY.md"]


def test_a_brief_that_cannot_be_read_is_kept_and_stops_nothing_else(store, here, refresh, tmp_path):
    project_brief.patch(store, here, {"notes": ["ours"]}, NOW)
    insert(store, gotcha())
    shared_files.write_atomic(project_brief.file_path(here), "{")

    refreshed = refresh()
    assert refreshed.kept == (".ade/cto/core-memory.json",)
    assert "ours" in tree(tmp_path)[".ade/cto/MEMORY.md"]
    assert refresh(force=True).written == (".ade/cto/core-memory.json",)
    assert project_brief.read_file(here).notes == ("ours",)


def test_highlights_are_what_is_marked_by_category(store, refresh, tmp_path):
    insert(
        store,
        memory("plain fact"),
        gotcha("pinned gotcha", pinned=True),
        memory("important decision", category=Category.DECISION, importance="high"),
    )
    refresh()

    highlights = tree(tmp_path)[".ade/cto/MEMORY.md"].partition("## Durable highlights\n\n")[2]
    assert highlights == "- decision: important decision\n- gotcha: pinned gotcha (pinned)\n"


rows = st.builds(
    memory,
    content=st.text(max_size=40),
    id=st.uuids().map(str),
    category=st.sampled_from(tuple(Category)),
    tags=st.lists(st.sampled_from(["learned", "api", "db"]), unique=True).map(tuple),
    created_at=st.integers(0, 3).map(lambda day: NOW + timedelta(days=day)),
    pinned=st.booleans(),
)


@given(given=st.lists(rows, max_size=12), topic_entries=st.integers(1, 5))
def test_rendering_again_over_its_own_pages_changes_nothing(given, topic_entries):
    settings = MirrorSettings(topic_entries=topic_entries)
    lines = Lines(given)
    once = rendering.render(lines, None, Texts(), settings)

    assert rendering.render(lines, None, Texts.of(once), settings) == once
