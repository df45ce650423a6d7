"""Who is heard: what is confirmed, then all that is live, then what faded."""

from __future__ import annotations

from ademem.core.memory import Status
from ademem.core.value import replace
from ademem.search import pipeline
from ademem.store import memories

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ademem.core.settings import SearchSettings
    from ademem.search.pipeline import Search
    from ademem.search.score import Ranked


def heard(search: Search) -> list[Ranked]:
    """The hits of one stage after the other, until something answers in full.

    Beside a confirmed answer later candidates are heard that answer in full, too: they are news.
    """
    hits: list[Ranked] = []
    answered, asked = False, frozenset[str]()
    for statuses in search.filters.stages:
        more = frozenset(statuses) - asked
        if asked and not memories.any_of(search.store, more):  # the same would be found again
            if answered:
                break
            continue
        asked |= more
        known, hits = hits, pipeline.hits(replace(search, statuses=statuses))
        if answered:
            return _with(known, hits, _news(hits, known, search.settings))
        if Status.ARCHIVED in statuses and not search.filters.statuses:
            hits = _with(known, hits, _best(hits))
        answered = any(_settles(hit, search.settings) for hit in hits)
    return hits


def _news(
    hits: Iterable[Ranked], known: Iterable[Ranked], settings: SearchSettings
) -> Iterator[Ranked]:
    """Full answers that came after those known before."""
    since = max(hit.memory.created_at for hit in known if _settles(hit, settings))
    return (hit for hit in hits if hit.memory.created_at > since and _settles(hit, settings))


def _best(hits: Sequence[Ranked]) -> list[Ranked]:
    return [max(hits, key=lambda hit: hit.relevance)] if hits else []


def _with(known: Iterable[Ranked], hits: Iterable[Ranked], more: Iterable[Ranked]) -> list[Ranked]:
    """Those known before, by the scores of a search that saw all the *hits*, and some more."""
    before = {hit.memory.seq: hit for hit in known}
    again = {hit.memory.seq: hit for hit in hits if hit.memory.seq in before}
    return [*(before | again).values(), *(hit for hit in more if hit.memory.seq not in before)]


def _settles(hit: Ranked, settings: SearchSettings) -> bool:
    """Whether it states so much of what was asked that the unconfirmed need not be heard."""
    states = "steps" not in hit.signals and hit.signals["share"] >= settings.answer_share
    return bool(hit.signals["exact"]) or states
