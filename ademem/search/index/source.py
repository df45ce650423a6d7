"""A search over arrays: the same steps as over the database, for many rows at once."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from ademem.search import filters, lexical
from ademem.search.embedding import DamagedModel
from ademem.search.index import opening, signals, sketch, standing
from ademem.search.index.evidence import gather
from ademem.search.index.links import NONE
from ademem.search.index.sets import distinct, member, without
from ademem.search.index.words import reader
from ademem.search.neighbours import NEXT, REACH
from ademem.search.pipeline import leading, weighed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from ademem.search.entry_cache import AtHand
    from ademem.search.fuse import Signals
    from ademem.search.index.aim import Aim
    from ademem.search.index.evidence import Evidence
    from ademem.search.index.reading import Index
    from ademem.search.pipeline import Search
    from ademem.search.query import Query
    from ademem.search.query_vector import Vector
    from ademem.search.source import Source
    from ademem.store import Store

    Floats = NDArray[np.float32]
    Numbers = NDArray[np.float64]
    Rows = NDArray[np.int64]
    Mask = NDArray[np.bool_]
    Ranked = Callable[[int, Mask | None], Rows]

LOOKS = (2, 20, 200)
"""Rows looked at for each that is wanted, because filters take some; then the filters go first."""
AHEAD = 15
"""Memories read at once while the model is not done."""


class Indexed:
    """What an index says about one question."""

    def __init__(
        self,
        index: Index,
        query: Query,
        vector: Vector,
        floor: float,
        store: Store,
        otherwise: Callable[[], Source],
    ) -> None:
        self.index = index
        self.query = query
        self.vector = vector
        self.floor = floor
        self.otherwise = otherwise
        self.instead: Source | None = None
        self.store = store

    @property
    def mode(self) -> str:
        return "hybrid" if self.instead is None else self.instead.mode

    def kept(self, search: Search) -> dict[int, Signals]:
        """The best rows above the floor, and all that speaks for each."""
        if self.instead is None:
            try:
                return self._kept(search)
            except IndexError:  # a number in a damaged file leads nowhere
                opening.discard(self.store)
            except DamagedModel:
                pass
            self.instead = self.otherwise()
        return self.instead.kept(search)

    def _kept(self, search: Search) -> dict[int, Signals]:
        said = self._seen(self._by_words, search)
        self._read_ahead(said, search.at_hand)
        meant = self._seen(self._by_meaning, search)
        rows = distinct(np.concatenate((said, meant)))
        if not len(rows):
            return {}
        reach = REACH if search.settings.near_words or search.settings.near_meaning else 0
        if reach:
            first = leading(search.settings)
            leaders = np.concatenate((said[:first], meant[:first]))
            rows = self._with_neighbours(rows, leaders, search)
        dialogue = self.index.turns(rows)
        told = signals.columns(self._told(rows, dialogue, reach))
        told["relevance"] = signals.relevance(told, search.settings, dialogue)
        kept = signals.above_floor(told, dialogue, search.query.typed, search.settings)
        seqs = self.index.seqs(rows)
        order = np.lexsort((seqs, told["relevance"], told["exact"]))[::-1]
        chosen = order[kept[order]][: weighed(search)]
        return dict(zip(seqs[chosen].tolist(), _lines(told, chosen), strict=True))

    def _read_ahead(self, rows: Rows, at_hand: AtHand) -> None:
        """Read what the words found as long as the model reads the question: half is needed."""
        seqs = self.index.seqs(rows).tolist()
        for start in range(0, len(seqs), AHEAD):
            if self.vector.is_known:
                return
            at_hand.read(seqs[start : start + AHEAD])

    @cached_property
    def evidence(self) -> Evidence:
        """What the words say; when no row holds enough of them, what the insides of words do."""
        found = gather(self.query.terms, self.index, reader(), self.store)
        if self.query.substrings and found.best_share() < self.floor:
            within = gather(self.query.substrings, self.index, reader(), self.store)
            found = within if within.terms else found
        return found

    @cached_property
    def exact(self) -> Rows:
        key = self.query.key
        seqs = list(lexical.named(key, self.store)) if key else []
        rows = distinct(self.index.where(np.array(seqs, np.int64)))
        known: Rows = rows[rows != NONE]
        return known

    @cached_property
    def whole(self) -> Rows:
        return self.evidence.whole()

    @cached_property
    def scores(self) -> Numbers:
        return self.evidence.scores()

    @cached_property
    def asked(self) -> Aim:
        return self.index.aimed(self.vector.result())

    @cached_property
    def near(self) -> tuple[Rows, Floats]:
        return self.index.near(self.asked)

    @cached_property
    def meanings(self) -> Floats:
        """Of every row; mostly the near ones are enough."""
        return self.index.meanings(self.asked)

    def _told(self, rows: Rows, dialogue: Mask, reach: int) -> signals.Told:
        around = self.index.neighbours(rows, reach)
        everybody = np.concatenate((rows[:, None], around), axis=1)
        some = distinct(everybody)
        places = np.searchsorted(some, everybody)
        through, plain = np.full((2, len(some)), np.nan)
        real = some != NONE
        through[real], plain[real] = self.index.compared(self.asked, some[real])
        held, points = self.evidence.told(some)
        return signals.Told(
            exact=member(rows, self.exact),
            whole=member(rows, self.whole),
            held=held[places],
            parts=self.evidence.parts,
            bm25=points[places[:, 0]],
            through=through[places],
            cosine=plain[places[:, 0]],
            turns=dialogue,
            neighbours=bool((around != NONE).any()),
        )

    def _seen(self, ranked: Ranked, search: Search) -> Rows:
        """The best rows that may be seen, as many as the pool holds."""
        pool = search.settings.pool
        for look in LOOKS:
            rows = ranked(look * pool, None)
            seen = self._open(rows, search)[:pool]
            if len(seen) >= pool or len(rows) < look * pool:
                return seen
            if filters.are_few(self.store, search.statuses, pool):
                break
        open_to = filters.eligible(self.store, search.filters, search.statuses)
        among = np.zeros(len(self.index), bool)
        rows = self.index.where(np.array(open_to, np.int64))
        among[rows[rows != NONE]] = True
        return ranked(pool, among)

    def _with_neighbours(self, rows: Rows, leaders: Rows, search: Search) -> Rows:
        """The *rows*, ascending, and those beside the *leaders* that may be seen."""
        around = distinct(self.index.neighbours(leaders, NEXT))
        beside = without(around[around != NONE], rows)
        return distinct(np.concatenate((rows, self._open(beside, search))))

    def _open(self, rows: Rows, search: Search) -> Rows:
        return standing.open_to(rows, self.index, self.store, search.filters, search.statuses)

    def _by_words(self, limit: int, among: Mask | None) -> Rows:
        """As `Found.ranked`: the named rows, those with every term, the others; by BM25, newest."""
        scores = self.scores if among is None else np.where(among, self.scores, -np.inf)
        whole = self.whole
        best = self.index.best(whole, scores[whole], limit)
        rows = distinct(np.concatenate((self.index.top(scores, limit), best, self.exact)))
        marks = (member(rows, whole), member(rows, self.exact))
        order = np.lexsort((self.index.seqs(rows), scores[rows], *marks))[::-1]
        chosen: Rows = rows[order][:limit]
        return chosen

    def _by_meaning(self, limit: int, among: Mask | None) -> Rows:
        """The nearest; beyond the first look more may be wanted than sketches keep."""
        if among is not None:
            return self.index.top(np.where(among, self.meanings, -np.inf), limit)
        if limit > sketch.SURE:
            return self.index.top(self.meanings, limit)
        return self.index.best(*self.near, limit)


def _lines(columns: dict[str, Numbers], rows: Rows) -> list[Signals]:
    """What speaks for each row; NaN is what is not there."""
    table = np.array([column[rows] for column in columns.values()])
    lines = [dict(zip(columns, line, strict=True)) for line in table.T.tolist()]
    if np.isnan(table).any():
        return [{name: one for name, one in line.items() if one == one} for line in lines]
    return lines
