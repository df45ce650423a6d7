"""From rows that were found to hits in their order: each step a function, each one visible."""

from __future__ import annotations

from ademem.core.value import Value, replace
from ademem.search import fuse, neighbours, score
from ademem.search import query_features as cues_
from ademem.search.filters import may_be_seen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from ademem.core.memory import Entry
    from ademem.core.settings import SearchSettings
    from ademem.search.candidates import Found
    from ademem.search.entry_cache import AtHand
    from ademem.search.filters import Filters
    from ademem.search.fuse import Signals
    from ademem.search.query import Query
    from ademem.search.query_features import Cues
    from ademem.search.score import Ranked
    from ademem.search.source import Database, Meanings, Source
    from ademem.store import Store

FIRST_LOOK = 10
"""Rows by meaning that are looked at for each that is wanted, before all are: filters take some."""
WEIGHED = 2 / 3
"""Part of a pool of rows that is read and weighed, where neither words nor times decide."""
ENOUGH = 0.6
"""Share of a full answer that two rare words make up, which answers a question however long."""


class Search(Value):
    """All that the steps need to know."""

    query: Query
    cues: Cues
    source: Source
    store: Store
    at_hand: AtHand
    settings: SearchSettings
    filters: Filters
    statuses: tuple[str, ...]
    limit: int
    now: datetime


def hits(search: Search) -> list[Ranked]:
    """What of the rows found, and of their neighbours, is an answer; not in any order."""
    kept = search.source.kept(search)
    return [_hit(memory, kept[memory.seq], search) for memory in search.at_hand.these(kept)]


def judged(found: Found, database: Database, search: Search) -> dict[int, Signals]:
    """The best of the rows found, and of their neighbours, that are above the floor."""
    said = seen(found.ranked(), search)
    meant = {} if database.meanings is None else _nearest(database.meanings, search)
    turns = said | meant
    first = leading(search.settings)
    leaders = [*said][:first] + [*meant][:first]
    found = _with_neighbours(found, turns, leaders, database, search)
    if database.meanings is None and not words_answer(found, turns, search.query, search.settings):
        return {}
    found = _with_meaning(found, turns, database.meanings)
    signals = fuse.signals(found, turns)
    for seq, mine in signals.items():
        mine["relevance"] = fuse.relevance(mine, search.settings, turn=turns[seq])
    kept = answers(signals, turns, search.query, search.settings)
    best = sorted(kept, key=lambda seq: _first(seq, kept[seq]), reverse=True)
    most = search.settings.pool if database.meanings is None else weighed(search)
    return {seq: kept[seq] for seq in best[:most]}


def weighed(search: Search) -> int:
    """How many rows are weighed, the best by words and meaning, which know nothing of times."""
    pool = search.settings.pool
    return pool if search.cues.is_timed else max(search.limit, int(WEIGHED * pool))


def leading(settings: SearchSettings) -> int:
    """How many of those found by words, and by meaning, have who stands beside them heard too."""
    return (settings.pool + 1) // 2


def answers(
    signals: Mapping[int, Signals],
    turns: Mapping[int, bool],
    query: Query,
    settings: SearchSettings,
) -> dict[int, Signals]:
    """The rows above the floor; none when, by the vectors, not even the best is an answer."""
    if not any(_answered(mine, query, settings) for mine in signals.values()):
        return {}
    return {
        seq: mine for seq, mine in signals.items() if _above_floor(mine, settings, turn=turns[seq])
    }


def words_answer(found: Found, rows: Iterable[int], query: Query, settings: SearchSettings) -> bool:
    """Whether, by words alone, one of the rows answers a question that has several.

    It has two of them and part of all that they tell: one rare word is in any two texts.
    """
    if not settings.answer_words or not query.is_question:
        return True
    enough = min(settings.answer_words * sum(found.tells), ENOUGH)
    return any(
        seq in found.exact
        or (
            len(held := found.held.get(seq, ())) > 1 and sum(found.tells[i] for i in held) >= enough
        )
        for seq in rows
    )


def _answered(mine: Signals, query: Query, settings: SearchSettings) -> bool:
    share = settings.floor if query.typed or "cosine" not in mine else settings.answer_share
    return (
        bool(mine["exact"])
        or mine["share"] >= share
        or mine.get("cosine", 0.0) >= settings.answer_cosine
    )


def _above_floor(mine: Signals, settings: SearchSettings, *, turn: bool) -> bool:
    return (
        bool(mine["exact"])
        or mine["share"] >= settings.floor
        or mine.get("cosine", 0.0) >= settings.cosine_floor
        or (turn and mine.get("near_share", 0.0) >= settings.floor)
    )


def _nearest(meanings: Meanings, search: Search) -> dict[int, bool]:
    """Half of all rows may be hidden from who asks; then the next ones take their places."""
    wanted = FIRST_LOOK * search.settings.pool
    rows = meanings.nearest(wanted)
    turns = seen(rows, search)
    while len(turns) < search.settings.pool and len(rows) == wanted:
        wanted *= FIRST_LOOK
        rows = meanings.nearest(wanted)
        turns = seen(rows, search)
    return turns


def _with_neighbours(
    found: Found, turns: dict[int, bool], leaders: Iterable[int], database: Database, search: Search
) -> Found:
    """Those beside the *leaders* become candidates too: *turns* grows."""
    if not (search.settings.near_words or search.settings.near_meaning):
        return found
    around = database.around(turns)
    reach = neighbours.REACH if database.meanings is None else neighbours.NEXT
    beside = {seq for row in leaders for near in around.get(row, ())[:reach] for seq in near}
    turns |= seen(sorted(beside.difference(turns)), search, limit=len(beside))
    return replace(found, around=around)


def _with_meaning(found: Found, turns: Mapping[int, bool], meanings: Meanings | None) -> Found:
    if meanings is None:
        return found
    near = {seq for seq in turns for rows in found.around.get(seq, ()) for seq in rows}
    through, plain = meanings.of(near.union(turns))
    return replace(found, meaning=through, cosine=plain)


def seen(rows: Sequence[int], search: Search, limit: int | None = None) -> dict[int, bool]:
    limit = search.settings.pool if limit is None else limit
    return may_be_seen(rows, search.store, search.filters, search.statuses, limit)


def _first(seq: int, mine: Signals) -> tuple[float, float, int]:
    return mine["exact"], mine["relevance"], seq


def _hit(memory: Entry, mine: Signals, search: Search) -> Ranked:
    bonus = cues_.bonus(search.cues, memory, search.settings)
    relevance = mine["relevance"] + sum(bonus.values())
    signals = {**mine, **bonus, "relevance": relevance}
    return score.weigh(memory, signals, search.settings, search.now)
