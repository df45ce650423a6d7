"""What memory did in a period: each effect once for a session and a memory."""

from datetime import timedelta

import pytest

from ademem.core import clock
from ademem.core.client import TurnKey
from ademem.core.memory import Category, Stage, Status, Trust
from ademem.doors.views import effects as views
from ademem.operations import reports
from ademem.store import logs, outcomes
from tests.builders import insert, memory

DENIED, ASKED = "npm install left-pad", "answered a prompt before make ledger"
QUOTED = "its id in a call of Bash"


def show(memories, place, id, session="s1"):
    key = TurnKey(session_id=session)
    logs.log_shown(memories.store, place, [logs.Shown(memory_id=id)], memories.now, key=key)


def deny(memories, id, session="s1", *, binding="program npm install any"):
    """A call is denied with the memory; the turn goes on."""
    shown = [logs.Shown(memory_id=id, binding=binding)]
    key = TurnKey(session_id=session)
    logs.log_shown(memories.store, "guard", shown, memories.now, key=key, call=DENIED)
    return key


def heed(memories, id, session="s1"):
    outcomes.end_turn(memories.store, deny(memories, id, session), memories.now)


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
        show(memories, "briefing", ids[0], session)
        heed(memories, ids[0], session)
        heed(memories, ids[0], session)
    show(memories, "prompt", ids[1])
    use(memories, ids[1], ASKED)
    use(memories, ids[1], ASKED)

    assert count(memories) == {"prevented": 2, "answered": 1, "learned": 0}
    assert count(memories, session="s2") == {"prevented": 1, "answered": 0, "learned": 0}
    assert count(memories, memory=ids[1]) == {"prevented": 0, "answered": 1, "learned": 0}
    shown = {row["id"]: row for row in reports.get_impressions(memories)["by_memory"]}
    assert [(shown[id]["prevented"], shown[id]["answered"]) for id in ids] == [(2, 0), (0, 1)]


def test_a_use_of_what_only_a_denial_showed_answers_nothing(memories, ids):
    deny(memories, ids[0])
    use(memories, ids[0], QUOTED)

    assert reports.list_effects(memories).rows == ()


def test_a_memory_that_was_used_and_then_prevented_a_call_is_used_once(memories, ids):
    show(memories, "briefing", ids[0])
    use(memories, ids[0], QUOTED)
    heed(memories, ids[0])
    use(memories, ids[0], QUOTED)

    rows = {row.kind: row for row in reports.list_effects(memories).rows}
    (shown,) = reports.get_impressions(memories)["by_memory"]
    assert (rows["prevented"].call, rows["prevented"].session_id) == (DENIED, "s1")
    assert rows["answered"].evidence == QUOTED
    assert (shown["used"], shown["prevented"], shown["answered"]) == (1, 1, 1)


def test_what_a_call_tells_about_a_denial(memories, ids):
    """It overrules what it meets at the same place; a change elsewhere was made instead."""
    store = memories.store
    key = deny(memories, ids[0])
    outcomes.note_passed(store, key, [(ids[0], "program yarn any"), (ids[1], "program npm any")])
    assert outcomes.waits_for_change(store, key)
    outcomes.note_passed(store, key, [], "pnpm add left-pad")
    outcomes.note_passed(store, key, [], "git add -A")
    outcomes.end_turn(store, key, memories.now)

    overruled = deny(memories, ids[1])
    outcomes.note_passed(store, overruled, [(ids[1], "program npm install any")], DENIED)
    outcomes.end_turn(store, overruled, memories.now)

    (row,) = reports.list_effects(memories).rows
    assert (row.memory_id, row.call, row.instead) == (ids[0], DENIED, "pnpm add left-pad")


def test_a_turn_that_does_not_end_prevented_nothing(memories, ids):
    key = deny(memories, ids[0])
    other = TurnKey(session_id="s1", agent_id="a1")
    outcomes.leave_open(memories.store, "s1")
    outcomes.end_turn(memories.store, key, memories.now)
    assert outcomes.list_waiting(memories.store, other) == set()

    assert reports.list_effects(memories).rows == ()


def test_sessions_that_a_program_started_are_counted_apart(world, memories, ids):
    world.environment["CLAUDE_CODE_ENTRYPOINT"] = "sdk-cli"
    world.fire("session_start", source="startup", session_id="s1")
    heed(memories, ids[0])
    insert(memories.store, memory("Use tabs", source_session_id="s1"))

    assert count(memories) == {"prevented": 0, "answered": 0, "learned": 0}
    assert count(memories, all=True) == {"prevented": 1, "answered": 0, "learned": 1}


def test_an_effect_that_is_not_right_counts_no_more(memories, ids):
    for session in ("s1", "s2"):
        heed(memories, ids[0], session)
    row = reports.list_effects(memories, session="s2").rows[0]

    assert outcomes.mark_wrong(memories.store, row.row).memory_id == ids[0]
    assert outcomes.mark_wrong(memories.store, row.row) is None
    (shown,) = reports.get_impressions(memories)["by_memory"]
    assert (shown["used"], shown["prevented"], count(memories)["prevented"]) == (1, 1, 1)
    (doubted,) = outcomes.list_doubted(memories.store)
    assert (doubted.memory_id, doubted.calls) == (ids[0], (DENIED,))


def test_a_place_is_doubted_after_the_third_overruling_until_a_person_accepts_it(memories, ids):
    binding = "program npm install any"
    for session in ("s1", "s2", "s3"):
        assert outcomes.list_doubted(memories.store) == []
        key = deny(memories, ids[0], session)
        outcomes.note_passed(memories.store, key, [(ids[0], binding)], DENIED)

    (doubted,) = outcomes.list_doubted(memories.store, [ids[0]])
    assert (doubted.binding, len(doubted.calls)) == (binding, 3)
    assert outcomes.list_doubted(memories.store, [ids[1]]) == []
    outcomes.accept_place(memories.store, ids[0], binding)
    assert outcomes.list_doubted(memories.store) == []


def test_the_period_is_that_of_the_last_showing(world, memories, ids):
    heed(memories, ids[0])
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


def test_a_memory_that_was_heeded_is_worth_no_less_than_before_and_in_no_list_of_unused(
    world, memories, ids
):
    def find_worths():
        rows = reports.get_impressions(memories)["by_memory"]
        return {row["id"]: (row["unused"], row["worth"]) for row in rows}

    for number in range(13):
        world.fire("session_start", source="startup", session_id=f"s{number}")
        heed(memories, ids[0], f"s{number}")
        show(memories, "prompt", ids[1], f"s{number}")

    worths = find_worths()
    offered = [each.name for each in reports.get_ledger(memories).unused]
    assert worths[ids[0]] == (0, 1.0)
    assert worths[ids[1]] == (13, round(10 / 13, 3))
    assert ids[0] not in offered


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
