"""Databases of every age become one of today, or stay what they were."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from ademem.store import backups, database, inspection, maintenance, repair
from ademem.store.opening import open_store
from tests import builders
from tests.builders import NOW, memory, open_project, project
from tests.examples import some
from tests.store import ade_file, older, racing, schema_file
from tests.store.stores import reopen, text_of

OLDEST = database.FIRST_VERSION
VERSIONS = range(OLDEST, database.SCHEMA_VERSION + 1)
TRIED = some(VERSIONS, 4)


DROPPED = {
    *("search_files", "search_changes"),  # about files that are no longer written
    *("memories", "sync_mutations", "sync_state", "sync_chunks", "sync_apply_deferred"),
    *("unified_memory_signatures", "unified_memory_unsigned"),  # derived from the texts
    *("cto_core_memory_state", "agent_core_memory_state", "gate_log", "guard_log"),
    *("memory_sweep_log", "memory_consolidation_log", "memory_procedure_sources"),
    *("session_commits", "people_commits", "head_cursors", "worktree_commits"),
    "memory_sites",
    *("store_secret", "search_lenses", "hook_output"),
}
"""Tables that a migration removed: derived data, never used, or merged with others."""
MERGED = [
    ("agent_core_memory_state", "cto_core_memory_state", {}),
    ("cto_core_memory_state", "cto_core_memory_state", {}),
    ("gate_log", "decision_log", {"rule": "decision", "preview": "subject", "category": "kind"}),
    ("guard_log", "decision_log", {"target": "subject", "tool": "kind"}),
    ("memory_sweep_log", "maintenance_log", {"sweep_id": "id"}),
    ("memory_consolidation_log", "maintenance_log", {"consolidation_id": "id"}),
    ("session_commits", "commits", {"created_at": None}),
    ("people_commits", "commits", {}),
    ("head_cursors", "head_cursors", {}),
    ("worktree_commits", "head_cursors", {"sha": "latest_sha", "seen_at": None}),
]
"""Tables with those that their rows went to, and with columns of another name there."""


LANDED = {
    "migrations/0019_first.sql": "ce7501b1bd17585e",
    "migrations/0020_store_secret.sql": "3fc7d903fed77953",
    "migrations/0021_constraints.sql": "07e3b6189719235b",
    "migrations/0022_claimed_authors.sql": "e5281d7e737ce3d9",
    "migrations/0023_claims_and_history.sql": "5be2b15e83dc45e7",
    "migrations/0024_no_index_files.sql": "7d08f90fb446b373",
    "migrations/0025_unused_tables.sql": "bbfac083adc87c67",
    "migrations/0026_fewer_tables.sql": "dba0cc0c2ccce2c8",
    "migrations/0027_denials.sql": "e4ca53bee2fb1c3e",
    "migrations/0028_changes.sql": "d509938225a9455e",
    "migrations/0029_stamps.sql": "4a0ad6805f7b3885",
    "migrations/0030_doors.sql": "1fd041163b8ead93",
    "migrations/0031_exchange.sql": "25597ea022f6a855",
    "migrations/0032_injections.sql": "5c5252347d003068",
    "migrations/0033_evidence_of_use.sql": "f68449de41b44dc4",
    "migrations/0034_counts.sql": "242b3fc68a3ed4fe",
    "migrations/0035_identifiers.sql": "c8c262ba5d2cb3f5",
    "migrations/0036_said_in.sql": "4fe6ba6426c7b6b2",
    "migrations/0037_kept_copies.sql": "1e3c55d3d73bb3ff",
    "migrations/0038_no_map_jobs.sql": "25bf897efba52385",
    "migrations/0039_bindings.sql": "26e2218e9a5bf753",
    "hub/migrations/0006_hub.sql": "9ff5386c31a152e8",
    "hub/migrations/0007_growth.sql": "b6f24e9bcfa5761a",
}
"""SHA-256 of the migrations by path: databases that each of them made exist already."""


def test_no_landed_migration_was_edited():
    """A store of a former text cannot be migrated any more: correct it in a new file instead."""
    folders = (Path(database.MIGRATIONS), Path(database.MIGRATIONS).parent / "hub" / "migrations")
    found = {
        path.relative_to(folders[0].parent).as_posix(): hashlib.sha256(
            path.read_bytes()
        ).hexdigest()[:16]
        for folder in folders
        for path in sorted(folder.glob("*.sql"))
    }

    assert found == LANDED, "add the digest of a new migration, and edit none that is here"


def test_the_version_counts_the_migrations():
    assert len(older.SCHEMA) == len(VERSIONS)


def test_the_schema_file_is_what_all_migrations_make():
    assert Path(database.SCHEMA).read_text(encoding="utf-8") == schema_file.written()


def test_a_new_database_has_the_schema_of_a_migrated_one():
    with (
        closing(sqlite3.connect(":memory:", isolation_level=None)) as new,
        closing(sqlite3.connect(":memory:", isolation_level=None)) as migrated,
    ):
        database.run_schema(new)
        database.run_schema(migrated, upto=database.SCHEMA_VERSION)

        assert inspection.schema(new) == inspection.schema(migrated)
        assert database.version(new) == database.version(migrated)


@pytest.mark.parametrize("journal", ["wal", "delete"])
@pytest.mark.parametrize("version", TRIED)
def test_an_older_database_keeps_every_row(tmp_path, path, version, journal):
    older.build(path, version, journal=journal)
    before = {name: rows for name, rows in older.rows(path).items() if name not in DROPPED}
    reopen(tmp_path)
    after = older.rows(path)

    assert before
    assert {name: older.columns_of(before[name], after[name]) for name in before} == before


@pytest.mark.parametrize("version", [19, 25])
@pytest.mark.parametrize(("old", "new", "renamed"), MERGED, ids=[each[0] for each in MERGED])
def test_rows_of_tables_that_are_one_now_are_kept(tmp_path, path, version, old, new, renamed):
    older.build(path, version)
    (before,) = older.rows(path)[old]
    reopen(tmp_path)
    after = older.rows(path)[new]

    expected = {renamed.get(name, name): value for name, value in before.items()}
    expected.pop(None, None)
    if old.endswith("_log"):
        expected.pop("id") if new == "decision_log" else None
        expected = {name: value for name, value in expected.items() if "entries" not in name}
        expected.pop("clusters_found", None)
    assert expected.items() in [{name: row[name] for name in expected}.items() for row in after]


VIEWS = {
    "memory_sweep_log": set(),
    "memory_consolidation_log": set(),
    "memory_procedure_sources": {"created_at"},
    "gate_log": {"id"},
}
"""Names that ADE gives its logs, with columns that tell something else now."""


@pytest.mark.parametrize(("name", "changed"), VIEWS.items(), ids=VIEWS)
def test_logs_and_sources_are_read_under_the_names_that_ade_gives_them(
    tmp_path, path, name, changed
):
    older.build(path, 25)
    (before,) = older.rows(path)[name]
    reopen(tmp_path)
    with closing(sqlite3.connect(path)) as db:
        db.row_factory = sqlite3.Row
        (after,) = map(dict, db.execute(f"select * from {name}"))

    assert after.keys() == before.keys()
    assert {name: after[name] for name in after.keys() - changed} == {
        name: before[name] for name in before.keys() - changed
    }


def test_work_that_no_job_does_any_more_waits_no_longer(tmp_path, path):
    older.build(path, 37)
    with closing(sqlite3.connect(path)) as db, db:
        (before,) = db.execute("select kind from jobs").fetchall()
        db.execute(
            "insert into jobs (project_id, kind, key, due_at, created_at)"
            " select project_id, 'map', 'project', due_at, created_at from jobs"
        )
    reopen(tmp_path)

    assert [row["kind"] for row in older.rows(path)["jobs"]] == [*before]


def test_counts_sources_and_single_values_are_kept(tmp_path, path):
    older.build(path, 25)
    before = older.rows(path)
    reopen(tmp_path)
    after = older.rows(path)

    counts = {row["kind"]: json.loads(row["counts"]) for row in after["maintenance_log"]}
    assert counts["sweep"] == dict.fromkeys(maintenance.COUNTED, 7)
    assert counts["consolidation"] == {"found": 7, "merged": 7, "created": 7}
    assert after["memory_procedure_details"][0]["episode_ids"] == '["the episode_memory_id"]'
    values = {row["name"]: row["value"] for row in after["store_values"]}
    (whitening,) = before["search_lenses"]
    assert values == {
        "secret": before["store_secret"][0]["secret"],
        "whitening_model": whitening["embedding_model"],
        "whitening_mean": whitening["mean"],
        "whitening_axes": whitening["axes"],
        "whitening_vectors": whitening["learned_from"],
        "hook_output/the day/the event": "[7,7]",
    }


@pytest.mark.parametrize(
    ("table", "column", "value"),
    [
        pytest.param("agent_core_memory_state", "payload_json", "no JSON", id="no JSON"),
        pytest.param("people_commits", "told_at", "yesterday", id="no moment"),
        pytest.param("memory_sweep_log", "entries_decayed", b"\xff", id="no number"),
        pytest.param("guard_log", "target", b"\xff", id="bytes"),
        pytest.param("memory_procedure_sources", "episode_memory_id", b"\xff", id="no id"),
    ],
)
def test_a_bad_value_in_a_table_that_is_merged_stops_no_migration(
    tmp_path, path, table, column, value
):
    older.build(path, 25)
    with closing(sqlite3.connect(path)) as db:
        db.execute("pragma ignore_check_constraints = on")
        db.execute(f"update {table} set {column} = ?", (value,))
        db.commit()
    reopen(tmp_path)

    with closing(sqlite3.connect(path)) as db:
        assert repair.find_bad_rows(db) == []


@pytest.mark.parametrize("version", TRIED)
def test_an_older_database_gets_the_schema_of_a_new_one(tmp_path, path, version):
    older.build(path, version)
    reopen(tmp_path)
    reopen(tmp_path / "new")

    assert older.schema(path) == older.schema(tmp_path / "new" / ".ade" / "ade.db")


def test_an_older_database_is_found_by_its_words_afterwards(tmp_path, path):
    older.build(path, OLDEST)
    store = open_project(tmp_path)
    query = "select count(*) from unified_memories_fts where unified_memories_fts match 'content'"

    assert store.db.execute(query).fetchone()[0] == 1
    store.close()


@pytest.mark.parametrize(
    "leave",
    [
        pytest.param(lambda path: path.touch(), id="no bytes"),
        pytest.param(lambda path: sqlite3.connect(path).close(), id="no page"),
    ],
)
def test_an_empty_file_becomes_a_database(tmp_path, path, leave):
    path.parent.mkdir()
    leave(path)
    reopen(tmp_path)
    reopen(tmp_path / "new")

    assert older.schema(path) == older.schema(tmp_path / "new" / ".ade" / "ade.db")


def test_the_copy_from_before_the_migration_holds_what_was_committed(tmp_path, path):
    """Row E34 of safe storage."""

    older.build(path, OLDEST)
    with closing(sqlite3.connect(path)) as other:  # keeps the rows in the write-ahead log
        other.execute("update unified_memories set content = 'newest'")
        other.commit()
        assert (path.parent / "ade.db-wal").stat().st_size > 0
        reopen(tmp_path)

    (backup,) = backups.list_all(project(tmp_path), os.environ)
    (row,) = older.rows(backup.path)["unified_memories"]
    assert row["content"] == "newest"
    assert text_of(backup.path)[1] == OLDEST


def test_where_no_data_folder_can_be_made_the_copy_is_beside_the_database(tmp_path, path, home):
    older.build(path, OLDEST)
    (home / ".local").touch()
    reopen(tmp_path)

    copy = path.with_name("ade.db.before-migration")
    assert text_of(copy)[1] == OLDEST
    assert copy.stat().st_mode & 0o777 == 0o600


def test_a_current_database_is_not_copied(tmp_path, path):
    reopen(tmp_path)
    reopen(tmp_path)

    assert os.listdir(path.parent) == ["ade.db"]


@pytest.fixture
def next_schema(tmp_path, monkeypatch):
    """A release with one more migration, which says this."""

    def next_schema(sql):
        folder = tmp_path / "migrations"
        shutil.copytree(database.MIGRATIONS, folder, dirs_exist_ok=True)
        (folder / f"{database.SCHEMA_VERSION + 1:04d}_next.sql").write_text(sql)
        monkeypatch.setattr(database, "MIGRATIONS", str(folder))
        monkeypatch.setattr(database, "SCHEMA_VERSION", database.SCHEMA_VERSION + 1)

    return next_schema


def test_a_migration_that_fails_changes_nothing(tmp_path, path, next_schema):
    store = open_project(tmp_path)
    builders.insert(store, memory())
    store.close()
    before = text_of(path)
    next_schema("create table good (x);\ndrop table turns;\ncreate table bad (;\n")

    with pytest.raises(database.MigrationFailed) as failure:
        reopen(tmp_path)

    assert text_of(path) == before
    (backup,) = backups.list_all(project(tmp_path), os.environ)
    assert backup.path in failure.value.hint
    assert text_of(backup.path) == before


def test_a_migration_may_hold_triggers_and_comments(tmp_path, path, next_schema):
    reopen(tmp_path)
    next_schema(
        "-- a trigger; with semicolons\n"
        "create table log (x); -- trailing\n"
        "create trigger noted after insert on log begin\n"
        "  delete from log where x < 0;\n  delete from log where x is null;\nend;\n"
        "insert into log values (-1), (null), (1);\n-- the end\n"
    )
    reopen(tmp_path)

    assert older.rows(path)["log"] == [{"x": 1}]


def test_a_newer_database_is_refused_and_left_alone(tmp_path, path):
    """Row E34 of safe storage."""

    reopen(tmp_path)
    with closing(sqlite3.connect(path)) as db:
        db.execute("pragma user_version = 99")
    before = text_of(path)

    with pytest.raises(database.NewerDatabase, match="99"):
        reopen(tmp_path)

    assert text_of(path) == before


def test_a_database_that_somebody_newer_migrates_meanwhile_is_refused(tmp_path, path, monkeypatch):
    older.build(path, OLDEST)
    begin = database.Transaction

    def late(db):
        with closing(sqlite3.connect(path)) as newer:
            newer.execute("pragma user_version = 99")
        return begin(db)

    monkeypatch.setattr(database, "Transaction", late)

    with pytest.raises(database.NewerDatabase):
        reopen(tmp_path)
    assert "injections" not in older.rows(path)


@pytest.mark.parametrize(
    ("leave", "count"),
    [
        pytest.param(lambda root: None, 0, id="nothing"),
        pytest.param(
            lambda root: older.build(root / ".ade" / "ade.db", OLDEST),
            1,
            id="an older one",
        ),
        pytest.param(
            lambda root: older.build(root / ".ade" / "ade.db", OLDEST, journal="delete"),
            1,
            id="an older one without a log",
        ),
        pytest.param(
            lambda root: ade_file.build(root, unified_memories=[ade_file.memory("m")]),
            1,
            id="one of ADE",
        ),
    ],
)
def test_eight_processes_may_open_at_once(tmp_path, path, leave, count):
    leave(tmp_path)
    project(tmp_path)
    said = racing.race(8, str(tmp_path), "1", "0")
    store = open_project(tmp_path)

    assert len({id for (id,) in said}) == 8
    assert store.db.execute("select count(*) from unified_memories").fetchone()[0] == 8 + count
    assert store.db.execute("select count(*) from projects").fetchone()[0] == 1
    assert store.db.execute("pragma journal_mode").fetchone()[0] == "wal"
    assert store.db.execute("pragma integrity_check").fetchone()[0] == "ok"
    store.close()
    assert not [name for name in os.listdir(path.parent) if name.endswith(".new")]


def test_a_migration_waits_for_a_writer_no_longer_than_its_limit(tmp_path, path):
    older.build(path, OLDEST)
    with closing(sqlite3.connect(path)) as writer:
        writer.execute("begin immediate")

        with pytest.raises(sqlite3.OperationalError, match="locked"):
            open_store(project(tmp_path), NOW, wait_s=0.01)
    assert "injections" not in older.rows(path)
