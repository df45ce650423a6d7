"""What the words of a query say about rows: by the arrays, or for phrases and parts by FTS5."""

from __future__ import annotations

import re
import sys

import numpy as np

from ademem.core.value import Value
from ademem.search import lexical, score
from ademem.search.index.links import NONE
from ademem.search.query import Index as Kind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from ademem.search.index.reading import Held, Index
    from ademem.search.index.words import Reader
    from ademem.store import Store

    Rows = NDArray[np.int64]
    Numbers = NDArray[np.float64]


class Term(Value):
    """The rows that have one term of a query, ascending, and their points by BM25."""

    rows: Rows
    points: Numbers

    def where(self, rows: Rows) -> tuple[NDArray[np.bool_], Rows]:
        """Which of *rows* have it, and their places among its own."""
        if not len(self.rows):
            return np.zeros(len(rows), bool), np.zeros(len(rows), np.int64)
        places = np.minimum(np.searchsorted(self.rows, rows), len(self.rows) - 1)
        return self.rows[places] == rows, places


class Evidence:
    """The terms of a query, the rarest first, and what each tells, as part of a full answer."""

    def __init__(self, terms: list[Term], parts: Numbers, unknown: int, size: int) -> None:
        self.terms = terms
        self.parts = parts
        self.unknown = unknown
        """Terms that no row has."""
        self._size = size

    def scores(self) -> Numbers:
        """The BM25 of every row; -inf where no term is."""
        total = np.full(self._size, -np.inf)
        for term in self.terms:
            total[term.rows] = np.maximum(total[term.rows], 0.0) + term.points
        return total

    def whole(self) -> Rows:
        """The rows that have every term."""
        if self.unknown or not self.terms:
            return np.empty(0, np.int64)
        rows = self.terms[0].rows
        for term in self.terms[1:]:
            rows = rows[term.where(rows)[0]]
        return rows

    def best_share(self) -> float:
        total = np.zeros(self._size)
        for term, part in zip(self.terms, self.parts, strict=True):
            total[term.rows] += part
        return float(total.max(initial=0.0))

    def told(self, rows: Rows) -> tuple[NDArray[np.bool_], Numbers]:
        """Whether each row has each term, one column a term, and the BM25 of the row."""
        held = np.zeros((len(rows), len(self.terms)), bool)
        points = np.zeros(len(rows))
        for column, term in enumerate(self.terms):
            has, places = term.where(rows)
            held[:, column] = has
            points[has] += term.points[places[has]]
        return held, points


MANY = 0.1
"""Part of all rows up to which their texts are read one by one; beyond, all are in their order."""

_WORD = re.compile(r'"([^"]*)"')
_WORD_OR_BEGINNING = re.compile(r'\("([^"]*)" OR "\1" \*\)')


def gather(terms: Mapping[str, Kind], index: Index, reader: Reader, store: Store) -> Evidence:
    """Look every term up; what they tell follows from how many rows have them."""
    spelled = dict(zip(terms, reader.words([_said(*term) for term in terms.items()]), strict=True))
    found = {term: _term(term, kind, spelled[term], index, store) for term, kind in terms.items()}
    counts = {term: len(rows.rows) for term, rows in found.items()}
    wanted = lexical.affordable(counts, most=sys.maxsize)
    unknown = [term for term, count in counts.items() if not count]
    tells = [score.information(index.live, max(1, counts[term])) for term in wanted + unknown]
    full = score.answer(asked=sum(tells), rarest=score.information(index.live, 1))
    return Evidence(
        terms=[found[term] for term in wanted],
        parts=np.array([some / full for some in tells[: len(wanted)]]),
        unknown=len(unknown),
        size=len(index),
    )


def _said(term: str, kind: Kind) -> str:
    """What stands between the quotes of an expression."""
    if kind is Kind.ROWS:
        return term
    said = _WORD.fullmatch(term) or _WORD_OR_BEGINNING.fullmatch(term)
    return said[1] if said else ""


def _term(term: str, kind: Kind, spelled: tuple[str, ...], index: Index, store: Store) -> Term:
    """From the arrays if it is one word, or inside of words; else FTS5 knows."""
    if kind is Kind.ROWS:
        return _contained(term, spelled == (term,), index, store)
    if kind is not Kind.WORDS or len(spelled) != 1:
        return _asked(term, kind, index, store)
    (word,) = spelled
    mine = _points(index.held(word), index)
    if not _WORD_OR_BEGINNING.fullmatch(term):
        return mine
    return _both(mine, _points(index.held(word, prefix=True), index))


def _points(held: Held, index: Index) -> Term:
    return Term(rows=held.rows, points=index.points(held, np.float64))


def _both(word: Term, beginning: Term) -> Term:
    """Rows that have the word have what begins like it too, and get points for both."""
    points = beginning.points.copy()
    points[beginning.where(word.rows)[1]] += word.points
    return Term(rows=beginning.rows, points=points)


def _contained(term: str, in_words: bool, index: Index, store: Store) -> Term:
    """Words tell which texts to read: a run of signs that are all read as they are is in one."""
    among = index.containing(term) if in_words else None
    if among is not None and len(among) > MANY * index.live:
        among = None
    seqs = lexical.containing(term, store.db, None if among is None else index.seqs(among).tolist())
    return _known(seqs, [0.0] * len(seqs), index)


def _asked(term: str, kind: Kind, index: Index, store: Store) -> Term:
    return _known(*lexical.holders(term, kind, store.db), index)


def _known(seqs: list[int], points: list[float], index: Index) -> Term:
    rows = index.where(np.array(seqs, np.int64))
    order = np.argsort(rows)
    order = order[rows[order] != NONE]
    return Term(rows=rows[order], points=np.array(points, np.float64)[order])
