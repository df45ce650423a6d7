"""Other forms of a word of a question, as memories may write it.

Abbreviations of the trade are read both ways. The rest is for words that no memory has: the
words that it joins, what it is the beginning of, the words of which it has the initials, and what
it misspells.
"""

from __future__ import annotations

import re

from ademem.core.text import is_one_edit
from ademem.search.lexical import bare_word
from ademem.store import full_text
from ademem.store.full_text import Index

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Mapping

    from ademem.store import Store

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
MOST_UNKNOWN = 4
"""Unknown words of a question for which memories are searched."""
MOST_FORMS = 3
_ENDING = 3
"""Letters that the index may have cut off the end of a word."""


def _pairs() -> Iterator[tuple[str, str]]:
    for pair in " ".join(_ABBREVIATIONS.split()).split(", "):
        short, long = (part.replace("-", " ") for part in pair.split())
        yield short, long
        if " " not in long:
            yield long, short


_FORMS: dict[str, list[str]] = {}
for _one, _other in _pairs():
    _FORMS.setdefault(_one, []).append(_other)


def widen(
    counts: Mapping[str, int], terms: Mapping[str, Index], capitals: Container[str], store: Store
) -> dict[str, str]:
    """Expressions to look up in place of terms that few memories have, or none."""
    wider: dict[str, str] = {}
    unknown = 0
    for term, count in counts.items():
        word = bare_word(term)
        if terms[term] is not Index.WORDS or " " in word:
            continue
        forms = _FORMS.get(word, [])
        if not (count or forms) and unknown < MOST_UNKNOWN:
            unknown += 1
            forms = _forms_of_unknown(word, word in capitals, store)
        if forms:
            wider[term] = "(" + " OR ".join(f'"{form}"' for form in (word, *forms)) + ")"
    return wider


def _forms_of_unknown(word: str, is_in_capitals: bool, store: Store) -> list[str]:
    """Words and phrases that the memories have in place of *word*, which none of them has."""
    if not word.isalpha():
        return []
    if is_in_capitals and INITIALS[0] <= len(word) <= INITIALS[1]:
        return _spelt_out(word, full_text.texts_with_initials(store, word))
    if len(word) < BEGINNING:
        return []
    # `normalizePhone` may be `normalize_phone` elsewhere.
    parted = [f'"{word[:at]} {word[at:]}"' for at in range(PART, len(word) - PART + 1)]
    parts = full_text.count_rows(store, dict.fromkeys(parted, Index.WORDS), 1)
    if joined := [bare_word(phrase) for phrase, count in parts.items() if count]:
        return joined
    if not word.isascii():  # the index has no accents
        import unicodedata

        word = "".join(unicodedata.normalize("NFD", letter)[0] for letter in word)
    stems = full_text.vocabulary(store, word[:SURE])
    longer = [stem for stem in stems if stem.startswith(word)]
    if not longer and len(word) >= MISSPELT:
        longer = [stem for stem in stems if _is_misspelt(word, stem)]
    return longer[:MOST_FORMS]


def _spelt_out(word: str, texts: Iterable[str]) -> list[str]:
    """Phrases of the texts that have the letters of *word* as their initials."""
    from ademem.search.query import STOP_WORDS

    phrase = re.compile(r"(?<![^\W_])" + r"[ -]".join(f"{letter}[^\\W_]+" for letter in word), re.I)
    found = {match.lower().replace("-", " ") for text in texts for match in phrase.findall(text)}
    return sorted(one for one in found if STOP_WORDS.isdisjoint(one.split()))[:MOST_FORMS]


def _is_misspelt(word: str, term: str) -> bool:
    """One letter of *word*, without an ending of it, is wrong, missing, too much, or swapped."""
    if len(term) < MISSPELT - 1 or not -1 <= len(word) - len(term) <= _ENDING + 1:
        return False
    return any(is_one_edit(word[: len(word) - cut], term) for cut in range(_ENDING + 1))
