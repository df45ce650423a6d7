"""Whitening: what the vectors of a store have in common fades, what parts them shows."""

from __future__ import annotations

import numpy as np
import pytest

from ademem.search import dense
from ademem.store import embeddings
from tests.search.spelling import SIZE, Spelling, embed


def unit(rows: np.ndarray) -> np.ndarray:
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def alike(count: int) -> np.ndarray:
    """Vectors that all lean to one side, as those of one project do."""
    noise = np.random.default_rng(7).normal(size=(count, 32))
    noise[:, 0] += 8
    return unit(noise)


def whitened(learned: dense.Whitening, vectors: np.ndarray) -> np.ndarray:
    rows = (vectors - learned.mean) @ learned.axes
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def save(store, model: str, learned: dense.Whitening) -> None:
    mean, axes = learned.mean.tobytes(), learned.axes.tobytes()
    values = {"mean": mean, "axes": axes, "vectors": learned.learned_from}
    embeddings.save_whitening(store, model, **values)


def test_what_all_vectors_have_in_common_fades():
    vectors = alike(400)
    seen = whitened(dense.learn_whitening(vectors), vectors)

    plain, through = vectors @ vectors.T, seen @ seen.T
    apart = ~np.eye(400, dtype=bool)
    assert plain[apart].mean() > 0.6
    assert abs(through[apart].mean()) < 0.1
    np.testing.assert_allclose(np.diag(through), 1, atol=1e-5)


def test_a_whitening_learned_from_nothing_changes_no_cosine():
    vectors = alike(10)
    seen = whitened(dense.learn_whitening(vectors[:0]), vectors)

    np.testing.assert_allclose(seen @ seen.T, vectors @ vectors.T, atol=1e-5)


def test_a_whitening_learned_from_five_changes_little():
    vectors = alike(5)
    seen = whitened(dense.learn_whitening(vectors), vectors)

    np.testing.assert_allclose(seen @ seen.T, vectors @ vectors.T, atol=0.15)


def test_equal_vectors_are_no_trouble():
    vectors = np.repeat(alike(1), 300, axis=0)

    assert np.isfinite(whitened(dense.learn_whitening(vectors), vectors)).all()


def test_a_whitening_is_read_as_it_was_written(store):
    learned = dense.learn_whitening(alike(50))
    save(store, "a", learned)

    read = dense.load_whitening(store, "a", 32)
    assert read is not None
    assert read.learned_from == 50
    np.testing.assert_array_equal(read.mean, learned.mean)
    np.testing.assert_array_equal(read.axes, learned.axes)


def test_a_whitening_of_an_earlier_version_is_read_until_a_new_one_is_learned(store):
    learned, later = dense.learn_whitening(alike(50)), dense.learn_whitening(alike(60))
    save(store, "a", learned)
    store.db.execute("update store_values set name = replace(name, ' a', '')")
    store.db.execute("insert into store_values values ('whitening_model', 'a')")

    read = dense.load_whitening(store, "a", 32)
    assert read is not None
    np.testing.assert_array_equal(read.axes, learned.axes)
    assert dense.load_whitening(store, "b", 32) is None
    save(store, "a", later)
    anew = dense.load_whitening(store, "a", 32)
    assert anew is not None
    np.testing.assert_array_equal(anew.axes, later.axes)


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        pytest.param("axes", "substr(value, 1, length(value) - 1)", id="cut"),
        pytest.param("mean", "x''", id="empty"),
        pytest.param("mean", "cast(x'ffffff7f' || substr(value, 5) as blob)", id="not a number"),
    ],
)
def test_a_damaged_whitening_is_none(store, name, damage):
    save(store, "a", dense.learn_whitening(alike(50)))
    update = f"update store_values set value = {damage} where name = 'whitening_{name} a'"
    store.db.execute(update)

    assert dense.load_whitening(store, "a", 32) is None


def test_there_is_no_whitening_of_other_dimensions(store):
    save(store, "a", dense.learn_whitening(alike(50)))

    assert dense.load_whitening(store, "a", 16) is None
    assert dense.load_whitening(store, "b", 32) is None


def test_a_whitening_is_ground_anew_when_the_store_has_grown_by_a_quarter(store, keep):
    notes = [keep(f"the shard {number} holds customers") for number in range(20)]
    embed(store, *notes[:12])
    first = dense.load_whitening(store, Spelling.model_id, SIZE)
    embed(store, *notes[12:15])
    still = dense.load_whitening(store, Spelling.model_id, SIZE)
    embed(store, *notes[15:])
    anew = dense.load_whitening(store, Spelling.model_id, SIZE)

    assert [found.learned_from for found in (first, still, anew) if found] == [12, 12, 20]


def test_a_store_without_vectors_has_no_whitening(store, keep):
    keep("a note")

    assert not dense.update_whitening(store, Spelling.model_id, SIZE)
    assert dense.load_whitening(store, Spelling.model_id, SIZE) is None


def test_two_models_have_a_whitening_each(store):
    first, second = dense.learn_whitening(alike(50)), dense.learn_whitening(alike(60))
    save(store, "first", first)
    save(store, "second", second)
    save(store, "first", first)

    read = [dense.load_whitening(store, model, 32) for model in ("first", "second", "third")]
    assert [found and found.learned_from for found in read] == [50, 60, None]


@pytest.mark.parametrize("kept", ["first", "second"])
def test_the_whitening_of_a_model_that_is_not_kept_is_removed(store, kept):
    save(store, "first", dense.learn_whitening(alike(50)))
    save(store, "second", dense.learn_whitening(alike(60)))
    embeddings.drop_others(store, [kept])

    models = ("first", "second")
    assert [model for model in models if embeddings.whitening(store, model)] == [kept]
