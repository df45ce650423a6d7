"""A database of ADE becomes ours as a whole, or stays what it was."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ademem.store import MigrationFailed, database, memories, open_store
from tests import builders
from tests.builders import NOW
from tests.store import ade_file
from tests.store.ade.adopting import adopted_store, one, table, tables
from tests.store.ade_file import CODE, embedding, memory


def test_the_words_can_be_found(adopt):
    store = adopt(unified_memories=[memory("m", "WAL needs shared memory")])
    query = "select rowid from unified_memories_fts where unified_memories_fts match 'memories'"

    assert [row[0] for row in store.db.execute(query)] == [one(store).seq]


def test_secrets_are_redacted_before_they_reach_an_index_or_a_hash(adopt):
    secret = "ghp_" + "a1B2c3D4" * 5
    store = adopt(
        unified_memories=[memory("m", f"deploy with {secret}"), memory("n")],
        memory_procedure_details=[
            {"memory_id": "n", "trigger": "deploy", "procedure_markdown": secret}
        ],
        unified_memory_embeddings=[embedding("e", "m"), embedding("f", "n")],
    )
    everything = "\n".join(store.db.iterdump())

    assert secret not in everything
    assert one(store).content.startswith("deploy with ")
    assert [row["memory_id"] for row in table(store, "unified_memory_embeddings")] == ["n"]


def test_tables_of_ade_that_are_not_ours_stay_as_they_are(adopt):
    store = adopt(
        missions=[{"id": "m1", "project_id": "atlas"}],
        sessions=[{"token": "t", "expires": 5}],
    )
    sql = store.db.execute("select sql from sqlite_master where name = 'missions'").fetchone()[0]

    assert table(store, "missions") == [{"id": "m1", "project_id": "atlas", "title": "untitled"}]
    assert sql.removeprefix("CREATE TABLE ") in CODE
    assert {"idx_missions_project", "missions_titled"} <= {
        row[0] for row in store.db.execute("select name from sqlite_master")
    }
    assert table(store, "ade_sessions") == [{"token": "t", "expires": 5}]
    assert table(store, "sessions") == []
    assert store.db.execute("pragma foreign_key_check").fetchall() == []


def test_the_projects_of_ade_are_ours_and_their_other_columns_are_kept(adopt):
    store = adopt()
    (ours,) = table(store, "projects")

    assert ours == {
        name: value for name, value in ade_file.PROJECT.items() if name != "default_base_ref"
    }
    assert table(store, "ade_projects") == [ade_file.PROJECT]
    assert store.project_id == "atlas"


@pytest.mark.parametrize(
    ("projects", "expected"),
    [
        pytest.param(["empty", "atlas"], "atlas", id="the one with the memories"),
        pytest.param([], "atlas", id="only named by its memories"),
        pytest.param(["other"], "other", id="the only one there is"),
    ],
)
def test_all_memories_belong_to_the_one_project_of_the_database(adopt, projects, expected):
    store = adopt(
        projects=[ade_file.PROJECT | {"id": id} for id in projects],
        unified_memories=[memory("a"), memory("b"), memory("c", project_id=None)],
    )

    assert store.project_id == expected
    assert len(memories.find(store, "true")) == 3
    assert store.db.execute("pragma foreign_key_check").fetchall() == []


def test_an_adopted_database_has_the_schema_of_a_new_one(adopt, tmp_path):
    theirs = adopt(unified_memories=[memory("m")])
    ours = builders.open_project(tmp_path / "new")
    query = "select type, name, tbl_name, sql from sqlite_master order by type, name"
    fresh = {tuple(row) for row in ours.db.execute(query)}
    found = {tuple(row) for row in theirs.db.execute(query)}
    ours.close()

    assert fresh <= found
    assert {row[1] for row in found - fresh} == {
        "missions",
        "idx_missions_project",
        "missions_titled",
        "sqlite_autoindex_missions_1",
        "ade_projects",
        "sqlite_autoindex_ade_projects_1",
        "ade_sessions",
        "sqlite_autoindex_ade_sessions_1",
    }


def test_an_sqlite_without_fts4_takes_over_all_the_same(adopt, tmp_path):
    unknown = (
        "pragma writable_schema = on;"
        "update sqlite_master set sql = replace(sql, 'using fts4', 'using nowhere')"
        " where name = 'unified_memories_fts';"
    )
    store = adopt(CODE + unknown)

    assert store.db.execute("pragma integrity_check").fetchone()[0] == "ok"
    assert not [name for name in tables(store) if name.endswith(("_segments", "_segdir", "_stat"))]
    builders.insert(store, builders.memory("the index works"))
    query = "select count(*) from unified_memories_fts where unified_memories_fts match 'works'"
    assert store.db.execute(query).fetchone()[0] == 1


def test_the_plain_table_ade_makes_where_fts4_is_missing_goes_too(adopt):
    store = adopt(
        CODE + "drop table unified_memories_fts;"
        "drop trigger unified_memories_fts_bd; drop trigger unified_memories_fts_bu;"
        "drop trigger unified_memories_fts_ai; drop trigger unified_memories_fts_au;"
        "create table unified_memories_fts (content text);"
    )

    assert (
        "fts5"
        in store.db.execute(
            "select sql from sqlite_master where name = 'unified_memories_fts'"
        ).fetchone()[0]
    )


def test_text_that_is_not_utf8_does_not_stop_the_adoption(adopt):
    broken = "insert into unified_memories (id, content) values ('m', cast(x'636166e9' as text));"

    assert one(adopt(CODE + broken)).content == "caf\ufffd"


def test_a_failed_adoption_leaves_the_database_as_it_was_and_names_the_copy(tmp_path):
    ade_file.build(
        tmp_path, CODE + "create view turns as select 1;", unified_memories=[memory("m")]
    )
    path = tmp_path / ".ade" / "ade.db"
    with closing(sqlite3.connect(path)) as db:
        before = list(db.iterdump())

    with pytest.raises(MigrationFailed, match="turns") as failure:
        open_store(builders.project(tmp_path), NOW)

    assert str(path) + ".v0.bak" in failure.value.hint
    for name in (path, f"{path}.v0.bak"):
        with closing(sqlite3.connect(name)) as db:
            assert list(db.iterdump()) == before
            assert database.version(db) == 0


ANYTHING = st.one_of(
    st.none(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False),
    st.text(max_size=20),
    st.binary(max_size=20),
    st.sampled_from(["user", "lane", "archived", "candidate", "1", "0001-01-01T00:00+23:00"]),
)


COLUMNS = [name for name in memory("m") if name != "id"]


@settings(max_examples=100)
@given(st.lists(st.dictionaries(st.sampled_from(COLUMNS), ANYTHING), max_size=4))
def test_no_value_in_any_column_stops_the_adoption(odd):
    rows = [memory(f"m{number}") | changes for number, changes in enumerate(odd)]
    store = adopted_store(unified_memories=rows)
    found = memories.find(store, "true")
    store.close()

    assert {row.id for row in found} == {row["id"] for row in rows}
    assert all(row.live or row.superseded_by or row.status == "archived" for row in found)
