"""The other tables of ADE's memory, copied."""

from __future__ import annotations

from tests.store.ade.adopting import table
from tests.store.ade_file import STAMP, embedding, memory


def test_vectors_of_an_unknown_model_are_left_behind(adopt):
    store = adopt(unified_memories=[memory("m")], unified_memory_embeddings=[embedding("new", "m")])

    assert table(store, "unified_memory_embeddings") == []


def test_the_other_memory_tables_come_along(adopt):
    times = {"created_at": STAMP, "updated_at": STAMP}
    rows = {
        "memory_procedure_details": times
        | {"memory_id": "p", "trigger": "a release", "procedure_markdown": "1. tag"}
        | {"success_count": 2, "failure_count": 1, "last_used_at": STAMP},
        "memory_procedure_history": {
            "id": "h",
            "procedure_memory_id": "p",
            "confidence": 0.6,
            "outcome": "success",
            "recorded_at": STAMP,
        },
        "memory_skill_index": times
        | {"id": "s", "path": ".ade/skills/x.md", "kind": "skill", "source": "user"}
        | {"memory_id": "p", "content_hash": "h"},
        "memory_capture_ledger": times
        | {"id": "l", "project_id": "atlas", "source_type": "pr", "source_key": "1"},
        "cto_core_memory_state": {
            "project_id": "atlas",
            "version": 3,
            "payload_json": '{"projectSummary": "Maps."}',
            "updated_at": STAMP,
        },
        "agent_identities": times
        | {"id": "i", "project_id": "atlas", "name": "Ann", "profile_json": "{}"},
    }
    store = adopt(
        unified_memories=[memory("p", category="procedure"), memory("e", category="episode")],
        memory_procedure_sources=[
            {"procedure_memory_id": "p", "episode_memory_id": "e", "created_at": STAMP}
        ],
        **{name: [row] for name, row in rows.items()},
    )
    for name, row in rows.items():
        (found,) = table(store, name)

        assert {column: found[column] for column in row} == row
    assert table(store, "memory_procedure_details")[0]["episode_ids"] == '["e"]'


def test_a_row_that_finds_no_place_is_left_behind(adopt):
    twice = [
        {
            "id": id,
            "project_id": "atlas",
            "source_type": "pr",
            "source_key": "1",
            "updated_at": time,
        }
        for id, time in (("old", "2026-01-01"), ("new", "2026-01-02"))
    ]
    orphan = {"memory_id": "gone", "trigger": "x", "procedure_markdown": "y"}
    store = adopt(memory_capture_ledger=twice, memory_procedure_details=[orphan])

    assert [row["id"] for row in table(store, "memory_capture_ledger")] == ["new"]
    assert table(store, "memory_procedure_details") == []
