"""Turn any text into terms of the indexes."""

from __future__ import annotations

from itertools import groupby, islice

from ademem.core import regex
from ademem.core.text import is_cjk, normal, replace_surrogates, unique, word_runs, word_set
from ademem.core.value import Value
from ademem.store.full_text import Index

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Mapping, Sequence

MAX_CHARS = 2000
"""Longest text that is read whole; of a longer one, each end gives half."""
TYPED_WORDS = 3
"""A text of at most so many words was typed to find something; a longer one is a prompt."""
GRAM = 3
"""Fewest characters that the trigram index can find."""

_STOP_WORDS = """
    a about after again all also am an and any are as at be because been before being both but
    by can could d did didn do does doesn doing don during each few for from get had has have
    having he her here his how i if in into is isn it its itself just let like ll m make me
    might more most must my need no nor not now of off on one only or other our out over own
    please re s same she should so some such t than that the their them then there these they
    this those three through to too two under until up us use ve very want was we were what when
    where which while who whom why will with would yes you your
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())

MOST_GRAMS = 120
"""Groups of three characters that are compared for each text of a statement; the rest of longer
ones adds little."""

_ASKING = word_set("""
    are can could did do does had has have how is may might shall should was were what when where
    which who whom whose why will would
""")
"""First words of a question, without what is contracted with them."""

_BLAND = STOP_WORDS | word_set("""
    add ahead already also always another anything apply carry change changes check claude continue
    cool correct create difference done enough everything exactly fine finish first fix fixed fixes
    fixing found give given go gone good great handle happen happens hello help hey hi implement
    improve issue job js keep kind last least long lot maybe mind much need needed needs new next
    nice nope nothing ok okay old option part perfect place problem proceed proper properly put py
    quick quickly ready really right second see set show simple since someone something sorry sounds
    src start still stop stuff sure take tell thank thanks thing things think time today try ts turn
    update use used using usual way well whatever whole work working works wrong yeah yep yet
""")
"""Words that an order of anything may have, and that a search for it does not need."""

_ACTS = word_set("discard force open pull rerun ship suite tag")
"""Further words for what is done with a repository, whatever it holds."""
_KEY = (  # compiled for prompts alone
    r"`[^`\s]"  # marked as code
    r"|[\w.-]+/[\w.-]+|\w\.[a-zA-Z]\w{0,4}\b"  # a path, a file
    r"|[^\W_]_[^\W_]|[a-z][A-Z]|::|--\w"  # an identifier, an option
    r"|\b(?=\w*[^\W\d_])\w*\d\w*\b"  # a code
)
"""Part of a text that names a path, an identifier or a code."""
_MARK = r"\[(?:redacted:[^\]]*|private)\]"
_WORD_CHARS = 128
"""Longest word; the rest of a longer one is another."""
_QUOTED = r'"([^"]{1,80})"'


class Query(Value):
    text: str
    """The text, without the middle of a long one."""
    key: str | None
    """The whole text when it may be an id or a key."""
    terms: dict[str, Index]
    """FTS5 expressions, quoted so that the text has no operators; bare text for ROWS."""
    substrings: dict[str, Index]
    """Terms that may stand inside words, for when no word answers; empty for a prompt."""
    asks: bool
    times: Mapping[str, int] = {}
    """Number of times that a term occurs, if more than once."""
    capitals: frozenset[str] = frozenset()
    """The words that stand out in capitals, in small letters."""
    identifiers: frozenset[str] = frozenset()
    """The words that are written as names in code are, in small letters; none for a prompt."""


def parse(text: str, *, is_typed: bool = True) -> Query:
    """Parse any text; of a long one both ends, as people type around what they paste.

    Unless somebody typed it to find something, its words stand for themselves alone: "ja" is no
    beginning of "java".
    """
    text = readable(text)
    words = _words(text)
    telling = _without_stop_words(words)
    is_typed = is_typed and len(words) <= TYPED_WORDS
    terms = dict(term for word in telling for term in _terms(word))
    if is_typed and text[-1:].isalnum():
        terms = _with_beginning(terms, words[-1])
    return Query(
        text=text,
        key=None if " " in text else text or None,
        terms=terms | {quoted(phrase): Index.WORDS for phrase in _find_phrases(text)},
        substrings=_substrings(telling) if is_typed else {},
        asks=asks(text),
        times=_count_repeated(words, terms),
        capitals=_find_capitals(text),
        identifiers=_find_identifiers(text) if is_typed else frozenset(),
    )


def _without_stop_words(words: Sequence[str]) -> tuple[str, ...]:
    """Return the words without stop words, or all if they are nothing else."""
    return unique(word for word in words if word not in STOP_WORDS) or unique(words)


def _substrings(words: Iterable[str]) -> dict[str, Index]:
    return {quoted(word): Index.GRAMS for word in words if len(word) >= GRAM}


def _count_repeated(words: Iterable[str], terms: Container[str]) -> dict[str, int]:
    """Return how often the *terms* occur that occur more than once."""
    times: dict[str, int] = {}
    for word in words:
        for term, _ in _terms(word):
            times[term] = times.get(term, 0) + 1
    return {term: number for term, number in times.items() if number > 1 and term in terms}


def _with_beginning(terms: Mapping[str, Index], word: str) -> dict[str, Index]:
    """Let the last word stand for those that begin with it, too."""
    last = quoted(word)
    longer = f"({last} OR {last} *)"  # itself it counts twice, so it goes first
    return {
        longer if term == last and index is Index.WORDS else term: index
        for term, index in terms.items()
    }


def _find_phrases(text: str) -> list[str]:
    if '"' not in text:
        return []
    quoted = regex.findall(_QUOTED, text)
    return [phrase for phrase in quoted if len(_words(phrase)) > 1]


def _find_capitals(text: str) -> frozenset[str]:
    """Return the words in capitals, in small letters; none where all of the text is."""
    if text.isupper() and " " in text:
        return frozenset()
    return frozenset(word.lower() for word in _split(text) if word.isupper())


def _find_identifiers(text: str) -> frozenset[str]:
    return frozenset(word.lower() for word in _split(text) if _is_identifier(word))


def _is_identifier(word: str) -> bool:
    """Tell `sync_jobs` and `OrderMapper` from other words."""
    return "_" in word.rstrip("_") or any(map(_is_hump, word, word[1:]))


def _is_hump(one: str, following: str) -> bool:
    return one.islower() and following.isupper()


def asks(text: str) -> bool:
    return next(_split(text), "").lower() in _ASKING


def list_telling(text: str) -> list[str]:
    """Return the words of a statement without stop words, in small letters."""
    return [word for word in word_runs(text.lower()) if word not in STOP_WORDS]


def list_grams(*texts: str) -> list[str]:
    """Return the first groups of three characters of the words of the texts, with their edges."""
    words = dict.fromkeys(list_telling(" ".join(texts)))
    grams = dict.fromkeys(f" {word} "[at : at + 3] for word in words for at in range(len(word)))
    return list(islice(grams, MOST_GRAMS * len(texts)))


def keywords(text: str, limit: int) -> str:
    """Return the few words of an order that are worth a search, in its order; "" for none.

    Longer words tell more. Courtesies and verbs of any order are none: "ok, go on and fix it".
    """
    text = _without_marks(readable(text))
    words = unique(word for word in _words(text) if not (word in _BLAND or word.isdigit()))
    longest = sorted(words, key=len, reverse=True)[:limit]
    return " ".join(word for word in words if word in longest)


def names_key(prompt: str) -> bool:
    """Tell whether a prompt has a path, an identifier or a code."""
    return _has_key(readable(prompt))


def _has_key(text: str) -> bool:
    return regex.search(_KEY, text) is not None


def _without_marks(text: str) -> str:
    if "[" not in text:
        return text
    return regex.sub(_MARK, " ", text)


def names_subject(prompt: str) -> bool:
    """Tell whether a prompt says what it is about, so that a search for it can find something.

    A path, an identifier or a code does, and so does a word that no order of anything has; "yes, go
    on" and "commit this" only let the work go on. A question is about its act: "how do we commit".
    """
    text = _without_marks(readable(prompt))
    if _has_key(text):
        return True
    words = [word for word in _words(text) if not (word in _BLAND or word.isdigit())]
    if not words:
        return False
    from ademem.guard.prompts import CHANGE, CHAT, LOOK, ROUTINE
    from ademem.search.common_words import COMMON_WORDS

    general = {*CHAT, *LOOK, *_BLAND}
    if not asks(text):
        general |= {*CHANGE, *ROUTINE, *_ACTS, *COMMON_WORDS}
    return any(general.isdisjoint(_forms(word)) for word in words)


def _forms(word: str) -> Iterator[str]:
    """Yield the word and what it may be an ending of: tests, fixes, committed, pushing."""
    yield word
    for ending in ("s", "es", "d", "ed", "ing"):
        if len(stem := word.removesuffix(ending)) > 1 and stem != word:
            yield stem
            yield f"{stem}e"
            if stem[-1] == stem[-2]:
                yield stem[:-1]


def readable(text: str) -> str:
    """Return the part of a text that is read, its blanks and characters in their usual form."""
    if len(text) > MAX_CHARS:
        text = f"{text[: MAX_CHARS // 2]} {text[-MAX_CHARS // 2 :]}"
    text = replace_surrogates(text.replace("\0", " "))
    return normal("NFC", " ".join(text.split()))


def _words(text: str) -> list[str]:
    return [word.lower() for word in _split(text)]


def _split(text: str) -> Iterator[str]:
    """Yield the words, without an underscore before them; of a longer one each part."""
    for run in word_runs(text):
        while run := run.lstrip("_"):
            yield run[:_WORD_CHARS]
            run = run[_WORD_CHARS:]


def _terms(word: str) -> Iterator[tuple[str, Index]]:
    """The word; of a script written without blanks the overlapping trigrams of each run."""
    if word.isascii():
        yield quoted(word), Index.WORDS
        return
    for run in ("".join(part) for _, part in groupby(word, is_cjk)):
        if not is_cjk(run):
            yield quoted(run), Index.WORDS
        elif len(run) < GRAM:
            yield run, Index.ROWS
        else:
            for at in range(len(run) - GRAM + 1):
                yield quoted(run[at : at + GRAM]), Index.GRAMS


def quoted(text: str) -> str:
    """A word, or several as one phrase; *text* has no quote in it."""
    return f'"{text}"'


def bare_word(term: str) -> str:
    """Return the first word of an expression, or its phrase, as a person reads it."""
    return term.strip('"()').partition('"')[0]
