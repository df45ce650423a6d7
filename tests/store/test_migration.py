"""Databases of earlier versions become one of today, or stay what they were."""

from __future__ import annotations

import os
import signal
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from ademem.core import trust
from ademem.store import (
    backup_files,
    database,
    inspection,
    maintenance,
    memories,
    migration,
    repair,
)
from ademem.store.opening import open_store
from tests import builders
from tests.builders import NOW, memory, open_project, project
from tests.examples import some
from tests.store import ade_file, filled, racing
from tests.store.stores import reopen, text_of

EARLIER = [*database.EARLIER[:3], database.EARLIER[-1]]


@pytest.mark.parametrize("journal", ["wal", "delete"])
@pytest.mark.parametrize("version", EARLIER)
def test_a_database_from_before_the_release_keeps_every_row(tmp_path, path, version, journal):
    filled.build_own(path, earlier=version, journal=journal)
    before = filled.rows(path)
    reopen(tmp_path)
    after = filled.rows(path)

    assert before.pop("gone")
    assert before.pop("recall_log") == filled.without(after.pop("recall_log"), "evidence")
    assert before.pop("sessions") == filled.without(after.pop("sessions"), "foreign_fields")
    assert after == before


@pytest.mark.parametrize("version", EARLIER)
def test_a_database_from_before_the_release_gets_the_schema_of_a_new_one(tmp_path, path, version):
    filled.build_own(path, earlier=version)
    reopen(tmp_path)
    reopen(tmp_path / "new")

    assert filled.schema(path) == filled.schema(tmp_path / "new" / ".ade" / "ade.db")
    with closing(sqlite3.connect(path)) as db:
        assert database.version(db) == database.SCHEMA_VERSION
        assert database.is_marked(db)
        assert repair.find_bad_rows(db) == []


def test_a_database_from_before_the_release_stays_trusted_and_is_found_by_its_words(tmp_path, path):
    filled.build_own(path)
    with closing(open_project(tmp_path)) as store:
        query = "unified_memories_fts where unified_memories_fts match 'content'"

        assert store.is_trusted
        assert store.number(f"select count(*) from {query}") == 1


@pytest.mark.parametrize("name", ["memory_sweep_log", "memory_consolidation_log"])
def test_the_logs_of_sweeps_and_consolidations_have_the_columns_of_their_specification(store, name):
    sweep, consolidation = (
        "insert into maintenance_log (id, project_id, kind, trigger_reason,"
        f" started_at, completed_at) values ('{kind}', 'atlas', '{kind}', 'manual',"
        " '2026-01-01T12:00:00.000Z', '2026-01-02T12:00:00.000Z')"
        for kind in (maintenance.SWEEP, maintenance.CONSOLIDATION)
    )
    store.db.execute(sweep)
    store.db.execute(consolidation)
    (row,) = store.dicts(f"select id, project_id, started_at, ended_at, trigger from {name}")

    assert row == {
        "id": name.split("_")[1],
        "project_id": "atlas",
        "started_at": "2026-01-01T12:00:00.000Z",
        "ended_at": "2026-01-02T12:00:00.000Z",
        "trigger": "manual",
    }


def test_work_that_no_job_does_any_more_waits_no_longer(tmp_path, path):
    filled.build_own(path)
    with closing(sqlite3.connect(path)) as db, db:
        (before,) = db.execute("select kind from jobs").fetchall()
        db.execute(
            "insert into jobs (project_id, kind, key, due_at, created_at)"
            " select project_id, 'map', 'project', due_at, created_at from jobs"
        )
    reopen(tmp_path)

    assert [row["kind"] for row in filled.rows(path)["jobs"]] == [*before]


def test_a_caller_with_little_time_takes_over_no_large_database(tmp_path, path):
    filled.build_own(path)
    before = text_of(path)

    with pytest.raises(migration.TakesLonger, match="before the first release") as raised:
        open_store(project(tmp_path), NOW, limit_s=0.001)
    assert "ademem doctor" in raised.value.hint
    assert text_of(path) == before
    assert backup_files.list_all(project(tmp_path), os.environ) == []
    open_store(project(tmp_path), NOW, limit_s=5.0).close()
    assert text_of(path)[1] == database.SCHEMA_VERSION


def test_a_process_that_is_killed_while_it_takes_over_changes_nothing(tmp_path, path, monkeypatch):
    filled.build_own(path)
    before = text_of(path)
    child = os.fork()
    if child == 0:
        monkeypatch.setattr(database, "mark", lambda *_: os.kill(os.getpid(), signal.SIGKILL))
        reopen(tmp_path)
        os._exit(1)
    assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGKILL

    assert text_of(path) == before
    reopen(tmp_path)
    assert text_of(path)[1] == database.SCHEMA_VERSION


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

    assert filled.schema(path) == filled.schema(tmp_path / "new" / ".ade" / "ade.db")


def test_the_copy_from_before_the_migration_holds_what_was_committed(tmp_path, path):
    """Row E34 of safe storage."""

    filled.build_own(path)
    with closing(sqlite3.connect(path)) as other:  # keeps the rows in the write-ahead log
        other.execute("update unified_memories set content = 'newest'")
        other.commit()
        assert (path.parent / "ade.db-wal").stat().st_size > 0
        reopen(tmp_path)

    (backup,) = backup_files.list_all(project(tmp_path), os.environ)
    (row,) = filled.rows(backup.path)["unified_memories"]
    assert row["content"] == "newest"
    assert text_of(backup.path)[1] == database.EARLIER[-1]


def test_where_no_folder_for_backups_can_be_made_the_copy_is_beside_the_database(tmp_path, path):
    filled.build_own(path)
    Path(trust.data_folder(os.environ), "backups").touch()
    reopen(tmp_path)

    copy = path.with_name("ade.db.before-migration")
    assert text_of(copy)[1] == database.EARLIER[-1]
    assert copy.stat().st_mode & 0o777 == 0o600


def test_a_current_database_is_not_copied(tmp_path, path):
    reopen(tmp_path)
    reopen(tmp_path)

    assert os.listdir(path.parent) == ["ade.db"]


@pytest.fixture
def next_schema(tmp_path, monkeypatch):
    """A release with one more migration, which says this."""

    def next_schema(sql):
        path = tmp_path / f"{database.SCHEMA_VERSION + 1:04d}_next.sql"
        path.write_text(sql)
        monkeypatch.setattr(database, "MIGRATIONS", (*database.MIGRATIONS, str(path)))
        monkeypatch.setattr(database, "SCHEMA_VERSION", database.SCHEMA_VERSION + 1)

    return next_schema


def test_an_invented_migration_keeps_every_row_and_makes_the_schema_of_a_new_database(
    tmp_path, path, next_schema
):
    with closing(open_project(tmp_path)) as store:
        (before,) = builders.insert(store, memory())
    next_schema("alter table turns add column mood text;\ncreate table moods (name text);\n")
    with closing(open_project(tmp_path)) as store:
        (after,) = memories.find(store, "true")
        store.db.execute("insert into moods values ('calm')")
    reopen(tmp_path / "new")

    assert after == before
    assert filled.schema(path) == filled.schema(tmp_path / "new/.ade/ade.db")
    assert text_of(path)[1] == database.SCHEMA_VERSION
    (backup,) = backup_files.list_all(project(tmp_path), os.environ)
    assert text_of(backup.path)[1] == database.FIRST_VERSION


def test_a_database_from_before_the_release_gets_the_migrations_after_it(
    tmp_path, path, next_schema
):
    filled.build_own(path)
    next_schema("alter table turns add column mood text;\n")
    reopen(tmp_path)

    assert filled.rows(path)["turns"][0]["mood"] is None
    assert text_of(path)[1] == database.SCHEMA_VERSION


def test_a_version_of_before_the_invented_migration_is_known_as_ours(tmp_path, path, next_schema):
    filled.build(path)
    next_schema("alter table turns add column mood text;\n")

    assert inspection.kind_of(str(path), {}) is inspection.Kind.OURS


def test_a_migration_that_fails_changes_nothing(tmp_path, path, next_schema):
    store = open_project(tmp_path)
    builders.insert(store, memory())
    store.close()
    before = text_of(path)
    next_schema("create table good (x);\ndrop table turns;\ncreate table bad (;\n")

    with pytest.raises(database.MigrationFailed) as failure:
        reopen(tmp_path)

    assert text_of(path) == before
    (backup,) = backup_files.list_all(project(tmp_path), os.environ)
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

    assert filled.rows(path)["log"] == [{"x": 1}]


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
    filled.build_own(path)
    begin = database.Transaction

    def late(db):
        with closing(sqlite3.connect(path)) as newer:
            newer.execute("pragma user_version = 99")
        return begin(db)

    monkeypatch.setattr(database, "Transaction", late)

    with pytest.raises(database.NewerDatabase):
        reopen(tmp_path)
    assert "gone" in filled.rows(path)


@pytest.mark.parametrize(
    ("leave", "count"),
    some(
        [
            pytest.param(lambda root: None, 0, id="nothing"),
            pytest.param(
                lambda root: filled.build_own(root / ".ade" / "ade.db"),
                1,
                id="an older one",
            ),
            pytest.param(
                lambda root: filled.build_own(root / ".ade" / "ade.db", journal="delete"),
                1,
                id="an older one without a log",
            ),
            pytest.param(
                lambda root: ade_file.build(root, unified_memories=[ade_file.memory("m")]),
                1,
                id="one of ADE",
            ),
        ],
        2,
    ),
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
    filled.build_own(path)
    with closing(sqlite3.connect(path)) as writer:
        writer.execute("begin immediate")

        with pytest.raises(sqlite3.OperationalError, match="locked"):
            open_store(project(tmp_path), NOW, wait_s=0.01)
    assert "gone" in filled.rows(path)
