"""Opening the database, and what a transaction promises."""

from __future__ import annotations

import os
import sqlite3
import tempfile
import time
from contextlib import closing
from pathlib import Path

import pytest

from ademem import operations
from ademem.core.errors import NoSuchMemory
from ademem.core.project import Project
from ademem.operations import searching, writing
from ademem.store import database, memories
from ademem.store.database import IdleConnections
from ademem.store.opening import open_store
from tests import builders
from tests.builders import NOW, memory, open_project, project
from tests.store import filled, racing
from tests.store.stores import reopen, text_of


def test_the_first_opening_makes_the_database_and_names_the_project(tmp_path, path):
    store = open_project(tmp_path / "My_Atlas")

    assert store.project_id == "my-atlas"
    assert store.db.execute("pragma journal_mode").fetchone()[0] == "wal"
    assert store.db.execute("pragma foreign_keys").fetchone()[0] == 1
    assert store.db.execute("pragma synchronous").fetchone()[0] == 1
    store.close()
    assert os.listdir(tmp_path / "My_Atlas" / ".ade") == ["ade.db"]


def test_only_its_owner_may_read_a_database_and_its_log(tmp_path):
    store = open_project(tmp_path)
    builders.insert(store, memory("a private word"))

    made = {
        name: (tmp_path / ".ade" / name).stat().st_mode & 0o777
        for name in os.listdir(tmp_path / ".ade")
    }
    assert {"ade.db", "ade.db-wal"} <= made.keys()
    assert set(made.values()) == {0o600}
    store.close()


def test_the_project_keeps_its_name_when_its_folder_moves(tmp_path):
    open_project(tmp_path / "atlas").close()
    (tmp_path / "atlas").rename(tmp_path / "globe")
    store = open_project(tmp_path / "globe")

    assert store.project_id == "atlas"
    store.close()


def test_whoever_comes_second_keeps_the_first_database(tmp_path, path):
    store = open_project(tmp_path)
    builders.insert(store, memory())
    database.create(str(path))

    assert len(memories.find(store, "true")) == 1
    store.close()


def test_where_hard_links_are_missing_a_rename_does(tmp_path, path, monkeypatch):
    def no_links(*_):
        raise PermissionError

    monkeypatch.setattr(os, "link", no_links)
    reopen(tmp_path)

    assert os.listdir(path.parent) == ["ade.db"]
    assert text_of(path)[1] == database.SCHEMA_VERSION


def test_a_transaction_that_fails_takes_everything_back(tmp_path):
    store = open_project(tmp_path)
    with pytest.raises(NoSuchMemory), store.transaction():
        memories.get(store, builders.insert(store, memory())[0].id + "else")

    assert memories.find(store, "true") == []
    assert not store.db.in_transaction
    store.close()


def test_a_full_disk_takes_back_the_transaction_and_leaves_a_usable_store(tmp_path):
    store = open_project(tmp_path)
    pages = store.db.execute("pragma page_count").fetchone()[0]
    store.db.execute(f"pragma max_page_count = {pages}")
    with pytest.raises(sqlite3.OperationalError, match="full"), store.transaction():
        builders.insert(store, *(memory(f"{number} " + "x" * 4000) for number in range(9)))
    store.db.execute(f"pragma max_page_count = {pages * 9}")
    builders.insert(store, memory())

    assert len(memories.find(store, "true")) == 1
    store.close()


def test_a_reader_is_not_in_the_way_of_a_writer(tmp_path):
    store = open_project(tmp_path)
    other = open_project(tmp_path)
    with store.transaction():
        builders.insert(store, memory())

        assert memories.find(other, "true") == []
    assert len(memories.find(other, "true")) == 1
    store.close()
    other.close()


def test_a_writer_waits_for_another_no_longer_than_its_limit(tmp_path):
    store = open_project(tmp_path)
    other = open_store(project(tmp_path), NOW, wait_s=0.01)
    with (
        store.transaction(),
        pytest.raises(sqlite3.OperationalError, match="locked"),
        other.transaction(),
    ):
        pass
    store.close()
    other.close()


def test_somebody_who_reads_the_old_way_does_not_hold_up_an_opening(tmp_path, path):
    filled.build(path, journal="delete")
    with closing(sqlite3.connect(path)) as reader:
        reader.execute("begin")
        reader.execute("select name from sqlite_master").fetchall()
        started = time.monotonic()
        open_store(project(tmp_path), NOW, wait_s=60).close()
        took_s = time.monotonic() - started
    store = open_project(tmp_path)

    assert took_s < 30
    assert store.db.execute("pragma journal_mode").fetchone()[0] == "wal"
    store.close()


def test_a_file_with_the_head_of_a_database_alone_is_a_database_error(tmp_path, path):
    path.parent.mkdir()
    path.write_bytes(b"SQLite format 3\0" + b"rubbish" * 999)

    with pytest.raises(sqlite3.DatabaseError):
        reopen(tmp_path)


@pytest.mark.parametrize("is_noted", [False, True], ids=["first met", "looked at before"])
def test_a_file_in_which_no_database_is_left_is_set_aside(tmp_path, path, is_noted):
    text = b"# not a database\n" * 999
    path.parent.mkdir()
    if is_noted:
        reopen(tmp_path)
    with path.open("r+b" if is_noted else "wb") as file:
        file.truncate(0)
        file.write(text)
    reopen(tmp_path)

    assert path.read_bytes().startswith(b"SQLite format 3")
    assert path.with_name("ade.db.foreign-1").read_bytes() == text


@pytest.mark.parametrize("share", [0.02, 0.1, 0.5])
def test_a_file_that_lost_its_end_is_a_database_error(tmp_path, path, share):
    reopen(tmp_path)
    os.truncate(path, int(path.stat().st_size * share))

    with pytest.raises(sqlite3.DatabaseError):
        reopen(tmp_path)


def test_a_folder_that_is_a_file_is_an_os_error(tmp_path):
    (tmp_path / ".ade").write_text("")

    with pytest.raises(OSError, match="ade"):
        open_store(Project(root=str(tmp_path), home=str(tmp_path / ".ade")), NOW)


@pytest.mark.parametrize("exists", [False, True], ids=["new", "there already"])
def test_a_folder_that_cannot_be_written_is_an_operational_error(exists):
    with tempfile.TemporaryDirectory() as folder:
        if exists:
            open_store(Project(root=folder, home=folder), NOW).close()
        os.chmod(folder, 0o555)

        assert racing.said("tests.store.nobody", folder) == ["OperationalError"]
        os.chmod(folder, 0o755)


def test_paths_are_any_text(tmp_path):
    root = Path(tmp_path, "a b%20c?d#é'\"")
    reopen(root)

    assert os.listdir(root / ".ade") == ["ade.db"]


@pytest.mark.parametrize(
    ("chars", "there"),
    [
        pytest.param(10, True, id="short: the next one reads it"),
        pytest.param(10**6, False, id="long"),
    ],
)
def test_processes_that_end_unclosed_leave_only_a_short_log(tmp_path, chars, there):
    open_project(tmp_path).close()
    for name in ("first", "second"):
        racing.said("tests.store.leaver", str(tmp_path), name, str(chars))

    assert (tmp_path / ".ade/ade.db-wal").exists() is there
    store = open_project(tmp_path)
    assert len(memories.find(store, "true")) == 2
    store.close()


LESSON = "Releases are cut on Mondays, because the mirror syncs on Sunday"
OTHER = "The parser reads tokens of at most 64 bytes"


@pytest.fixture
def opened(world):
    connections = IdleConnections()

    def once():
        return operations.open_memories(
            str(world.root), environment=world.environment, connections=connections
        )

    with once():
        pass  # which inspects the database
    yield once
    connections.close()


def test_the_next_call_gets_the_connection_of_the_last(opened):
    with opened() as first, opened() as beside:
        assert first.store.db is not beside.store.db
    with opened() as next:
        assert next.store.db in (first.store.db, beside.store.db)


def test_a_write_of_another_process_is_read_and_an_idle_connection_holds_no_lock(opened, world):
    with opened() as memories:
        list(memories.store.db.execute("select * from unified_memories"))
    world.know(LESSON)
    with closing(sqlite3.connect(world.root / ".ade/ade.db", timeout=0)) as alone:
        assert alone.execute("pragma wal_checkpoint(truncate)").fetchone()[0] == 0
        alone.execute("begin exclusive")

    with opened() as memories:
        assert [memory.content for memory in searching.list_memories(memories)] == [LESSON]


def test_a_call_that_ends_in_a_transaction_leaves_nothing_of_it(opened):
    with opened() as memories:
        memories.store.db.execute("begin immediate")
        memories.store.db.execute("delete from projects")
    with opened() as next:
        assert next.store.db is not memories.store.db
        assert next.store.project_id


def test_another_file_at_the_path_is_opened(opened, world, tmp_path):
    file = world.root / ".ade/ade.db"
    world.know(LESSON)
    with closing(sqlite3.connect(file)) as db:
        db.execute("vacuum into ?", (str(tmp_path / "restored.db"),))
    with opened() as memories:
        writing.learn(memories, OTHER)
        before = memories.store.db
        memories.store.db.execute("pragma wal_checkpoint(truncate)")
    os.replace(tmp_path / "restored.db", file)
    for suffix in database.SIDECARS:  # of the former file, which fit no other
        file.with_name(file.name + suffix).unlink(missing_ok=True)

    with opened() as memories:
        assert memories.store.db is not before
        assert [memory.content for memory in searching.list_memories(memories)] == [LESSON]
