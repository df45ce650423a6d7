"""Consolidation of a real store: what becomes one, what is related, what is left alone."""

from datetime import timedelta

import pytest

from ademem.core.clock import stamp
from ademem.core.settings import Settings
from ademem.operations import curation
from ademem.search.engine import Filters, search
from ademem.store import jobs, maintenance, memories, relations, transitions
from ademem.store.transitions import Act
from ademem.synthesis import consolidation
from ademem.synthesis.consolidation import ConsolidationRun
from ademem.synthesis.undoing import undo_event
from tests.builders import NOW, insert, memory
from tests.synthesis import statements
from tests.synthesis.statements import MODEL

INVOICES, UPLOADS = 1, 15
DAY = timedelta(days=1)


def put(store, given, **changes):
    """The statements as memories that have their vectors."""
    rows = insert(store, *(memory(each.text, **changes) for each in given))
    for row, each in zip(rows, given, strict=True):
        store.db.execute(
            "insert into unified_memory_embeddings values (?, ?, ?, ?, ?, 384, 1, ?, ?)",
            (row.id, row.id, store.project_id, MODEL, each.vector, stamp(NOW), stamp(NOW)),
        )
    return rows


def group(number, marks="="):
    """Statements of a group; those that say the same do so in the same words."""
    found = statements.group(number)
    for first in found["="][:1]:
        found["="] = [first._replace(text=f"{first.text}{end}") for end in ("", ".", "!")]
    return [each for mark in marks for each in found[mark]]


def run(store, now=NOW, **changes):
    settings = Settings()
    return consolidation.consolidate(
        ConsolidationRun(store=store, settings=settings, model=MODEL, **changes),
        lambda: now,
    )


def live(store):
    return {row.content for row in memories.find(store, "true") if row.live}


def test_three_that_say_the_same_become_one_that_says_it(store):
    rows = put(store, group(UPLOADS))
    done = run(store)

    (merged,) = [row for row in memories.find(store, "true") if row.live]
    assert (done.clusters, done.merged, done.created) == (1, 3, 1)
    assert merged.content in {row.content for row in rows}
    assert (merged.source_type, merged.source_id) == ("consolidation", done.id)
    assert {memories.get(store, row.id).superseded_by for row in rows} == {merged.id}
    assert {memories.get(store, row.id).status for row in rows} == {"archived"}


def test_the_new_one_has_the_best_of_each_and_is_trusted_like_the_least(store):
    three = group(UPLOADS)
    put(store, three[:1], importance="high", tags=("auth",), trust="user", access_count=2)
    put(store, three[1:2], confidence=0.95, observation_count=3, created_at=NOW - DAY)
    put(store, three[2:], tier=3, trust="tool", tags=("time",), promoted_at=NOW - DAY)
    done = run(store)

    merged = memories.get(store, done.merges[0].id)
    assert (merged.importance, merged.confidence, merged.tier) == ("high", 0.95, 2)
    assert (merged.observation_count, merged.access_count) == (5, 2)
    assert (merged.created_at, merged.promoted_at) == (NOW - DAY, NOW - DAY)
    assert (set(merged.tags), merged.trust) == ({"auth", "time"}, "tool")


def test_a_search_finds_the_one_and_none_of_the_others(store):
    put(store, group(INVOICES))
    run(store)

    for statuses in ((), ("promoted", "archived")):
        filters = Filters(statuses=statuses)
        found = search("invoices rounded half even", store, filters, NOW)
        assert len(found.hits) == 1


def test_two_are_counted_and_left(store):
    put(store, group(UPLOADS)[:2])
    done = run(store)

    assert (done.clusters, done.merged, done.id) == (1, 0, "")
    assert len(live(store)) == 2


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"scope": "agent", "scope_owner_id": "ada"}, id="of an agent"),
        pytest.param({"category": "gotcha"}, id="filed as something else"),
        pytest.param({"file_scope_pattern": "src/**"}, id="about other files"),
        pytest.param({"source_branch": "topic"}, id="learned on a branch"),
        pytest.param({"pinned": True, "tier": 1}, id="pinned"),
        pytest.param({"tier": 1}, id="tier 1"),
        pytest.param({"status": "candidate"}, id="unconfirmed"),
        pytest.param({"quarantine_reason": "gives a role"}, id="quarantined"),
        pytest.param({"topic_key": "tokens"}, id="a topic of its own"),
        pytest.param({"tags": ("dialogue",)}, id="a turn of a dialogue"),
        pytest.param({"source_type": "skill"}, id="a skill"),
    ],
)
def test_one_that_is_of_another_kind_is_not_merged_with_two(store, changes):
    three = group(UPLOADS)
    put(store, three[:2])
    put(store, three[2:], **changes)

    assert run(store).merged == 0


@pytest.mark.parametrize("category", ["episode", "procedure", "handoff", "digest"])
def test_records_of_what_happened_stay_what_they_are(store, category):
    put(store, group(UPLOADS), category=category)

    assert run(store).merged == 0


def test_statements_of_other_matters_stay(store):
    put(store, [each for number in range(16, 40) for each in group(number, "~")])
    done = run(store)

    assert done.merged == 0


def test_nearly_the_same_words_are_left_to_a_person(store):
    put(store, statements.group(UPLOADS)["="])
    done = run(store)

    assert (done.clusters, done.merged) == (1, 0)


def test_what_says_the_opposite_is_neither_merged_nor_marked(store):
    (against, *_) = put(store, group(UPLOADS, "!="))
    done = run(store)

    assert done.merged == 3
    assert memories.get(store, against.id).live
    assert relations.list_conflicts(store) == []


def test_a_consolidation_is_one_act_that_can_be_taken_back_and_is_not_done_again(store):
    put(store, [*group(UPLOADS), *group(INVOICES)])
    before = live(store)
    done = run(store)
    event = curation.list_events(Act(store=store, now=NOW), 1)[0]
    assert (event.id, event.actor) == (done.id, "ademem")
    assert event.operations == {"supersede": 6, "insert": 2}

    undo_event(done.id, Act(store=store, now=NOW))
    assert live(store) == before
    assert run(store, now=NOW + DAY).merged == 0


def test_files_and_vectors_follow_a_merge_and_nothing_else(store):
    put(store, group(UPLOADS)[:2])
    run(store)
    assert jobs.list_due(store, "mirror", NOW) == []

    put(store, group(UPLOADS)[2:])
    run(store)
    assert jobs.list_due(store, "mirror", NOW)
    assert jobs.list_due(store, "embed", NOW)


def test_a_merge_says_what_a_person_confirmed_of_one_of_its_members(store):
    put(store, group(UPLOADS))
    (merged,) = run(store).merges

    assert live(store) == {merged.content}
    assert merged.content in {each.text for each in group(UPLOADS)}
    assert memories.get(store, merged.id).status == "promoted"


def test_where_no_memory_has_a_vector_it_says_so(store):
    insert(store, *(memory(each.text) for each in group(UPLOADS)))
    done = run(store, trigger="schedule")

    logged = maintenance.last(store, maintenance.CONSOLIDATION)
    assert done.outcome == logged.outcome == "embeddings-unavailable"
    assert (logged.trigger_reason, logged.counts["merged"]) == ("schedule", 0)
    assert len(live(store)) == 3


def test_an_empty_store_is_in_order(store):
    assert run(store).outcome == "ok"


def test_the_log_counts_what_was_done(store):
    put(store, [*group(UPLOADS), *group(INVOICES)[:2]])
    done = run(store)

    logged = maintenance.last(store, maintenance.CONSOLIDATION)
    assert (logged.id, logged.outcome, logged.error) == (done.id, "ok", None)
    assert logged.counts == {"found": 2, "merged": 3, "created": 1}


def test_a_failure_changes_nothing_and_is_logged_without_secrets(store, monkeypatch):
    put(store, group(UPLOADS))
    before = live(store)

    def fail(*_):
        raise OSError("cannot reach https://user:hunter2hunter2@example.com/x")

    monkeypatch.setattr(jobs, "follow", fail)
    with pytest.raises(OSError, match="cannot reach"):
        run(store)

    logged = maintenance.last(store, maintenance.CONSOLIDATION)
    assert live(store) == before
    assert (logged.outcome, logged.counts["merged"]) == ("failed", 0)
    assert "OSError: cannot reach" in logged.error
    assert "hunter2hunter2" not in logged.error


def test_what_changed_after_it_was_compared_is_not_merged(store):
    rows = put(store, group(UPLOADS))
    calls = []

    def clock():
        calls.append(NOW)
        if len(calls) == 2:  # the first is of the start, the second follows the comparison
            act = Act(store=store, now=NOW)
            transitions.edit(rows[0].id, act, Settings().gate, content="Else")
        return NOW

    given = ConsolidationRun(store=store, settings=Settings(), model=MODEL)
    assert consolidation.consolidate(given, clock).merged == 0
    assert len(live(store)) == 3


def test_a_preview_says_what_would_be_done_and_does_nothing(store):
    put(store, group(UPLOADS, "=!"))
    before = live(store)
    seen = consolidation.preview(ConsolidationRun(store=store, settings=Settings(), model=MODEL))
    assert seen.merged == 3
    assert live(store) == before
    assert maintenance.last(store, maintenance.CONSOLIDATION) is None

    assert run(store).merges[0].members == seen.merges[0].members
