"""Of two memories that contradict each other the later one comes first."""

from __future__ import annotations

from datetime import timedelta

import pytest

from ademem.model import Status
from ademem.store import relations
from tests.builders import NOW

OLD, NEW = "billing listens on port 8081", "port 9090 is where billing listens today"
QUESTION = "which port does billing listen on"


@pytest.fixture
def contradicting(store, keep):
    """Two memories, a week apart, that consolidation found to be at odds."""

    def put(**of_the_later):
        old = keep(OLD, created_at=NOW - timedelta(days=7))
        new = keep(NEW, created_at=NOW, **of_the_later)
        relations.conflict(store, old, new, "8081 against 9090", "ademem", NOW)
        return old, new

    return put


def test_the_later_of_two_comes_first(contradicting, texts):
    contradicting()

    assert texts(QUESTION) == [NEW, OLD]


@pytest.mark.parametrize(
    "later",
    [
        pytest.param({"status": Status.CANDIDATE}, id="unconfirmed"),
        pytest.param({"quarantine_reason": "an order"}, id="in quarantine"),
        pytest.param({"status": Status.ARCHIVED}, id="archived"),
    ],
)
def test_what_says_less_than_the_earlier_one_does_not_push_it_down(contradicting, ask, later):
    contradicting(**later)
    (old, *_) = [hit for hit in ask(QUESTION).hits if hit.memory.content == OLD]

    assert "contradicted" not in old.signals


def test_a_conflict_that_a_person_settled_changes_nothing(store, contradicting, texts):
    old, new = contradicting()
    relations.settle(store, old, new, "user", NOW)

    assert texts(QUESTION) == [OLD, NEW]
