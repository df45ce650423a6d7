"""The table of bindings: what follows from each change of a memory, and finding by path."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ademem.core.memory import Scope, Status
from ademem.core.value import replace
from ademem.search import binding
from ademem.search.binding import last_folder, update_bindings
from ademem.search.hint_patterns import expand_glob
from ademem.search.meeting import matches, path_keys
from ademem.store import bindings as table
from ademem.store import logs, memories
from ademem.store.bindings import Binding
from ademem.store.memories import Change
from tests import builders
from tests.builders import NOW, memory
from tests.examples import examples
from tests.store.stores import in_memory

CHANGE = Change(operation="edit", actor="user", at=NOW)
PATH = "src/auth.py"


@pytest.fixture
def store():
    store = in_memory()
    yield store
    store.close()


def put(store, **changes):
    (row,) = builders.insert(store, memory(**changes))
    update_bindings(store)
    return row


def edit(store, row, **changes):
    return memories.update(store, replace(row, **changes), CHANGE)


def kinds(store):
    """What the table holds, before anybody settles it."""
    return sorted({row[0] for row in store.db.execute("select kind from memory_bindings")})


def found(store, path=PATH, agent=""):
    rows = table.at_keys(store, path_keys(path), agent)
    return sorted(
        {
            row["content"]
            for row in rows
            if row["bound_kind"] == "anchor" or matches(path, row["bound_pattern"])
        }
    )


@pytest.mark.parametrize(
    ("act", "at_once", "settled"),
    [
        pytest.param(lambda s, r: memories.touch(s, r, 1.0, NOW), True, True, id="an access"),
        pytest.param(lambda s, r: edit(s, r, confidence=0.1), True, True, id="belief"),
        pytest.param(lambda s, r: edit(s, r, content="Other words"), False, True, id="text"),
        pytest.param(lambda s, r: edit(s, r, file_scope_pattern="*.ts"), False, False, id="path"),
        pytest.param(lambda s, r: edit(s, r, file_scope_pattern=None), False, False, id="no path"),
        pytest.param(lambda s, r: edit(s, r, anchors=(PATH,)), False, True, id="anchors"),
        pytest.param(lambda s, r: edit(s, r, status=Status.ARCHIVED), False, False, id="archive"),
        pytest.param(lambda s, r: edit(s, r, status=Status.CANDIDATE), False, False, id="demotion"),
        pytest.param(lambda s, r: edit(s, r, deleted_at=NOW), False, False, id="soft delete"),
        pytest.param(lambda s, r: edit(s, r, superseded_by="x"), False, False, id="supersede"),
        pytest.param(lambda s, r: edit(s, r, quarantine_reason="x"), False, False, id="quarantine"),
        pytest.param(
            lambda s, r: edit(s, edit(s, r, deleted_at=NOW), deleted_at=None),
            False,
            True,
            id="restore",
        ),
        pytest.param(lambda s, r: memories.delete(s, r, CHANGE), False, False, id="hard delete"),
    ],
)
def test_each_change_has_one_effect_on_the_sites(store, act, at_once, settled):
    row = put(store, file_scope_pattern="src/*.py")
    assert found(store) == [row.content]
    act(store, row)
    before = bool(found(store)), kinds(store)
    news = update_bindings(store)

    assert before == (at_once, ["glob"] if at_once else ["due"])
    assert news is not at_once
    assert bool(found(store)) == settled
    assert "due" not in kinds(store)


def test_a_round_without_time_derives_one_memory_and_reads_few(store, monkeypatch):
    for number in range(2 * binding.BATCH):
        put(store, content=f"note {number}", file_scope_pattern="src/*.py")
    table.mark_due(store, None)
    original, read = table.read_due, []

    def read_due(*given):
        read.append(original(*given))
        return read[-1]

    monkeypatch.setattr(table, "read_due", read_due)

    assert update_bindings(store, seconds=0)
    assert [len(each) for each in read] == [binding.BATCH]
    assert len(table.list_due(store)) == 2 * binding.BATCH - 1
    assert update_bindings(store)
    assert table.list_due(store) == []


def test_a_row_written_past_us_is_noticed(store):
    row = put(store, file_scope_pattern="docs/*")
    store.db.execute("update unified_memories set file_scope_pattern = 'src/*.py'")

    assert update_bindings(store)
    assert found(store) == [row.content]


def test_an_agent_sees_its_own_and_nobody_elses(store):
    put(store, content="for all", file_scope_pattern="src/**")
    for owner in ("reviewer", "tester"):
        mine = {"scope": Scope.AGENT, "scope_owner_id": owner, "file_scope_pattern": "src/**"}
        put(store, content=f"for the {owner}", **mine)

    assert found(store) == ["for all"]
    assert found(store, agent="reviewer") == ["for all", "for the reviewer"]


NAMES = st.lists(st.sampled_from(["a", "b", "a.py", "b.ts", "src"]), min_size=1, max_size=4)
PARTS = st.sampled_from(["a", "src", "*", "**", "*.py", "?.ts", "[ab]", "[!a].py", "{a,b}"])


@settings(max_examples=examples(60), deadline=None)
@given(
    patterns=st.lists(
        st.lists(PARTS, min_size=1, max_size=4).map("/".join), min_size=1, max_size=6, unique=True
    ),
    paths=st.lists(NAMES.map("/".join), min_size=1, max_size=8),
)
def test_each_path_finds_the_patterns_that_match_it(patterns, paths):
    store = in_memory()
    for pattern in patterns:
        put(store, content=pattern, file_scope_pattern=pattern)

    for path in paths:
        scanned = [
            pattern
            for pattern in patterns
            if any(fnmatchcase(path, each.replace("[^", "[!")) for each in expand_glob(pattern))
            or (  # a folder above, of which the paths here are none on the disk
                re.split(r"[*?]", pattern)[0].startswith(f"{path}/")
                and last_folder(pattern) in path.split("/")
            )
        ]
        assert found(store, path) == sorted(scanned)
    store.close()


def test_a_look_up_scans_neither_memories_nor_sites(store):
    plans = []
    for query in (table.AT_KEYS, logs._SEEN):
        names = dict.fromkeys(
            ["keys", "project", "agent", "session", "ids", "turn", "overdue", "off"], ""
        )
        plans += [row["detail"] for row in store.db.execute(f"explain query plan {query}", names)]

    assert [plan for plan in plans if plan.startswith("SCAN") and "VIRTUAL" not in plan] == []


LEARNED = Binding(kind="path", key="src/queue.py", strength="learned", source="session")


@pytest.mark.parametrize(
    ("changes", "stays"),
    [
        pytest.param({"content": "Other words"}, True, id="another text"),
        pytest.param({"anchors": ("@ docs/a.md",)}, False, id="a place that a person chose"),
        pytest.param({"anchors": ("@not src/queue.py",)}, False, id="a place that was dropped"),
        pytest.param({"anchors": ("@ none",)}, False, id="nowhere"),
        pytest.param({"content": "Never edit docs/a.md"}, False, id="a text that names a file"),
    ],
)
def test_what_a_session_taught_outlives_an_edit_until_a_surer_place_is_known(store, changes, stays):
    row = put(store)
    table.put(store, row, [LEARNED])
    edit(store, row, **changes)
    update_bindings(store)

    assert (LEARNED.key in {each.key for each in table.list_of(store, row)}) is stays
