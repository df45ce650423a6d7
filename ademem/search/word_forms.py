"""Other forms of the words of a search: abbreviations, parts, beginnings, misspellings."""

from __future__ import annotations

from ademem.core.text import is_one_edit
from ademem.search.query import STOP_WORDS, bare_word, quoted
from ademem.store import Store, full_text
from ademem.store.full_text import Index

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Mapping, Sequence

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
"""Letters from which an unknown word may be the beginning of another, or has one of its own."""
INITIALS = (3, 5)
"""Letters of an abbreviation that is looked for as initials; two are the initials of too much."""
PART = 2
"""Letters that each part of a joined word has at least, where the memories have them together."""
MISSPELT = 5
"""Letters from which an unknown word may be misspelt in any way; in a shorter one two letters are
swapped or one is missing."""
SURE = 2
"""Letters at the beginning of a word that are taken to be right, unless two are swapped."""
LONG = 7
"""Letters from which any letter may be too much; in a shorter word one is doubled."""
MOST_UNKNOWN = 6
"""Unknown words of a question that are taken for others; shorter ones than `BEGINNING` are few."""
MOST_FORMS = 3
_ENDING = 3
"""Letters that the index may have cut off the end of a word."""
_LETTERS = (("ß", "ss"), ("ss", "ß"), ("ae", "a"), ("oe", "o"), ("ue", "u"))
"""Letters that keyboards lack, as they are written then, both without accents."""


_ABBREVIATED: dict[str, list[str]] = {}
for _pair in " ".join(_ABBREVIATIONS.split()).split(", "):
    _short, _long = (part.replace("-", " ") for part in _pair.split())
    _ABBREVIATED.setdefault(_short, []).append(_long)
    if " " not in _long:
        _ABBREVIATED.setdefault(_long, []).append(_short)


def widen(
    counts: Mapping[str, int], terms: Mapping[str, Index], capitals: Container[str], store: Store
) -> tuple[dict[str, str], dict[str, str]]:
    """Return expressions to look up in place of terms that few memories have, or none.

    Abbreviations of the trade are read both ways. A word that no memory has is taken apart, or for
    the beginning of another, for initials, or for misspelt. Instead of one that is misspelt for a
    stop word, or is much like one, "" says to look up nothing. Beside them stands of each word that
    is surely misspelt what was meant.
    """
    wider: dict[str, str] = {}
    meant: dict[str, str] = {}
    unknown = 0
    for term, count in counts.items():
        word = bare_word(term)
        if terms[term] is not Index.WORDS or " " in word:
            continue
        forms = [quoted(form) for form in _ABBREVIATED.get(word, [])]
        if not (count or forms) and word.isalpha() and unknown < MOST_UNKNOWN:
            unknown += len(word) >= BEGINNING
            found, likeliest = _find_forms(word, word in capitals, store)
            forms = [form for form in found if form.strip('"') not in STOP_WORDS]
            if likeliest:
                meant[word] = likeliest
            if found and not forms:
                wider[term] = ""
        if forms:
            wider[term] = "(" + " OR ".join((quoted(word), *forms[:MOST_FORMS])) + ")"
    return wider, meant


def correct(text: str, meant: Mapping[str, str]) -> str:
    """Return the text with what was *meant* in place of each misspelt word."""
    import re

    return re.sub(r"[^\W_]+", lambda found: meant.get(found[0].lower(), found[0]), text)


def is_slip(word: str, meant: str) -> bool:
    """Tell a slip of the fingers from another word: letters are swapped, missing, or too much.

    A word with another letter, or another ending, is as often right in another language.
    """
    if word[:-1] in (meant, meant[:-1]) or word == meant[:-1]:
        return False
    return len(word) != len(meant) or sorted(word) == sorted(meant)


def _find_forms(word: str, is_in_capitals: bool, store: Store) -> tuple[list[str], str]:
    """Return expressions for what the memories have in place of *word*, which none of them has.

    Beside them stands what was meant if the word is surely misspelt, else "".
    """
    if is_in_capitals and INITIALS[0] <= len(word) <= INITIALS[1]:
        return list(map(quoted, _spell_out(word, store))), ""
    if len(word) < BEGINNING:
        return [], ""
    bare = _without_accents(word)
    stems = full_text.vocabulary(store, bare[:SURE])
    whole = _find_parted(word, store) or [stem for stem in stems if stem.startswith(bare)]
    if whole:
        return list(map(quoted, whole)), ""
    if words := _find_words(bare, stems, store):
        return list(map(quoted, words)), words[0] if is_slip(bare, words[0]) else ""
    if len(word) < MISSPELT:
        return [], ""
    if near := [stem for stem in stems if _is_near(bare, stem)]:
        return list(map(quoted, near)), ""
    if parts := _find_parts(word, store):
        return ["(" + " AND ".join(map(quoted, parts)) + ")"], " ".join(parts)
    return [], ""


def _without_accents(word: str) -> str:
    """Return the word as the index has it."""
    if word.isascii():
        return word
    import unicodedata

    return "".join(unicodedata.normalize("NFD", letter)[0] for letter in word)


def _spell_out(initials: str, store: Store) -> list[str]:
    """Return phrases of which the word has the initials."""
    import re

    texts = full_text.texts_with_initials(store, initials)
    spelt_out = r"[ -]".join(f"{letter}[^\\W_]+" for letter in initials)
    phrase = re.compile(r"(?<![^\W_])" + spelt_out, re.I)
    found = {match.lower().replace("-", " ") for text in texts for match in phrase.findall(text)}
    return sorted(one for one in found if STOP_WORDS.isdisjoint(one.split()))


def _find_parted(word: str, store: Store) -> list[str]:
    """Return the word in two parts: `normalizePhone` may be `normalize_phone` elsewhere."""
    parted = (f"{word[:at]} {word[at:]}" for at in range(PART, len(word) - PART + 1))
    return _find_known(parted, store)


def _find_words(word: str, stems: Sequence[str], store: Store) -> list[str]:
    """Return words of the memories that *word* is written for with one mistake, surest first.

    The *stems* are those of the memories that begin like it.
    """
    ends = [(word[:at], word[at:]) for at in range(len(word))]
    swapped = [before + after[1] + after[0] + after[2:] for before, after in ends[:-1]]
    in_other_letters = {word.replace(*pair) for pair in _LETTERS} - {word}
    if found := _find_known([*swapped, *sorted(in_other_letters)], store):
        return found
    other = [spelling for stem in stems for spelling in _spellings_by(stem, word)]
    if len(word) < MISSPELT:
        return _find_known((each for each in other if len(each) > len(word)), store)
    too_much = (
        before + after[1:]
        for before, after in ends[1:]
        if len(word) >= LONG or before[-1] == after[0]
    )
    return _find_known([*too_much, *other], store)


def _spellings_by(stem: str, word: str) -> Iterator[str]:
    """Yield the word with the letter of the stem where they differ, if they go on alike.

    The last letter of a stem may be another one in its words.
    """
    at = 0
    while at < min(len(word), len(stem)) and word[at] == stem[at]:
        at += 1
    if at < len(stem):
        letter, rest = stem[at], stem[at + 1 : -1]
        for wrong in range(2):
            if word.startswith(rest, at + wrong):
                yield word[:at] + letter + word[at + wrong :]


def _find_parts(word: str, store: Store) -> list[str]:
    """Return two words that were written as one, the most even ones first."""
    middle = len(word) / 2
    for at in sorted(range(BEGINNING, len(word) - BEGINNING + 1), key=lambda at: abs(middle - at)):
        parts = [word[:at], word[at:]]
        if _find_known(parts, store) == parts:
            return parts
    return []


def _find_known(words: Iterable[str], store: Store) -> list[str]:
    terms = {quoted(word): Index.WORDS for word in words}
    counts = full_text.count_rows(store, terms, 1)
    return [bare_word(term) for term in terms if counts[term]]


def _is_near(word: str, stem: str) -> bool:
    """Tell whether both begin alike, and differ in an ending and at most one more letter."""
    if word[:BEGINNING] != stem[:BEGINNING]:
        return False
    if not -1 <= len(word) - len(stem) <= _ENDING + 1:
        return False
    return any(is_one_edit(word[: len(word) - cut], stem) for cut in range(_ENDING + 1))
