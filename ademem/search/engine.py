"""Ranking what answers a question; looking changes nothing."""

from __future__ import annotations

from ademem.core.value import Value, as_dict, replace
from ademem.search.filters import UNARCHIVED, Filters, listed
from ademem.search.query import parse
from ademem.store.logs import Shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from ademem.core.settings import SearchSettings
    from ademem.search.embedding import Embedder
    from ademem.search.score import Hit, Ranked
    from ademem.store import Store

__all__ = [
    "UNARCHIVED",
    "Filters",
    "Hit",
    "Results",
    "as_shown",
    "current",
    "explain",
    "hurried",
    "listed",
    "search",
]


class Results(Value):
    query: str
    mode: str
    """`hybrid` when the meaning was asked too, `lexical` when the words decided alone."""
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
    embedder: Embedder | None = None,
) -> Results:
    """Rank what answers *query*, any text at all; without an embedder words alone decide."""
    # A hook that a warm process answers ranks nothing.
    from ademem.search import contradictions, pipeline, query_features, source
    from ademem.search.entry_cache import AtHand
    from ademem.search.score import COMPLETE, NAMED, diversify
    from ademem.search.stages import heard

    vector = source.begun(query, store, embedder)
    limit = settings.limit if limit is None else limit
    asked = parse(query)
    looked = pipeline.Search(
        query=asked,
        source=source.quickest(asked, vector, store, settings),
        cues=query_features.read(query),
        store=store,
        at_hand=AtHand(store),
        settings=settings,
        filters=filters,
        statuses=filters.stages[-1],
        limit=limit,
        now=now,
    )
    ranked = heard(looked)
    ranked = _doubted(ranked, filters, settings, store)
    ranked = contradictions.settled(ranked, looked.cues, settings.answer_share, store)
    mode = looked.source.mode
    first = COMPLETE if mode == "lexical" else NAMED
    hits = _whole(diversify(ranked, settings.mmr_lambda, limit, first), store)
    relaxed = any(not hit.signals["whole"] for hit in hits)
    return Results(query=query, mode=mode, relaxed=relaxed, hits=tuple(hits))


def hurried(settings: SearchSettings, **changes: float) -> SearchSettings:
    """For a search that a prompt or a tool waits for: it does not look at neighbours."""
    return replace(settings, near_words=0.0, near_meaning=0.0, **changes)


def current(results: Results) -> list[Hit]:
    """The hits without those that another one contradicts: what is told to who did not ask."""
    return [hit for hit in results.hits if not hit.against]


def as_shown(hits: Iterable[Hit]) -> list[Shown]:
    """The hits as the log keeps them."""
    return [Shown(memory_id=hit.memory.id, score=hit.score) for hit in hits]


def explain(hit: Hit) -> str:
    """One line: the score and every signal behind it."""
    signals = " ".join(f"{name} {value:.2f}" for name, value in hit.signals.items())
    return f"{hit.memory.id} {hit.score:.3f}: {signals}"


def _whole(ranked: Iterable[Ranked], store: Store) -> list[Hit]:
    """Whole memories in place of their entries."""
    from ademem.search.score import Hit
    from ademem.store import memories

    kept = {one.memory.seq: as_dict(one) for one in ranked}
    return [Hit(**kept[one.seq] | {"memory": one}) for one in memories.numbered(store, kept)]


def _doubted(
    hits: Sequence[Ranked], filters: Filters, settings: SearchSettings, store: Store
) -> list[Ranked]:
    """The hits; what may not hold here, or no longer, has less behind it."""
    from ademem.search.score import sunk

    hits = sunk(hits, "astray", settings.astray_discount, _astray(hits, store))
    hits = sunk(hits, "elsewhere", settings.branch_discount, _elsewhere(hits, filters))
    outdated = _outdated(hits, store)
    hits = sunk(hits, "contradicted", settings.contradicted_discount, outdated)
    if outdated:
        hits = [replace(hit, against=outdated.get(hit.memory.seq, "")) for hit in hits]
    return hits


def _astray(hits: Iterable[Ranked], store: Store) -> set[int]:
    """Those that speak of code which was changed or gone when last checked."""
    anchored = [hit.memory.seq for hit in hits if hit.memory.anchors]
    if not anchored:
        return set()
    from ademem.store import hints

    return hints.astray(store, anchored)


def _elsewhere(hits: Iterable[Ranked], filters: Filters) -> set[int]:
    """Those that wait on a branch other than the one from which it is asked."""
    current = (None, filters.here)
    return {hit.memory.seq for hit in hits if hit.memory.source_branch not in current}


def _outdated(hits: Sequence[Ranked], store: Store) -> dict[int, str]:
    """Those that were true before, and the later one that says otherwise; nobody settled it."""
    if not hits:
        return {}
    from ademem.store import relations

    return relations.outdated(store, [hit.memory.seq for hit in hits])
