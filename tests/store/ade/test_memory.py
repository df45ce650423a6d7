"""ADE's memories as ours: nothing they had is lost."""

from __future__ import annotations

import pytest

from ademem.core.clock import stamp
from ademem.core.text import dedupe_key
from ademem.store import memories
from ademem.store.ade import convert_memory, from_legacy
from tests.builders import NOW
from tests.store.ade.adopting import one, reason, table, tables
from tests.store.ade_file import CODE, STAMP, legacy, memory


def test_a_memory_keeps_everything_it_had(adopt):
    row = memory(
        "m",
        "WAL needs shared memory",
        scope="agent",
        scope_owner_id="reviewer",
        tier=3,
        category="gotcha",
        importance="high",
        observation_count=7,
        status="candidate",
        source_type="system",
        source_id="pr:1",
        source_session_id="s1",
        source_pack_key="pack",
        source_run_id="run",
        file_scope_pattern="db/*.py",
        agent_id="reviewer",
        write_gate_reason="kept",
    )
    found = one(adopt(unified_memories=[row]))

    assert {name: getattr(found, name) for name in row if not name.endswith(("_at", "_key"))} == {
        name: value for name, value in row.items() if not name.endswith(("_at", "_key"))
    }
    assert found.source_pack_key == "pack"
    assert stamp(found.created_at) == stamp(found.updated_at) == STAMP
    assert stamp(found.last_accessed_at) == STAMP
    assert found.dedupe_key == dedupe_key("WAL needs shared memory")


def test_every_memory_begins_its_history_with_the_adoption(adopt):
    store = adopt(unified_memories=[memory("a"), memory("b")])
    revisions = [revision for id in ("a", "b") for revision in memories.revisions(store, id)]

    assert [(r["operation"], r["revision"], r["reason"]) for r in revisions] == [
        ("adopt", 1, None)
    ] * 2
    assert revisions[0]["event_id"] == revisions[1]["event_id"]
    assert revisions[0]["snapshot"]["content"] == "what a says"


def test_sync_ids_follow_from_the_ids(adopt):
    rows = [memory("m"), memory("n")]
    first, second = adopt(unified_memories=rows), adopt(unified_memories=rows)

    assert one(first).sync_id == one(second).sync_id
    assert one(first).sync_id != one(first, "n").sync_id


def test_memories_arrive_in_the_order_of_their_age(adopt):
    store = adopt(
        unified_memories=[
            memory("young", created_at="2026-01-03T00:00:00.000Z"),
            memory("old", created_at="2026-01-01 00:00:00"),
            memory("middle", created_at="2026-01-02T00:00:00+00:00"),
        ]
    )
    rows = store.db.execute("select id from unified_memories order by seq")

    assert [row[0] for row in rows] == ["old", "middle", "young"]


@pytest.mark.parametrize(
    ("odd", "expected"),
    [
        pytest.param(
            {"scope": "user", "scope_owner_id": " ann "},
            {"scope": "agent", "scope_owner_id": "ann"},
            id="user is an agent",
        ),
        pytest.param(
            {"scope": "lane", "scope_owner_id": "m1"},
            {"scope": "mission", "scope_owner_id": "m1"},
            id="lane is a mission",
        ),
        pytest.param(
            {"scope": "galaxy", "scope_owner_id": "m1"},
            {"scope": "project", "scope_owner_id": None},
            id="unknown scope",
        ),
        pytest.param({"scope": None}, {"scope": "project"}, id="no scope"),
        pytest.param(
            {"scope": "agent", "scope_owner_id": ""},
            {"scope": "agent", "scope_owner_id": None},
            id="blank owner",
        ),
        pytest.param({"status": "lively"}, {"status": "candidate"}, id="unknown status"),
        pytest.param({"status": None}, {"status": "promoted"}, id="no status"),
        pytest.param({"importance": "critical"}, {"importance": "medium"}, id="unknown importance"),
        pytest.param({"category": "musing"}, {"category": "fact"}, id="unknown category"),
        pytest.param({"tier": 9}, {"tier": 2, "pinned": 0}, id="bad tier"),
        pytest.param({"tier": 9, "pinned": 1}, {"tier": 1, "pinned": 1}, id="bad tier, pinned"),
        pytest.param({"tier": 1, "pinned": 0}, {"tier": 1, "pinned": 1}, id="tier 1 is pinned"),
        pytest.param({"tier": None, "pinned": None}, {"tier": 2, "pinned": 0}, id="no tier"),
        pytest.param({"confidence": 7}, {"confidence": 1.0}, id="too confident"),
        pytest.param({"confidence": -1}, {"confidence": 0.0}, id="less than no confidence"),
        pytest.param({"confidence": "sure"}, {"confidence": 1.0}, id="confidence in words"),
        pytest.param({"confidence": 9e999}, {"confidence": 1.0}, id="endless confidence"),
        pytest.param({"observation_count": 0}, {"observation_count": 1}, id="never observed"),
        pytest.param({"access_count": None}, {"access_count": 0}, id="no access count"),
        pytest.param({"access_score": 0}, {"access_score": 0.5}, id="score from the composite"),
        pytest.param(
            {"access_score": 0, "composite_score": 0},
            {"access_score": 0.4},
            id="score from the accesses",
        ),
        pytest.param(
            {"access_score": None, "composite_score": None, "access_count": 30},
            {"access_score": 1.0},
            id="score is bounded",
        ),
        pytest.param(
            {"source_type": ""}, {"source_type": "agent", "trust": "agent"}, id="no source"
        ),
        pytest.param(
            {"source_type": "user"}, {"source_type": "user", "trust": "user"}, id="a person's words"
        ),
        pytest.param(
            {"source_id": "", "agent_id": " "},
            {"source_id": None, "agent_id": None},
            id="blanks are nothing",
        ),
        pytest.param(
            {"content": b"caf\xc3\xa9 \xff"}, {"content": "café \ufffd"}, id="content as bytes"
        ),
        pytest.param({"content": 42}, {"content": "42"}, id="content as a number"),
        pytest.param({"content": "\n"}, {"content": "", "status": "archived"}, id="blank content"),
        pytest.param({"content": None}, {"content": "", "status": "archived"}, id="no content"),
    ],
)
def test_odd_values_become_what_ade_takes_them_for(odd, expected):
    found = convert_memory(memory("m") | odd, "atlas", stamp(NOW))

    assert {name: found[name] for name in expected} == expected


@pytest.mark.parametrize(
    ("times", "expected"),
    [
        pytest.param(
            ("2026-01-02 03:04:05",) * 3,
            ("2026-01-02T03:04:05.000Z",) * 3,
            id="as SQLite writes it",
        ),
        pytest.param(
            ("2026-01-02T03:04:05+02:00",) * 3, ("2026-01-02T01:04:05.000Z",) * 3, id="another zone"
        ),
        pytest.param(("soon", STAMP, "x"), (STAMP, STAMP, STAMP), id="created unknown"),
        pytest.param((STAMP, None, None), (STAMP, STAMP, STAMP), id="only created"),
        pytest.param((None, "", "x"), (stamp(NOW),) * 3, id="no time at all"),
        pytest.param(
            ("0001-01-01T00:00:00+23:00", STAMP, STAMP), (STAMP,) * 3, id="before all time"
        ),
    ],
)
def test_times_are_read_in_any_form_and_taken_from_their_neighbours(times, expected):
    names = ("created_at", "updated_at", "last_accessed_at")
    found = convert_memory(memory("m") | dict(zip(names, times, strict=True)), "atlas", stamp(NOW))

    assert tuple(found[name] for name in names) == expected


def test_what_was_changed_in_a_row_stands_in_its_history(adopt):
    odd = {"scope": "galaxy", "updated_at": "soon", "confidence": 7, "category": "musing"}
    store = adopt(unified_memories=[memory("m") | odd])

    assert reason(store) == odd


def test_columns_we_do_not_know_stand_in_the_history(adopt):
    ddl = CODE + "alter table unified_memories add column mood text;"
    store = adopt(ddl, unified_memories=[memory("m", mood="sunny"), memory("n", mood=None)])

    assert reason(store) == {"mood": "sunny"}
    assert reason(store, "n") == {}


def test_a_promoted_memory_without_a_date_of_promotion_stays_promoted_when_restored(adopt):
    store = adopt(unified_memories=[memory("m"), memory("c", status="candidate")])

    assert one(store).promoted_at == one(store).created_at
    assert one(store, "c").promoted_at is None


def test_rows_without_an_id_get_one_each(adopt):
    ddl = CODE.replace(
        "create table unified_memories (\n  id text primary key not null",
        "create table unified_memories (\n  id text primary key",
    )
    store = adopt(
        ddl, unified_memories=[memory(None, "one"), memory(None, "two"), memory("", "three")]
    )
    ids = {row["id"]: row["content"] for row in table(store, "unified_memories")}

    assert sorted(ids.values()) == ["one", "three", "two"]
    assert all(ids)


@pytest.mark.parametrize(
    ("rivals", "survivor"),
    [
        pytest.param(
            {"a": {"status": "candidate", "pinned": 1}, "b": {}}, "b", id="promoted first"
        ),
        pytest.param({"a": {"observation_count": 9}, "b": {"pinned": 1}}, "b", id="then pinned"),
        pytest.param({"a": {}, "b": {"observation_count": 9}}, "b", id="then more observations"),
        pytest.param({"a": {}, "b": {"created_at": "2025-01-01"}}, "b", id="then the oldest"),
        pytest.param({"b": {}, "a": {}}, "a", id="then the id"),
    ],
)
def test_one_of_those_that_say_the_same_speaks_for_all(adopt, rivals, survivor):
    store = adopt(
        unified_memories=[
            memory(id, text) | changes
            for (id, changes), text in zip(rivals.items(), ("Use  WAL", "use wal"), strict=True)
        ]
    )
    (other,) = rivals.keys() - {survivor}
    kept, archived = one(store, survivor), one(store, other)

    assert kept.live
    assert archived.status == "archived"
    assert archived.superseded_by == survivor
    assert kept.observation_count == sum(row.get("observation_count", 1) for row in rivals.values())
    assert kept.pinned == any(row.get("pinned") for row in rivals.values())


@pytest.mark.parametrize(
    "other",
    [
        pytest.param({"scope": "agent", "scope_owner_id": "ann"}, id="another owner"),
        pytest.param({"status": "archived"}, id="archived"),
    ],
)
def test_the_same_text_elsewhere_is_left_alone(adopt, other):
    store = adopt(unified_memories=[memory("a", "use wal"), memory("b", "use wal", **other)])

    assert one(store, "a").observation_count == 1
    assert one(store, "a").superseded_by is one(store, "b").superseded_by is None


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        pytest.param({}, {"scope": "project", "scope_owner_id": None, "tier": 2}, id="project"),
        pytest.param(
            {"scope": "user", "agent_id": "ann", "source_session_id": "s"},
            {"scope": "agent", "scope_owner_id": "ann"},
            id="user",
        ),
        pytest.param(
            {"scope": "user", "source_run_id": "r", "source_session_id": "s"},
            {"scope": "agent", "scope_owner_id": "s"},
            id="user by session",
        ),
        pytest.param(
            {"scope": "lane", "source_run_id": "r", "agent_id": "ann"},
            {"scope": "mission", "scope_owner_id": "r"},
            id="lane",
        ),
        pytest.param(
            {"scope": "lane", "agent_id": "ann"},
            {"scope": "mission", "scope_owner_id": "ann"},
            id="lane by agent",
        ),
        pytest.param({"scope": "moon"}, {"scope": "project"}, id="unknown scope"),
        pytest.param({"status": "candidate"}, {"tier": 3, "status": "candidate"}, id="candidate"),
        pytest.param({"status": "archived"}, {"tier": 3, "status": "archived"}, id="archived"),
        pytest.param(
            {"access_count": 4}, {"observation_count": 4, "access_score": 0.4}, id="accessed"
        ),
        pytest.param(
            {"access_count": 0}, {"observation_count": 1, "access_score": 0}, id="never accessed"
        ),
    ],
)
def test_rows_of_the_legacy_table_mean_what_ade_moves_them_to(row, expected):
    found = convert_memory(from_legacy(legacy("m", **row)), "atlas", stamp(NOW))

    assert {name: found[name] for name in expected} == expected
    assert found["source_type"] == "system"


def test_rows_of_the_legacy_table_are_moved_for_good(adopt):
    store = adopt(memories=[legacy("m")])

    assert one(store).content == "what m says"
    assert not {"memories", "ade_memories"} & tables(store)


def test_a_legacy_row_that_was_moved_already_is_not_moved_again(adopt):
    store = adopt(unified_memories=[memory("m", "newer text")], memories=[legacy("m")])

    assert [row["content"] for row in table(store, "unified_memories")] == ["newer text"]
