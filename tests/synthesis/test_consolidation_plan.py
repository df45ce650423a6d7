"""Texts that mean nearly the same: one memory, two, or a contradiction."""

from itertools import combinations

import numpy as np
import pytest

from ademem.core.settings import EmbedSettings
from ademem.search import embedding
from ademem.synthesis.consolidation_plan import (
    CONFLICT_COSINE,
    MERGE_COSINE,
    Relation,
    conflict,
    has_other_number,
    is_about_one,
    relate,
)
from tests.synthesis.statements import MODEL, STATEMENTS

SAME, MORE, APART, CONFLICT = Relation
NEAR = MERGE_COSINE


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        pytest.param("No test may use the net", "Tests must not use the net", SAME, id="two noes"),
        pytest.param("The net is forbidden in tests", "No net in tests", SAME, id="forbidden"),
        pytest.param("Tests may use the net", "Tests may not use the net", CONFLICT, id="not"),
        pytest.param("Uploads are disabled", "Uploads are enabled", CONFLICT, id="disabled"),
        pytest.param("Migrate before a deploy", "Migrate after a deploy", CONFLICT, id="after"),
        pytest.param("The API is on port 80", "Port 443 serves the API", CONFLICT, id="numbers"),
        pytest.param("We queue in Redis", "We queue in Kafka", CONFLICT, id="names"),
        pytest.param("Our queue is Redis", "We use Kafka to queue", APART, id="another sentence"),
        pytest.param("Logs are kept", "Logs are kept in `logs/`", MORE, id="a path more"),
        pytest.param("Logs are kept in `logs/`", "We keep the logs", SAME, id="a path less"),
        pytest.param("Deploy on Friday", "Deploy on Friday only", APART, id="only"),
        pytest.param("WAL needs memory", "Without WAL it needs memory", APART, id="without"),
        pytest.param("Orders are cached", "Customers are cached", APART, id="another thing"),
        pytest.param(
            "We came from Postgres 14 to 15", "We came from Postgres 15 to 14", APART, id="order"
        ),
        pytest.param("Nie ohne Test", "Immer mit Test", CONFLICT, id="German"),
        pytest.param("缓存不会被清除", "缓存会被清除", CONFLICT, id="Chinese"),
    ],
)
def test_how_a_text_stands_to_one_that_is_near(left, right, expected):
    assert relate(left, right) == expected


@pytest.mark.parametrize(
    ("left", "right"),
    [
        pytest.param(
            "The deployment of billing goes through make ship.",
            "Deploy billing with make ship, never by hand.",
            id="a no to something else",
        ),
        pytest.param(
            "Port 9090 is where billing answers.",
            "billing is served on port 9090, not on the default one.",
            id="a not of something else",
        ),
        pytest.param(
            "Requests from billing time out after 5 seconds.",
            "billing gives a request 5 seconds before it gives up.",
            id="after and before other things",
        ),
    ],
)
def test_what_is_said_of_something_else_contradicts_nothing(left, right):
    assert conflict(left, right) is None
    assert conflict(right, left) is None


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        pytest.param(
            "The request timeout of billing is 45 seconds",
            "Requests from billing time out after 5 seconds",
            True,
            id="one matter in other words",
        ),
        pytest.param(
            "The request timeout of billing is 45 seconds",
            "Requests from search time out after 5 seconds",
            False,
            id="another service",
        ),
        pytest.param(
            "The branch of billing is 7 commits behind",
            "The branch of search is 12 commits behind",
            False,
            id="one sentence of two branches",
        ),
    ],
)
def test_two_texts_are_about_one_matter_when_they_share_what_tells(left, right, expected):
    assert is_about_one(left, right) is expected


def pairs():
    """All pairs of statements, with what they are to each other and how near."""
    for one, other in combinations(STATEMENTS, 2):
        marks = {one.mark, other.mark}
        if one.group != other.group or "~" in marks:
            kind = "different"
        else:
            kind = "same" if marks == {"="} else "against"
        left, right = (np.frombuffer(each.vector, "<f4") for each in (one, other))
        yield kind, float(left @ right), one.text, other.text


def test_statements_about_different_matters_are_not_near():
    cosines = [cosine for kind, cosine, *_ in pairs() if kind == "different"]

    assert len(cosines) > 5000
    assert max(cosines) < NEAR


def test_three_of_four_statements_of_one_matter_are():
    cosines = [cosine for kind, cosine, *_ in pairs() if kind == "same"]

    assert sum(cosine >= NEAR for cosine in cosines) / len(cosines) >= 0.75


def test_every_contradiction_is_found_and_no_agreement_taken_for_one():
    found = {kind: set() for kind in ("same", "against", "different")}
    for kind, _, left, right in pairs():
        found[kind].add(conflict(left, right) is not None)

    assert found["against"] == {True}
    assert found["same"] == {False}


def test_of_different_matters_none_looks_like_one_with_another_number():
    changed = [
        (left, right)
        for kind, cosine, left, right in pairs()
        if kind == "different" and cosine >= CONFLICT_COSINE and has_other_number(left, right)
    ]

    assert changed == []


def test_one_sentence_about_two_things_is_told_from_one_said_twice():
    about_others = [
        relate(one.text, other.text)
        for one, other in combinations(STATEMENTS, 2)
        if one.group == other.group and one.mark == other.mark == "~"
    ]

    assert len(about_others) == 36
    assert about_others.count(SAME) <= 2


@pytest.mark.slow
def test_the_stored_vectors_are_those_of_the_model(models):
    model = embedding.load(EmbedSettings(), models)
    assert model.model_id == MODEL
    some = STATEMENTS[::9]
    made = model.embed([each.text for each in some])
    kept = np.stack([np.frombuffer(each.vector, "<f4") for each in some])

    assert ((made * kept).sum(axis=1) > 0.999).all()
