"""From the rows that match or are near a question to weighed hits.

The numbers were chosen on the tuning sets that `bench/README.md` describes.
"""

from __future__ import annotations

import math

from ademem.core import regex
from ademem.core.clock import datetime, days_between
from ademem.core.floors import VALUES
from ademem.core.memory import DIALOGUE, PROCEDURE, Memory, Status, Tier, decayed
from ademem.core.text import jaccard, words
from ademem.core.value import Value, replace
from ademem.search import evidence
from ademem.store import Store, memories, relations
from ademem.store.filters import UNARCHIVED, Filters, visible_rows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from ademem.search.dense import Cosines
    from ademem.search.dialogue import Features, Neighbours
    from ademem.search.lexical import Matches
    from ademem.search.query import Query
    from ademem.store.relations import Later, Newer

    Signals = dict[str, float]
    PlainCosines = Mapping[tuple[int, int], float]


class Parameters(Value):
    """Weights, floors and discounts of one search."""

    pool: int = 30
    """Rows that the lexical and the vector search each pass to the ranking; twice for dialogues."""

    postings: int = 1500
    """Postings of the rarest words that are read: what a search costs in a store of any size."""

    words: float = 0.25
    """Weight of the words of a memory in its relevance."""
    meaning: float = 0.28
    """Weight of the whitened cosine to the question in the relevance."""
    near_words: float = 0.35
    """Weight of the words of a turn of a dialogue and its neighbours in the session."""
    near_meaning: float = 0.2
    """Weight of the cosines of a turn of a dialogue and its neighbours."""

    speaker: float = 0.25
    """Bonus of a turn whose speaker the question names."""
    time: float = 0.25
    """Bonus of a turn with a word of time if the question asks when."""
    date: float = 0.35
    """Bonus of a turn of the month or year that the question names."""
    asks: float = -0.08
    """Bonus of a turn that ends with a question, as it rarely answers one."""
    steps: float = -0.2
    """Bonus of a learned procedure if the query is a question and not a task."""

    relevance: float = 0.8
    """Weight of the relevance in the composite score."""
    recency: float = 0.02
    """Weight of the time since the last change in the composite score."""
    importance: float = 0.11
    """Weight of the importance in the composite score."""
    confidence: float = 0.05
    """Weight of the confidence in the composite score."""
    access: float = 0.02
    """Weight of the use in the composite score."""
    half_life_days: float = 30.0
    """Age at which recency and use count half."""
    tier_bonus: tuple[float, float, float] = (0.1, 0.0, -0.05)
    """Bonus of tier 1, 2 and 3 on the composite score."""

    candidate_discount: float = 0.97
    """Factor of the score of a candidate."""
    branch_discount: float = 0.8
    """Factor of the score of a memory of another branch."""
    drift_discount: float = 0.8
    """Factor of the score of a memory whose code has changed or was removed."""

    widen: bool = True
    """Look up other forms of rare and unknown words, too, and longer words with a short query."""
    floor: float = 0.25
    """Share of a short query in whole words below which parts of words are looked up."""
    answer_share: float = 0.8
    """Share of a question from which a confirmed memory makes candidates unnecessary."""

    @property
    def relevance_weights(self) -> dict[str, float]:
        names = ("words", "meaning", "near_words", "near_meaning")
        return {name: getattr(self, name) for name in names}

    @property
    def score_weights(self) -> dict[str, float]:
        names = ("relevance", "recency", "importance", "confidence", "access")
        return {name: getattr(self, name) for name in names}


DEFAULTS = Parameters()
UNASKED = Parameters(widen=False, postings=1000)
"""Parameters for a reader who did not ask: a guess is no evidence, and hooks have little time."""


FIRST_LOOK = 3
"""Rows that are filtered first, in pools: hidden rows take some of them."""
NEXT_LOOK = 10
"""Factor by which more rows are filtered when too few of them are visible."""
SHARE_WEIGHT = 0.3
"""Part of the words' signal by the share that was matched, beside vectors; the rest is BM25."""

NAMED = ("exact",)
"""Signals of hits that go first: a memory asked for by its id or key."""
COMPLETE = (*NAMED, "whole")
"""The same where words alone decide: then a memory that has all of them."""


class Hit(Value):
    memory: Memory
    score: float
    relevance: float
    signals: dict[str, float]
    weak: bool = False
    missing: tuple[str, ...] = ()
    later: Later | None = None
    newer: Newer | None = None
    """What was stated to be newer than a confirmed text, until a person decides."""

    @property
    def mark(self) -> str:
        return self.later.mark if self.later else ""


class Search(Value):
    query: Query
    matches: Matches
    cosines: Cosines | None
    """None where words alone decide."""
    store: Store
    parameters: Parameters
    filters: Filters
    limit: int
    now: datetime
    floor: float | None = None
    """How much a row has to help at least to be shown; None for a reader who asked."""

    @property
    def mode(self) -> str:
        return "lexical" if self.cosines is None else "hybrid"

    @property
    def first(self) -> tuple[str, ...]:
        return COMPLETE if self.cosines is None else NAMED


def rank_live(search: Search) -> list[Hit]:
    """The hits among live memories, and the best faded one if the filters ask for it.

    Beside confirmed memories that answer in full, candidates are left out unless they do so too and
    are newer. A memory of tier 3 is looked for when no other answers, an archived one when nothing
    live answers in full.
    """
    filters, parameters = search.filters, search.parameters
    if filters.statuses:
        return rank(search, filters.statuses)
    hits = _rank_unarchived(search)
    answers = [hit for hit in hits if _answers_in_full(hit, parameters.answer_share)]
    if any(hit.memory.status is Status.PROMOTED for hit in answers):
        return _drop_outdone(hits, answers)
    if filters.faded and not answers and memories.any_archived(search.store):
        return hits + _find_archived(search)
    return hits


def _rank_unarchived(search: Search) -> list[Hit]:
    """Return the hits of tier 1 and 2, and of tier 3 where none of them answers."""
    awake = replace(search, filters=replace(search.filters, awake=True))
    hits = rank(awake, UNARCHIVED)
    if all(hit.weak for hit in hits) and memories.any_faded(search.store):
        return rank(search, UNARCHIVED)
    return hits


def _drop_outdone(hits: Iterable[Hit], answers: Iterable[Hit]) -> list[Hit]:
    """Return the confirmed hits, and those candidates that answer and are newer than they all."""
    stated = [hit.memory for hit in answers]
    latest = max(each.created_at for each in stated if each.status is Status.PROMOTED)
    shown = {each.seq for each in stated if each.created_at > latest}
    return [hit for hit in hits if hit.memory.status is Status.PROMOTED or hit.memory.seq in shown]


def _find_archived(search: Search) -> list[Hit]:
    """Return the best hit of all if it is an archived memory that answers, else none."""
    found = rank(search, (*UNARCHIVED, Status.ARCHIVED))
    best = max(found, key=lambda hit: hit.relevance, default=None)
    if best is None or best.weak or best.memory.status is not Status.ARCHIVED:
        return []
    return [best]


def _answers_in_full(hit: Hit, share: float) -> bool:
    """Tell whether it states so much of the query that candidates are not needed."""
    signals = hit.signals
    return bool(signals["exact"]) or ("steps" not in signals and signals["share"] >= share)


def rank(search: Search, statuses: tuple[str, ...]) -> list[Hit]:
    rows, neighbours, pool = _fill_pool(search, statuses)
    signals = _weigh_rows(search, rows, neighbours)
    best = _find_best(signals.values(), search)
    found = memories.list_by_number(search.store, _order_shown(search, signals)[:pool])
    features = None
    if any(rows.values()):
        from ademem.search import dialogue

        features = dialogue.read_features(search.query.text)
    drifted = _find_drifted(found, search.store)
    by = search.parameters.score_weights
    hits = [_make_hit(each, signals[each.seq], features, drifted, search, by) for each in found]
    matches = search.matches
    return [replace(hit, weak=True) if _is_weak(hit, best, matches) else hit for hit in hits]


def _fill_pool(
    search: Search, statuses: tuple[str, ...]
) -> tuple[dict[int, bool], dict[int, Neighbours], int]:
    """Return rows, each with True for a turn of a dialogue, the neighbours of turns, and the size.

    Where there are turns the pool is twice as large, and has the rows beside them: neighbours and
    features lift rows from further down.
    """
    pool = max(search.limit, search.parameters.pool)
    by_words, by_meaning = find_rows(search, statuses, pool)
    rows = by_words | by_meaning
    if not any(rows.values()):
        return rows, {}, pool
    by_words, by_meaning = find_rows(search, statuses, 2 * pool)
    neighbours, beside = _read_neighbours(search, statuses, by_words, by_meaning)
    return by_words | by_meaning | beside, neighbours, 2 * pool


def _weigh_rows(
    search: Search, rows: Mapping[int, bool], neighbours: Mapping[int, Neighbours]
) -> dict[int, Signals]:
    """Return the signals of each row with its relevance and its evidence."""
    cosines, matches = search.cosines, search.matches
    near = {seq for some in neighbours.values() for far in some for seq in far}
    whitened, plain = cosines.compare(near.union(rows)) if cosines is not None else ({}, {})
    signals = compute_signals(matches, rows, whitened, plain)
    if turns := {seq: neighbours.get(seq, ()) for seq, is_turn in rows.items() if is_turn}:
        from ademem.search import dialogue

        dialogue.add_neighbours(signals, turns, matches, whitened)
    weights = search.parameters.relevance_weights
    asked, background = sum(matches.weights), evidence.background(plain.values())
    for mine in signals.values():
        mine["relevance"] = weighted_mean(mine, weights)
        mine["evidence"] = evidence.weigh(mine, asked, background)
        mine["helps"] = evidence.weigh_prompt(mine, asked)
        if "cosine" in mine:
            mine["subject"] = evidence.weigh_subject(mine, asked, background)
    return signals


def _order_shown(search: Search, signals: Mapping[int, Signals]) -> list[int]:
    """Return the rows with enough evidence, the named and most relevant first."""
    shown = list(signals)
    if search.floor is not None:
        least = evidence.least_shown((mine["helps"] for mine in signals.values()), search.floor)
        shown = [seq for seq in shown if signals[seq]["helps"] >= least]

    def order(seq: int) -> tuple[float, ...]:
        mine = signals[seq]
        return (*map(mine.__getitem__, search.first), mine["relevance"], seq)

    return sorted(shown, key=order, reverse=True)


def _find_best(signals: Iterable[Signals], search: Search) -> float:
    """Return the evidence of the best row that answers, -inf if none does."""
    is_read = False
    if search.cosines is not None:
        from ademem.search.embedding.language import is_english

        is_read = is_english(search.query.text)
    answering = (mine for mine in signals if evidence.is_answer(mine, is_english=is_read))
    return max((mine["evidence"] for mine in answering), default=-math.inf)


def _find_drifted(found: Iterable[Memory], store: Store) -> set[int]:
    """Return the rows of memories whose anchors are not where they were."""
    anchored = [memory.seq for memory in found if memory.anchors]
    if not anchored:
        return set()
    from ademem.store import bindings

    return bindings.find_misplaced(store, anchored)


def _is_weak(hit: Hit, best: float, matches: Matches) -> bool:
    """Compare with the line of `evidence`; an answer in a dialogue may be all in the question."""
    if hit.signals["exact"]:
        return False
    if "cosine" not in hit.signals and matches.is_beside(hit.memory.seq):
        return True
    is_turn = DIALOGUE in hit.memory.tags
    return hit.signals["evidence"] < evidence.least_answering(best, beside_best=not is_turn)


def find_rows(
    search: Search, statuses: tuple[str, ...], pool: int
) -> tuple[dict[int, bool], dict[int, bool]]:
    ranked = search.matches.ranked()
    by_words = _first_visible(lambda limit: ranked[:limit], pool, search, statuses)
    if search.cosines is None:
        return by_words, {}
    return by_words, _first_visible(search.cosines.nearest, pool, search, statuses)


def compute_signals(
    matches: Matches,
    rows: Collection[int],
    whitened: Mapping[int, float] = {},
    plain: Mapping[int, float] = {},
) -> dict[int, Signals]:
    """Return the signals of each row, 0 to 1; an unknown one is left out."""
    best = max((matches.bm25.get(seq, 0.0) for seq in rows), default=0.0)
    share_weight = SHARE_WEIGHT if whitened else 0.0
    signals: dict[int, Signals] = {}
    for seq in rows:
        share, bm25 = matches.share(seq), matches.bm25.get(seq, 0.0)
        signals[seq] = {
            "exact": float(seq in matches.exact),
            "whole": float(seq in matches.whole),
            "share": share,
            "bm25": bm25,
            "words": words_signal(share, bm25, best, share_weight) if share else 0.0,
        }
    if whitened:
        _add_meaning(signals, whitened, plain)
    return signals


def words_signal(share: float, bm25: float, best_bm25: float, share_weight: float) -> float:
    """1 for the best match of a search that matched all it asked."""
    how_well = bm25 / best_bm25 if best_bm25 else 1.0
    return share_weight * share + (1 - share_weight) * how_well


def _add_meaning(
    signals: dict[int, Signals], whitened: Mapping[int, float], plain: Mapping[int, float]
) -> None:
    """A row without a vector gets the least meaning of the rows that match the words as well: an
    equal row that has one is never behind it.
    """
    best = max((whitened.get(seq, 0.0) for seq in signals), default=0.0)
    if best <= 0:
        return
    without = []
    for seq, mine in signals.items():
        if seq in whitened:
            mine["cosine"] = plain[seq]
            mine["meaning"] = max(0.0, whitened[seq]) / best
        else:
            without.append(mine)
    known = [(mine["words"], mine["meaning"]) for mine in signals.values() if "meaning" in mine]
    for mine in without:
        words = mine["words"]
        mine["meaning"] = min(words, *(mean for other, mean in known if other >= words), 1.0)


def weighted_mean(signals: Mapping[str, float], weights: Mapping[str, float]) -> float:
    total = divisor = 0.0
    for name, weight in weights.items():
        if name in signals:
            total += weight * signals[name]
            divisor += weight
    return total / (divisor or 1.0)


def weigh(
    memory: Memory,
    signals: Signals,
    parameters: Parameters,
    now: datetime,
    weights: Mapping[str, float],
) -> float:
    """Return the composite score by *weights*; adds its parts to the *signals*."""
    age, idle = days_between(memory.updated_at, now), days_between(memory.last_accessed_at, now)
    half_life = parameters.half_life_days
    tier = Tier.PINNED if memory.pinned else memory.tier
    if tier is Tier.PINNED and memory.claimed_author is not None:
        tier = Tier.ACTIVE
    # a candidate loses nothing by its tier: its status has the same reason, no confirmation
    is_faded_candidate = tier is Tier.FADING and memory.status is Status.CANDIDATE
    signals["recency"] = decayed(1.0, idle_days=age, half_life_days=half_life)
    signals["importance"] = memory.importance.weight
    signals["confidence"] = memory.confidence
    signals["access"] = decayed(memory.used, idle_days=idle, half_life_days=half_life)
    signals["tier"] = 0.0 if is_faded_candidate else parameters.tier_bonus[tier - 1]
    score = weighted_mean(signals, weights) + signals["tier"]
    if memory.status is Status.CANDIDATE:
        score *= parameters.candidate_discount
    signals["composite"] = score
    return score


MMR_LAMBDA = 0.7
"""Part of the score in the marginal relevance; the rest is the likeness to what was chosen."""
FIRST = 5
"""Places that no near copy takes while another of the reordered hits answers."""
REORDERED = 10
"""Hits among which the first are chosen, so that none leaves an answer for one far below it."""


def compare_hits(hits: Sequence[Hit], search: Search) -> PlainCosines:
    """Return the plain cosine of each two of the hits, by their numbers, the smaller first."""
    if search.cosines is None or len(hits) < 2:
        return {}
    return search.cosines.compare_pairs([hit.memory.seq for hit in hits])


def diversify(hits: Sequence[Hit], search: Search, near: PlainCosines) -> list[Hit]:
    """Choose the first five by maximal marginal relevance (Carbonell and Goldstein, 1998).

    The others follow by their score, as one text may be asked for in all of its wordings.
    The signal `mmr` is what each had when it was chosen; `copy` marks near copies of another.
    """
    if len(hits) < 2:
        return list(hits)
    left, chosen = list(hits[:REORDERED]), list[Hit]()
    copies: set[int] = set()
    while left and len(chosen) < FIRST:
        best = _choose_next(left, copies, search.first)
        left.remove(best)
        mmr = _marginal(best, copies, search.first)[-2]
        chosen.append(_mark_copy(replace(best, signals=best.signals | {"mmr": mmr}), copies))
        others = (*left, *hits[REORDERED:])
        copies |= {hit.memory.seq for hit in others if _are_copies(best, hit, near)}
    rest = choose_best((*left, *hits[REORDERED:]), len(hits), search.first)
    return chosen + [_mark_copy(hit, copies) for hit in rest]


def _choose_next(left: Sequence[Hit], copies: Collection[int], first: Sequence[str]) -> Hit:
    """Return the best hit, before a copy rather the next one that answers something else."""
    best = max(left, key=lambda hit: _marginal(hit, copies, first))
    if best.memory.seq not in copies:
        return best
    different = (hit for hit in left if hit.memory.seq not in copies and not hit.weak)
    return next(different, best)


def _mark_copy(hit: Hit, copies: Collection[int]) -> Hit:
    if hit.memory.seq not in copies:
        return hit
    return replace(hit, signals=hit.signals | {"copy": 1.0})


def _marginal(hit: Hit, copies: Collection[int], first: Sequence[str]) -> tuple[float, ...]:
    mmr = MMR_LAMBDA * hit.score - (1 - MMR_LAMBDA) * (hit.memory.seq in copies)
    return (*_precedence(hit, first), mmr, hit.memory.seq)


def _are_copies(one: Hit, other: Hit, near: Mapping[tuple[int, int], float]) -> bool:
    pair = (one.memory.seq, other.memory.seq)
    if near.get((min(pair), max(pair)), 0.0) >= VALUES["copy, cosine"]:
        return True
    alike = jaccard(words(one.memory.whole_text), words(other.memory.whole_text))
    return alike >= VALUES["copy, words"]


def choose_best(hits: Iterable[Hit], limit: int, first: Sequence[str] = NAMED) -> list[Hit]:
    """The *limit* hits of the highest signals in *first*, then score, newest first.

    A turn of a dialogue often repeats the question, so all of its words prove little.
    """

    def order(hit: Hit) -> tuple[float, ...]:
        return (*_precedence(hit, first), hit.score, hit.memory.seq)

    return sorted(hits, key=order, reverse=True)[:limit]


def _precedence(hit: Hit, first: Sequence[str]) -> tuple[float, ...]:
    names = NAMED if DIALOGUE in hit.memory.tags else first
    return tuple(hit.signals[name] if name in names else 0.0 for name in first)


def _first_visible(
    first: Callable[[int], Sequence[int]], pool: int, search: Search, statuses: tuple[str, ...]
) -> dict[int, bool]:
    """A pool of the first rows that the filters let through, and whether each is a turn."""
    wanted = FIRST_LOOK * pool
    while True:
        ranked = first(wanted)
        rows = visible_rows(ranked, search.store, search.filters, statuses, pool)
        if len(rows) >= pool or len(ranked) < wanted:
            return rows
        wanted *= NEXT_LOOK


def _read_neighbours(
    search: Search,
    statuses: tuple[str, ...],
    by_words: dict[int, bool],
    by_meaning: dict[int, bool],
) -> tuple[dict[int, Neighbours], dict[int, bool]]:
    """The neighbours of turns, and the visible rows beside the first half of each pool."""
    from ademem.search.dialogue import REACH

    turns = [seq for seq, is_turn in (by_words | by_meaning).items() if is_turn]
    around = REACH if search.cosines is None else 1
    neighbours = memories.session_neighbours(search.store, turns, REACH, around)
    first = search.parameters.pool
    beside = {
        seq
        for leader in [*by_words][:first] + [*by_meaning][:first]
        for near in neighbours.get(leader, ())[:around]
        for seq in near
    }
    wanted = sorted(beside - by_words.keys() - by_meaning.keys())
    return neighbours, visible_rows(wanted, search.store, search.filters, statuses, len(wanted))


def _make_hit(
    memory: Memory,
    signals: Signals,
    features: Features | None,
    drifted: Collection[int],
    search: Search,
    weights: Mapping[str, float],
) -> Hit:
    parameters = search.parameters
    bonus: dict[str, float] = {}
    if features is not None and DIALOGUE in memory.tags:
        from ademem.search import dialogue

        bonus = dialogue.bonus(features, memory, parameters)
    elif search.query.asks and memory.source_type == PROCEDURE:  # it tells what to do
        bonus = {"steps": parameters.steps}
    if bonus:
        signals |= bonus
        signals["relevance"] += sum(bonus.values())
    score = weigh(memory, signals, parameters, search.now, weights)
    if memory.seq in drifted:
        score *= parameters.drift_discount
        signals["astray"] = parameters.drift_discount
    if memory.source_branch not in (None, search.filters.here):
        score *= parameters.branch_discount
        signals["elsewhere"] = parameters.branch_discount
    return Hit(memory=memory, score=score, relevance=signals["relevance"], signals=signals)


MOST_ASKED = 7
"""Most terms of a question that asks what holds today; a longer text says itself which it means."""


def stand_together(hits: Sequence[Hit], search: Search, near: PlainCosines) -> list[Hit]:
    """Put two hits that seem to be about one subject together, the newer one first.

    It is not known which of them holds: both are there, and the earlier names the newer. For a
    question `near_hits` finds them among the first ten. A query of many terms describes what it
    looks for: there they are each the nearest of all memories to the other, and it keeps the order
    that it gives the two, and brings none from beyond the first ten, where it would take the place
    of another answer.
    """
    later = _find_later(hits, search.store, is_near=True)
    paired = _find_near(hits[:REORDERED], search, near) if _asks_today(search) else later
    later |= paired
    if not later:
        return list(hits)
    partners = _find_partners(paired, {hit.memory.id: hit for hit in hits[:REORDERED]})
    placed: dict[str, Hit] = {}
    swapped: dict[str, Hit] = {}
    for hit in hits:
        pair = [swapped.get(hit.memory.id, hit)]
        if beside := partners.get(hit.memory.id):
            pair = _order_pair(hit, beside, search, later.get(hit.memory.id))
            if "copy" in beside.signals and len(pair) == 2:  # it stays behind what differs
                swapped[beside.memory.id] = pair.pop()
                partners.pop(beside.memory.id, None)
        for one in pair:
            mine = later.get(one.memory.id)
            placed.setdefault(one.memory.id, replace(one, later=mine) if mine else one)
    return list(placed.values())


def _asks_today(search: Search) -> bool:
    return len(search.query.terms) <= MOST_ASKED


def _find_near(hits: Sequence[Hit], search: Search, near: PlainCosines) -> dict[str, Later]:
    """Return by id the newer of two of these hits that seem to be about one subject."""
    if len(hits) < 2:
        return {}
    from ademem.search import near_hits

    pairs = near_hits.find_pairs(hits, len(search.query.terms), near)
    return relations.find_later_of_two(search.store, pairs)


def _find_later(hits: Iterable[Hit], store: Store, *, is_near: bool) -> dict[str, Later]:
    """Return by id the latest memory of a stated pair, or of one that is only near to it."""
    later = relations.find_later(store, (hit.memory for hit in hits))
    return {id: other for id, other in later.items() if other.is_near == is_near}


def _find_partners(later: Mapping[str, Later], reach: Mapping[str, Hit]) -> dict[str, Hit]:
    """Return by id the hit in *reach* that is near to it, the newer one where there are two."""
    earlier = {other.id: reach[id] for id, other in later.items() if id in reach}
    newer = {id: reach[other.id] for id, other in later.items() if other.id in reach}
    return earlier | newer


def _order_pair(hit: Hit, beside: Hit, search: Search, later: Later | None) -> list[Hit]:
    """Return both, the newer first if the query asks for it, or *hit* if *beside* is far off."""
    if beside.score < VALUES["found"] * hit.score:
        return [hit]
    is_newer = later is not None and later.id == beside.memory.id
    asks_for_newer = _asks_today(search) and not _asks_for_earlier(search.query.text, hit, beside)
    if is_newer and asks_for_newer and _may_lead(beside.memory, hit.memory):
        return [_lead(beside, hit), hit]
    return [hit, beside]


def _may_lead(newer: Memory, earlier: Memory) -> bool:
    """Keep what is not confirmed behind what is, and what came with files behind one's own.

    That two are alike was computed: an agent, or a page that is pulled, would else put a text in
    the place of a person's by wording it nearly like that.
    """
    is_confirmed = newer.status is Status.PROMOTED or earlier.status is not Status.PROMOTED
    return is_confirmed and (newer.claimed_author is None or earlier.claimed_author is not None)


def prefer_newer(shown: Sequence[Hit], hits: Iterable[Hit], search: Search) -> list[Hit]:
    """Put in place of each one *shown* the newer that is much like it, for who is shown only one.

    *hits* are all that were found. Two of a pair that are less alike stand together in an answer,
    and say of different matters.
    """
    newer = _find_newer(shown, {hit.memory.id: hit.signals["helps"] for hit in hits}, search)
    placed: dict[str, Hit] = {}
    for hit in shown:
        one = newer.get(hit.memory.id)
        if one and one.status is hit.memory.status and _may_lead(one, hit.memory):
            hit = replace(hit, memory=one, later=None)
        placed.setdefault(hit.memory.id, hit)
    return list(placed.values())


def _find_newer(
    shown: Iterable[Hit], helps: Mapping[str, float], search: Search
) -> dict[str, Memory]:
    """Return by the id of a hit the newer memory that is much like it and helps as much."""
    later = {hit.memory.id: hit.later.id for hit in shown if hit.later and hit.later.is_near}
    if not later:
        return {}
    from ademem.store import neighbours

    cosines = neighbours.list_cosines(search.store, later)

    def takes_place(id: str, other: str) -> bool:
        gap = helps[id] - helps.get(other, -math.inf)
        return evidence.is_outdated_by(cosines.get(id, 0.0), gap=gap)

    alike = {id: other for id, other in later.items() if takes_place(id, other)}
    known = {
        one.id: one for one in _visible_by_id(set(alike.values()), search.store, search.filters)
    }
    return {id: known[other] for id, other in alike.items() if other in known}


def _lead(newer: Hit, hit: Hit) -> Hit:
    """Give a hit the place of an earlier one that the query finds better; a signal tells so."""
    leader = raise_to(newer, hit)
    return replace(leader, signals=leader.signals | {"newer": 1.0})


def order_pairs(hits: Sequence[Hit], search: Search) -> list[Hit]:
    """Put the latest memory about a matter before the first hit that it outdates.

    However it is worded: a later memory that was not found is added, unless the query has a number
    of the earlier one ("what broke with Python 3.8"). Hits that it outdates keep their place and
    name it; one that was superseded by a memory that cannot be seen is left out.
    """
    later = _find_later(hits, search.store, is_near=False)
    found = {hit.memory.id: hit for hit in hits}
    known = _list_visible(later, hits, search)
    placed: dict[str, Hit] = {}
    for hit in hits:
        other = later.get(hit.memory.id)
        if other and other.id in known:
            heir = known[other.id]
            if heir.id not in placed and not names_earlier(search.query.text, hit.memory, heir):
                first = found.get(heir.id) or replace(hit, memory=heir)
                placed[heir.id] = raise_to(first, hit)
            hit = replace(hit, later=other)
        elif hit.memory.superseded_by:
            continue
        placed.setdefault(hit.memory.id, hit)
    return _name_proposals(list(placed.values())[: search.limit], search.store)


def _list_visible(
    later: Mapping[str, Later], hits: Iterable[Hit], search: Search
) -> dict[str, Memory]:
    """Return by id the memories of the hits, and the later ones that can be seen."""
    known = {hit.memory.id: hit.memory for hit in hits}
    missing = {other.id for other in later.values()} - known.keys()
    visible = _visible_by_id(missing, search.store, search.filters)
    return known | {memory.id: memory for memory in visible}


def _name_proposals(hits: list[Hit], store: Store) -> list[Hit]:
    """Add to each hit the text that was stated to be newer."""
    newer = relations.find_proposals(store, [hit.memory.id for hit in hits])
    return [
        replace(hit, newer=newer[hit.memory.id]) if hit.memory.id in newer else hit for hit in hits
    ]


def _visible_by_id(ids: Collection[str], store: Store, filters: Filters) -> list[Memory]:
    if not ids:
        return []
    from ademem.store import memory_queries

    found = memory_queries.by_ids(store, ids)
    rows = [memory.seq for memory in found]
    seen = visible_rows(rows, store, filters, filters.statuses or UNARCHIVED, len(rows))
    return [memory for memory in found if memory.seq in seen]


def _asks_for_earlier(query: str, hit: Hit, newer: Hit) -> bool:
    return bool(hit.signals["exact"]) or names_earlier(query, hit.memory, newer.memory)


def names_earlier(query: str, earlier: Memory, later: Memory) -> bool:
    """Tell whether the query has a number or an identifier that only the earlier has as well."""
    asked = _names(query)
    return bool(asked) and not asked.isdisjoint(_names(earlier.content) - _names(later.content))


def _names(text: str) -> set[str]:
    if not any(char in "-./:_" or char.isdecimal() for char in text):
        return set()
    return set(regex.findall(r"\w+(?:[-./:_]\w+)+|\d+", text.lower()))


def raise_to(hit: Hit, other: Hit) -> Hit:
    most = {
        name: max(each.signals.get(name, 0.0) for each in (hit, other))
        for name in ("evidence", "helps")
    }
    return replace(
        hit,
        score=max(hit.score, other.score),
        weak=hit.weak and other.weak,
        signals=hit.signals | most,
    )
