"""The numbers that triggers keep are those of the rows, whatever happens to these."""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing

import pytest

from ademem.core.memory import LOST_BRANCH
from ademem.store import counts, database, embeddings, memory_queries, repair, statistics
from tests.builders import NOW, insert, memory, open_project
from tests.store import filled

SOME = "in (select id from unified_memories where seq * :turn % 11 < 2)"
CHANGES = (
    "status = 'archived'",
    "status = 'promoted'",
    "superseded_by = 'x', tier = 3",
    "quarantine_reason = 'why', pinned = 1",
    "quarantine_reason = null, superseded_by = null",
    "deleted_at = updated_at",
    "deleted_at = null",
    f"write_gate_reason = '{LOST_BRANCH}'",
    "content = content || '.', status = 'archived'",
    "content = content || '.', status = 'promoted'",
    "project_id = project_id, source_type = 'skill'",
)
WRITES = (
    *(f"update or ignore unified_memories set {change} where id {SOME}" for change in CHANGES),
    f"delete from unified_memories where id {SOME}",
    f"delete from unified_memory_embeddings where memory_id {SOME}",
    f"update or ignore unified_memory_embeddings set embedding_model = 'n' where memory_id {SOME}",
)
VECTOR = """
insert or ignore into unified_memory_embeddings
select hex(randomblob(8)), id, project_id, 'm', x'00000000', 1, 1.0, created_at, updated_at
from unified_memories
"""


@pytest.mark.parametrize("seed", range(3))
def test_any_history_of_memories_and_vectors_leaves_the_numbers_right(store, seed):
    rng = random.Random(seed)
    for step in range(60):
        scope, owner = rng.choice([("project", None), ("agent", "main"), ("mission", "m-1")])
        insert(store, memory(f"{seed} {step}", scope=scope, scope_owner_id=owner))
        store.db.execute(VECTOR)
        store.db.execute(rng.choice(WRITES), {"turn": rng.randrange(11)})

        assert counts.find_wrong(store) == []


@pytest.mark.parametrize("table", counts.TABLES)
def test_the_doctor_finds_and_mends_numbers_that_are_wrong(store, table):
    insert(store, memory())
    store.db.execute(VECTOR)
    store.db.execute(f"update {table} set number = 7")

    assert counts.find_wrong(store) == [table]
    assert repair.mend(store, NOW) == [f"rebuilt {table}"]
    assert counts.find_wrong(store) == []


def test_a_database_of_the_version_before_is_taken_over_and_counted(tmp_path, path):
    filled.build(path)
    with closing(sqlite3.connect(path)) as db:
        for kind, name in db.execute(
            "select type, name from sqlite_master where name glob '*_counts*' and type <> 'index'"
            " and name glob '[mv]e*' or name glob 'counted_*' order by type = 'table'"
        ).fetchall():
            db.execute(f"drop {kind} {name}")
        secret = bytes(database.SECRET_BYTES)
        db.execute("insert into store_values values ('secret', ?)", (secret,))
        db.execute("pragma user_version = 3")
        db.commit()
    filled.trust.register_store(secret.hex(), filled.os.environ)
    before = filled.rows(path)
    with closing(open_project(tmp_path)) as store:
        assert filled.rows(path) == before
        assert store.number("select sum(number) from memory_counts") == 1
        assert counts.find_wrong(store) == []


def test_a_masked_table_is_counted_as_it_is_read(store):
    insert(store, memory("pinned", pinned=True, tier=1))
    store.distrust()

    assert statistics.memories(store)["pinned"] == 0
    assert statistics.by_scope(store) == {"project": {"tier2": 1}}


def test_what_waits_is_counted_by_reason_but_what_was_skipped(store):
    waiting = [
        memory("candidate", status="candidate"),
        memory("lost", status="candidate", write_gate_reason=LOST_BRANCH),
        memory("held", quarantine_reason="it gives orders"),
    ]
    insert(store, memory("promoted"), *waiting)
    reasons = [row[0] for row in memory_queries.list_waiting(store)]

    assert memory_queries.count_waiting(store) == {why: reasons.count(why) for why in reasons}
    assert set(memory_queries.count_waiting(store, [waiting[0].id])) == {*reasons} - {"unconfirmed"}


def test_vectors_are_missing_until_each_memory_that_is_searched_has_one(store):
    insert(store, memory("one"), memory("two"), memory("held", quarantine_reason="why"))
    store.db.execute(VECTOR + " where content <> 'one'")

    assert embeddings.counts(store, "m") == embeddings.Counts(embedded=1, waiting=1, parked=0)
