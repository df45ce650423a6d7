"""All rows as arrays in files beside the database: nothing but speed is lost without them."""

from __future__ import annotations

import os

from ademem.core import confined
from ademem.store import search_files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from ademem.search.index.reading import Index
    from ademem.search.query import Query
    from ademem.search.query_vector import Vector
    from ademem.search.source import Source
    from ademem.store import Store

__all__ = ["FRESH", "build", "checked", "indexed", "open_index"]

FRESH = 1000
"""Changed memories up to which a search reads them itself; with more the files are not used."""


def open_index(store: Store, model: str) -> Index | None:
    """The index of a model's vectors as the store is now; None when it cannot be had quickly."""
    with search_files.snapshot(store):
        listed = search_files.listed(store, model)
        if not listed:
            return None
        from ademem.search.index import opening

        return opening.current(search_files.folder(store), listed, store, FRESH)


def build(store: Store, model: str) -> None:
    """Write the files, or what changed since; nothing when another process is at it."""
    from ademem.core.locks import locked
    from ademem.search.index.building import write

    where = search_files.folder(store)
    lock, root = os.path.join(where, "lock"), search_files.root(store)
    with locked(lock, root=root, wait=False) as ours:
        if ours:
            write(where, store, model)


def checked(store: Store) -> tuple[int, list[str]]:
    """Read the files that count, byte for byte: how many there are, and the damaged ones."""
    names = search_files.names(store)
    if not names:
        return 0, []
    from ademem.search.index import file

    where = search_files.folder(store)
    paths = [os.path.join(where, name) for name in sorted(names)]
    there = [path for path in paths if confined.exists(search_files.root(store), path)]
    return len(there), [path for path in there if not file.is_whole(path)]


def indexed(
    found: Index,
    query: Query,
    vector: Vector,
    floor: float,
    store: Store,
    otherwise: Callable[[], Source],
) -> Source:
    """The index asked one question; *vector* is waited for when the words have been looked at.

    *otherwise* answers when the index turns out to be damaged, or the model.
    """
    from ademem.search.index.source import Indexed

    return Indexed(found, query, vector, floor, store, otherwise)
