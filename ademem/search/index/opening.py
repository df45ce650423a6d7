"""Putting an index together: the files that count, and what changed since."""

from __future__ import annotations

import os
from contextlib import suppress

import numpy as np

from ademem.core import confined
from ademem.core.value import Value, as_dict
from ademem.search.index import aim, file, links, words
from ademem.search.index.links import NONE, Links
from ademem.search.index.reading import Index
from ademem.search.index.segment import Segment
from ademem.search.index.sets import distinct
from ademem.search.whitening import Lens
from ademem.store import search_files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from numpy.typing import NDArray

    from ademem.store import Store
    from ademem.store.search_files import Listed, Row


def from_files(folder: str, files: Sequence[Listed]) -> Index:
    """What the files hold; raises Damaged or OSError when one of them cannot be used."""
    arrays = [file.read(os.path.join(folder, listed.name)) for listed in files]
    parts = [Segment(some) for some in arrays]
    dead = [np.empty(0, np.int64) for _ in parts]
    for some in arrays[1:]:
        dead[0] = _found(parts[0], np.concatenate((some["seqs"], some["gone"])))
    joined = Links(before=arrays[-1]["before"], after=arrays[-1]["after"])
    if len(joined.before) != sum(map(len, parts)) or len(joined.after) != len(joined.before):
        raise file.Damaged(folder)
    glass = Lens(
        mean=arrays[0]["lens_mean"], axes=arrays[0]["lens_axes"], learned_from=len(parts[0])
    )
    return Index(parts, dead, joined, glass)


def with_changes(index: Index, store: Store, changed: Sequence[int], model: str) -> Index:
    """The index as the store is now, when *changed* are the memories that differ from it."""
    if not changed:
        return index
    rows = list(search_files.rows(store, model, changed))
    parts = [*index.segments, Segment(arrays_of(rows, index.lens))]
    dead = [
        distinct(np.concatenate((gone, _found(segment, np.asarray(changed)))))
        for segment, gone in zip(index.segments, index.dead, strict=True)
    ]
    grown = Index(parts, [*dead, np.empty(0, np.int64)], index.links, index.lens)
    gone = index.where(np.asarray(changed))
    born = _places(grown, rows, store)
    grown.links = links.relinked(index.links, len(grown), gone[gone != NONE], born)
    return grown


def arrays_of(rows: Sequence[Row], glass: Lens) -> dict[str, NDArray[Any]]:
    """A segment of rows that are at hand, in ascending order of `seq`."""
    seqs = np.fromiter((row.seq for row in rows), np.int64, len(rows))
    vectors, embedded = unpacked([row.vector for row in rows], len(glass.mean))
    return {
        "seqs": seqs,
        "standing": np.fromiter((row.standing for row in rows), np.uint8, len(rows)),
        "turns": np.fromiter((row.turn for row in rows), bool, len(rows)),
        "vectors": vectors,
        "embedded": embedded,
        "scales": aim.scales(glass, vectors),
        **as_dict(words.of_rows(rows, seqs)),
    }


def unpacked(
    blobs: Sequence[bytes | None], dimensions: int
) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    """Stored vectors as a matrix, and which of them can be used; the others are zeros."""
    size = 4 * dimensions
    sound = [blob if blob is not None and len(blob) == size else None for blob in blobs]
    joined = b"".join(blob or bytes(size) for blob in sound)
    matrix = np.frombuffer(joined, "<f4").reshape(len(blobs), dimensions).astype(np.float32)
    embedded = np.fromiter((blob is not None for blob in sound), bool, len(sound))
    embedded &= np.isfinite(matrix).all(axis=1)
    matrix[~embedded] = 0.0
    return matrix, embedded


def _places(index: Index, rows: Sequence[Row], store: Store) -> NDArray[np.int64]:
    """Of each row that has a session: who is before it, itself, who is after it."""
    lines = [
        (before or NONE, row.seq, after or NONE)
        for row in rows
        if row.session is not None
        for before, after in (search_files.around(store, row.session, row.seq),)
    ]
    return index.where(np.array(lines, np.int64).reshape(-1)).reshape(-1, 3)


def _found(segment: Segment, seqs: NDArray[np.int64]) -> NDArray[np.int64]:
    rows = segment.where(distinct(seqs))
    known: NDArray[np.int64] = rows[rows != NONE]
    return known


class Opened(Value):
    """The index that a process used last, so that the next search need not map the files again."""

    listed: tuple[Listed, ...]
    files: Index
    reached: tuple[int, int]
    index: Index


_last: dict[str, Opened] = {}


def forget() -> None:
    """Map the files anew next time."""
    _last.clear()


def discard(store: Store) -> None:
    """Remove the files that count: they are damaged, and the worker will write new ones."""
    forget()
    for name in search_files.names(store):
        path = os.path.join(search_files.folder(store), name)
        with suppress(confined.Refused):
            confined.remove(search_files.root(store), path)


def current(folder: str, listed: Sequence[Listed], store: Store, fresh: int) -> Index | None:
    """The files and the changes since; None with more than *fresh* of them, or without files.

    A damaged file is removed, so that a new one is written.
    """
    last = _last.get(folder)
    known = last if last and last.listed == tuple(listed) else None
    reached = search_files.reached(store)
    if known and known.reached == reached:
        return known.index
    changed = search_files.changed(store, listed[-1], fresh + 1)
    if len(changed) > fresh:
        return None
    search_files.remember_pages(store)
    try:
        files = known.files if known else from_files(folder, listed)
    except FileNotFoundError:
        return None
    except (file.Damaged, OSError):
        discard(store)
        return None
    index = with_changes(files, store, changed, listed[0].model)
    _last[folder] = Opened(listed=tuple(listed), files=files, reached=reached, index=index)
    return index
