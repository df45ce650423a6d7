"""Texts that mean nearly the same: one memory, or two."""

from itertools import combinations

import numpy as np
import pytest

from ademem.core.settings import EmbedSettings
from ademem.search import embedding
from ademem.synthesis.consolidation import (
    MERGE_COSINE,
    Relation,
    relate,
)
from tests.synthesis.statements import MODEL, STATEMENTS

SAME, MORE, APART = Relation
NEAR = MERGE_COSINE


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        pytest.param("No test may use the net", "Tests must not use the net", SAME, id="two noes"),
        pytest.param("The net is forbidden in tests", "No net in tests", SAME, id="forbidden"),
        pytest.param("Tests may use the net", "Tests may not use the net", APART, id="not"),
        pytest.param("Uploads are disabled", "Uploads are enabled", APART, id="disabled"),
        pytest.param("Migrate before a deploy", "Migrate after a deploy", APART, id="after"),
        pytest.param("The API is on port 80", "Port 443 serves the API", APART, id="numbers"),
        pytest.param("We queue in Redis", "We queue in Kafka", APART, id="names"),
        pytest.param("Our queue is Redis", "We use Kafka to queue", APART, id="another sentence"),
        pytest.param("Logs are kept", "Logs are kept in `logs/`", MORE, id="a path more"),
        pytest.param("Logs are kept in `logs/`", "We keep the logs", SAME, id="a path less"),
        pytest.param("Deploy on Friday", "Deploy on Friday only", APART, id="only"),
        pytest.param("WAL needs memory", "Without WAL it needs memory", APART, id="without"),
        pytest.param("Orders are cached", "Customers are cached", APART, id="another thing"),
        pytest.param(
            "We came from Postgres 14 to 15", "We came from Postgres 15 to 14", APART, id="order"
        ),
        pytest.param("Nie ohne Test", "Immer mit Test", APART, id="German"),
        pytest.param("缓存不会被清除", "缓存会被清除", APART, id="Chinese"),
    ],
)
def test_how_a_text_stands_to_one_that_is_near(left, right, expected):
    assert relate(left, right) == expected


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


def test_no_contradiction_is_merged():
    against = [(left, right) for kind, _, left, right in pairs() if kind == "against"]

    assert against
    assert SAME not in {relate(*pair) for pair in against}


def test_one_sentence_about_two_things_is_distinguished_from_a_repetition():
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
