"""Connections that stay open between calls: whose file they read, and what they hold."""

import os
import sqlite3
from contextlib import closing

import pytest

from ademem import api
from ademem.store.idle import IdleConnections

LESSON = "Releases are cut on Mondays, because the mirror syncs on Sunday"
OTHER = "The parser reads tokens of at most 64 bytes"


@pytest.fixture
def opened(world):
    connections = IdleConnections()

    def once():
        return api.open_memories(
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
        assert [memory.content for memory in api.list_memories(memories)] == [LESSON]


def test_a_call_that_ends_in_a_transaction_leaves_nothing_of_it(opened):
    with opened() as memories:
        memories.store.db.execute("begin immediate")
        memories.store.db.execute("delete from projects")
    with opened() as next:
        assert next.store.db is not memories.store.db
        assert next.store.project_id


def test_another_file_at_the_path_is_opened(opened, world, tmp_path):
    database = world.root / ".ade/ade.db"
    world.know(LESSON)
    with closing(sqlite3.connect(database)) as db:
        db.execute("vacuum into ?", (str(tmp_path / "restored.db"),))
    with opened() as memories:
        api.learn(memories, OTHER)
        before = memories.store.db
        memories.store.db.execute("pragma wal_checkpoint(truncate)")
    os.replace(tmp_path / "restored.db", database)

    with opened() as memories:
        assert memories.store.db is not before
        assert [memory.content for memory in api.list_memories(memories)] == [LESSON]
