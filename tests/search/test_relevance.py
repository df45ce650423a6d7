"""One relevance from several signals, against values worked out on paper."""

from __future__ import annotations

import pytest

from ademem.core.value import replace
from ademem.search.dialogue import add_neighbours
from ademem.search.lexical import Matches
from ademem.search.ranking import compute_signals, weighted_mean, words_signal

WEIGHTS = {"words": 0.2, "meaning": 0.3, "near_words": 0.3, "near_meaning": 0.2}
MATCHES = Matches(
    bm25={1: 8.0, 2: 4.0},
    terms={1: (0, 1), 2: (0,)},
    whole=frozenset({1}),
    weights=(0.5, 0.5),
)


@pytest.mark.parametrize(
    ("share", "bm25", "best", "expected"),
    [
        pytest.param(1.0, 8.0, 8.0, 1.0, id="the best match of everything"),
        pytest.param(0.5, 8.0, 8.0, 0.85, id="the best match of half"),
        pytest.param(1.0, 4.0, 8.0, 0.65, id="everything, half as well"),
        pytest.param(1.0, 0.0, 0.0, 1.0, id="found where there is no BM25"),
    ],
)
def test_words_are_how_much_was_matched_and_how_well(share, bm25, best, expected):
    assert words_signal(share, bm25, best, 0.3) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("signals", "expected"),
    [
        pytest.param({"words": 0.6}, 0.6, id="words alone"),
        pytest.param({"words": 1.0, "meaning": 0.5}, 0.7, id="a note: (0.2 + 0.15) / 0.5"),
        pytest.param({"words": 1.0, "near_words": 0.5}, 0.7, id="a turn: (0.2 + 0.15) / 0.5"),
        pytest.param({}, 0.0, id="nothing"),
    ],
)
def test_relevance_is_the_mean_of_the_signals_there_are(signals, expected):
    assert weighted_mean(signals, WEIGHTS) == pytest.approx(expected)


def test_meaning_is_measured_against_the_best_and_never_below_nothing():
    whitened, plain = {1: 0.3, 2: 0.6, 3: -0.2}, {1: 0.5, 2: 0.7, 3: 0.1}

    made = compute_signals(MATCHES, (1, 2, 3), whitened, plain)
    assert [made[seq]["meaning"] for seq in (1, 2, 3)] == [0.5, 1.0, 0.0]
    assert [made[seq]["cosine"] for seq in (1, 2, 3)] == [0.5, 0.7, 0.1]


def test_a_row_without_vector_means_what_the_least_does_that_has_as_many_words():
    matches = Matches(
        bm25={1: 9.0, 2: 9.0, 3: 2.0, 4: 8.0},
        terms={1: (0, 1, 2), 2: (0, 1, 2), 3: (0,), 4: (0, 1)},
        weights=(0.4, 0.5, 0.1),
    )
    cosines = {1: 0.4, 3: 0.1, 4: 0.8}

    made = compute_signals(matches, (1, 2, 3, 4), cosines, cosines)
    assert made[2]["meaning"] == made[1]["meaning"] == 0.5
    assert "cosine" not in made[2]


def test_a_row_that_has_most_of_the_words_is_taken_to_mean_as_much():
    made = compute_signals(MATCHES, (1, 2), {2: 0.6}, {2: 0.6})

    assert made[1]["meaning"] == made[1]["words"] == 1.0


def test_without_vectors_and_neighbours_nothing_is_said_of_them():
    made = compute_signals(MATCHES, (1, 2))

    assert made[1] == {"exact": 0.0, "whole": 1.0, "share": 1.0, "bm25": 8.0, "words": 1.0}


def test_a_row_between_two_that_have_the_words_is_near_them():
    matches = replace(MATCHES, terms={1: (0,), 3: (1,)})

    made = compute_signals(matches, (1, 2, 3))
    add_neighbours(made, {1: ((2,),), 2: ((1, 3),)}, matches, {})
    assert made[2]["words"] == 0.0
    assert made[2]["near_words"] == 1.0
    assert made[1]["near_words"] == pytest.approx(0.5)


def test_an_identifier_of_a_memory_answers_beside_a_word_that_none_has(keep, ask):
    known = keep("OrderMapper drops rows without a tenant")
    keep("deploys run from main after CI is green")

    assert [hit.memory for hit in ask("OrderMapper frobnicate").answers] == [known]
    assert not ask("PriceMapper frobnicate").answers
