"""The search that is compared with, on figures worked out elsewhere."""

from __future__ import annotations

import math

import pytest

np = pytest.importorskip("numpy")
reference = pytest.importorskip("ademem.api.evaluation.reference")

EAST, NORTH, WEST = [1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]


def floats(*rows):
    return np.array(rows, np.float32)


def test_a_word_counts_what_the_specification_says():
    assert reference.term(3, 12, 100, 10, 2) == pytest.approx(2.8693045687)


def test_words_and_meaning_are_weighed_as_the_specification_says():
    assert reference.hybrid(0.6, 0.8) == pytest.approx(0.74)


def test_every_word_has_to_be_there():
    texts = [reference.tokens(text) for text in ("grey parrot", "parrot", "")]

    assert reference.bm25(["grey", "parrot"], texts).keys() == {0}
    assert reference.bm25(["parrot"], texts).keys() == {0, 1}
    assert reference.bm25([], texts) == reference.bm25(["a"], []) == {}


def test_a_lone_lexical_hit_gets_a_half_and_the_median_too():
    assert reference.saturate({7: 3.0}) == {7: 0.5}
    assert reference.saturate({1: 1.0, 2: 2.0, 3: 4.0}) == {1: 1 / 3, 2: 0.5, 3: 2 / 3}
    assert reference.saturate({}) == {}


def test_the_nearest_come_first_and_equals_in_order():
    assert reference.dense(floats(0.5, 0.9, 0.5, 0.1), 3) == [1, 0, 2]


def test_what_is_like_a_picked_text_makes_way():
    vectors = floats(EAST, EAST, NORTH)

    assert reference.mmr({0: 1.0, 1: 0.9, 2: 0.6}, vectors, 3) == [0, 2, 1]
    assert reference.mmr({0: 1.0, 1: 0.9, 2: 0.1}, vectors, 2) == [0, 1]


def test_words_lift_what_is_equally_near():
    half = [math.sqrt(0.5), math.sqrt(0.5)]
    vectors = floats(half, half, WEST)
    texts = ["a plain text", "the grey parrot", "far away"]

    assert reference.ranking("grey", texts, vectors, floats(*EAST), 3)[0] == 1
    assert reference.ranking("?", texts, vectors, floats(*EAST), 2) == [0, 1]
