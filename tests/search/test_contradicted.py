"""Of two memories that contradict each other the later one comes first."""

from __future__ import annotations

from datetime import timedelta

import pytest

from ademem.core.memory import Status, Trust
from ademem.search.engine import Filters, suggest
from ademem.store import memories, relations
from ademem.store.memories import Change
from tests.builders import NOW

OLD, NEW = "billing listens on port 8081", "port 9090 is where billing listens today"
QUESTION = "which port does billing listen on"


@pytest.fixture
def contradicting(store, keep):
    """Two memories, a week apart, that consolidation found to be at odds."""

    def put(**of_the_later):
        old = keep(OLD, created_at=NOW - timedelta(days=7))
        new = keep(NEW, created_at=NOW, **of_the_later)
        relations.add_conflict(store, old, new, "8081 against 9090", "ademem", NOW)
        return old, new

    return put


def test_the_later_of_two_comes_first(contradicting, texts):
    contradicting()

    assert texts(QUESTION) == [NEW, OLD]


@pytest.mark.parametrize(
    "later",
    [
        pytest.param({"quarantine_reason": "an order"}, id="in quarantine"),
        pytest.param({"status": Status.ARCHIVED}, id="archived"),
    ],
)
def test_what_says_less_than_the_earlier_one_does_not_push_it_down(contradicting, ask, later):
    contradicting(**later)
    (old, *_) = [hit for hit in ask(QUESTION).hits if hit.memory.content == OLD]

    assert "contradicted" not in old.signals
    assert not old.against


def test_the_later_one_need_not_be_confirmed(contradicting, store, ask):
    _, new = contradicting(status=Status.CANDIDATE)

    first, second = ask(QUESTION).hits
    assert (first.memory, second.against) == (new, new.id)
    (shown,) = suggest(QUESTION, store, Filters(), NOW)
    assert shown.memory == new


@pytest.mark.parametrize(
    ("trust", "outdated"),
    [
        pytest.param(Trust.USER, True, id="another word of a person"),
        pytest.param(Trust.AGENT, False, id="the word of an agent"),
    ],
)
def test_what_a_person_said_yields_to(store, keep, ask, trust, outdated):
    old = keep(OLD, created_at=NOW - timedelta(days=7), trust=Trust.USER)
    new = keep(NEW, created_at=NOW, trust=trust)
    relations.add_conflict(store, old, new, "8081 against 9090", "ademem", NOW)

    hits = {hit.memory.id: hit for hit in ask(QUESTION).hits}
    assert bool(hits[old.id].against) is outdated
    assert not hits[new.id].against


def test_what_was_said_again_since_is_not_outdated(store, contradicting, ask):
    old, _ = contradicting()
    again = Change(operation="merge", actor="agent", at=NOW + timedelta(days=1))
    memories.update(store, old, again)

    assert not any(hit.against for hit in ask(QUESTION).hits)


def test_a_conflict_that_a_person_settled_changes_nothing(store, contradicting, texts):
    old, new = contradicting()
    relations.resolve(store, old, new, "user", NOW)

    assert texts(QUESTION) == [OLD, NEW]
