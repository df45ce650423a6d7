"""Answers of which only one can be true today."""

from __future__ import annotations

from datetime import timedelta

import pytest

from ademem.core.memory import DIALOGUE, Status, Tier, Trust
from ademem.search.contradictions import differing_value
from ademem.search.engine import current
from ademem.store import memories
from ademem.store.memories import Change
from tests.builders import NOW

OLD, NEW = "the auth service listens on port 8081", "the auth service listens on port 8443"
QUESTION = "which port does auth listen on?"
EARLIER = NOW - timedelta(days=30)
UNCONFIRMED = {"status": Status.CANDIDATE, "tier": Tier.FADING, "confidence": 0.6}


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        pytest.param("we use npm", "We use pnpm.", (["npm"], ["pnpm"]), id="a word"),
        pytest.param(
            "rotate it weekly", "rotate it at night", (["weekly"], ["at", "night"]), id="two"
        ),
        pytest.param("ship is how we deploy", "we deploy by ship", None, id="another sentence"),
        pytest.param("a listens on 80", "b listens on 90", None, id="two places"),
        pytest.param("we use npm", "we use npm here", None, id="a word more"),
        pytest.param("we use npm", "we use npm", None, id="the same"),
        pytest.param("use npm", "go home", None, id="nothing in common"),
        pytest.param("", "", None, id="nothing"),
    ],
)
def test_one_sentence_with_another_value(left, right, expected):
    assert differing_value(left, right) == expected


@pytest.mark.parametrize(
    "later",
    [pytest.param({}, id="confirmed"), pytest.param(UNCONFIRMED, id="unconfirmed")],
)
def test_the_later_of_two_answers_comes_first_and_the_earlier_next(keep, ask, later):
    old = keep(OLD, created_at=EARLIER, access_score=1.0, confidence=1.0)
    keep("the mail service listens on port 25", created_at=EARLIER)
    new = keep(NEW, created_at=NOW, **later)

    first, second, *_ = ask(QUESTION).hits
    assert (first.memory, second.memory) == (new, old)
    assert (first.against, second.against) == ("", new.id)
    assert old not in [hit.memory for hit in current(ask(QUESTION))]


def test_what_was_said_again_is_the_later_one(store, keep, texts):
    old = keep(OLD, created_at=EARLIER)
    keep(NEW, created_at=NOW - timedelta(days=9))
    memories.update(store, old, Change(operation="merge", actor="agent", at=NOW))

    assert texts(QUESTION)[0] == OLD


def test_a_persons_word_comes_before_a_later_one_of_an_agent_and_both_are_shown(keep, texts):
    keep(OLD, created_at=EARLIER, trust=Trust.USER)
    keep(NEW, created_at=NOW, trust=Trust.AGENT)

    assert texts(QUESTION)[:2] == [OLD, NEW]


@pytest.mark.parametrize(
    ("question", "changes"),
    [
        pytest.param("does auth listen on port 8081?", {}, id="whoever names one"),
        pytest.param(f"{QUESTION} in {EARLIER:%B %Y}", {}, id="whoever names a date"),
        pytest.param(QUESTION, {"tags": (DIALOGUE,)}, id="what was said in a dialogue"),
    ],
)
def test_time_does_not_decide_for(keep, ask, question, changes):
    keep(OLD, created_at=EARLIER, **changes)
    keep(NEW, created_at=NOW, **changes)

    assert not any(hit.against for hit in ask(question).hits)


def test_the_same_of_other_things_than_the_one_asked_for_is_not_told_apart_by_time(keep, ask):
    keep("the mail service listens on port 8081", created_at=EARLIER)
    keep("the billing service listens on port 8081", created_at=NOW)

    assert not any(hit.against for hit in ask(QUESTION).hits)


def test_a_candidate_from_before_a_confirmed_answer_is_not_heard(keep, texts):
    keep(OLD, created_at=EARLIER, **UNCONFIRMED)
    keep(NEW, created_at=NOW)

    assert texts(QUESTION) == [NEW]
