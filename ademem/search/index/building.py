"""Writing the index files."""

from __future__ import annotations

import os
from itertools import islice

import numpy as np

from ademem.core import confined
from ademem.core.value import as_dict, replace
from ademem.search import whitening
from ademem.search.index import aim, links, opening, sketch, words
from ademem.search.index.file import Damaged, Writer, new
from ademem.search.index.sets import distinct, without
from ademem.store import search_files
from ademem.store.search_files import Listed

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator, Mapping
    from typing import Any

    from numpy.typing import NDArray

    from ademem.search.whitening import Lens
    from ademem.store import Store

    Floats = NDArray[np.float32]

SMALL_PART = 0.1
"""Part of all rows up to which changes are written aside; beyond, everything is written anew."""
FEW = 500
"""Changed rows that are always written aside, however small the store is."""
SAMPLE = 50_000
"""Vectors that the lens is learned from."""
_CHUNK = 4096


def write(folder: str, store: Store, model: str) -> None:
    """Bring the files up to date; the caller sees to it that nobody else does.

    A file has its name before the database knows it, and loses it after the database forgot it.
    Whoever is killed between leaves a file that nobody reads and that the next call removes.
    """
    confined.make_folder(search_files.root(store), folder)
    _clear(folder, store)
    dimensions = search_files.dimensions(store, model)
    if not dimensions:
        search_files.withdraw(store)
        return
    name = f"{os.urandom(8).hex()}.index"
    search_files.announce(store, name, model)
    with search_files.snapshot(store):
        listed = _with_changes(folder, name, store, model)
        glass = None
        if listed is None:
            everything, glass = _everything(folder, name, store, model, dimensions)
            listed = [everything]
    with store.transaction():
        search_files.publish(store, listed)
        if glass is not None:
            search_files.keep_lens(store, model, aim.packed(glass))
    _clear(folder, store)


def _with_changes(folder: str, name: str, store: Store, model: str) -> list[Listed] | None:
    """Write what changed since the first file; None when that is too much, or no such file."""
    first = search_files.listed(store, model)[:1]
    if not first:
        return None
    try:
        index = opening.from_files(folder, first)
    except (Damaged, OSError):
        return None
    changed = search_files.changed(store, first[0])
    if len(changed) > max(FEW, SMALL_PART * len(index)):
        return None
    last_seq, last_change = search_files.reached(store)
    if not changed:
        return [replace(first[0], last_seq=last_seq, last_change=last_change)]
    grown = opening.with_changes(index, store, changed, model)
    gone = without(distinct(np.asarray(changed, np.int64)), grown.segments[-1].seqs)
    _write(folder, name, grown.segments[-1].arrays | as_dict(grown.links) | {"gone": gone})
    return [
        *first,
        Listed(name=name, model=model, place=1, last_seq=last_seq, last_change=last_change),
    ]


def _everything(
    folder: str, name: str, store: Store, model: str, dimensions: int
) -> tuple[Listed, Lens]:
    last_seq, last_change = search_files.reached(store)
    rows = search_files.everything(store).fetchall()
    seqs = np.fromiter((row[0] for row in rows), np.int64, len(rows))
    linked = links.of_sessions((row[1] for row in rows), len(rows))
    standing = np.fromiter((row[2] for row in rows), np.uint8, len(rows))
    turns = np.fromiter((row[3] for row in rows), bool, len(rows))
    del rows
    sample, sound = opening.unpacked(search_files.sample(store, model, SAMPLE), dimensions)
    glass = whitening.learn(sample[sound])
    arrays = as_dict(linked) | as_dict(words.of_store(store.db, seqs))
    arrays |= {"seqs": seqs, "standing": standing, "turns": turns}
    arrays |= {"lens_mean": glass.mean, "lens_axes": glass.axes}
    across = sketch.planes(glass) if len(seqs) >= sketch.WORTH else None
    with new(os.path.join(folder, name)) as file:
        for field, array in arrays.items():
            file.add(field, array)
        _add_vectors(file, search_files.vectors(store, model), len(seqs), glass, across)
    listed = Listed(name=name, model=model, place=0, last_seq=last_seq, last_change=last_change)
    return listed, glass


def _add_vectors(
    file: Writer, vectors: sqlite3.Cursor, rows: int, glass: Lens, across: Floats | None
) -> None:
    """All vectors, chunk by chunk, and what there is to know about each."""
    dimensions = len(glass.mean)
    embedded = np.empty(rows, bool)
    scales = np.empty(rows, np.float32)
    sketches = np.empty((sketch.WORDS, 0 if across is None else rows), np.uint64)

    def chunks() -> Iterator[NDArray[np.float32]]:
        for start in range(0, rows, _CHUNK):
            blobs = [row[1] for row in islice(vectors, _CHUNK)]
            matrix, sound = opening.unpacked(blobs, dimensions)
            embedded[start : start + len(blobs)] = sound
            scales[start : start + len(blobs)] = aim.scales(glass, matrix)
            if across is not None:
                sketches[:, start : start + len(blobs)] = sketch.of(matrix, glass, across)
            yield matrix

    file.stream("vectors", np.dtype(np.float32), (rows, dimensions), chunks())
    file.add("embedded", embedded)
    file.add("scales", scales)
    if across is not None:
        file.add("planes", across)
        file.add("sketches", sketches)


def _write(folder: str, name: str, arrays: Mapping[str, NDArray[Any]]) -> None:
    with new(os.path.join(folder, name)) as file:
        for field, array in arrays.items():
            file.add(field, array)


def _clear(folder: str, store: Store) -> None:
    """Remove files that the database does not name."""
    root = search_files.root(store)
    for name in set(confined.names(root, folder)) - search_files.names(store):
        if name.endswith((".index", ".new")):
            confined.remove(root, os.path.join(folder, name))
