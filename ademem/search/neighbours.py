"""Compute the nearest neighbour of each memory; needs numpy, so only the worker imports it.

Memories that changed are compared with all of their place; others are looked at again where their
neighbour changed, or where one that changed is nearer. Where many changed in a large place, each is
compared with the rows of the cells around it alone, so that the work grows as the number of
memories does, and not as its square (an inverted file: Sivic and Zisserman, "Video Google", 2003).
"""

from __future__ import annotations

import numpy as np

from ademem.search import dense
from ademem.store import Store, embeddings, neighbours, relations
from ademem.store.neighbours import Nearest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import datetime

    from numpy.typing import NDArray

    from ademem.store.neighbours import Statement

    Floats = NDArray[np.float32]
    Places = NDArray[np.int64]

BATCH = 512
"""Memories that are compared at once."""
FEW = 512
"""Changed memories that are compared with all of their place; more of them only near by."""
CELL = 256
"""Memories of a cell, on average."""
PROBES = 12
"""Cells in which a memory looks for its nearest: those whose middles are nearest to it."""
SAMPLED = 32
"""Rows of each cell that the middles are learned from."""
_NONE = -1.0
"""Cosine of a memory that has no other to be compared with."""


def catch_up(
    store: Store, model: str, now: datetime, pause: Callable[[], None] | None = None
) -> int:
    """Compare what changed, or got a vector of the *model*, since the last call; count it.

    All memories are compared where the whitening has changed since.
    """
    last = relations.last_change(store)
    size = embeddings.dimensions(store, model) if model else 0
    learned = embeddings.whitening(store, model).get("vectors", 0) if size else 0
    changed = set(relations.list_changed(store, model))
    everything = relations.read_learned(store) != learned
    if size and (changed or everything):
        vectors = dense.load_vectors(store, model, size)
        work = _Comparison.of(store, vectors, None if everything else changed)
        for number, (asked, stored) in enumerate(work.list_blocks()):
            if pause and number:
                pause()
            work.meet(asked, stored)
        work.save(store, changed)
    relations.save_cursor(store, last, now, learned)
    return len(changed)


class _Comparison:
    """Statements that have a vector, by position, and what is nearest to each so far."""

    def __init__(self, vectors: dense.Vectors, rows: Places, statements: list[Statement]) -> None:
        self.vectors = vectors
        self.rows = rows
        """Positions of the statements among the vectors."""
        self.statements = statements
        self.questions = np.empty((len(rows), vectors.matrix.shape[1]), np.float32)
        """Directions of those that are asked; the others are left open."""
        self.nearest = np.full(len(rows), -1)
        self.best = np.full(len(rows), _NONE, np.float32)
        self.second = self.best.copy()
        self.asked = np.ones(len(rows), bool)
        """Statements whose nearest is looked for; others are only met."""
        self.touched = np.ones(len(rows), bool)

    @classmethod
    def of(cls, store: Store, vectors: dense.Vectors, changed: set[str] | None) -> _Comparison:
        """Ask for what *changed*, or for all."""
        statements = neighbours.list_statements(store)
        numbers = np.array([each.seq for each in statements], np.int64)
        _, mine, rows = np.intersect1d(numbers, vectors.rows, True, True)
        work = cls(vectors, rows, [statements[at] for at in mine.tolist()])
        if changed is not None:
            work._take_known(changed)
        for part in _in_batches(np.flatnonzero(work.asked)):
            work.questions[part] = dense.directions(vectors, rows[part])
        return work

    def _take_known(self, changed: set[str]) -> None:
        positions = {each.id: at for at, each in enumerate(self.statements)}
        for at, each in enumerate(self.statements):
            other = positions.get(each.neighbour)
            if other is not None and not {each.id, each.neighbour} & changed:
                self.nearest[at], self.best[at], self.second[at] = other, each.cosine, each.second
        self.asked = self.nearest < 0
        self.touched = self.asked.copy()

    def list_blocks(self) -> Iterator[tuple[Places, Places]]:
        """Yield positions that ask, and those that each of them is compared with."""
        homes: dict[str, list[int]] = {}
        for at, each in enumerate(self.statements):
            homes.setdefault(each.home, []).append(at)
        for home in map(np.array, homes.values()):
            asked = home[self.asked[home]]
            if len(asked) <= FEW or len(home) <= CELL * PROBES:
                yield from ((part, home) for part in _in_batches(asked))
            else:
                yield from self._list_cells(home)

    def _list_cells(self, home: Places) -> Iterator[tuple[Places, Places]]:
        middles = dense.learn_middles(self.vectors, self.rows[home], len(home) // CELL, SAMPLED)
        cells = np.empty(len(home), np.int64)
        asks = np.zeros((len(middles), len(self.rows)), bool)
        for at in _in_batches(np.arange(len(home))):
            cosines = dense.compare(middles, self.vectors, self.rows[home[at]])
            cells[at] = cosines.argmax(axis=0)
            asks[np.argpartition(-cosines, PROBES - 1, axis=0)[:PROBES], home[at]] = True
        asks &= self.asked
        for number, those in enumerate(asks):
            stored = home[cells == number]
            yield from ((part, stored) for part in _in_batches(np.flatnonzero(those)))

    def meet(self, asked: Places, stored: Places) -> None:
        """Compare each of *asked* with each of *stored*, which is in rising order."""
        cosines = dense.compare(self.questions[asked], self.vectors, self.rows[stored])
        at = np.minimum(np.searchsorted(stored, asked), len(stored) - 1)
        itself = np.flatnonzero(stored[at] == asked)
        cosines[itself, at[itself]] = _NONE
        self._take(asked, stored, cosines)
        self._take(stored, asked, cosines.T)

    def _take(self, rows: Places, others: Places, cosines: Floats) -> None:
        """Note the two highest of each row, rows x others; two may meet more than once."""
        numbers = np.arange(len(rows))
        first = cosines.argmax(axis=1)
        value = cosines[numbers, first]
        cosines[numbers, first] = _NONE
        second = cosines.max(axis=1)
        cosines[numbers, first] = value
        best, is_same = self.best[rows], others[first] == self.nearest[rows]
        closer = (value > best) & ~is_same
        behind = np.maximum(np.where(closer, best, value), second)
        found = np.maximum(self.second[rows], np.where(is_same, second, behind))
        self.touched[rows] |= closer | (found > self.second[rows])
        self.second[rows] = found
        self.best[rows[closer]], self.nearest[rows[closer]] = value[closer], others[first[closer]]

    def save(self, store: Store, changed: set[str]) -> None:
        touched = np.flatnonzero(self.touched & (self.nearest >= 0))
        found = []
        for part in _in_batches(touched):
            left, right = self.rows[part], self.rows[self.nearest[part]]
            plain = (self.vectors.matrix[left] * self.vectors.matrix[right]).sum(axis=1)
            found += [
                Nearest(
                    id=self.statements[at].id,
                    neighbour=self.statements[self.nearest[at]].id,
                    cosine=float(self.best[at]),
                    plain=cosine,
                    second=float(self.second[at]),
                )
                for at, cosine in zip(part.tolist(), plain.tolist(), strict=True)
            ]
        stale = changed | {self.statements[at].id for at in np.flatnonzero(self.asked)}
        stale |= neighbours.list_ids(store) - {each.id for each in self.statements}
        neighbours.save(store, stale, found)


def _in_batches(places: Places) -> Iterator[Places]:
    return (places[start : start + BATCH] for start in range(0, len(places), BATCH))
