"""Rows that hold the words of a query, before filters."""

from __future__ import annotations

import math

from ademem.core.value import Value, replace
from ademem.search.ranking import DEFAULTS
from ademem.store import full_text
from ademem.store.full_text import Index

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Mapping

    from ademem.search.query import Query
    from ademem.search.ranking import Parameters
    from ademem.store import Store

MAX_TERMS = 32
"""Terms of a query that are looked up, the rarest first."""
RARE = 5
"""Memories with a word up to which other forms of it are looked up, too."""
ALWAYS = 3
"""Rarest terms that are looked up however many rows they match, where words alone decide."""

ENOUGH_WORDS = 3.0
"""Words that only one memory has: so many of them answer any prompt in full."""


class Matches(Value):
    """Rows by `seq`, and how they match the words of the query."""

    share: Mapping[int, float]
    """Share of the information of the query that the row has, 0 to 1."""
    bm25: Mapping[int, float]
    whole: frozenset[int]
    """Rows that have every term."""
    exact: frozenset[int] = frozenset()
    """Rows whose id or key is the query."""
    terms: Mapping[int, tuple[int, ...]] = {}
    """Terms of each row, by their place in `weights`."""
    weights: tuple[float, ...] = ()
    """Information of each term, as part of a full answer."""
    words: tuple[str, ...] = ()
    """The same terms as a person reads them."""

    def ranked(self) -> list[int]:
        """The named rows, those with every term, the others; each by BM25, newest first."""
        named = self.exact | self.whole
        rest = self.share.keys() - named if named else self.share
        return [
            seq
            for some in (self.exact, self.whole - self.exact, rest)
            for seq in sorted(sorted(some, reverse=True), key=self.bm25.__getitem__, reverse=True)
        ]


def find_matches(query: Query, store: Store, parameters: Parameters, *, alone: bool) -> Matches:
    """Rows that hold any of what was asked.

    If none holds enough of it in whole words, substrings of words are looked up.
    """
    capitals = query.capitals if parameters.widen else None
    most = parameters.postings
    found = _match(query.terms, query.times, store, capitals, most, alone=alone)
    if query.substrings and max(found.share.values(), default=0.0) < parameters.floor:
        within = _match(query.substrings, {}, store, None, most, alone=alone)
        found = within if within.share else found
    if not query.key:
        return found
    exact = full_text.named_rows(store, query.key)
    return replace(
        found,
        share={**found.share, **dict.fromkeys(exact, 1.0)},
        bm25={**dict.fromkeys(exact, 0.0), **found.bm25},
        whole=found.whole | exact,
        exact=exact,
    )


def choose_terms(
    counts: Mapping[str, int], most: int = DEFAULTS.postings, always: int = ALWAYS
) -> list[str]:
    """The rarest terms, *always* of them and more up to *most* postings."""
    chosen: list[str] = []
    rows = 0
    for term in sorted((term for term in counts if counts[term]), key=lambda t: (counts[t], t)):
        rows += counts[term]
        if len(chosen) == MAX_TERMS or (len(chosen) >= always and rows > most):
            break
        chosen.append(term)
    return chosen


def _match(
    terms: Mapping[str, Index],
    times: Mapping[str, int],
    store: Store,
    capitals: Container[str] | None,
    postings: int,
    *,
    alone: bool,
) -> Matches:
    most = -1 if alone else postings + 1
    counts = full_text.count_rows(store, terms, most)
    if capitals is not None and min(counts.values(), default=0) <= RARE:
        from ademem.search import expansion  # which no search for a prompt needs

        wider = expansion.widen(
            {t: counts[t] for t in terms if counts[t] <= RARE}, terms, capitals, store
        )
        terms = {wider.get(term, term): index for term, index in terms.items()}
        times = {wider.get(term, term): number for term, number in times.items()}
        again = full_text.count_rows(store, dict.fromkeys(wider.values(), Index.WORDS), most)
        counts = {term: again.get(term, counts.get(term, 0)) for term in terms}
    chosen = choose_terms(counts, postings, ALWAYS if alone else 1)
    missing = [term for term, count in counts.items() if not count]
    total = full_text.total_rows(store)
    information = {t: word_information(total, max(1, counts[t])) for t in chosen + missing}
    full = full_answer(asked=sum(information.values()), rarest=word_information(total, 1))
    weights = tuple(some / full for some in information.values())
    bits = {term: 1 << place for place, term in enumerate(information)}
    held: dict[int, int] = {}
    bm25: dict[int, float] = {}
    for mine, rows in full_text.postings(store, chosen, terms):
        of = [(bits[term], math.sqrt(times.get(term, 1))) for term in mine]
        for at, seq, points in rows:
            bit, factor = of[at]
            if seq in held:
                held[seq] |= bit
                bm25[seq] += points * factor
            else:
                held[seq], bm25[seq] = bit, points * factor
    # Many rows hold the same terms.
    places = {some: _places(some) for some in set(held.values())}
    shares = {some: min(1.0, sum(weights[place] for place in places[some])) for some in places}
    every = (1 << len(information)) - 1
    whole = [seq for seq, some in held.items() if some == every] if every in places else ()
    return Matches(
        share=dict(zip(held, map(shares.__getitem__, held.values()), strict=True)),
        bm25=bm25,
        whole=frozenset(whole),
        terms=dict(zip(held, map(places.__getitem__, held.values()), strict=True)),
        weights=weights,
        words=tuple(map(bare_word, information)),
    )


def bare_word(term: str) -> str:
    """The first word of an expression, or its phrase, as a person reads it."""
    return term.strip('"()').partition('"')[0]


def _places(bits: int) -> tuple[int, ...]:
    return tuple(place for place in range(bits.bit_length()) if bits >> place & 1)


def word_information(total: int, holders: int) -> float:
    """Information of a word in *holders* of *total* rows: BM25's idf, as Lucene writes it."""
    return math.log1p((total - holders + 0.5) / (holders + 0.5))


def full_answer(*, asked: float, rarest: float) -> float:
    """Return the information of a full answer to a query with the information *asked*.

    A short query is answered by all of its words. A prompt says more than any memory can match, so
    a few rare words do; one rare word is a third of that, one common word next to nothing.
    """
    return min(asked, ENOUGH_WORDS * rarest)
