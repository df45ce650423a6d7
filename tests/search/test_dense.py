"""Cached and mapped vectors are those of the store, whatever happened to it."""

from __future__ import annotations

import tracemalloc
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest

from ademem.search import dense
from ademem.store import embeddings
from ademem.store.embeddings import Vector
from tests import builders
from tests.builders import NOW, memory
from tests.worker import fake

SECOND = timedelta(seconds=1)


def put(store, text, meaning=None, now=NOW):
    """A memory with the vector of its text, or of another one."""
    row = store.db.execute("select id from unified_memories where content = ?", (text,)).fetchone()
    (known,) = builders.insert(store, memory(text)) if row is None else (memory(text),)
    blob = fake.vector(meaning or text).tobytes()
    embeddings.put(store, fake.ID, [Vector(memory=known, blob=blob, dimensions=384, norm=1)], now)
    return known


def cosines(store):
    return dense.Cosines(fake.vector("question"), dense.load_vectors(store, fake.ID, 384))


def nearest(store):
    """The contents from the nearest to the question to the farthest."""
    found = cosines(store)
    names = dict(store.db.execute("select seq, content from unified_memories").fetchall())
    return [names[seq] for seq in found.nearest(9)]


def nothing(*_):
    raise AssertionError("read again")


def test_vectors_that_did_not_change_are_not_read_again(store, monkeypatch):
    put(store, "question")
    assert nearest(store) == ["question"]

    monkeypatch.setattr(dense, "read_vectors", nothing)
    assert nearest(store) == ["question"]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        pytest.param(lambda store: put(store, "new"), {"question", "old", "new"}, id="one came"),
        pytest.param(
            lambda store: store.db.execute("delete from unified_memories where content = 'old'"),
            {"question"},
            id="one went",
        ),
        pytest.param(
            lambda store: (
                store.db.execute("delete from unified_memories where content = 'old'"),
                put(store, "new"),
            ),
            {"question", "new"},
            id="one took the place of another",
        ),
    ],
)
def test_a_change_is_seen_at_once(store, change, expected):
    put(store, "question")
    put(store, "old")
    nearest(store)
    change(store)

    assert set(nearest(store)) == expected


def test_a_vector_that_another_took_the_place_of_is_seen_at_once(store):
    put(store, "a", "far")
    put(store, "b", "question")
    assert nearest(store)[0] == "b"
    put(store, "b", "elsewhere", NOW.replace(year=2030))

    found = cosines(store)
    assert max(found.compare([1, 2])[1].values()) < 0.5


def test_a_whitening_that_was_estimated_meanwhile_is_applied(store):
    for number in range(30):
        put(store, f"note {number}")
    raw = cosines(store).compare([1])
    dense.update_whitening(store, fake.ID, 384)
    through, plain = cosines(store).compare([1])

    assert plain == pytest.approx(raw[1])
    assert through != raw[0]


def test_another_store_has_its_own(store, tmp_path):
    put(store, "question")
    assert nearest(store) == ["question"]
    other = builders.open_project(tmp_path / "other")

    put(other, "another")
    assert nearest(other) == ["another"]
    other.close()


@pytest.fixture
def mapped(store, monkeypatch):
    """A store whose vectors are in a file, and that file."""
    monkeypatch.setattr(dense, "MAPPED_FROM", 1)
    for number in range(30):
        put(store, f"note {number}")
    dense.update_whitening(store, fake.ID, 384)
    dense.forget()
    _, folder = embeddings.cache_folder(store)
    return store, Path(dense.file_of(folder, fake.ID))


def test_a_mapped_file_gives_what_the_database_does(mapped, monkeypatch):
    store, file = mapped
    whitening = dense.load_whitening(store, fake.ID, 384)
    stored = dense.read_vectors(store, fake.ID, 384, whitening)
    written = dense.Cosines(fake.vector("question"), stored)
    assert cosines(store).nearest(30) == written.nearest(30)
    assert file.stat().st_mode & 0o077 == 0
    dense.forget()
    monkeypatch.setattr(dense, "read_vectors", nothing)
    read = cosines(store)

    assert read.nearest(30) == written.nearest(30)
    assert read.compare(range(40)) == written.compare(range(40))


@pytest.mark.parametrize(
    ("change", "is_read_anew"),
    [
        pytest.param(lambda store: put(store, "another"), False, id="one more"),
        pytest.param(lambda store: put(store, "note 7", "x", NOW + SECOND), False, id="one other"),
        pytest.param(
            lambda store: store.db.execute("delete from unified_memories where content = 'note 7'"),
            True,
            id="one less",
        ),
    ],
)
def test_a_file_is_renewed_by_what_was_stored_since(mapped, monkeypatch, change, is_read_anew):
    store, _ = mapped
    whitening = dense.load_whitening(store, fake.ID, 384)
    cosines(store)
    change(store)
    stored, read = dense.read_vectors(store, fake.ID, 384, whitening), []
    monkeypatch.setattr(dense, "read_vectors", lambda *_: read.append(1) or stored)
    renewed = dense.load_vectors(store, fake.ID, 384)

    assert bool(read) == is_read_anew
    for name in ("rows", "matrix", "lengths"):
        np.testing.assert_array_equal(getattr(renewed, name), getattr(stored, name))


def test_vectors_are_in_memory_once_while_they_are_read_and_then_mapped(mapped):
    store, _ = mapped
    for number in range(300):
        put(store, f"more {number}")
    size, whitening = 330 * 384 * 4, 384 * 385 * 4
    tracemalloc.start()
    try:
        dense.read_vectors(store, fake.ID, 384)
        _, peak = tracemalloc.get_traced_memory()
        dense.load_vectors(store, fake.ID, 384)
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert peak < 1.6 * size
    assert kept < size / 2 + whitening


def test_a_mapped_file_follows_the_vectors(mapped):
    store, _ = mapped
    nearest(store)
    put(store, "question")
    assert nearest(store)[0] == "question"
    dense.forget()

    assert nearest(store)[0] == "question"


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda data: data[:-1], id="cut off"),
        pytest.param(lambda data: b"", id="empty"),
        pytest.param(lambda data: b"[]" + data[2:], id="another header"),
        pytest.param(lambda data: data.replace(b'"count": 30', b'"count": 29'), id="another count"),
    ],
)
def test_a_damaged_file_is_written_anew(mapped, damage):
    store, file = mapped
    expected = nearest(store)
    whole = file.read_bytes()
    file.write_bytes(damage(whole))
    dense.forget()

    assert nearest(store) == expected
    assert file.read_bytes() == whole


def test_a_link_in_place_of_the_file_is_not_followed(mapped, tmp_path):
    store, file = mapped
    expected = nearest(store)
    target = tmp_path / "elsewhere"
    target.write_bytes(file.read_bytes())
    file.unlink()
    file.symlink_to(target)
    before = target.stat()
    dense.forget()

    assert nearest(store) == expected
    assert target.stat() == before
