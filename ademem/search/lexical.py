"""Rows that hold the words of a query, or other forms of them, before filters."""

from __future__ import annotations

import math

from ademem.core.floors import VALUES
from ademem.core.value import Value, replace
from ademem.search.query import bare_word
from ademem.search.ranking import DEFAULTS, Parameters
from ademem.store import Store, full_text
from ademem.store.full_text import Index

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Mapping, Sequence

    from ademem.search.query import Query

MAX_TERMS = 32
RARE = 5
"""Memories with a word up to which other forms of it are looked up, too."""
ALWAYS = 3
"""Rarest terms that are looked up however many rows they match, where words alone decide."""

ENOUGH_WORDS = 3.0
"""Words that only one memory has: so many of them answer any prompt in full."""

MANY_ROWS = 100
"""Memories from which a word that none of them has tells that they are about something else."""


class Matches(Value):
    bm25: Mapping[int, float]
    terms: Mapping[int, tuple[int, ...]]
    """Terms of each row, by their place in `weights`."""
    whole: frozenset[int] = frozenset()
    exact: frozenset[int] = frozenset()
    """Rows whose id or key is the query."""
    weights: tuple[float, ...] = ()
    """Information of each term, as part of a full answer."""
    words: tuple[str, ...] = ()
    """The same terms as a person reads them."""
    unknown: float = 0.0
    """Information of the terms that no row has, as part of a full answer; 0 for a small store."""

    def share(self, seq: int) -> float:
        """Share of the information of the query that the row has, 0 to 1."""
        return 1.0 if seq in self.exact else self._share_of(self.terms.get(seq, ()))

    def best_share(self) -> float:
        return max(map(self._share_of, set(self.terms.values())), default=0.0)

    def _share_of(self, terms: Sequence[int]) -> float:
        return min(1.0, sum(map(self.weights.__getitem__, terms), 0.0))

    def is_beside(self, seq: int) -> bool:
        """Tell whether the row has one word of several, and none has what says no less than that.

        "What is the capital of France" is not about a text with capitals where none names France.
        """
        terms = self.terms.get(seq, ())
        return len(terms) == 1 < len(self.weights) and self.unknown >= self._share_of(terms)

    def ranked(self) -> list[int]:
        """The named rows, those with every term, the others; each by BM25, newest first."""
        named = self.exact | self.whole
        rest = self.bm25.keys() - named if named else self.bm25
        return [
            seq
            for some in (self.exact, self.whole - self.exact, rest)
            for seq in sorted(sorted(some, reverse=True), key=self.bm25.__getitem__, reverse=True)
        ]


FEW_TERMS = 6
"""Terms of a prompt up to which one of them has to be known."""


def may_answer(prompt: str, store: Store) -> bool:
    """Tell whether a search can find something for a prompt that names no path or identifier.

    A short one in words that no memory has, such as "mach weiter" or "続けて", lets the work go on.
    """
    from ademem.search.query import parse

    terms = {
        term: index
        for term, index in parse(prompt, is_typed=False).terms.items()
        if len(bare_word(term)) > 1 or not term.isascii()
    }
    return len(terms) > FEW_TERMS or bool(find_telling(terms, store))


def find_telling(terms: Mapping[str, Index], store: Store) -> set[str]:
    """Return the terms that some memories have, and few: they say what a text is about."""
    share = VALUES["telling, share"] * full_text.count_undeleted(store)
    most = int(max(VALUES["telling, rows"], share))
    counts = full_text.count_rows(store, terms, most + 1)
    return {term for term, count in counts.items() if 0 < count <= most}


class Terms(Value):
    """Expressions to look up, with the number of rows that have each, and what was meant."""

    indexes: Mapping[str, Index]
    times: Mapping[str, int]
    counts: Mapping[str, int]
    """Not beyond the number of postings that are read."""
    meant: Mapping[str, str] = {}
    """Of misspelt words what the memories have in their place."""


def find_terms(query: Query, store: Store, parameters: Parameters) -> Terms:
    """Count the rows with each term, and put wider expressions in the place of rare ones."""
    most = parameters.postings + 1
    terms, times = query.terms, query.times
    counts = full_text.count_rows(store, terms, most)
    if not parameters.widen or min(counts.values(), default=0) > RARE:
        return Terms(indexes=terms, times=times, counts=counts)
    from ademem.search import word_forms

    rare = {term: counts[term] for term in terms if counts[term] <= RARE}
    wider, meant = word_forms.widen(rare, terms, query.capitals, store)
    asked = filter(None, wider.values())
    again = full_text.count_rows(store, dict.fromkeys(asked, Index.WORDS), most)
    told = [term for term in terms if wider.get(term, term)]
    widened = {wider.get(term, term): terms[term] for term in told}
    return Terms(
        indexes=widened,
        times={wider.get(term, term): times[term] for term in told if term in times},
        counts={term: again.get(term, counts.get(term, 0)) for term in widened},
        meant=meant,
    )


def find_matches(
    query: Query, store: Store, parameters: Parameters, terms: Terms | None = None, *, alone: bool
) -> Matches:
    """Match the *terms* of the query; parts of words count if whole ones hold too little."""
    most, named = parameters.postings, query.identifiers if parameters.widen else ()
    found = _match(terms or find_terms(query, store, parameters), store, named, most, alone=alone)
    if query.substrings and found.best_share() < parameters.floor:
        counts = full_text.count_rows(store, query.substrings, most + 1)
        parts = Terms(indexes=query.substrings, times={}, counts=counts)
        within = _match(parts, store, (), most, alone=alone)
        found = within if within.terms else found
    if not query.key:
        return found
    exact = full_text.find_named_rows(store, query.key)
    return replace(
        found,
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
    terms: Terms, store: Store, identifiers: Container[str], postings: int, *, alone: bool
) -> Matches:
    always, counts = ALWAYS if alone else 1, dict(terms.counts)
    if alone:
        counts |= _count_common(counts, terms.indexes, always, postings + 1, store)
    chosen = choose_terms(counts, postings, always)
    total = full_text.count_undeleted(store)
    weights, unknown = _weigh_terms(chosen, counts, total, identifiers)
    held, bm25 = read_postings(store, chosen, terms.indexes, terms.times)
    places = {some: _list_bits(some) for some in set(held.values())}  # many rows hold the same
    every = (1 << len(weights)) - 1
    whole = (seq for seq, some in held.items() if some == every) if every in places else ()
    return Matches(
        bm25=bm25,
        terms={seq: places[some] for seq, some in held.items()},
        whole=frozenset(whole),
        weights=tuple(weights.values()),
        words=tuple(map(bare_word, weights)),
        unknown=unknown,
    )


def _weigh_terms(
    chosen: Sequence[str], counts: Mapping[str, int], total: int, identifiers: Container[str]
) -> tuple[dict[str, float], float]:
    """Return as parts of a full answer the information of each term, and that of unknown ones.

    The terms are those *chosen*, in their order, and those that none of the *total* memories has.
    Beside one of the *identifiers* that some have, other words that none has ask for nothing more.
    """
    missing = [term for term, count in counts.items() if not count]
    if any(bare_word(term) in identifiers for term in chosen):
        missing = [term for term in missing if bare_word(term) in identifiers]
    information = {
        term: word_information(total, max(1, counts[term])) for term in (*chosen, *missing)
    }
    full = full_answer(asked=sum(information.values()), rarest=word_information(total, 1))
    unknown = 0.0
    if missing and total >= MANY_ROWS:
        unknown = sum(map(information.__getitem__, missing)) / full
    return {term: some / full for term, some in information.items()}, unknown


def _count_common(
    counts: Mapping[str, int], terms: Mapping[str, Index], always: int, most: int, store: Store
) -> dict[str, int]:
    """Count common terms exactly where too few others were found, as one may be chosen."""
    if sum(0 < count < most for count in counts.values()) >= always:
        return {}
    common = [term for term, count in counts.items() if count == most]
    return full_text.count_rows(store, {term: terms[term] for term in common})


def _list_bits(number: int) -> tuple[int, ...]:
    return tuple(place for place in range(number.bit_length()) if number >> place & 1)


def read_postings(
    store: Store,
    chosen: Sequence[str],
    terms: Mapping[str, Index],
    times: Mapping[str, int],
) -> tuple[dict[int, int], dict[int, float]]:
    """Return of each row the bits of the terms that it has, and its points by BM25.

    The bit of a term is at its position in *chosen*.
    """
    bits = {term: 1 << position for position, term in enumerate(chosen)}
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
                held[seq] = bit
                bm25[seq] = points * factor
    return held, bm25


def word_information(total: int, holders: int) -> float:
    return math.log1p((total - holders + 0.5) / (holders + 0.5))


def full_answer(*, asked: float, rarest: float) -> float:
    """Return the information of a full answer to a query with the information *asked*.

    A short query is answered by all of its words. A prompt says more than any memory can match, so
    a few rare words do; one rare word is a third of that, one common word next to nothing.
    """
    return min(asked, ENOUGH_WORDS * rarest)
