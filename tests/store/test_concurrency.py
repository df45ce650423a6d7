"""Many writers, and writers that die: what was acknowledged is there."""

from __future__ import annotations

import pytest

from ademem.store import memories
from tests.builders import open_project
from tests.examples import examples
from tests.store import racing

WRITERS, EACH, SHARED = 16, examples(200, share=8), 10
KILLS = examples(200, share=20)


def assert_sound(store):
    assert store.db.execute("pragma integrity_check").fetchone()[0] == "ok"
    assert store.db.execute("pragma foreign_key_check").fetchall() == []
    for index in ("unified_memories_fts", "unified_memories_trigram"):
        store.db.execute(f"insert into {index}({index}) values ('integrity-check')")


@pytest.mark.slow
def test_sixteen_writers_lose_nothing(tmp_path):
    """Row E34 of safe storage."""

    open_project(tmp_path).close()
    said = racing.race(WRITERS, str(tmp_path), str(EACH), str(SHARED))
    store = open_project(tmp_path)
    found = {row.id: row for row in memories.find(store, "true")}

    assert {id for ids in said for id in ids} == found.keys()
    assert sum(row.observation_count for row in found.values()) == WRITERS * EACH
    assert len(found) == SHARED + WRITERS * (EACH - SHARED)
    revisions = store.db.execute("select count(*) from memory_revisions").fetchone()[0]
    assert revisions == WRITERS * EACH
    assert_sound(store)
    store.close()


@pytest.mark.slow
def test_what_a_killed_writer_acknowledged_is_there(tmp_path):
    """Row E34 of safe storage."""

    open_project(tmp_path).close()
    acknowledged = racing.said("tests.store.killer", str(tmp_path), str(KILLS))
    store = open_project(tmp_path)
    found = {row.id for row in memories.find(store, "true")}

    assert len(acknowledged) >= KILLS
    assert set(acknowledged) <= found
    assert len(found) <= len(acknowledged) + KILLS
    assert_sound(store)
    store.close()
