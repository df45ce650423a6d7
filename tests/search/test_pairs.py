"""Of two memories that say something else about one subject, the later one comes first."""

from __future__ import annotations

from datetime import timedelta

import pytest

from ademem.core import anchor
from ademem.core.memory import Status, Trust
from ademem.search.engine import Filters, current, search
from ademem.store import memories, relations, transitions
from ademem.store.memories import Change
from ademem.store.relations import CONFLICT, SUPERSEDES
from ademem.store.transitions import Act
from tests.builders import NOW

OLD, NEW = "billing listens on port 8081", "port 9090 is where billing listens today"
QUESTION = "which port does billing listen on"
WEEK = timedelta(days=7)


@pytest.fixture
def pair(store, keep):
    """Two related memories, a week apart."""

    def put(relation=CONFLICT, earlier=OLD, later=NEW, of_the_earlier=None, **of_the_later):
        old = keep(earlier, created_at=NOW - WEEK, **(of_the_earlier or {}))
        new = keep(later, **({"created_at": NOW} | of_the_later))
        relations.add(
            store,
            old,
            new,
            relation,
            score=0.9,
            reason="8081 against 9090",
            actor="user",
            now=NOW,
        )
        return old, new

    return put


def act(store):
    return Act(store=store, now=NOW)


@pytest.mark.parametrize("relation", [CONFLICT, SUPERSEDES])
def test_the_later_of_two_comes_first(pair, texts, relation):
    pair(relation)

    assert texts(QUESTION) == [NEW, OLD]


def test_the_later_one_is_found_by_what_the_earlier_says(pair, ask):
    old, new = pair(SUPERSEDES, "yarn is the package manager", "We switched to pnpm")

    first, second = ask("which package manager").hits
    assert (first.memory, second.memory) == (new, old)
    assert not first.later
    assert second.later.mark == f"superseded by {new.id}, 2026-01-31"


def test_a_question_that_names_the_earlier_value_asks_for_the_earlier_one(pair, texts):
    pair()

    assert texts("does billing listen on port 8081")[0] == OLD


def test_the_later_one_comes_first_if_it_is_the_one_that_sounds_outdated(pair, texts):
    back, switched = "yarn is the package manager", "We switched to pnpm"
    pair(SUPERSEDES, earlier=switched, later=back)

    assert texts("which package manager did we switch to") == [back, switched]


def test_a_memory_that_the_filters_hide_is_not_added(pair, ask):
    pair(
        SUPERSEDES,
        "yarn is the package manager",
        "We switched to pnpm",
        scope="agent",
        scope_owner_id="ada",
    )

    (hit,) = ask("which package manager").hits
    assert (hit.memory.content, hit.later) == ("yarn is the package manager", None)


def test_who_did_not_ask_is_not_shown_what_was_replaced(pair, ask):
    _, new = pair(SUPERSEDES, status=Status.CANDIDATE)

    assert [hit.memory for hit in current(ask(QUESTION))] == [new]


def test_who_did_not_ask_is_shown_both_where_a_person_has_to_decide(pair, ask):
    old, new = pair(CONFLICT)

    assert [hit.memory for hit in current(ask(QUESTION))] == [new, old]


@pytest.mark.parametrize(
    "later",
    [
        pytest.param({"quarantine_reason": "an order"}, id="in quarantine"),
        pytest.param({"status": Status.ARCHIVED}, id="archived"),
    ],
)
def test_a_memory_that_is_not_shown_outdates_nothing(pair, ask, later):
    pair(**later)
    (old, *_) = [hit for hit in ask(QUESTION).hits if hit.memory.content == OLD]

    assert not old.later


def test_a_memory_that_was_learned_again_since_is_the_later_one(store, pair, texts):
    old, _ = pair()
    again = Change(operation="merge", actor="agent", at=NOW + timedelta(days=1))
    memories.update(store, old, again)

    assert texts(QUESTION) == [OLD, NEW]


def test_a_later_memory_that_was_outdated_in_turn_gives_way_to_its_heir(store, pair, keep, ask):
    yarn, pnpm, bun = "yarn is the package manager", "We switched to pnpm", "bun installs all"
    old, between = pair(SUPERSEDES, yarn, pnpm, created_at=NOW - WEEK / 2)
    new = keep(bun, created_at=NOW)
    relations.add(store, between, new, SUPERSEDES, score=0.9, reason="", actor="user", now=NOW)

    first, *_ = hits = ask("which package manager").hits
    assert first.memory == new
    assert next(hit.later.id for hit in hits if hit.memory == old) == new.id


def test_a_pair_that_waits_is_related_by_the_order_in_which_it_was_learned_last(store, pair, ask):
    old, new = pair(CONFLICT)  # an import, less trusted than what an agent says
    again = Change(operation="merge", actor="agent", at=NOW + timedelta(days=1))
    memories.update(store, old, again)
    relations.add(store, new, old, SUPERSEDES, score=0.9, reason="", actor="user", now=NOW)

    assert [hit.memory.id for hit in current(ask(QUESTION))] == [old.id]


def test_a_pair_that_a_person_settled_changes_nothing(store, pair, texts):
    old, new = pair()
    relations.resolve(store, old, new, "user", NOW)

    assert texts(QUESTION) == [OLD, NEW]


class TestWhatWasSuperseded:
    def test_leads_to_its_heir_and_follows_it(self, store, pair, ask):
        old, new = pair(SUPERSEDES, "yarn is the package manager", "We switched to pnpm")
        transitions.supersede(old.id, act(store), new.id)

        hits = ask("which package manager").hits
        assert [hit.memory.id for hit in hits] == [new.id, old.id]
        assert [hit.later and hit.later.id for hit in hits] == [None, new.id]

    def test_leads_to_the_heir_of_its_heir(self, store, pair, keep, texts):
        old, new = pair(SUPERSEDES, "yarn is the package manager", "We switched to pnpm")
        newest = keep("bun it is", created_at=NOW + WEEK)
        transitions.supersede(old.id, act(store), new.id)
        transitions.supersede(new.id, act(store), newest.id)

        assert texts("which package manager") == ["bun it is", "yarn is the package manager"]

    def test_is_left_out_with_an_heir_that_is_gone(self, store, pair, ask):
        old, new = pair(SUPERSEDES)
        transitions.supersede(old.id, act(store), new.id)
        transitions.archive(new.id, act(store))

        assert not ask(QUESTION).hits

    def test_is_found_by_nothing_else(self, store, pair):
        old, new = pair(SUPERSEDES)
        transitions.supersede(old.id, act(store), new.id)
        statuses = (Status.PROMOTED, Status.CANDIDATE)

        found = search(OLD, store, Filters(statuses=statuses, since=NOW), NOW)
        assert [hit.memory.id for hit in found.hits] == [new.id]

    def test_is_one_of_an_open_pair_again_once_it_is_restored(self, store, pair, ask):
        old, new = pair(SUPERSEDES)
        transitions.supersede(old.id, act(store), new.id)
        assert relations.list_conflicts(store) == []
        transitions.restore(old.id, act(store))

        (found,) = relations.list_conflicts(store)
        assert (found.left, found.right, found.relation) == (old.id, new.id, CONFLICT)
        assert [hit.memory.id for hit in ask(QUESTION).hits] == [new.id, old.id]


@pytest.mark.parametrize(
    ("earlier", "later", "first"),
    [
        pytest.param(Trust.USER, Trust.USER, NEW, id="a person corrects what a person wrote"),
        pytest.param(Trust.USER, Trust.AGENT, NEW, id="an agent is newer than a person"),
        pytest.param(Trust.USER, Trust.WEB, OLD, id="a page does not go before a person"),
        pytest.param(Trust.AGENT, Trust.WEB, NEW, id="a page is newer than an agent"),
    ],
)
def test_trust_decides_what_may_go_first(pair, texts, earlier, later, first):
    pair(CONFLICT, of_the_earlier={"trust": earlier}, trust=later)

    assert texts(QUESTION)[0] == first


SUBJECT = "how is the boat hall heated"
OIL, GAS = "the boat hall is heated with oil", "since May we heat the boat hall with gas"


def test_the_newer_of_two_near_hits_comes_first_without_vectors(keep, ask):
    old = keep(OIL, created_at=NOW - WEEK)
    new = keep(GAS, created_at=NOW)
    keep("the boat race is in June", created_at=NOW)

    first, second, *_ = ask(SUBJECT).hits
    assert [first.memory, second.memory] == [new, old]
    assert second.later.mark == f"newer: {new.id}, 2026-01-31"
    assert "newer" in first.signals


@pytest.mark.parametrize(
    ("later", "question"),
    [
        pytest.param({"created_at": NOW - WEEK}, SUBJECT, id="of one day"),
        pytest.param({"trust": Trust.WEB}, SUBJECT, id="from outside, after a person's word"),
        pytest.param({"category": "procedure"}, SUBJECT, id="no statement"),
        pytest.param({"content": f"{GAS}. {'It costs less. ' * 20}"}, SUBJECT, id="a long text"),
        pytest.param(
            {}, f"{SUBJECT} in a cold winter and what did its oil cost in March", id="a description"
        ),
    ],
)
def test_the_better_of_two_near_hits_stays_first(keep, texts, later, question):
    keep(OIL, created_at=NOW - WEEK, trust=Trust.USER)
    keep(**({"content": GAS, "created_at": NOW} | later))

    assert texts(question)[0] == OIL


@pytest.mark.parametrize(
    "later",
    [
        pytest.param({"status": "candidate"}, id="not confirmed"),
        pytest.param({"claimed_author": "Mallory", "trust": Trust.IMPORT}, id="a stranger's"),
    ],
)
def test_a_near_copy_takes_no_place_of_a_confirmed_memory(keep, ask, later):
    keep(OIL, created_at=NOW - WEEK)
    new = keep(GAS, created_at=NOW, **later)

    first, second = ask(SUBJECT).hits
    assert (first.memory.content, second.memory.content) == (OIL, GAS)
    assert first.later.id == new.id


def test_the_newer_of_two_hits_that_share_little_stays_behind(keep, texts):
    keep("the boat hall is heated with oil", created_at=NOW - WEEK)
    keep("keys of the hall: ask Meret, she has three of them", created_at=NOW)

    assert texts("boat hall")[0] == "the boat hall is heated with oil"


def when(*words):
    return {"anchors": tuple(map(anchor.of_occasion, words))}


def test_the_newer_of_two_that_share_their_occasions_comes_first_without_a_common_word(keep, texts):
    old, new = "oil from Meier & Co", "a gas contract, since May"
    keep(f"the boat hall burns {old}", created_at=NOW - WEEK, **when("pay for the heating"))
    keep(f"{new} keeps the boats warm", created_at=NOW, **when("pay for the heating", "hall"))
    keep("the boat race is in June", created_at=NOW, **when("who may start"))

    assert texts("boat hall heating")[0] == f"{new} keeps the boats warm"
