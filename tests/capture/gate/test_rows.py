"""What the row is after the gate's decision."""

from __future__ import annotations

from datetime import timedelta

import pytest

from ademem.capture.gate import rows
from ademem.core.memory import Importance, Origin, Status, Tier, Trust
from tests.builders import NOW, memory
from tests.capture.gate.lookup import reviewed

AGENT, USER = Origin(), Origin(trust=Trust.USER, source_type="user")
TOOL = Origin(trust=Trust.TOOL, source_type="tool")
LATER = NOW + timedelta(days=3)


def merged(known, draft, *, corroborates=True, may_change_text=True):
    return rows.merge_row(
        known,
        draft,
        rule="same_words",
        corroborates=corroborates,
        may_change_text=may_change_text,
        now=LATER,
    )


@pytest.mark.parametrize(
    ("fields", "status", "tier", "confidence"),
    [
        pytest.param({}, "candidate", 3, 0.6, id="an agent's word"),
        pytest.param({"origin": TOOL}, "candidate", 3, 0.5, id="a machine's word"),
        pytest.param({"origin": USER}, "promoted", 2, 1.0, id="a person's word"),
        pytest.param({"promoted": True}, "promoted", 2, 1.0, id="vouched for"),
        pytest.param({"pinned": True}, "candidate", 3, 0.6, id="pinned by an agent"),
        pytest.param({"pinned": True, "promoted": True}, "promoted", 1, 1.0, id="pinned"),
        pytest.param({"confidence": 0.72}, "candidate", 3, 0.72, id="a confidence of its own"),
        pytest.param({"confidence": 7.0}, "candidate", 3, 1.0, id="no more than certain"),
        pytest.param(
            {"origin": USER, "quarantine_reason": "gives a role"}, "candidate", 3, 0.6, id="held"
        ),
    ],
)
def test_who_says_it_decides_how_far_a_new_memory_is_believed(fields, status, tier, confidence):
    row = rows.build_row(reviewed(**fields), "a" * 32, "project", NOW)

    assert (row.status, row.tier, row.confidence) == (status, tier, confidence)
    assert row.promoted_at == (NOW if status == "promoted" else None)


def test_a_new_memory_is_as_old_as_what_it_tells_and_begins_to_age_when_it_comes_in():
    learned = NOW - timedelta(days=40)

    row = rows.build_row(reviewed(created_at=learned), "a" * 32, "project", NOW)

    assert (row.created_at, row.last_accessed_at, row.updated_at) == (learned, NOW, NOW)


def test_the_name_of_a_memory_follows_from_what_it_says_and_to_whom():
    names = {
        rows.sync_id(*rows.identity(reviewed(**fields)), ordinal=ordinal)
        for fields, ordinal in (
            ({}, 0),
            ({}, 1),
            ({"content": "another text"}, 0),
            ({"scope": "agent", "owner": "ada"}, 0),
            ({"scope": "agent", "owner": "bob"}, 0),
            ({"topic_key": "wal"}, 0),
        )
    }

    assert len(names) == 6
    assert rows.sync_id(*rows.identity(reviewed("wal NEEDS shared memory"))) in names
    assert rows.sync_id(*rows.identity(reviewed("new text", topic_key="wal"))) in names


@pytest.mark.parametrize(
    ("corroborates", "known", "said", "expected"),
    [
        pytest.param(True, 0.6, 0.6, 0.62, id="another origin adds a share of what is missing"),
        pytest.param(False, 0.6, 0.6, 0.6, id="the same origin adds nothing"),
        pytest.param(False, 0.6, 0.8, 0.8, id="the higher one holds"),
        pytest.param(True, 1.0, 0.6, 1.0, id="never more than certain"),
    ],
)
def test_only_another_origin_makes_it_more_certain(corroborates, known, said, expected):
    row = merged(memory(confidence=known), reviewed(confidence=said), corroborates=corroborates)

    assert row.confidence == pytest.approx(expected)
    assert row.observation_count == 2


@pytest.mark.parametrize(
    ("trust", "said_by", "content", "kept"),
    [
        pytest.param("agent", AGENT, "WAL needs shared memory always", True, id="more words"),
        pytest.param("agent", AGENT, "WAL wants shared memory", False, id="as many words"),
        pytest.param("agent", AGENT, "needs shared memory", False, id="fewer words"),
        pytest.param("agent", TOOL, "WAL needs shared memory always", False, id="believed less"),
        pytest.param("agent", USER, "WAL needs shared memory always", True, id="believed more"),
    ],
)
def test_one_text_stays_the_more_informative(trust, said_by, content, kept):
    known = memory(trust=Trust(trust))

    row = merged(known, reviewed(content, origin=said_by))

    assert row.content == (content if kept else known.content)
    assert row.trust == (said_by.trust if kept else known.trust)
    assert row.dedupe_key == memory(row.content).dedupe_key


def test_a_person_who_says_the_same_is_who_says_it():
    known = memory(status=Status.CANDIDATE, tier=Tier.FADING, promoted_at=None, confidence=0.6)

    row = merged(known, reviewed(known.content, origin=USER))

    assert (row.trust, row.status, row.tier) == (Trust.USER, Status.PROMOTED, Tier.ACTIVE)
    assert (row.confidence, row.promoted_at) == (1.0, LATER)


def test_what_two_writers_add_is_united():
    known = memory(tags=("wal", "db"), importance=Importance.LOW, title=None, bead="b-1")

    row = merged(
        known,
        reviewed(
            tags=("db", "disk"),
            importance="high",
            title="WAL",
            bead="b-2",
            path="db/*",
            pinned=True,
            promoted=True,
        ),
    )

    assert row.tags == ("wal", "db", "disk")
    assert row.importance is Importance.HIGH
    assert (row.title, row.bead, row.file_scope_pattern) == ("WAL", "b-1", "db/*")
    assert (row.pinned, row.tier) == (True, Tier.PINNED)
    assert row.write_gate_reason == "same_words"
    assert (row.category, row.created_at) == (known.category, known.created_at)


@pytest.mark.parametrize(
    ("origin", "status", "quarantined"),
    [
        pytest.param(TOOL, Status.CANDIDATE, True, id="a machine does not"),
        pytest.param(AGENT, Status.CANDIDATE, True, id="an agent does not"),
        pytest.param(USER, Status.PROMOTED, False, id="a person does"),
    ],
)
def test_only_a_person_lifts_a_quarantine_by_saying_the_same(origin, status, quarantined):
    held = memory(status=Status.CANDIDATE, tier=Tier.FADING, quarantine_reason="gives a role")

    row = merged(held, reviewed(held.content, origin=origin, promoted=True))

    assert row.status is status
    assert bool(row.quarantine_reason) is quarantined


def test_a_revision_is_the_new_text_under_the_old_name():
    known = memory(topic_key="wal", tags=("db",), title="WAL", knowledge_key="k", trust=Trust.USER)
    origin = Origin(source_id="s-9", session_id="s1")

    row = rows.revise_row(
        known,
        reviewed("WAL needs a local disk", topic_key="wal", category="gotcha", origin=origin),
        LATER,
    )

    assert (row.id, row.sync_id, row.created_at) == (known.id, known.sync_id, known.created_at)
    assert (row.content, row.category, row.title) == ("WAL needs a local disk", "gotcha", "WAL")
    assert row.dedupe_key == memory("WAL needs a local disk", topic_key="wal").dedupe_key
    assert (row.trust, row.source_id, row.source_session_id) == (Trust.AGENT, "s-9", "s1")
    assert (row.status, row.promoted_at) == (Status.PROMOTED, known.promoted_at)
