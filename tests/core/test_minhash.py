"""Signatures: whoever shares most of their words shares one, and hardly anybody else does."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ademem.core import minhash
from ademem.core.text import jaccard, words
from tests.examples import examples

WORD = st.text("abcdefghij", min_size=1, max_size=9)
SIGNS = st.sampled_from("在的是了数据库文件不能放网络共享上否则会损坏索引")
PAIRS = {
    "shared": st.frozensets(WORD | SIGNS, max_size=60),
    "mine": st.frozensets(WORD, max_size=6),
    "theirs": st.frozensets(WORD, max_size=6),
}
"""What two texts have in common, and each alone."""


@settings(max_examples=examples(300), deadline=None)
@given(**PAIRS)
def test_no_two_texts_that_are_alike_lack_a_common_signature(shared, mine, theirs):
    left, right = shared | mine, shared | theirs

    if jaccard(left, right) >= minhash.SHARE:
        assert minhash.own(left, "p") & minhash.of_likes(right, "p")
        assert minhash.own(right, "p") & minhash.of_likes(left, "p")


@settings(max_examples=examples(300), deadline=None)
@given(**PAIRS)
def test_sketches_of_texts_that_are_alike_differ_in_few_bits(shared, mine, theirs):
    left, right = shared | mine, shared | theirs
    bits = (minhash.sketch(left) ^ minhash.sketch(right)).bit_count()

    assert bits <= len(left ^ right)
    if share := jaccard(left, right):
        assert bits <= minhash.most_apart(len(left), share)


def test_sketches_of_other_texts_differ_in_many():
    rng = random.Random(2)
    common = [f"common {n}" for n in range(30)]
    texts = [
        frozenset(rng.sample(common, 6)) | {f"{rng.random()}" for _ in range(12)}
        for _ in range(200)
    ]
    first, *others = map(minhash.sketch, texts)

    most = minhash.most_apart(18, minhash.SHARE)
    assert min((first ^ other).bit_count() for other in others) > most


@pytest.mark.parametrize("size", [1, 2, 6, 7, 13, 40, 100, 301, 2000])
def test_texts_at_the_very_border_have_one_in_common(size):
    rng = random.Random(size)
    for _ in range(20):
        left = {f"w{rng.random()}" for _ in range(size)}
        for right in (shrunk(left, rng), grown(left), exchanged(left, rng)):
            assert jaccard(frozenset(left), right) >= minhash.SHARE
            assert minhash.own(frozenset(left), "") & minhash.of_likes(right, "")


@pytest.mark.parametrize(("size", "asked"), [(3, 1), (8, 2), (16, 3), (30, 11)])
def test_no_more_is_asked_for_than_can_differ_and_one(size, asked):
    text = frozenset(f"telling {n}" for n in range(size))

    assert len(minhash.of_likes(text, "p")) <= asked


def shrunk(left, rng):
    return frozenset(rng.sample(sorted(left), -int(-len(left) * 0.85 // 1)))


def grown(left):
    return frozenset(left | {f"more {n}" for n in range(int(len(left) * 0.15 / 0.85 + 1e-9))})


def exchanged(left, rng):
    """As many words others as keep nine tenths and more in common."""
    out = int(len(left) * 0.15 / 1.85)
    return frozenset(rng.sample(sorted(left), len(left) - out)) | {f"new {n}" for n in range(out)}


def test_common_little_words_bring_few_together():
    rng = random.Random(1)
    little = "the of is a to in it we on for and no if at by".split()
    texts = [
        frozenset(rng.sample(little, 6)) | {f"{rng.random()}" for _ in range(6)} for _ in range(400)
    ]
    first, *others = texts

    met = [text for text in others if minhash.own(text, "") & minhash.of_likes(first, "")]
    assert len(met) < 4


def test_another_home_has_other_signatures():
    text = words("the importer reads every file twice because the first pass only counts lines")

    assert not minhash.own(text, "project/") & minhash.of_likes(text, "agent/ada")


def test_a_text_without_words_is_like_none():
    assert minhash.own(frozenset(), "") == minhash.of_likes(frozenset(), "") == set()


def test_signatures_are_the_same_on_every_machine_and_in_every_version():
    text = words("WAL needs shared memory, so the database cannot live on a network share")

    assert sorted(minhash.own(text, "project/")) == [
        98903355681883,
        117216671760768,
        120001936797219,
    ]
    assert minhash.sketch(text) == 2216508326402
