"""No row holds a value that it cannot have; one that does stops nobody, and can be repaired."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing, contextmanager

import pytest

from ademem.core.errors import AdememError
from ademem.store import memories, repair
from ademem.store.memories import UnreadableMemory
from tests.builders import NOW, insert, memory, open_project
from tests.examples import some
from tests.store import filled

WRONG = [
    pytest.param("importance", "zzz", id="a word outside its set"),
    pytest.param("tier", 9, id="a number outside its set"),
    pytest.param("category", "opinion", id="a category nobody knows"),
    pytest.param("trust", "root", id="a trust nobody gave"),
    pytest.param("status", "", id="no status"),
    pytest.param("scope", "galaxy", id="a scope nobody knows"),
    pytest.param("confidence", "high", id="a confidence that is not a number"),
    pytest.param("confidence", 7.5, id="a confidence above one"),
    pytest.param("anchors", "src/a.py", id="anchors that are not JSON"),
    pytest.param("anchors", "{}", id="anchors that are not a list"),
    pytest.param("created_at", "yesterday", id="an unreadable moment"),
]
HARMLESS = [
    pytest.param("access_count", -3, id="a negative count"),
    pytest.param("pinned", 2, id="a flag that is neither"),
]
"""What a reader can do something with."""


@pytest.fixture
def store(tmp_path):
    with closing(open_project(tmp_path)) as store:
        yield store


def force(db, column, value, where="seq = 1", table="unified_memories"):
    """Write past the constraints, as a flipped byte does."""
    db.execute("pragma ignore_check_constraints = on")
    db.execute(f"update {table} set {column} = ? where {where}", (value,))
    db.execute("pragma ignore_check_constraints = off")


@contextmanager
def unchecked(path):
    """A connection that writes past the constraints."""
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("pragma ignore_check_constraints = on")
        yield db


def mend(store):
    with store.transaction() as db:
        done = repair.repair_rows(db, NOW)
        repair.keep_originals(db, done, NOW)
    return done


@pytest.mark.parametrize(("column", "value"), [*WRONG, *HARMLESS])
def test_the_database_refuses_a_value_that_a_memory_cannot_have(store, column, value):
    insert(store, memory())

    with pytest.raises(sqlite3.IntegrityError, match="CHECK"):
        store.db.execute(f"update unified_memories set {column} = ?", (value,))


@pytest.mark.parametrize(("column", "value"), some([*WRONG, *HARMLESS]))
def test_an_older_database_with_a_bad_row_is_migrated_and_tells_what_it_was(
    tmp_path, path, column, value
):
    filled.build_own(path)
    with unchecked(path) as db:
        db.execute(f"update unified_memories set {column} = ?", (value,))
        db.execute("delete from memory_revisions")
    with closing(open_project(tmp_path)) as store:
        (kept,) = store.db.execute("select * from bad_rows where table_name = 'unified_memories'")
        (row,) = store.db.execute("select * from unified_memories").fetchall()

        assert (kept["table_name"], kept["bad_columns"]) == ("unified_memories", column)
        assert kept["outcome"] == "repaired"
        assert json.loads(kept["original"])[column] == value
        assert row["content"] == "the content"
        assert repair.find_bad_rows(store.db) == []


@pytest.mark.parametrize(
    ("column", "value", "meant"),
    [
        pytest.param("status", " Promoted", "promoted", id="another spelling"),
        pytest.param(
            "created_at", "2026-01-31T14:00:00+02:00", "2026-01-31T12:00:00.000Z", id="another zone"
        ),
        pytest.param("confidence", 1.7, 1, id="a number beyond its range"),
    ],
)
def test_a_bad_value_without_history_becomes_what_it_means(store, column, value, meant):
    insert(store, memory())
    store.db.execute("delete from memory_revisions")
    force(store.db, column, value)
    (done,) = mend(store)

    assert (done.columns, done.removed) == ((column,), False)
    assert store.db.execute(f"select {column} from unified_memories").fetchone()[0] == meant


HISTORY = [
    pytest.param("operation", "conjured", "edit", id="an operation that there is none of"),
    pytest.param("actor", "root", "import", id="an actor that there is none of"),
    pytest.param("created_at", "yesterday", None, id="an unreadable moment"),
]


@pytest.mark.parametrize(("column", "value", "_"), HISTORY)
def test_the_database_refuses_a_value_that_history_cannot_have(store, column, value, _):
    insert(store, memory())

    with pytest.raises(sqlite3.IntegrityError, match="CHECK"):
        store.db.execute(f"update memory_revisions set {column} = ?", (value,))


@pytest.mark.parametrize(("column", "value", "instead"), HISTORY)
def test_a_bad_value_in_the_history_of_an_older_database_is_replaced_and_kept(
    tmp_path, path, column, value, instead
):
    filled.build_own(path)
    with unchecked(path) as db:
        db.execute(f"update memory_revisions set {column} = ?", (value,))
    with closing(open_project(tmp_path)) as store:
        (kept,) = store.db.execute("select * from bad_rows where table_name = 'memory_revisions'")
        (row,) = store.db.execute("select * from memory_revisions").fetchall()

    assert kept["bad_columns"] == column
    assert json.loads(kept["original"])[column] == value
    assert instead is None or row[column] == instead


CLAIMS = [
    pytest.param("unified_memories", "claimed_author", b"\xff", id="an author that is not text"),
    pytest.param("cto_core_memory_state", "claimed", "{", id="a claim that is not JSON"),
    pytest.param("cto_core_memory_state", "claimed", "{}", id="a claim without texts"),
    pytest.param(
        "cto_core_memory_state", "claimed", '{"texts": 1}', id="texts that are not a list"
    ),
]


@pytest.mark.parametrize(("table", "column", "value"), CLAIMS)
def test_the_database_refuses_a_claim_that_cannot_be_read(tmp_path, path, table, column, value):
    filled.build(path)
    with (
        closing(open_project(tmp_path)) as store,
        pytest.raises(sqlite3.IntegrityError, match="CHECK"),
    ):
        store.db.execute(f"update main.{table} set {column} = ?", (value,))


@pytest.mark.parametrize(("table", "column", "value"), CLAIMS)
def test_no_repair_accepts_what_came_with_the_files(tmp_path, path, table, column, value):
    """Null would say that the person here accepted it."""
    filled.build_own(path)
    with unchecked(path) as db:
        db.execute(f"update {table} set {column} = ?", (value,))
        db.execute("delete from memory_revisions")
    with closing(open_project(tmp_path)) as store:
        assert not store.db.execute(f"select 1 from {table} where {column} is null").fetchall()
        assert repair.find_bad_rows(store.db) == []


def test_a_good_row_of_an_older_database_is_not_touched(tmp_path, path):
    filled.build_own(path)
    before = filled.rows(path)["bad_rows"]
    with closing(open_project(tmp_path)) as store:
        assert store.dicts("select * from bad_rows") == before


@pytest.mark.parametrize(("column", "value"), WRONG)
def test_a_bad_memory_is_left_out_and_the_others_are_there(store, column, value):
    bad, good = insert(store, memory(), memory("Deploys go through staging"))
    force(store.db, column, value)

    assert [each.id for each in memories.find(store, "true")] == [good.id]
    assert [each.id for each in memories.list_by_number(store, [1, 2])] == [good.id]
    with pytest.raises(UnreadableMemory, match=bad.id) as raised:
        memories.get(store, bad.id)
    assert isinstance(raised.value, AdememError)
    assert "doctor --fix" in raised.value.hint


@pytest.mark.parametrize(("column", "value"), [*WRONG, *HARMLESS])
def test_a_bad_value_is_replaced_by_what_history_has(store, column, value):
    (before,) = insert(store, memory())
    force(store.db, column, value)
    (done,) = mend(store)

    assert (done.columns, done.removed) == ((column,), False)
    assert memories.get(store, before.id) == before or column in memories.BOOKKEEPING
    assert repair.find_bad_rows(store.db) == []


def test_a_bad_value_without_history_becomes_the_default(store):
    insert(store, memory())
    store.db.execute("delete from memory_revisions")
    force(store.db, "importance", "zzz")
    force(store.db, "trust", "root")
    mend(store)
    (row,) = store.db.execute("select importance, trust from unified_memories").fetchall()

    assert tuple(row) == ("medium", "import")


def test_a_text_that_is_no_utf_8_can_be_read_and_is_repaired(store):
    (before,) = insert(store, memory("The caf is closed"))
    store.db.execute("update unified_memories set content = cast(x'636166e9' as text)")

    assert [each.content for each in memories.find(store, "true")] == ["caf\ufffd"]
    (done,) = mend(store)
    assert memories.get(store, before.id).content == "The caf is closed"
    assert done.original["content"] == b"caf\xe9"
    assert json.loads(store.db.execute("select original from bad_rows").fetchone()[0])[
        "content"
    ] == {"hex": "636166e9"}


def test_a_memory_whose_scope_is_lost_stays_its_owners(store):
    insert(store, memory(scope="agent", scope_owner_id="reviewer"))
    store.db.execute("delete from memory_revisions")
    force(store.db, "scope", "zzz")
    mend(store)

    assert store.db.execute("select scope from unified_memories").fetchone()[0] == "agent"


def test_a_row_that_cannot_be_repaired_is_removed_and_kept_aside(store):
    insert(store, memory("one text", id="first"), memory("another text", id="second"))
    store.db.execute("delete from memory_revisions")
    key = store.db.execute("select dedupe_key from unified_memories where seq = 2").fetchone()[0]
    force(store.db, "scope", "zzz")
    force(store.db, "dedupe_key", key)  # in the scope of the other, which has its place
    (done,) = mend(store)

    assert done.removed
    assert [each.id for each in memories.find(store, "true")] == ["second"]
    assert store.db.execute("select outcome from bad_rows").fetchone()[0] == "removed"


def test_a_revision_that_cannot_be_read_is_left_out_of_history(store):
    from ademem.store import revisions

    (one, other) = insert(store, memory(), memory("Deploys go through staging"))
    force(store.db, "snapshot", "{}", where="memory_id = 'x' or seq = 1", table="memory_revisions")
    standing = revisions.list_then(store, "2030-01-01T00:00:00.000Z", None, 9)
    seqs = [row for *_, row in standing]

    assert [each.memory_id for each in revisions.by_seqs(store, seqs)] == [other.id]
    assert one.id != other.id


def test_a_revision_with_a_count_beyond_all_numbers_is_removed(store):
    insert(store, memory())
    snapshot = json.loads(store.column("select snapshot from memory_revisions")[0])
    snapshot |= {"observation_count": 10**400, "revision_count": 0.5}
    force(store.db, "snapshot", json.dumps(snapshot), table="memory_revisions")
    (done,) = mend(store)

    assert (done.table, done.columns, done.removed) == ("memory_revisions", ("snapshot",), True)


def test_rows_that_lost_their_memory_are_removed(store):
    (one,) = insert(store, memory())
    store.db.execute("pragma foreign_keys = off")
    store.db.execute("insert into memory_exposure (memory_id) values ('gone')")
    with store.transaction() as db:
        done = repair.repair_references(db)

    assert [(each.table, each.removed) for each in done] == [("memory_exposure", True)]
    assert memories.get(store, one.id)


def test_a_project_that_lost_its_name_gets_it_back(store):
    insert(store, memory())
    before = store.project_id
    store.db.execute("pragma foreign_keys = off")
    store.db.execute("update projects set id = 'q'")
    with store.transaction() as db:
        repair.repair_references(db)

    assert store.db.execute("select id from projects").fetchone()[0] == before


@pytest.mark.parametrize("place", some([*range(24), *range(28, 32), *range(44, 64)]))
def test_a_database_with_a_damaged_header_is_copied_whole(store, tmp_path, place):
    insert(store, *(memory(f"fact number {number}", id=str(number)) for number in range(3)))
    damaged = tmp_path / "damaged.db"
    store.db.execute("vacuum into ?", (str(damaged),))
    data = bytearray(damaged.read_bytes())
    data[place] ^= 0x80
    damaged.write_bytes(data)
    with closing(open_project(tmp_path / "new")) as new:
        repair.salvage(new, str(damaged))

        assert new.number("select count(*) from unified_memories") == 3


def test_every_constraint_of_the_schema_is_known_to_the_repair(store):
    (sql,) = store.db.execute("select group_concat(sql, ';') from sqlite_master").fetchone()
    with repair._raw(store.db):
        known = [column for table in repair._tables(store.db) for column in table.columns]

    assert sql.count(" check (") == sum(" and (" in column.check for column in known)
    assert len(known) > 250
