"""The lens of a store: what its vectors have in common fades, what parts them shows."""

from __future__ import annotations

import numpy as np
import pytest

from ademem.search import dense, lens
from tests.search.spelling import SIZE, Spelling, embed


def unit(rows: np.ndarray) -> np.ndarray:
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def alike(count: int) -> np.ndarray:
    """Vectors that all lean to one side, as those of one project do."""
    noise = np.random.default_rng(7).normal(size=(count, 32))
    noise[:, 0] += 8
    return unit(noise)


def test_what_all_vectors_have_in_common_fades():
    vectors = alike(400)
    seen = lens.seen(lens.learn(vectors), vectors)

    plain, through = vectors @ vectors.T, seen @ seen.T
    apart = ~np.eye(400, dtype=bool)
    assert plain[apart].mean() > 0.6
    assert abs(through[apart].mean()) < 0.1
    np.testing.assert_allclose(np.diag(through), 1, atol=1e-5)


def test_a_lens_learned_from_nothing_changes_no_cosine():
    vectors = alike(10)
    seen = lens.seen(lens.learn(vectors[:0]), vectors)

    np.testing.assert_allclose(seen @ seen.T, vectors @ vectors.T, atol=1e-5)


def test_a_lens_learned_from_five_changes_little():
    vectors = alike(5)
    seen = lens.seen(lens.learn(vectors), vectors)

    np.testing.assert_allclose(seen @ seen.T, vectors @ vectors.T, atol=0.15)


def test_equal_vectors_are_no_trouble():
    vectors = np.repeat(alike(1), 300, axis=0)

    assert np.isfinite(lens.seen(lens.learn(vectors), vectors)).all()


def test_a_lens_is_read_as_it_was_written(tmp_path):
    learned = lens.learn(alike(50))
    lens.save(learned, str(tmp_path / "a.lens"))

    read = lens.load(str(tmp_path / "a.lens"), 32)
    assert read is not None
    assert read.learned_from == 50
    np.testing.assert_array_equal(read.mean, learned.mean)
    np.testing.assert_array_equal(read.axes, learned.axes)


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda data: data[:-1], id="cut"),
        pytest.param(lambda data: b"", id="empty"),
        pytest.param(lambda data: b"X" + data[1:], id="another format"),
        pytest.param(lambda data: data[:-4] + b"\xff\xff\xff\x7f", id="not a number"),
    ],
)
def test_a_damaged_lens_is_none(tmp_path, damage):
    path = tmp_path / "a.lens"
    lens.save(lens.learn(alike(50)), str(path))
    path.write_bytes(damage(path.read_bytes()))

    assert lens.load(str(path), 32) is None


def test_there_is_no_lens_of_other_dimensions(tmp_path):
    lens.save(lens.learn(alike(50)), str(tmp_path / "a.lens"))

    assert lens.load(str(tmp_path / "a.lens"), 16) is None
    assert lens.load(str(tmp_path / "b.lens"), 32) is None


def test_a_lens_is_ground_anew_when_the_store_has_grown_by_a_quarter(store, keep):
    notes = [keep(f"the shard {number} holds customers") for number in range(20)]
    embed(store, *notes[:12])
    first = dense.load(store, Spelling.model_id, SIZE)
    embed(store, *notes[12:15])
    still = dense.load(store, Spelling.model_id, SIZE)
    embed(store, *notes[15:])
    anew = dense.load(store, Spelling.model_id, SIZE)

    assert [found.learned_from for found in (first, still, anew) if found] == [12, 12, 20]


def test_a_store_without_vectors_has_no_lens(store, keep):
    keep("a note")

    assert not dense.grind(store, Spelling.model_id, SIZE)
    assert dense.load(store, Spelling.model_id, SIZE) is None


def test_the_lens_of_another_model_is_removed(store, keep):
    note = keep("a note")
    embed(store, note)
    store.db.execute("update unified_memory_embeddings set embedding_model = 'newer'")
    dense.grind(store, "newer", SIZE)

    assert dense.load(store, "newer", SIZE) is not None
    assert dense.load(store, Spelling.model_id, SIZE) is None
