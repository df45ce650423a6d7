"""Figures of one ranking, each worked out by hand."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ademem.plugins.evaluation import measuring as evaluation

RANKED = ["a", "x", "b", "y", "z", "c"]


@pytest.mark.parametrize(
    ("k", "relevant", "any_hit", "recall_all", "recall"),
    [
        pytest.param(1, "a", 1, 1, 1, id="first"),
        pytest.param(1, "ab", 1, 0, 1 / 2, id="one of two"),
        pytest.param(3, "ab", 1, 1, 1, id="both"),
        pytest.param(5, "abc", 1, 0, 2 / 3, id="the third is beyond"),
        pytest.param(6, "abcd", 1, 0, 3 / 4, id="one is nowhere"),
        pytest.param(6, "d", 0, 0, 0, id="none"),
    ],
)
def test_hits_within_a_cut(k, relevant, any_hit, recall_all, recall):
    assert evaluation.any_hit(RANKED, relevant, k) == any_hit
    assert evaluation.recall_all(RANKED, relevant, k) == recall_all
    assert evaluation.recall(RANKED, relevant, k) == pytest.approx(recall)


@pytest.mark.parametrize(
    ("relevant", "expected"),
    [
        pytest.param("a", 1, id="rank 1"),
        pytest.param("cb", 1 / 3, id="the better of ranks 3 and 6"),
        pytest.param("d", 0, id="not found"),
    ],
)
def test_the_reciprocal_rank_is_that_of_the_first_relevant_hit(relevant, expected):
    assert evaluation.reciprocal_rank(RANKED, relevant) == expected


@pytest.mark.parametrize(
    ("relevant", "k", "expected"),
    [
        pytest.param("a", 10, 1, id="best possible"),
        pytest.param("b", 10, 0.5, id="rank 3: 1 / log2 4"),
        pytest.param("ab", 10, 1.5 / (1 + 1 / math.log2(3)), id="ranks 1 and 3 of 1 and 2"),
        pytest.param("c", 5, 0, id="beyond the cut"),
    ],
)
def test_ndcg_weighs_a_hit_by_its_rank(relevant, k, expected):
    assert evaluation.ndcg(RANKED, relevant, k) == pytest.approx(expected)


def test_more_relevant_ids_than_the_cut_holds_can_still_be_ranked_perfectly():
    assert evaluation.ndcg([*"abcde"], "abcdefgh", 5) == pytest.approx(1)


def test_a_hit_below_the_depth_is_not_found():
    ranked = [str(n) for n in range(evaluation.DEPTH)] + ["a"]

    assert not any(evaluation.scores(ranked, ["a"]).values())


@given(
    ranked=st.lists(st.sampled_from("abcdefghij"), unique=True),
    relevant=st.sets(st.sampled_from("abcdefghij"), min_size=1),
)
def test_every_score_is_between_nothing_and_all(ranked, relevant):
    scores = evaluation.scores(ranked, relevant)

    assert all(0 <= score <= 1 + 1e-9 for score in scores.values())
    assert scores["R@1"] <= scores["R@5"] <= scores["R@10"] <= scores["R@20"]
    assert scores["all@10"] <= scores["R@10"] <= scores["any@10"]


def test_means_are_taken_over_questions():
    asked = [("ademem", "pets", evaluation.scores([found], "a")) for found in "ax"]
    (row,) = evaluation.average(asked)

    assert (row.category, row.questions, set(row.scores.values())) == ("overall", 2, {0.5})
