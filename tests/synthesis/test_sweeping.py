"""A sweep of a real store: what moves, what never does, what is left behind."""

from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ademem.core.clock import stamp
from ademem.core.memory import Stage
from ademem.core.settings import LifecycleSettings
from ademem.operations import curation
from ademem.store import evidence, jobs, logs, maintenance, memories, transitions
from ademem.store.transitions import Act
from ademem.synthesis import sweeping
from ademem.synthesis.undoing import undo_event
from tests.builders import NOW, insert
from tests.examples import examples
from tests.store.stores import in_memory
from tests.synthesis.sweeps import aged, candidate, heard, run_mission, standing, state, sweep

DAY = timedelta(days=1)


ACTIVE, FADING, GONE, WAITING = ("promoted", 2), ("promoted", 3), ("archived", 3), ("candidate", 3)


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        pytest.param(aged("a", 89), ACTIVE, id="active, 89 days"),
        pytest.param(aged("a", 90), FADING, id="active, 90 days"),
        pytest.param(aged("a", 91), FADING, id="active, 91 days"),
        pytest.param(
            aged("a", 80, access_score=0.3, confidence=0.3, importance="low"),
            FADING,
            id="worth little, 80 days",
        ),
        pytest.param(aged("a", 179, tier=3), FADING, id="fading, 179 days"),
        pytest.param(aged("a", 400, tier=3), FADING, id="fading, 400 days"),
        pytest.param(aged("a", 400, category="preference"), ACTIVE, id="a preference"),
        pytest.param(
            aged("a", 400, category="convention", importance="low"), ACTIVE, id="a convention"
        ),
        pytest.param(aged("a", 400, tier=1, pinned=True), ("promoted", 1), id="pinned"),
        pytest.param(aged("a", 400, tier=1), ("promoted", 1), id="tier 1"),
        pytest.param(candidate("a", 29, confidence=0.2), WAITING, id="weak, 29 days"),
        pytest.param(candidate("a", 31, confidence=0.2), GONE, id="weak, 31 days"),
        pytest.param(candidate("a", 29, confidence=0.3), WAITING, id="not so weak, 29 days"),
        pytest.param(candidate("a", 31, confidence=0.3), GONE, id="not so weak, 31 days"),
        pytest.param(candidate("a", 179, trust="import"), WAITING, id="an import, 179 days"),
        pytest.param(candidate("a", 181, trust="import"), GONE, id="an import, 181 days"),
        pytest.param(
            candidate("a", 181, category="convention"), GONE, id="a convention nobody confirmed"
        ),
    ],
)
def test_what_nobody_asks_for_fades_and_goes(store, row, expected):
    (row,) = insert(store, row)
    sweep(store)

    assert standing(store, row) == expected


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        pytest.param(aged("a", 3650), FADING, id="confirmed"),
        pytest.param(aged("a", 3650, claimed_author="Bob"), FADING, id="confirmed by a colleague"),
        pytest.param(candidate("a", 3650, trust="user"), WAITING, id="said by a person"),
        pytest.param(candidate("a", 3650, tags=("stop",)), WAITING, id="marked to stop calls"),
        pytest.param(candidate("a", 3650, tier=1, pinned=True), ("candidate", 1), id="pinned"),
        pytest.param(candidate("a", 3650), GONE, id="an agent's candidate"),
    ],
)
@pytest.mark.parametrize("limit", [0, 1])
def test_no_age_and_no_limit_archives_what_a_person_said_or_confirmed(store, row, expected, limit):
    row, *_ = insert(store, row, *(aged(f"other {n}", 0) for n in range(3)))
    sweep(store, project_limit=limit, archive_days=1)
    sweep(store, NOW + 2 * DAY, project_limit=limit, archive_days=1)

    assert standing(store, row) == expected


@pytest.mark.parametrize("access_count", [0, 9])
@pytest.mark.parametrize("confidence", [0.6, 1.0])
def test_no_use_and_no_repetition_confirms_a_candidate(store, access_count, confidence):
    (row,) = insert(store, candidate("a", confidence=confidence, access_count=access_count))
    for session in ("s1", "s2", "s3", "s4"):
        heard(store, row, session)
    sweep(store)

    assert standing(store, row) == WAITING


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        pytest.param(candidate("a", 13, stage=Stage.HEARD), WAITING, id="13 days"),
        pytest.param(candidate("a", 14, stage=Stage.HEARD), GONE, id="14 days"),
        pytest.param(aged("a", 14, stage=Stage.HEARD), ACTIVE, id="confirmed"),
        pytest.param(candidate("a", 29), WAITING, id="a candidate, 29 days"),
        pytest.param(candidate("a", 30), GONE, id="a candidate, 30 days"),
        pytest.param(candidate("a", 89, stage=Stage.SUPPORTED), WAITING, id="supported, 89 days"),
        pytest.param(candidate("a", 90, stage=Stage.SUPPORTED), GONE, id="supported, 90 days"),
        pytest.param(candidate("a", 30, trust="user"), WAITING, id="a person's"),
        pytest.param(candidate("a", 30, trust="import"), WAITING, id="an import"),
        pytest.param(candidate("a", 30, claimed_author="Ben"), WAITING, id="a colleague's"),
        pytest.param(candidate("a", 30, quarantine_reason="orders"), WAITING, id="quarantined"),
        pytest.param(candidate("a", 30, source_type="merge"), WAITING, id="of a conflict"),
        pytest.param(candidate("a", 30, category="episode"), WAITING, id="an episode"),
    ],
)
def test_what_no_person_confirms_ends_as_its_stage_says(store, row, expected):
    (row,) = insert(store, row)
    sweep(store)

    assert standing(store, row) == expected


@pytest.mark.parametrize(
    ("idle_days", "expected"),
    [
        pytest.param(179, WAITING, id="used 179 days ago"),
        pytest.param(180, GONE, id="not used in 180 days"),
    ],
)
def test_a_candidate_that_was_used_ages_by_its_use(store, idle_days, expected):
    (row,) = insert(store, candidate("a", 400, access_score=1.0))
    memories.touch(store, row, 1.0, NOW - idle_days * DAY)
    sweep(store)

    assert standing(store, row) == expected


def test_new_evidence_lets_a_memory_wait_anew(store):
    (row,) = insert(store, candidate("a", 40))
    evidence.add(store, row.id, "reader", NOW - 20 * DAY, quote="a")
    sweep(store)
    assert standing(store, row) == WAITING

    sweep(store, NOW + 11 * DAY)
    assert standing(store, row) == GONE


def test_a_candidate_with_a_file_of_the_client_has_no_age(store):
    (row,) = insert(store, candidate("a", 400, access_score=1.0))
    evidence.add(store, row.id, "client_file", NOW - 400 * DAY, quote="a")
    memories.touch(store, row, 1.0, NOW)
    sweep(store)

    assert standing(store, row) == WAITING


def test_what_is_said_again_waits_anew(store):
    (row,) = insert(store, candidate("a", 14, stage=Stage.HEARD))
    heard(store, row, "s2")
    sweep(store, NOW + 13 * DAY)

    assert standing(store, row) == WAITING


def test_what_faded_and_was_recalled_since_is_active_again(store):
    (row,) = insert(store, aged("a", 100))
    sweep(store)
    memories.touch(store, row, 0.3, NOW + DAY)
    assert standing(store, row) == FADING

    sweep(store, NOW + 2 * DAY)
    assert standing(store, row) == ACTIVE


@pytest.mark.parametrize(
    "use",
    [
        pytest.param(
            lambda store, row, now: logs.count_use(store, [row.id], now), id="in a session"
        ),
        pytest.param(
            lambda store, row, now: store.db.execute(
                "insert into memory_procedure_details values"
                " (:id, '', '', '[]', 1, 0, :now, null, null, null, :now, :now)",
                {"id": row.id, "now": stamp(now)},
            ),
            id="as a procedure",
        ),
    ],
)
def test_what_was_used_without_a_recall_is_as_good_as_recalled(store, use):
    row, other = insert(store, aged("a", 100), aged("b", 100))
    use(store, row, NOW - DAY)
    sweep(store)

    assert (standing(store, row), standing(store, other)) == (ACTIVE, FADING)


def test_thirty_daily_sweeps_halve_a_score_as_one_does(store):
    daily, once = insert(store, aged("a", 0, access_score=1.0), aged("b", 0, access_score=1.0))
    for day in range(1, 31):
        sweep(store, NOW + day * DAY)

    assert memories.get(store, daily.id).access_score == pytest.approx(0.5)
    assert memories.get(store, once.id).access_score == pytest.approx(0.5)


def test_an_access_between_two_sweeps_is_what_the_score_decays_from(store):
    (row,) = insert(store, aged("a", 0, access_score=1.0))
    sweep(store, NOW + 30 * DAY)
    memories.touch(store, row, 0.6, NOW + 30 * DAY)
    sweep(store, NOW + 60 * DAY)

    assert memories.get(store, row.id).access_score == pytest.approx(0.3)


@pytest.mark.parametrize(
    ("scope", "owners", "setting"),
    [
        pytest.param("project", [None], "project_limit", id="project"),
        pytest.param("agent", ["ada", "bob"], "agent_limit", id="each agent"),
        pytest.param("mission", ["m1", "m2"], "mission_limit", id="each mission that is over"),
    ],
)
def test_a_limit_holds_exactly_and_the_lowest_go(store, scope, owners, setting):
    for owner in owners:
        run_mission(store, owner or "none", ended="2026")
        insert(
            store,
            *(
                candidate(f"{scope} {number}", number, scope=scope, scope_owner_id=owner)
                for number in range(12)
            ),
            aged("kept", 12, scope=scope, scope_owner_id=owner, pinned=True, tier=1),
        )
    sweep(store, **{setting: 10})

    for owner in owners:
        found = memories.find(store, "scope_owner_id is :owner", "order by content", owner=owner)
        gone = [row.content for row in found if row.status == "archived"]
        assert gone == [f"{scope} 10", f"{scope} 11", f"{scope} 9"]
    assert standing(store, found[0]) == (("promoted", 1) if found[0].pinned else WAITING)


def test_of_2001_the_lowest_of_the_unconfirmed_goes(store):
    insert(store, *(aged(f"active {n}", 50, access_score=0.1) for n in range(1999)))
    _, lowest = insert(store, candidate("one", 1), candidate("the lowest", 2))
    swept = sweep(store)

    assert [(move.id, move.act) for move in swept.moves] == [(lowest.id, "archive")]


@pytest.mark.parametrize("changes", [{"pinned": True, "tier": 1}, {"tier": 1}])
def test_what_is_pinned_stays_though_there_is_more_of_it_than_may_be(store, changes):
    insert(store, *(aged(f"note {n}", 400, **changes) for n in range(5)), candidate("other"))
    plan = sweeping.preview_sweep(store, LifecycleSettings(project_limit=2), NOW)

    assert [move.why for move in plan.moves] == ["6 memories where 2 may be"]
    assert sweep(store, project_limit=2).archived == 1


def test_a_limit_of_zero_is_none(store):
    insert(store, *(candidate(f"note {n}", 0) for n in range(5)))

    assert sweep(store, project_limit=0).moves == ()
    assert sweep(store, project_limit=4).archived == 1


def test_the_memories_of_a_live_mission_are_left_alone(store):
    run_mission(store, "m1")
    rows = insert(
        store,
        *(aged(f"note {n}", 400, scope="mission", scope_owner_id="m1") for n in range(5)),
        candidate("c", 400, scope="mission", scope_owner_id="m1", confidence=0.1),
    )
    before = state(store)
    swept = sweep(store, mission_limit=2)

    assert (swept.moves, swept.decayed) == ((), 0)
    assert state(store) == before
    assert len(rows) == 6


def test_what_is_left_of_a_mission_that_is_over_counts_as_orphaned(store):
    run_mission(store, "m1", ended="2026")
    insert(store, candidate("a", 400, scope="mission", scope_owner_id="m1"), candidate("b", 400))
    swept = sweep(store)

    assert (swept.archived, swept.orphaned) == (2, 1)


def test_a_sweep_is_one_act_that_can_be_taken_back(store):
    insert(store, aged("a", 100), candidate("b", 200))
    before = {id: moved[:2] for id, moved in state(store).items()}
    swept = sweep(store)
    event = curation.list_events(Act(store=store, now=NOW), 1)[0]

    assert (event.id, event.actor) == (swept.id, "ademem")
    assert event.operations == {"demote": 1, "archive": 1}
    undo_event(swept.id, Act(store=store, now=NOW))
    assert {id: moved[:2] for id, moved in state(store).items()} == before


def test_the_next_sweep_leaves_alone_what_a_person_brought_back(store):
    (row,) = insert(store, candidate("a", 200))
    sweep(store)
    transitions.restore(row.id, Act(store=store, now=NOW + DAY))
    sweep(store, NOW + 2 * DAY)

    assert standing(store, row) == WAITING


def test_each_memory_that_moved_has_a_revision_that_says_why(store):
    (row,) = insert(store, aged("a", 100))
    sweep(store)

    last = memories.revisions(store, row.id)[-1]
    assert (last["operation"], last["actor"]) == ("demote", "ademem")
    assert last["reason"] == "not asked for in 100 days"


def test_fading_does_not_make_a_memory_new(store):
    (row,) = insert(store, aged("a", 100))
    sweep(store)

    assert memories.get(store, row.id).updated_at == row.updated_at


def test_files_and_vectors_follow_what_moved_and_nothing_else(store):
    insert(store, aged("a", 0))
    sweep(store)
    assert jobs.list_due(store, "mirror", NOW) == []

    insert(store, aged("b", 100))
    sweep(store)
    assert jobs.list_due(store, "mirror", NOW)
    assert jobs.list_due(store, "embed", NOW)


def test_a_plan_says_what_the_sweep_then_does(store):
    insert(store, aged("a", 100), candidate("b", 200))
    before = state(store)
    plan = sweeping.preview_sweep(store, LifecycleSettings(), NOW)
    assert state(store) == before
    assert maintenance.last(store, maintenance.SWEEP) is None

    swept = sweep(store)
    assert (plan.moves, plan.decayed) == (swept.moves, swept.decayed)
    assert [move.act for move in plan.moves] == ["demote", "archive"]


class TestTheLog:
    def test_counts_what_was_done(self, store):
        insert(store, aged("a", 100), candidate("b", 200), aged("c", 0))
        swept = sweep(store)

        logged = maintenance.last(store, maintenance.SWEEP)
        assert (logged.id, logged.outcome, logged.trigger_reason) == (swept.id, "ok", "manual")
        assert logged.counts == {
            "decayed": 2,
            "demoted": 1,
            "promoted": 0,
            "archived": 1,
            "orphaned": 0,
        }

    def test_tells_why_a_sweep_failed_without_secrets(self, store, monkeypatch):
        def fail(*_):
            raise OSError("cannot reach https://user:hunter2hunter2@example.com/x")

        monkeypatch.setattr(sweeping, "enforce_limits", fail)
        with pytest.raises(OSError, match="cannot reach"):
            sweep(store)

        logged = maintenance.last(store, maintenance.SWEEP)
        assert logged.outcome == "failed"
        assert "OSError: cannot reach" in logged.error
        assert "hunter2hunter2" not in logged.error

    def test_has_one_row_and_one_event_of_a_sweep_that_was_killed_and_done_again(
        self, store, monkeypatch
    ):
        insert(store, *(candidate(f"note {n}", 200) for n in range(600)))
        follow, calls = jobs.follow, []

        def killed(*arguments):
            calls.append(arguments)
            if len(calls) == 2:
                raise KeyboardInterrupt
            follow(*arguments)

        with monkeypatch.context() as patch:
            patch.setattr(jobs, "follow", killed)
            with pytest.raises(KeyboardInterrupt):
                sweep(store)
        done = [row for row in state(store).values() if row[0] == "archived"]
        assert len(done) == sweeping.CHUNK
        swept = sweep(store, NOW + DAY)

        assert store.db.execute("select count(*) from maintenance_log").fetchone()[0] == 1
        assert maintenance.last(store, "sweep").counts["archived"] == 600
        assert len(undo_event(swept.id, Act(store=store, now=NOW))) == 600


def test_what_changed_after_it_was_looked_at_is_left_for_the_next_sweep(store, monkeypatch):
    pinned, other = insert(store, candidate("a", 200), candidate("b", 200))
    begin = maintenance.count

    def meanwhile(*arguments):
        begin(*arguments)
        if memories.get(store, pinned.id).revision_count == 1:
            transitions.pin(pinned.id, Act(store=store, now=NOW))

    monkeypatch.setattr(maintenance, "count", meanwhile)
    swept = sweep(store)

    assert [move.id for move in swept.moves] == [other.id]
    assert standing(store, pinned) == ("candidate", 1)


rows = st.fixed_dictionaries(
    {
        "days": st.integers(0, 400),
        "status": st.sampled_from(["promoted", "candidate"]),
        "tier": st.sampled_from([1, 2, 3]),
        "pinned": st.booleans(),
        "category": st.sampled_from(["fact", "convention", "gotcha"]),
        "confidence": st.sampled_from([0.1, 0.5, 0.7, 1.0]),
        "importance": st.sampled_from(["low", "medium", "high"]),
        "access_score": st.sampled_from([0.0, 0.2, 0.9]),
        "access_count": st.integers(0, 2),
        "home": st.sampled_from([("project", None), ("agent", "ada"), ("mission", "live")]),
        "quarantine_reason": st.sampled_from([None, None, "gives a role"]),
    }
)


def filled(drawn):
    store = in_memory()
    run_mission(store, "live")
    given = [
        aged(f"note {number}", days, scope=scope, scope_owner_id=owner, **changes)
        for number, row in enumerate(drawn)
        for changes in [dict(row)]
        for days, (scope, owner) in [(changes.pop("days"), changes.pop("home"))]
    ]
    return store, insert(store, *given)


@settings(max_examples=examples(40))
@given(drawn=st.lists(rows, max_size=12), limit=st.integers(1, 12))
def test_sweeping_again_at_once_changes_nothing(drawn, limit):
    store, _ = filled(drawn)
    limits = {"project_limit": limit, "agent_limit": limit}
    sweep(store, **limits)
    before = state(store)
    again = sweep(store, **limits)

    assert (state(store), again.moves, again.decayed) == (before, (), 0)
    store.close()


@settings(max_examples=examples(30))
@given(drawn=st.lists(rows, max_size=6), days=st.lists(st.integers(1, 300), max_size=5))
def test_many_sweeps_end_where_the_last_one_alone_would_have(drawn, days):
    often, _ = filled(drawn)
    once, _ = filled(drawn)
    moments = sorted({*days, 300})
    for day in moments:
        sweep(often, NOW + day * DAY)
    sweep(once, NOW + 300 * DAY)

    live = {id: moved for id, moved in state(once).items() if moved[0] != "archived"}
    assert {id: state(often)[id] for id in live} == live
    assert {id for id, moved in state(often).items() if moved[0] != "archived"} == set(live)
    for store in (often, once):
        store.close()


@settings(max_examples=examples(40))
@given(drawn=st.lists(rows, max_size=14), limit=st.integers(1, 8), day=st.integers(0, 400))
def test_whatever_is_swept_keeps_its_promises(drawn, limit, day):
    store, given_rows = filled(drawn)
    sweep(store, NOW + day * DAY, project_limit=limit, agent_limit=limit)
    now = {row.id: row for row in memories.find(store, "true")}

    for before in given_rows:
        after = now[before.id]
        if before.pinned or before.tier == 1 or before.scope == "mission":
            assert (after.status, after.tier) == (before.status, before.tier)
        assert (after.status == "promoted") == (before.status == "promoted")
    for scope in ("project", "agent"):
        held = [row for row in now.values() if row.scope == scope and row.live]
        fixed = [row for row in held if row.pinned or row.tier == 1 or row.status == "promoted"]
        assert len(held) <= max(limit, len(fixed))
    store.close()


@pytest.mark.parametrize(
    ("column", "value"),
    [("importance", "zzz"), ("last_accessed_at", b"\xff"), ("confidence", "high")],
)
def test_a_memory_with_a_value_that_cannot_be_is_left_out_and_the_others_age(store, column, value):
    bad, good = insert(store, aged("a", 100), aged("b", 100))
    store.db.execute("pragma ignore_check_constraints = on")
    store.db.execute(f"update unified_memories set {column} = ? where seq = ?", (value, bad.seq))
    sweep(store, NOW)

    assert standing(store, good) == FADING
