"""Vectors that a process keeps are those of the store, whatever happened to it."""

from __future__ import annotations

import pytest

from ademem.search import dense, matrix_cache
from ademem.store import embeddings
from ademem.store.embeddings import Vector
from tests import builders
from tests.builders import NOW, memory
from tests.worker import fake


def put(store, text, meaning=None, now=NOW):
    """A memory with the vector of its text, or of another one."""
    row = store.db.execute("select id from unified_memories where content = ?", (text,)).fetchone()
    (known,) = builders.insert(store, memory(text)) if row is None else (memory(text),)
    blob = fake.vector(meaning or text).tobytes()
    embeddings.put(store, fake.ID, [Vector(memory=known, blob=blob, dimensions=384, norm=1)], now)
    return known


def nearest(store):
    """The contents from the nearest to the question to the farthest."""
    found = dense.cosines(fake.vector("question"), store, fake.ID)
    names = dict(store.db.execute("select seq, content from unified_memories").fetchall())
    return [names[seq] for seq in found.nearest(9)] if found else []


def nothing(*_):
    raise AssertionError("read again")


def test_vectors_that_did_not_change_are_not_read_again(store, monkeypatch):
    put(store, "question")
    assert nearest(store) == ["question"]

    monkeypatch.setattr(dense, "_read", nothing)
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

    found = dense.cosines(fake.vector("question"), store, fake.ID)
    assert max(found.of([1, 2])[1].values()) < 0.5


def test_a_lens_that_was_ground_meanwhile_is_looked_through(store):
    for number in range(30):
        put(store, f"note {number}")
    raw = dense.cosines(fake.vector("question"), store, fake.ID).of([1])
    dense.grind(store, fake.ID, 384)
    through, plain = dense.cosines(fake.vector("question"), store, fake.ID).of([1])

    assert plain == raw[1]
    assert through != raw[0]


def test_another_store_has_its_own(store, tmp_path):
    put(store, "question")
    assert nearest(store) == ["question"]
    other = builders.open_project(tmp_path / "other")

    put(other, "another")
    assert nearest(other) == ["another"]
    other.close()


def test_too_many_are_not_kept(store):
    put(store, "question")
    nearest(store)
    read = dense._read(store, fake.ID, 384, None)
    given = matrix_cache.current(store, "another", None, lambda: read, most=0)

    assert given is read
    assert matrix_cache._last == []
