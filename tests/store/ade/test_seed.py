"""What ADE's documents say of a database, with a row in every table of it, adopted."""

from __future__ import annotations

import json
import sqlite3
import struct
from contextlib import closing

import pytest

from ademem.core import project
from ademem.files import enrolment
from ademem.operations import doctor
from ademem.store import maintenance
from tests.store import ade_file
from tests.store.ade.adopting import adopted_store, table
from tests.store.ade_file import DOCUMENTS, STAMP, embedding, memory

LATER = "2026-01-10T08:00:05.000Z"
TIMES = {"created_at": STAMP, "updated_at": STAMP}

RUN = {"id": "r", "project_id": "atlas", "started_at": STAMP, "ended_at": LATER}
ROWS = {
    "unified_memories": memory("m", "Ship on Fridays", pinned=1, tier=1, promoted_at=STAMP),
    "unified_memory_embeddings": embedding(
        "v",
        "m",
        embedding_model="Xenova/all-MiniLM-L6-v2",
        embedding_blob=struct.pack("<384f", 1, *[0] * 383),
        dimensions=384,
    ),
    "memory_procedure_details": TIMES
    | {"memory_id": "m", "trigger": "a release", "procedure_markdown": "1. tag"}
    | {"success_count": 2, "failure_count": 1, "last_used_at": STAMP}
    | {"exported_skill_path": ".ade/skills/x.md", "exported_at": STAMP}
    | {"superseded_by_memory_id": "n"},
    "memory_procedure_sources": {
        "procedure_memory_id": "m",
        "episode_memory_id": "e",
        "created_at": STAMP,
    },
    "memory_procedure_history": {
        "id": "h",
        "procedure_memory_id": "m",
        "confidence": 0.6,
        "outcome": "success",
        "reason": "the tag was there",
        "recorded_at": STAMP,
    },
    "memory_skill_index": TIMES
    | {"id": "s", "path": ".ade/skills/x.md", "kind": "skill", "source": "user"}
    | {"memory_id": "m", "content_hash": "h", "last_modified_at": STAMP, "archived_at": STAMP},
    "memory_capture_ledger": TIMES
    | {"id": "l", "project_id": "atlas", "source_type": "pr", "source_key": "1"}
    | {"memory_id": "m", "episode_memory_id": "e", "metadata_json": "{}"},
    "memory_sweep_log": RUN | {"trigger": "startup"},
    "memory_consolidation_log": RUN | {"id": "c", "trigger": "manual"},
    "cto_core_memory_state": {
        "project_id": "atlas",
        "version": 3,
        "payload_json": '{"projectSummary": "Maps."}',
        "updated_at": STAMP,
    },
    "agent_identities": TIMES
    | {"id": "i", "project_id": "atlas", "name": "Ann", "profile_json": '{"role": "reviewer"}'}
    | {"persona_json": '{"tone": "terse"}', "tool_policy_json": '{"allow": ["Read"]}'}
    | {"user_preferences_json": '{"language": "en"}', "heartbeat_json": '{"at": 1}'}
    | {"model_preference": "sonnet"},
}
OURS = ("dedupe_key",)
"""Columns that are computed anew."""


@pytest.fixture(scope="module")
def adopted():
    rows = {name: [row] for name, row in ROWS.items()}
    legacy = {
        name: ROWS["unified_memories"][name]
        for name in ("project_id", "scope", "category", "created_at", "last_accessed_at")
    }
    rows["memories"] = [legacy | {"id": "old", "content": "The staging cluster is small"}]
    store = adopted_store(DOCUMENTS, **rows)
    yield store
    store.close()


@pytest.mark.parametrize("name", ROWS)
def test_the_row_of_each_table_arrives(adopted, name):
    wanted = {column: value for column, value in ROWS[name].items() if column not in OURS}
    found = [{column: row[column] for column in wanted} for row in table(adopted, name)]

    assert wanted in found


def test_residual_rows_of_the_legacy_table_are_migrated_into_unified_memories(adopted):
    found = {row["id"]: row["content"] for row in table(adopted, "unified_memories")}

    assert found["old"] == "The staging cluster is small"


def test_the_logs_drive_last_sweep_and_last_consolidation(adopted):
    sweep = maintenance.last(adopted, maintenance.SWEEP)
    consolidation = maintenance.last(adopted, maintenance.CONSOLIDATION)

    assert sweep
    assert consolidation
    assert (sweep.id, sweep.trigger_reason, sweep.completed_at) == ("r", "startup", LATER)
    assert (consolidation.id, consolidation.trigger_reason) == ("c", "manual")


def test_the_logs_arrive_with_the_columns_of_the_code_of_ade_too(adopt):
    sweep = {"sweep_id": "r", "project_id": "atlas", "trigger_reason": "schedule"}
    sweep |= {"started_at": STAMP, "completed_at": LATER, "entries_decayed": 7, "duration_ms": 5000}
    same_id = {"consolidation_id": "r", "started_at": STAMP, "completed_at": LATER}
    store = adopt(
        memory_sweep_log=[sweep],
        memory_consolidation_log=[same_id | {"clusters_found": 3, "tokens_used": 90}],
    )
    (swept,), (merged,) = (
        table(store, f"memory_{name}_log") for name in ("sweep", "consolidation")
    )

    assert (swept["id"], swept["trigger"], swept["ended_at"]) == ("r", "schedule", LATER)
    assert (swept["entries_decayed"], swept["duration_ms"]) == (7, 5000)
    assert (merged["clusters_found"], merged["tokens_used"], merged["trigger"]) == (3, 90, "auto")


def test_a_run_without_an_end_has_failed_and_none_is_of_a_later_day(adopt):
    open_run = {"sweep_id": "open", "started_at": STAMP}
    ahead = {"sweep_id": "ahead", "started_at": "2999-01-01", "completed_at": "2999-01-02"}
    store = adopt(memory_sweep_log=[open_run, ahead])
    runs = {row["id"]: row for row in table(store, "memory_sweep_log")}

    assert (runs["open"]["outcome"], runs["open"]["error"]) == ("failed", "ADE noted no end")
    assert runs["ahead"]["ended_at"] < "2999"


@pytest.mark.parametrize(
    ("scores", "expected"),
    [((0.7, 4), 0.7), ((0, 4), 0.4), ((0, 30), 1.0), ((0, 0), 0)],
    ids=["composite score", "access count", "of many", "neither"],
)
def test_access_score_is_seeded_from_composite_score_and_access_count(adopt, scores, expected):
    ddl = DOCUMENTS.replace("  access_score real not null default 0,\n", "")
    row = memory("m", composite_score=scores[0], access_count=scores[1])
    del row["access_score"]
    (found,) = table(adopt(ddl, unified_memories=[row]), "unified_memories")

    assert found["access_score"] == expected


def leave(world, **rows):
    """Put a database of ADE in the place of the world's."""
    (world.root / ".ade/ade.db").unlink()
    with closing(sqlite3.connect(world.root / ".ade/ade.db")) as db, db:
        ade_file.fill(db, DOCUMENTS, **rows)


def test_the_doctor_says_nothing_of_importing_what_was_adopted(world):
    here = project.at(str(world.root))
    patient = doctor.Patient(project=here, environment=world.environment, now=world.now)
    leave(world, unified_memories=[ROWS["unified_memories"]])
    (adopted,) = world.live()
    found = doctor.database_was_made_here(patient)

    assert adopted.content == "Ship on Fridays"
    assert "foreign-" not in found.message
    assert "--import-foreign" not in found.hint
    assert (world.root / ".ade/ade.db.foreign-1.adopted").exists()


def test_pins_count_once_the_person_agreed_and_the_message_that_asks_names_them(world):
    leave(world, unified_memories=[ROWS["unified_memories"]])
    asked = json.loads(world.fire("session_start", source="startup"))["systemMessage"]
    before = world.context("session_start", source="startup", session_id="s2")
    with world.memories() as opened:
        assert enrolment.trust_database(opened.store, opened.environment)
    (pin,) = world.live()

    assert "`ademem trust --database`" in asked
    assert "pins: Ship on Fridays" in asked
    assert "Pinned" not in before
    assert (pin.pinned, pin.tier) == (True, 1)
    assert "Pinned" in world.context("session_start", source="startup", session_id="s3")


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"embedding_model": "another"}, id="another model"),
        pytest.param({"dimensions": 383}, id="other dimensions"),
        pytest.param({"embedding_blob": b"\0" * 1535}, id="a part of one"),
        pytest.param({"embedding_blob": b"\0" * 1536}, id="no direction"),
        pytest.param({"embedding_blob": struct.pack("<384f", *[float("nan")] * 384)}, id="NaN"),
    ],
)
def test_vectors_of_the_same_model_and_dimensions_alone_are_taken(adopt, changes):
    vector = ROWS["unified_memory_embeddings"] | changes
    rows = {"unified_memories": [memory("m")], "unified_memory_embeddings": [vector]}

    assert table(adopt(DOCUMENTS, **rows), "unified_memory_embeddings") == []
