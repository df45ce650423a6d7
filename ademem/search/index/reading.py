"""Scores of all rows at once: what the index files and the newest rows say together."""

from __future__ import annotations

import numpy as np

from ademem.core.value import Value
from ademem.search.index import aim, bm25, ranks
from ademem.search.index.links import NONE
from ademem.search.index.sets import without

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

    from numpy.typing import NDArray

    from ademem.search.index.aim import Aim
    from ademem.search.index.links import Links
    from ademem.search.index.segment import Segment
    from ademem.search.whitening import Lens

    Rows = NDArray[np.int64]
    Scores = NDArray[np.float32]


class Held(Value):
    """The rows that have a word, ascending, and how often by the weights of the fields."""

    rows: NDArray[Any]
    counts: NDArray[Any]


class Index:
    """Rows are numbered through all segments; dead are those that changed after their segment."""

    def __init__(
        self, segments: Sequence[Segment], dead: Sequence[Rows], links: Links, glass: Lens
    ) -> None:
        self.segments = segments
        self.links = links
        self.lens = glass
        self.starts = np.cumsum([0, *map(len, segments)])
        self.dead = tuple(dead)
        self._alive = [_alive(len(s), d) for s, d in zip(segments, dead, strict=True)]
        self.live = len(self) - sum(map(len, dead))
        words = sum(int(segment.words.lengths.sum(dtype=np.int64)) for segment in segments)
        lost = sum(
            int(segment.words.lengths[rows].sum(dtype=np.int64))
            for segment, rows in zip(segments, dead, strict=True)
        )
        self.mean_length = (words - lost) / self.live if self.live else 1.0

    def __len__(self) -> int:
        """Rows that scores are for, dead ones too."""
        return int(self.starts[-1])

    @property
    def dimensions(self) -> int:
        return int(self.segments[0].vectors.shape[1])

    def held(self, word: str, *, prefix: bool = False) -> Held:
        """Who has *word*, as FTS5 spells it, or any word that begins so."""
        rows, counts = [], []
        for segment, alive, start in zip(self.segments, self._alive, self.starts, strict=False):
            mine, often = _held(segment, word, prefix)
            if alive is not None:
                kept = alive[mine]
                mine, often = mine[kept], often[kept]
            rows.append(mine + start if start else mine)
            counts.append(often)
        return Held(rows=np.concatenate(rows), counts=np.concatenate(counts))

    def containing(self, text: str) -> Rows:
        """The rows that have a word with *text* inside, ascending."""
        found = []
        for segment, dead, start in zip(self.segments, self.dead, self.starts, strict=False):
            rows = segment.containing(text)
            found.append(without(rows, dead) + start)
        return np.concatenate(found)

    def points(self, held: Held, kind: type[np.floating[Any]] = np.float32) -> NDArray[Any]:
        """The BM25 of each row that has the word."""
        lengths = self._lengths(held.rows).astype(kind)
        worth = bm25.saturated(held.counts.astype(kind), lengths, self.mean_length)
        worth *= bm25.idf(self.live, len(held.rows))
        return worth

    def summed(self, points: Iterable[tuple[NDArray[Any], NDArray[Any]]]) -> Scores:
        """Rows and points of several words as one score a row."""
        scores = np.zeros(len(self), np.float32)
        for rows, some in points:
            scores[rows] += some
        return scores

    def bm25(self, words: Iterable[str]) -> Scores:
        """The score of every row; 0 for those that have no word."""
        helds = [self.held(word) for word in words]
        return self.summed((held.rows, self.points(held)) for held in helds)

    def cosines(self, vector: NDArray[Any]) -> Scores:
        """The cosine of every row to a unit vector; -inf where there is no vector, or no row."""
        return self._scores(lambda segment: segment.vectors @ vector)

    def aimed(self, vector: NDArray[Any]) -> Aim:
        """What the lens of these rows makes of the unit vector of a question."""
        return aim.aimed(self.lens, vector)

    def meanings(self, asked: Aim) -> Scores:
        """The cosine of every row to a question, through the lens."""
        return self._scores(lambda segment: segment.meanings(asked))

    def near(self, asked: Aim) -> tuple[Rows, Scores]:
        """The nearest rows alone, as their sketches tell, ascending, and the same of these."""
        rows, scores = [], []
        for segment, alive, start in zip(self.segments, self._alive, self.starts, strict=False):
            mine = segment.near(asked, self.lens)
            if alive is not None:
                mine = mine[alive[mine]]
            rows.append(mine + start)
            scores.append(segment.through(mine, asked))
        return np.concatenate(rows), np.concatenate(scores)

    def compared(self, asked: Aim, rows: Rows) -> tuple[Scores, Scores]:
        """The cosines of these rows, through the lens and as they are; NaN without a vector."""
        vectors = self.vectors(rows)
        scales = self._taken([segment.scales for segment in self.segments], rows)
        embedded = self._taken([segment.embedded for segment in self.segments], rows)
        nothing = np.float32(np.nan)
        return (
            np.where(embedded, aim.through(vectors, scales, asked), nothing),
            np.where(embedded, vectors @ asked.question, nothing),
        )

    def vectors(self, rows: Rows) -> NDArray[np.float32]:
        """The stored vectors; zeros where there is none."""
        return self._taken([segment.vectors for segment in self.segments], rows)

    def standing(self, rows: Rows) -> NDArray[np.uint8]:
        """What each row says about who may see it, as `search_files.Standing`."""
        return self._taken([segment.standing for segment in self.segments], rows)

    def turns(self, rows: Rows) -> NDArray[np.bool_]:
        """Whether each row is a turn of a dialogue."""
        return self._taken([segment.turns for segment in self.segments], rows)

    def top(self, scores: NDArray[Any], k: int) -> Rows:
        """The *k* best rows, best first, of equal ones the newest."""
        return ranks.top(scores, k, self.seqs)

    def best(self, rows: Rows, scores: NDArray[Any], k: int) -> Rows:
        """The same of some rows alone, which have these scores."""
        best: Rows = rows[ranks.top(scores, k, lambda places: self.seqs(rows[places]))]
        return best

    def neighbours(self, rows: Rows, reach: int) -> Rows:
        """One line a row: who is at distance -1, 1, -2, 2, … in its session, or -1."""
        return self.links.around(rows, reach)

    def seqs(self, rows: NDArray[Any]) -> Rows:
        return self._taken([segment.seqs for segment in self.segments], rows)

    def _scores(self, of: Callable[[Segment], Scores]) -> Scores:
        """What *of* says of the rows of each segment, as one score a row."""
        scores = np.empty(len(self), np.float32)
        for segment, dead, start in zip(self.segments, self.dead, self.starts, strict=False):
            mine = scores[start : start + len(segment)]
            mine[:] = np.where(segment.embedded, of(segment), -np.inf)
            mine[dead] = -np.inf
        return scores

    def where(self, seqs: Rows) -> Rows:
        """The row of each memory, or -1 when it is not searched."""
        found = np.full(len(seqs), NONE, np.int64)
        for segment, alive, start in zip(self.segments, self._alive, self.starts, strict=False):
            mine = segment.where(seqs)
            if alive is not None:
                mine = np.where(alive[mine], mine, NONE)
            found = np.where(mine == NONE, found, mine + start)
        return found

    def _lengths(self, rows: NDArray[Any]) -> NDArray[np.int32]:
        return self._taken([segment.words.lengths for segment in self.segments], rows)

    def _taken(self, columns: Sequence[NDArray[Any]], rows: NDArray[Any]) -> NDArray[Any]:
        """What a column, given in its part of each segment, has in these rows."""
        found: NDArray[Any]
        if len(columns) == 1:
            found = columns[0][rows]
            return found
        found = np.empty((len(rows), *columns[0].shape[1:]), columns[0].dtype)
        where = np.searchsorted(self.starts, rows, side="right") - 1
        for number, column in enumerate(columns):
            mine = where == number
            if mine.any():
                found[mine] = column[rows[mine] - self.starts[number]]
        return found


def _held(segment: Segment, word: str, prefix: bool) -> tuple[NDArray[Any], NDArray[Any]]:
    words = segment.words
    if not prefix:
        where = segment.holders(word)
        return words.rows[where], words.counts[where]
    where = segment.beginners(word)
    counts = np.bincount(words.rows[where], words.counts[where], len(segment))
    rows = np.flatnonzero(counts)
    return rows, counts[rows]


def _alive(rows: int, dead: Rows) -> NDArray[np.bool_] | None:
    """A mark for each row; None when all are."""
    if not len(dead):
        return None
    alive = np.ones(rows, bool)
    alive[dead] = False
    return alive
