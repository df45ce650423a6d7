"""Ranking what answers a question; looking changes nothing."""

from __future__ import annotations

from ademem.search import lexical
from ademem.search.filters import UNARCHIVED, Filters, listed, visible
from ademem.search.query import parse
from ademem.search.score import Hit, diversify, sunk, weigh
from ademem.store import sites
from ademem.store.logs import Shown
from ademem.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from ademem.model import Memory
    from ademem.settings import SearchSettings
    from ademem.store import Store

__all__ = [
    "UNARCHIVED",
    "Filters",
    "Hit",
    "Results",
    "as_shown",
    "explain",
    "listed",
    "search",
]


class Results(Value):
    query: str
    mode: str
    relaxed: bool
    """A hit is among them that has only some of the words."""
    hits: tuple[Hit, ...]


def search(
    query: str,
    store: Store,
    settings: SearchSettings,
    filters: Filters,
    now: datetime,
    limit: int | None = None,
) -> Results:
    """Rank what answers *query*, any text at all; words alone decide."""
    limit = settings.limit if limit is None else limit
    found = lexical.find(parse(query), store, settings.floor)
    rows = visible(found.ranked(), store, filters, settings.pool)
    hits = weigh(rows, found, settings, now)
    hits = sunk(hits, settings, _astray(rows, store))
    hits = diversify(_strict_if_enough(hits, limit), settings.mmr_lambda, limit)
    relaxed = any(not hit.signals["whole"] for hit in hits)
    return Results(query=query, mode="lexical", relaxed=relaxed, hits=tuple(hits))


def as_shown(hits: Iterable[Hit]) -> list[Shown]:
    """The hits as the log keeps them."""
    return [Shown(memory_id=hit.memory.id, score=hit.score) for hit in hits]


def explain(hit: Hit) -> str:
    """One line: the score and every signal behind it."""
    signals = " ".join(f"{name} {value:.2f}" for name, value in hit.signals.items())
    return f"{hit.memory.id} {hit.score:.3f}: {signals}"


def _astray(rows: Iterable[Memory], store: Store) -> set[int]:
    """Those that speak of code which was changed or gone when last checked."""
    anchored = [memory.seq for memory in rows if memory.anchors]
    return sites.astray(store, anchored) if anchored else set()


def _strict_if_enough(hits: list[Hit], limit: int) -> list[Hit]:
    """Hits with every term alone, when they are as many as asked for."""
    strict = [hit for hit in hits if hit.signals["whole"]]
    return strict if len(strict) >= limit else hits
