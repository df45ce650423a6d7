"""Rows that hold the words of a query, or other forms of them, before filters."""

from __future__ import annotations

import math

from ademem.core.floors import VALUES
from ademem.core.text import is_one_edit
from ademem.core.value import Value, replace
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

_ABBREVIATIONS = """
    app application, args arguments, async asynchronous, auth authentication, auth authorization,
    cert certificate, cfg configuration, ci continuous-integration, cmd command, config
    configuration, conn connection, ctx context, db database, deps dependencies, dev development,
    dir directory, docs documentation, env environment, es elasticsearch, fn function, gql graphql,
    i18n internationalization, impl implementation, js javascript, k8s kubernetes, l10n
    localization, lib library, max maximum, mem memory, min minimum, msg message, param parameter,
    perf performance, pg postgres, pg postgresql, pkg package, postgres postgresql, pr
    pull-request, prod production, py python, regex regular-expression, repo repository, req
    request, resp response, spec specification, temp temporary, ts typescript, tz time-zone, ui
    user-interface, var variable, vm virtual-machine, ws websocket, yml yaml
"""

BEGINNING = 4
"""Letters from which an unknown word may be the beginning of another."""
INITIALS = (3, 5)
"""Letters of an abbreviation that is looked for as initials; two are the initials of too much."""
PART = 2
"""Letters that each part of a joined word has at least."""
MISSPELT = 5
"""Letters from which an unknown word may be misspelt."""
SURE = 2
"""Letters at the beginning of a word that are taken to be right."""
MOST_UNKNOWN = 6
"""Unknown words of a question that are taken for others; shorter ones than `BEGINNING` are few."""
MOST_FORMS = 3
MANY_ROWS = 100
"""Memories from which a word that none of them has tells that they are about something else."""
_ENDING = 3
"""Letters that the index may have cut off the end of a word."""


_FORMS: dict[str, list[str]] = {}
for _pair in " ".join(_ABBREVIATIONS.split()).split(", "):
    _short, _long = (part.replace("-", " ") for part in _pair.split())
    _FORMS.setdefault(_short, []).append(_long)
    if " " not in _long:
        _FORMS.setdefault(_long, []).append(_short)


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


def find_matches(query: Query, store: Store, parameters: Parameters, *, alone: bool) -> Matches:
    """Parts of words count if whole ones hold too little."""
    most = parameters.postings
    asked = query if parameters.widen else None
    found = _match(query.terms, query.times, store, asked, most, alone=alone)
    if query.substrings and found.best_share() < parameters.floor:
        within = _match(query.substrings, {}, store, None, most, alone=alone)
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
    terms: Mapping[str, Index],
    times: Mapping[str, int],
    store: Store,
    asked: Query | None,
    postings: int,
    *,
    alone: bool,
) -> Matches:
    """Match the terms; somebody *asked* in their own words, or None where nobody did."""
    most, always = postings + 1, ALWAYS if alone else 1
    counts = full_text.count_rows(store, terms, most)
    if asked is not None and min(counts.values(), default=0) <= RARE:
        terms, times, counts = _widen_rare(terms, times, counts, asked.capitals, most, store)
    if alone:
        counts |= _count_common(counts, terms, always, most, store)
    chosen = choose_terms(counts, postings, always)
    named = asked.identifiers if asked is not None else ()
    weights, unknown = _weigh_terms(chosen, counts, full_text.count_undeleted(store), named)
    held, bm25 = read_postings(store, chosen, terms, times)
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


def _widen_rare(
    terms: Mapping[str, Index],
    times: Mapping[str, int],
    counts: Mapping[str, int],
    capitals: Container[str],
    most: int,
    store: Store,
) -> tuple[dict[str, Index], dict[str, int], dict[str, int]]:
    """Put wider expressions in the place of rare terms, with their counts."""
    rare = {term: counts[term] for term in terms if counts[term] <= RARE}
    wider = widen(rare, terms, capitals, store)
    again = full_text.count_rows(store, dict.fromkeys(wider.values(), Index.WORDS), most)
    widened = {wider.get(term, term): index for term, index in terms.items()}
    return (
        widened,
        {wider.get(term, term): number for term, number in times.items()},
        {term: again.get(term, counts.get(term, 0)) for term in widened},
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


def bare_word(term: str) -> str:
    """The first word of an expression, or its phrase, as a person reads it."""
    return term.strip('"()').partition('"')[0]


def word_information(total: int, holders: int) -> float:
    return math.log1p((total - holders + 0.5) / (holders + 0.5))


def full_answer(*, asked: float, rarest: float) -> float:
    """Return the information of a full answer to a query with the information *asked*.

    A short query is answered by all of its words. A prompt says more than any memory can match, so
    a few rare words do; one rare word is a third of that, one common word next to nothing.
    """
    return min(asked, ENOUGH_WORDS * rarest)


def widen(
    counts: Mapping[str, int], terms: Mapping[str, Index], capitals: Container[str], store: Store
) -> dict[str, str]:
    """Return expressions to look up in place of terms that few memories have, or none.

    Abbreviations of the trade are read both ways. A word that no memory has is taken apart, or for
    the beginning of another, for initials, or for misspelt.
    """
    wider: dict[str, str] = {}
    unknown = 0
    for term, count in counts.items():
        word = bare_word(term)
        if terms[term] is not Index.WORDS or " " in word:
            continue
        forms = _FORMS.get(word, [])
        if not (count or forms) and word.isalpha() and unknown < MOST_UNKNOWN:
            unknown += len(word) >= BEGINNING
            forms = _forms_of_unknown(word, word in capitals, store)
        if forms:
            wider[term] = "(" + " OR ".join(f'"{form}"' for form in (word, *forms)) + ")"
    return wider


def _forms_of_unknown(word: str, is_in_capitals: bool, store: Store) -> list[str]:
    """Words and phrases that the memories have in place of *word*, which none of them has."""
    if is_in_capitals and INITIALS[0] <= len(word) <= INITIALS[1]:
        return _spell_out(word, store)[:MOST_FORMS]
    if len(word) < BEGINNING:
        return []
    return _find_parted(word, store) or _find_longer(_without_accents(word), store)[:MOST_FORMS]


def _without_accents(word: str) -> str:
    """Return the word as the index has it."""
    if word.isascii():
        return word
    import unicodedata

    return "".join(unicodedata.normalize("NFD", letter)[0] for letter in word)


def _find_longer(word: str, store: Store) -> list[str]:
    """Return stems that begin with the word, else those of which it is a misspelling."""
    stems = full_text.vocabulary(store, word[:SURE])
    longer = [stem for stem in stems if stem.startswith(word)]
    if longer or len(word) < MISSPELT:
        return longer
    return [stem for stem in stems if _is_misspelt(word, stem)]


def _spell_out(initials: str, store: Store) -> list[str]:
    """Return phrases of which the word has the initials."""
    import re

    from ademem.search.query import STOP_WORDS

    texts = full_text.texts_with_initials(store, initials)
    spelt_out = r"[ -]".join(f"{letter}[^\\W_]+" for letter in initials)
    phrase = re.compile(r"(?<![^\W_])" + spelt_out, re.I)
    found = {match.lower().replace("-", " ") for text in texts for match in phrase.findall(text)}
    return sorted(one for one in found if STOP_WORDS.isdisjoint(one.split()))


def _find_parted(word: str, store: Store) -> list[str]:
    """Return the word in two parts: `normalizePhone` may be `normalize_phone` elsewhere."""
    parted = [f'"{word[:at]} {word[at:]}"' for at in range(PART, len(word) - PART + 1)]
    parts = full_text.count_rows(store, dict.fromkeys(parted, Index.WORDS), 1)
    return [bare_word(phrase) for phrase, count in parts.items() if count]


def _is_misspelt(word: str, term: str) -> bool:
    """One letter of *word*, without an ending of it, is wrong, missing, too much, or swapped."""
    if len(term) < MISSPELT - 1 or not -1 <= len(word) - len(term) <= _ENDING + 1:
        return False
    return any(is_one_edit(word[: len(word) - cut], term) for cut in range(_ENDING + 1))
