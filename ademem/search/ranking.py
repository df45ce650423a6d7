"""From the rows that match or are near a question to weighed hits."""

from __future__ import annotations

from ademem.core.memory import Status
from ademem.core.value import Value, replace
from ademem.search import query_features, score
from ademem.search.relevance import REACH, Evidence, compute_signals, signal_weights
from ademem.search.score import weighted_mean
from ademem.store import memories
from ademem.store.filters import visible_rows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from datetime import datetime

    from ademem.core.memory import Entry
    from ademem.search.dense import Cosines
    from ademem.search.lexical import Matches
    from ademem.search.parameters import Parameters
    from ademem.search.query import Query
    from ademem.search.query_features import Features
    from ademem.search.relevance import Signals
    from ademem.search.score import Ranked
    from ademem.store import Store
    from ademem.store.filters import Filters

FIRST_LOOK = 3
"""Rows that are filtered first, in pools: hidden rows take some of them."""
NEXT_LOOK = 10
"""Factor by which more rows are filtered when too few of them are visible."""
WEIGHED = 2 / 3
"""Part of the pool that is read and weighed beside vectors, unless the question names a time."""
ENOUGH = 0.6
"""Share of a full answer, about two rare words, that answers a question however long."""


class Search(Value):
    """One question and its lookups."""

    query: Query
    features: Features
    matches: Matches
    cosines: Cosines | None
    """None where words alone decide."""
    store: Store
    parameters: Parameters
    filters: Filters
    limit: int
    now: datetime
    entries: dict[int, Entry]
    """The memories that were read, by `seq`: each is read once."""


def rank_stages(search: Search) -> list[Ranked]:
    """The hits among confirmed memories, then all live ones, then faded ones, until one answers.

    Beside a confirmed answer, later candidates that answer in full are added: they are news.
    """
    parameters = search.parameters
    hits: list[Ranked] = []
    answered, seen = False, frozenset[str]()
    for statuses in search.filters.stages:
        more = frozenset(statuses) - seen
        if seen and not memories.any_of(search.store, more):  # the same would be found again
            if answered:
                break
            continue
        seen |= more
        earlier, hits = hits, rank(search, statuses)
        if answered:
            since = max(hit.memory.created_at for hit in earlier if _answers(hit, parameters))
            news = [h for h in hits if h.memory.created_at > since and _answers(h, parameters)]
            return _merge(earlier, hits, news)
        if Status.ARCHIVED in statuses and not search.filters.statuses:
            best = [max(hits, key=lambda hit: hit.relevance)] if hits else []
            hits = _merge(earlier, hits, best)
        answered = any(_answers(hit, parameters) for hit in hits)
    return hits


def rank(search: Search, statuses: tuple[str, ...]) -> list[Ranked]:
    """The hits among memories of these statuses, not in any order."""
    parameters, cosines = search.parameters, search.cosines

    ranked = search.matches.ranked()
    by_words = _first_visible(lambda limit: ranked[:limit], search, statuses)
    by_meaning = {} if cosines is None else _first_visible(cosines.nearest, search, statuses)
    rows = by_words | by_meaning
    evidence = Evidence(matches=search.matches)
    if parameters.near_words or parameters.near_meaning:
        around = REACH if cosines is None else 1
        neighbours = memories.session_neighbours(search.store, rows, REACH, around)
        evidence = replace(evidence, neighbours=neighbours)
        first = (parameters.pool + 1) // 2
        beside = {
            seq
            for leader in [*by_words][:first] + [*by_meaning][:first]
            for near in neighbours.get(leader, ())[:around]
            for seq in near
        }
        beside -= rows.keys()
        rows |= visible_rows(sorted(beside), search.store, search.filters, statuses, len(beside))

    if cosines is None:
        if not words_answer(search.matches, rows, search.query, parameters):
            return []
    else:
        near = {s for seq in rows for some in evidence.neighbours.get(seq, ()) for s in some}
        whitened, plain = cosines.compare(near.union(rows))
        evidence = replace(evidence, whitened=whitened, plain=plain)
    signals = compute_signals(evidence, rows)
    weights = {turn: signal_weights(parameters, turn=turn) for turn in (False, True)}
    for seq, mine in signals.items():
        mine["relevance"] = weighted_mean(mine, weights[rows[seq]])

    if not any(_is_answer(mine, search.query, parameters) for mine in signals.values()):
        return []
    kept = [seq for seq, mine in signals.items() if _is_above_floor(mine, parameters, rows[seq])]
    kept.sort(key=lambda s: (signals[s]["exact"], signals[s]["relevance"], s), reverse=True)
    most = parameters.pool
    if cosines is not None and not search.features.is_timed:
        most = max(search.limit, int(WEIGHED * most))
    return [_weigh(memory, signals[memory.seq], search) for memory in _read(kept[:most], search)]


def words_answer(
    matches: Matches, rows: Iterable[int], query: Query, parameters: Parameters
) -> bool:
    """Whether, by words alone, one of the rows answers a question of several words.

    It has two of them and enough of their information: any two texts share one rare word.
    """
    if not parameters.answer_words or not query.is_question:
        return True
    enough = min(parameters.answer_words * sum(matches.weights), ENOUGH)
    return any(
        seq in matches.exact
        or (
            len(terms := matches.terms.get(seq, ())) > 1
            and sum(matches.weights[term] for term in terms) >= enough
        )
        for seq in rows
    )


def _first_visible(
    first: Callable[[int], Sequence[int]], search: Search, statuses: tuple[str, ...]
) -> dict[int, bool]:
    """A pool of the first rows that the filters let through, and whether each is a turn."""
    pool = search.parameters.pool
    wanted = FIRST_LOOK * pool
    while True:
        ranked = first(wanted)
        rows = visible_rows(ranked, search.store, search.filters, statuses, pool)
        if len(rows) >= pool or len(ranked) < wanted:
            return rows
        wanted *= NEXT_LOOK


def _is_answer(mine: Signals, query: Query, parameters: Parameters) -> bool:
    share = parameters.floor if query.typed or "cosine" not in mine else parameters.answer_share
    return (
        bool(mine["exact"])
        or mine["share"] >= share
        or mine.get("cosine", 0.0) >= parameters.answer_cosine
    )


def _is_above_floor(mine: Signals, parameters: Parameters, turn: bool) -> bool:
    return (
        bool(mine["exact"])
        or mine["share"] >= parameters.floor
        or mine.get("cosine", 0.0) >= parameters.cosine_floor
        or (turn and mine.get("near_share", 0.0) >= parameters.floor)
    )


def _read(rows: Sequence[int], search: Search) -> list[Entry]:
    missing = [seq for seq in rows if seq not in search.entries]
    if missing:
        found = memories.entries(search.store, missing)
        search.entries.update((entry.seq, entry) for entry in found)
    return [search.entries[seq] for seq in rows if seq in search.entries]


def _weigh(memory: Entry, mine: Mapping[str, float], search: Search) -> Ranked:
    bonus = query_features.bonus(search.features, memory, search.parameters)
    signals = {**mine, **bonus, "relevance": mine["relevance"] + sum(bonus.values())}
    return score.weigh(memory, signals, search.parameters, search.now)


def _merge(
    earlier: Iterable[Ranked], hits: Iterable[Ranked], more: Iterable[Ranked]
) -> list[Ranked]:
    """The *earlier* hits, by the scores of a search that found all *hits*, and some more."""
    before = {hit.memory.seq: hit for hit in earlier}
    again = {hit.memory.seq: hit for hit in hits if hit.memory.seq in before}
    return [*(before | again).values(), *(hit for hit in more if hit.memory.seq not in before)]


def _answers(hit: Ranked, parameters: Parameters) -> bool:
    """Whether it states so much of what was asked that unconfirmed memories are not needed."""
    states = "steps" not in hit.signals and hit.signals["share"] >= parameters.answer_share
    return bool(hit.signals["exact"]) or states
