"""What memory did in a period: each effect once for a session and a memory."""

from datetime import timedelta

import pytest

from ademem.core import clock
from ademem.core.client import TurnKey
from ademem.core.memory import Category, Stage, Status, Trust
from ademem.doors.views import effects as views
from ademem.operations import reports
from ademem.store import logs
from tests.builders import insert, memory

DENIED, ASKED = "prevented npm install", "answered a prompt before make ledger"
QUOTED = "its id in a call of Bash"


def show(memories, place, id, session="s1"):
    key = TurnKey(session_id=session)
    logs.log_shown(memories.store, place, [logs.Shown(memory_id=id)], memories.now, key=key)


def use(memories, id, evidence, session="s1"):
    return logs.log_use(memories.store, session, {id: evidence}, memories.now)


def count(memories, **about):
    return reports.list_effects(memories, **about).counts


@pytest.fixture
def memories(world):
    with world.memories() as opened:
        yield opened


@pytest.fixture
def ids(memories):
    rows = insert(memories.store, memory("Use pnpm"), memory("The ledger locks; run make ledger"))
    return [row.id for row in rows]


def test_effects_are_counted_once_for_a_session_and_a_memory(memories, ids):
    for session in ("s1", "s2"):
        for place in ("briefing", "guard", "guard"):
            show(memories, place, ids[0], session)
        use(memories, ids[0], DENIED, session)
    show(memories, "prompt", ids[1])
    use(memories, ids[1], ASKED)
    use(memories, ids[1], ASKED)

    assert count(memories) == {"prevented": 2, "answered": 1, "learned": 0}
    assert count(memories, session="s2") == {"prevented": 1, "answered": 0, "learned": 0}
    assert count(memories, memory=ids[1]) == {"prevented": 0, "answered": 1, "learned": 0}
    shown = {row["id"]: row for row in reports.get_impressions(memories)["by_memory"]}
    assert [(shown[id]["prevented"], shown[id]["answered"]) for id in ids] == [(2, 0), (0, 1)]


def test_a_use_without_an_effect_is_none(memories, ids):
    show(memories, "guard", ids[0])
    use(memories, ids[0], QUOTED)

    assert reports.list_effects(memories).rows == ()


def test_an_effect_after_another_use_in_its_session_counts(memories, ids):
    show(memories, "briefing", ids[0])
    use(memories, ids[0], QUOTED)
    show(memories, "guard", ids[0])
    use(memories, ids[0], DENIED)
    use(memories, ids[0], QUOTED)

    (row,) = reports.list_effects(memories).rows
    (shown,) = reports.get_impressions(memories)["by_memory"]
    assert (row.kind, row.evidence, row.session_id) == ("prevented", DENIED, "s1")
    assert (shown["used"], shown["prevented"]) == (1, 1)


def test_the_period_is_that_of_the_last_showing(world, memories, ids):
    show(memories, "guard", ids[0])
    use(memories, ids[0], DENIED)
    at, day = memories.now, timedelta(days=1)

    assert len(reports.list_effects(memories, at, at + day).rows) == 1
    assert reports.list_effects(memories, at + day).rows == ()
    assert reports.list_effects(memories, at - day, at).rows == ()


@pytest.mark.parametrize(
    ("changes", "learned"),
    [
        pytest.param({}, 1, id="in a session"),
        pytest.param({"source_session_id": None}, 0, id="outside of one"),
        pytest.param({"status": Status.ARCHIVED}, 0, id="dropped"),
        pytest.param({"deleted_at": clock.now()}, 0, id="deleted"),
        pytest.param({"superseded_by": "0" * 12}, 0, id="merged away"),
        pytest.param({"quarantine_reason": "an order"}, 0, id="quarantined"),
        pytest.param({"claimed_author": "Ann"}, 0, id="came with files"),
        pytest.param({"trust": Trust.IMPORT}, 0, id="imported"),
        pytest.param({"source_type": "merge"}, 0, id="the text that lost"),
        pytest.param({"stage": Stage.HEARD, "status": Status.CANDIDATE}, 0, id="seemingly stated"),
        pytest.param({"category": Category.HANDOFF}, 0, id="the session's summary"),
    ],
)
def test_learned_is_what_a_session_made_and_kept(memories, changes, learned):
    insert(memories.store, memory("Use pnpm", **({"source_session_id": "s1"} | changes)))

    assert count(memories)["learned"] == learned


def test_a_personal_memory_counts_where_its_session_was(world, memories):
    world.fire("session_start", source="startup", session_id="s1")
    own = memories.open_personal(create=True).store
    mine = {"scope": "agent", "scope_owner_id": None, "project_id": own.project_id}
    insert(own, memory("I like tabs", **mine, source_session_id="s1"))
    insert(own, memory("I like tea", **mine, source_session_id="elsewhere"))

    assert count(memories)["learned"] == 1


def test_what_worked_within_half_a_year_is_not_offered_for_archiving(world, memories):
    own = memories.open_personal(create=True).store
    mine = {"scope": "agent", "scope_owner_id": None, "project_id": own.project_id, "pinned": True}
    (row,) = insert(own, memory("I review in the morning", **mine))
    show(memories, "guard", row.id)
    use(memories, row.id, DENIED)
    offered = []
    for days in (100, 200):
        world.now += timedelta(days=days)
        world.fire("session_start", source="startup", session_id=f"after {days}")
        with world.memories() as later:
            offered.append([each.name for each in reports.get_ledger(later).unused])

    assert offered == [[], [row.id]]


@pytest.mark.parametrize(
    ("counts", "sentence"),
    [
        pytest.param(
            (4, 11, 6),
            "In 7 days memory prevented 4 mistakes, answered 11 questions and learned 6 things.",
            id="all",
        ),
        pytest.param(
            (1, 0, 1), "In 7 days memory prevented 1 mistake and learned 1 thing.", id="two"
        ),
        pytest.param((0, 1, 0), "In 7 days memory answered 1 question.", id="one"),
        pytest.param((0, 0, 0), "", id="none"),
    ],
)
def test_a_sentence_tells_the_effects_without_what_is_zero(counts, sentence):
    told = dict(zip(("prevented", "answered", "learned"), counts, strict=True))

    assert views.sentence(told, 7) == sentence
