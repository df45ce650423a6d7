"""Passing over what is far, by a few bits of each vector."""

from __future__ import annotations

import numpy as np
import pytest

from ademem.search import whitening
from ademem.search.index import sketch, source
from tests.search.index.test_same import Hashing, ask, assert_same, without_index
from tests.search.index.world import DIMENSIONS


def unit(vectors):
    return (vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)).astype(np.float32)


@pytest.fixture
def rng():
    return np.random.default_rng(3)


@pytest.fixture
def plain():
    """A lens that changes nothing."""
    return whitening.learn(np.empty((0, 384), np.float32))


def sketched(vectors, glass):
    across = sketch.planes(glass)
    return sketch.Sketches(across, sketch.of(vectors, glass, across))


def test_bits_differ_as_far_as_vectors_do(rng, plain):
    one = unit(rng.standard_normal(384))
    others = unit(one + rng.uniform(0, 0.3, (200, 1)) * rng.standard_normal((200, 384)))
    sketches = sketch.of(np.vstack((one, others)), plain, sketch.planes(plain))
    bits = np.unpackbits(np.ascontiguousarray(sketches.T).view(np.uint8), axis=1)
    apart = (bits[1:] != bits[0]).mean(axis=1)

    assert bits.shape == (201, 64 * sketch.WORDS)
    assert apart == pytest.approx(np.arccos(others @ one) / np.pi, abs=0.06)


def test_those_that_differ_least_are_near(rng, plain, monkeypatch):
    monkeypatch.setattr(sketch, "LEAST", 50)
    vectors = unit(rng.standard_normal((5000, 384)))
    found = sketched(vectors, plain)
    rows = found.near(vectors[7], plain)

    apart = [
        np.bitwise_count(found.columns[:, row] ^ found.columns[:, 7]).sum() for row in range(5000)
    ]
    assert rows.tolist() == np.flatnonzero(apart <= np.sort(apart)[50]).tolist()
    assert 7 in rows
    assert 50 < len(rows) < 100


def test_few_rows_are_all_near(rng, plain):
    vectors = unit(rng.standard_normal((20, 384)))

    assert sketched(vectors, plain).near(vectors[0], plain).tolist() == list(range(20))


def test_the_best_are_among_the_near_of_a_store_that_has_its_own_view(rng, monkeypatch):
    monkeypatch.setattr(sketch, "LEAST", 100)
    middles = rng.standard_normal((100, 384)) * np.linspace(2, 0.1, 384) + 3
    vectors = unit(np.repeat(middles, 20, axis=0) + rng.standard_normal((2000, 384)))
    glass = whitening.learn(vectors)
    found = sketched(vectors, glass)
    through = whitening.seen(glass, vectors)

    for row in range(0, 2000, 10):
        question = unit(vectors[row] + 0.02 * rng.standard_normal(384))
        best = np.argsort(through @ whitening.seen(glass, question))[-10:]
        assert set(best.tolist()) <= set(found.near(question, glass).tolist())


def test_rows_without_a_vector_take_no_place(rng, monkeypatch):
    monkeypatch.setattr(sketch, "LEAST", 50)
    vectors = unit(rng.standard_normal((2000, 384)) + 2)
    glass = whitening.learn(vectors)
    embedded = np.arange(2000) % 2 == 0
    vectors[~embedded] = 0
    found = sketched(vectors, glass)
    question = unit(-glass.mean)

    assert not embedded[found.near(question, glass)].any()
    rows = found.near(question, glass, embedded)
    assert embedded[rows].all()
    assert len(rows) > 50


@pytest.fixture
def small(monkeypatch):
    """So few rows are worth sketches, and so few are compared."""
    monkeypatch.setattr(sketch, "WORTH", 10)
    monkeypatch.setattr(sketch, "LEAST", 30)
    monkeypatch.setattr(sketch, "PART", 0.0)


@pytest.fixture
def crowd(world, small):
    """Rows like each other, some gone, some without a vector."""
    for number in range(200):
        id = world.add(f"sqlite wal lock {number}")
        if number % 9:
            world.embed(id, vector=Hashing().embed([f"sqlite wal lock {number}"])[0])
    world.build()
    for number in range(0, 200, 7):
        world.hide(f"m{number}")
    return world


def test_only_rows_that_can_be_compared_are_near(crowd):
    index = crowd.open()
    assert index.segments[0].sketches is not None
    asked = index.aimed(Hashing().embed(["sqlite wal lock 5"])[0])
    rows, scores = index.near(asked)
    everything = index.meanings(asked)

    assert 20 < len(rows) < 100
    assert np.isfinite(scores).all()
    assert scores == pytest.approx(everything[rows], abs=1e-6)


def test_a_search_that_sketches_shorten_finds_what_one_without_finds(crowd, monkeypatch):
    found = ask(crowd, "sqlite lock 17")
    without_index(monkeypatch)

    assert [hit.memory.id for hit in found.hits][:5] == [
        hit.memory.id for hit in ask(crowd, "sqlite lock 17").hits
    ][:5]


def test_whoever_looks_further_than_sketches_reach_compares_all(crowd, monkeypatch):
    monkeypatch.setattr(sketch, "SURE", 0)
    monkeypatch.setattr(source, "LOOKS", (2,))
    found = ask(crowd, "sqlite lock 17")
    without_index(monkeypatch)

    assert_same(found, ask(crowd, "sqlite lock 17"))


def test_vectors_of_few_numbers_have_sketches_too(rng):
    glass = whitening.learn(np.empty((0, DIMENSIONS), np.float32))
    vectors = unit(rng.standard_normal((40, DIMENSIONS)))

    assert sketch.of(vectors, glass, sketch.planes(glass)).shape == (sketch.WORDS, 40)
