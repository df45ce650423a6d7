"""Judge whether a word near the name of a credential is one: by its form and by its place.

`bench/judge/credentials.py` trains the weights on texts of several authors. Apart from phrases, the
words of a text that are features are the name of the credential and the one beside the candidate.
"""

from __future__ import annotations

import os
from bisect import bisect_left, bisect_right
from itertools import islice, pairwise

from ademem.core import regex
from ademem.core.caching import cache, cached_property, lru_cache
from ademem.core.credential_forms import (
    MOST_CHARS,
    NO_KEYS,
    NOT_SECRET,
    Form,
    is_groups_of_digits,
    is_harmless,
    is_setting,
)
from ademem.core.json_text import loads

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Iterator, Sequence

    from ademem.core.credential_nouns import Noun

WEIGHTS = os.path.join(os.path.dirname(__file__), "judges", "credentials.json")
AFTER_CHARS, BEFORE_CHARS = 220, 110
"""Characters behind and before a name in which a candidate lies."""
MOST_WORDS, MOST_WORDS_BEFORE, MOST_WORDS_OF_PLAIN = 18, 10, 1
"""Words between a name and a candidate: behind it, before it, and if the candidate is a word."""
PINS = ("pin", "pincode", "puk", "пин", "暗証", "geheimzahl", "clave")
"""Names of passwords of digits alone; those of others stand right behind their name."""
LEAD_CHARS = 60
"""Most characters from a name to the end of a line that goes on with a value on the next one."""
HEADING_CHARS = 200
"""Longest heading, before a name and behind it."""
FAR = 9
"""Words from which on a candidate is far from a name."""
AFFIX_CHARS = 60
"""Longest part of a name before its noun, and behind it."""
OPENED_CHARS = 60
"""Characters before a code in which a word says what it opens."""
NAME_CHARS = 40
"""Longest `[redacted:NAME`."""
LIST_CHARS = 1200
"""Longest list, from its bracket to an item, of values that an anchor has."""
CODE_CHARS = 8
"""Shortest code in a list of codes of one form."""
JOIN_CHARS = 6
"""Longest word with its blanks between two of them."""
BIAS = "bias"
"""Feature of every candidate; its weight has the limit in it."""

_BRACKETS = frozenset("()]\n")
_IDEOGRAPHS = r"\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7a3"
_IN_TOKEN = rf"[^\s\"'`<>()\[\]{{}}„“”«»‘’「」『』，。、；！？（）：|{_IDEOGRAPHS}]"
_TOKEN = rf"{_IN_TOKEN}+"
_BEFORE_VALUE, _BEHIND_VALUE = "'=:,.;→>", ".,;:…"
_MIXED_TOKEN = rf"(?<!{_IN_TOKEN})[A-Za-z]*+[{_BEHIND_VALUE}]*+{_TOKEN}"
"""A token, save a word of ASCII letters, with or without a sign behind it."""
# Each begins with a set of signs, to which `re` skips ten times as fast as to a place behind one.
_QUOTED = (
    r"[\"'`„“«「:](?:"
    r'(?<=")((?:[^"\\\n]|\\.){4,120})"'
    r"|(?<=')(?<!\w')((?:[^'\\\n]|\\.|''){4,120})'(?!\w)"
    r"|(?<=[`„“«「])\s?([^`“”»」\n]{4,120}?)\s?[`“”»」]"
    r'|(?<=")""\n[ \t]*([^"\n]{4,120})'
    r"|(?<=:)[ \t]*[|>][+-]?[ \t]*\n[ \t]+(\S[^\n]{3,120})"  # a block of YAML
    r")"
)
_GROUPS_OF_DIGITS = (
    r"\d(?<![\w.,:/-]\d)(?<!\d\d[ -]\d)(?:(?:-\d){3,5}|\d(?:[ -]\d\d){1,3}|\d\d(?:[ -]\d{3}){1,3}"
    r"|\d{3}(?:[ -]\d{4}){1,3})"
    r"(?![\w:/-]|[ .,]\d)"
)
_TURNS = r"\d(?<!\w\d)\d?(?:[ ,;]{1,3}[^\W\d_]{1,12}[ ,;]{1,3}\d{1,2}){2}(?!\w)"
"""How the dial of a safe is turned, `31 left, 8 right, 64`."""
_SPEAKER = (
    r"(?:\[[^\]\n]{3,20}\] ?|\(?\d\d?[:.]\d\d(?:[:.]\d\d)?\)? )?"
    r"(?:<([\w.@-]{1,20})>:?|([\w.@-]{1,20}):)[ ]"
)
"""Who speaks in a line of a chat, with the time or without it."""
_LINES_BELOW = r"[^\n]*(?:\n\s*+[^\n]+){0,3}"
"""Lines below a heading in which a value stands alone."""
_LINES_OF_BASE64 = r"(?<=[\w/+=-]{28})(?:\n[ \t]*[\w/+=-]{16,}(?=\n|\Z))+"
_CLAUSE = r"[^.;!?\n。！？]{0,120}"
_PHRASE = r"[^\W\d_]+(?: (?:[^\W\d_]+|\d{1,4})){2,8}(?= ?(?:[.,;!?()\n—–-]|\Z))"
_WORD = r"[^\W\d_][\w'’]*|\d+"
_UP_TO_WORD = r"[\w'’-]*+[\W_]*+"
"""The rest of a name, and what stands before the next word, which may be on another line."""
_BREAK = r"[.!?;](?=\s)|[。！？\n|]|&&"
_OPENING = tuple(
    """
    acces accès accés zugang toegang dostep dostęp доступ recover récup recup wiederherst herstel
    odzysk восстан backup reserv резерв zapas secours emergenc notfall unlock block sblocc security
    sicherheit admin connect conect anmeld einlogg 2fa mfa door gate entra entry alarm safe vault
    digi schlüssel 恢复 備 备用 リカバリ バックアップ 認証 tür deur puert cancel drzwi bram двер
    ворот подъезд домофон 門 门 玄関 現関
    """.split()
)
_OPENING_WORDS = r"p(?:in(?<!\wpin)|ort(?<!\wport)(?!s?\b))"
"""What a code opens, or for what it is kept; others say what failed or where a parcel goes."""
_PUBLIC = (
    *("publi", "pubk", "públi", "pubbl", "öffentl", "公", "site", "hash", "commit"),
    *("finger", "checksum", "digest"),
    *("cache", "partition", "primary", "foreign", "sort", "dedup", "idempot"),
)
"""What tells of a key or a value of chance that it opens nothing."""
_OBJECT = r"[a-z0-9]+(?:[-.][a-z0-9]+)+"
"""Name of an object by RFC 1123 with a sign in it."""
_BEHIND_DASH = r"(?:[:：]|\s[—–-])\s+([^\W\d_]{8,30})(?=[,.;!]?(?:\s|\Z))"
"""A plain word that ends a clause."""
_WORD_AND_NUMBER = (
    r"(?=[A-Z]*[a-z])(?=\w*[A-Z]\w*=\w*\d|[a-z]+=[A-Z]+[a-z]+\d|[A-Za-z]+\d[a-z]+=\w*[A-Z])"
    r"[^\W\d_](?:(?!_)\w)*=\w+"
)
"""Two words with a number and a capital where options have none, and no `_` in the first."""
_CONSTANT = r"_?[A-Z][A-Z\d]*(?:_[A-Z\d]+)+"
"""Name of a constant, as errors have it: `ERR_ACCESS_DENIED`."""
_USER = (
    r"(?i)[ \t\"'*-]*[\w.-]{0,20}(?:user|login|account)[\w.-]{0,8}[\"']?[ \t]*[:=][ \t]*[\"']?\w"
)
"""A line that names a user."""
_REMARK = r"[)\]\"';,][ \t]*(?:#|//|--)[ \t]"
"""What stands between a literal of code and a remark."""
_OPTION = r"\s--[a-z][\w-]+[ =]\Z"
_JOINS = frozenset("=:/")
_IN_NAME = r"(?:[^\W\d]|[.-])"
_NAME_OR_USER = (
    rf"(?:{_IN_NAME}{{2,}}=)?{_IN_NAME}{{2,}}[=:](?=.{{4}})|[a-z]{{2,}}/(?=[^/@]{{5,}}$)"
)
_IDENTIFIER = r"(?:v?\d|\d{2,14}_)?[A-Za-z_.-]+(?:\d[A-Z_][A-Za-z_]*)?[_-]?(?:v?\d)?"


class Candidate:
    """A word or a quoted text, of which a text has many."""

    __slots__ = ("end", "is_item", "is_plain", "is_quoted", "start")

    def __init__(
        self, text: str, start: int, end: int, *, is_quoted: bool = False, is_item: bool = False
    ) -> None:
        self.start, self.end, self.is_quoted = start, end, is_quoted
        self.is_plain = _is_plain(text[start:end])
        self.is_item = is_item
        """True for a `name=value` in a list, as an anchor has it: the value is a candidate, too."""


def _is_plain(value: str) -> bool:
    return value.isalpha() or (value.replace("_", "").isalpha() and value.islower())


def _strip(token: str) -> tuple[int, int]:
    """Return where a token begins and ends without the signs around it."""
    start = len(token) - len(token.lstrip(_BEFORE_VALUE))
    return start, start + len(token[start:].rstrip(_BEHIND_VALUE))


def _values_in(token: str) -> Sequence[tuple[int, int]]:
    """Return where values are in a token, but for plain words and forms that no password has."""
    start, end = _strip(token)
    value = token[start:end]
    found = [] if _is_plain(value) else [start]
    name = None if _JOINS.isdisjoint(token) else regex.match(_NAME_OR_USER, value)
    if name and not token.startswith(NOT_SECRET, start):
        found.append(start + name.end())
    return [(at, end) for at in found if not is_harmless(token[at:end], is_quoted=True)]


_known_values = lru_cache(maxsize=8192)(_values_in)
_known_form = lru_cache(maxsize=1024)(Form)
"""The same for tokens of usual length, which texts share."""


class Reading:
    """A text with its candidates, words, and ends of sentences and lines."""

    def __init__(self, text: str, nouns: list[Noun], parts: list[tuple[int, int]]) -> None:
        """Each of *parts* is near the noun at its position."""
        self.text = text
        self.near = list(_merge(parts))
        self._near_starts = [start for start, _ in self.near]
        self.nouns = [noun.start for noun in nouns if noun.kind in ("password", "secret")]
        self._forms: dict[str, Form | None] = {}
        self.candidates = sorted(self._read_candidates(), key=lambda each: each.start)
        self.starts = [each.start for each in self.candidates]
        self.words = [found.start() for found in self._find_near(_WORD)]
        self.breaks = [found.start() for found in self._find_near(_BREAK)]

    def _find_near(self, pattern: str) -> list[re.Match[str]]:
        find = regex.compile(pattern).finditer
        return [found for start, end in self.near for found in find(self.text, start, end)]

    def _read_candidates(self) -> Iterator[Candidate]:
        """Yield the candidates but for plain words, most of a text, and what no password is."""
        text = self.text
        for found in regex.finditer(_QUOTED, text):
            start, end = found.span(found.lastindex or 0)
            if not self._holds(start) or is_harmless(text[start:end], is_quoted=True):
                continue
            is_item = is_setting(text[start:end]) and self._is_in_list(found.start())
            yield Candidate(text, start, end, is_quoted=True, is_item=is_item)
        for found in regex.finditer(_GROUPS_OF_DIGITS, text):
            start, end = found.span()
            if self._holds(start) and not is_harmless(found[0], is_quoted=True):
                yield Candidate(text, start, end)
        for found in self._find_near(_TURNS):
            yield Candidate(text, *found.span())
        for found in self._find_near(_MIXED_TOKEN):
            token, at = found[0], found.start()
            values = _known_values(token) if len(token) <= MOST_CHARS else _values_in(token)
            for start, end in values:
                if not self._is_in_number(at + start, at + end):
                    yield Candidate(text, at + start, at + end)

    def _is_in_number(self, start: int, end: int) -> bool:
        """Tell of a part of a telephone number, `0664 123 45 67`."""
        text = self.text
        if not text[start:end].isdigit():
            return False
        before, after = text[max(0, start - 3) : start], text[end : end + 3]
        return (before[:2].isdigit() and before[2:] == " ") or (
            after[:1] == " " and len(after) == 3 and after[1:].isdigit()
        )

    def _holds(self, at: int) -> bool:
        """Tell whether a place is near a noun."""
        part = bisect_right(self._near_starts, at)
        return part > 0 and at < self.near[part - 1][1]

    def strip_token(self, found: re.Match[str]) -> Candidate:
        start, end = _strip(found[0])
        return Candidate(self.text, found.start() + start, found.start() + end)

    def _is_in_list(self, at: int) -> bool:
        opened = self.text.rfind("[", max(0, at - LIST_CHARS), at)
        return opened >= 0 and _BRACKETS.isdisjoint(self.text[opened + 1 : at])

    def count_words(self, start: int, end: int) -> int:
        return bisect_left(self.words, end) - bisect_left(self.words, start)

    def form(self, each: Candidate) -> Form | None:
        """Return None for what no password looks like."""
        value = self.text[each.start : each.end]
        if value not in self._forms:
            is_whole = each.is_quoted or self._is_typed(each)
            is_other = is_harmless(value, is_whole) or self._is_placeholder(each)
            self._forms[value] = None if is_other else _known_form(value)
        return self._forms[value]

    def is_redacted(self, noun: Noun) -> bool:
        """Tell of the name of what was found before, as in `[redacted:password]`."""
        opened = self.text.rfind("[redacted:", max(0, noun.start - NAME_CHARS), noun.end)
        return opened >= 0 and "]" not in self.text[opened : noun.start]

    def _is_typed(self, each: Candidate) -> bool:
        """Tell of `Kettle=88` behind another word, as few options are named."""
        is_behind = regex.search(r"[^;,] \Z", self.text[max(0, each.start - 2) : each.start])
        value = self.text[each.start : each.end]
        return is_behind is not None and regex.fullmatch(_WORD_AND_NUMBER, value) is not None

    def _is_placeholder(self, each: Candidate) -> bool:
        """Tell of "your_password", `vault#password`, `{{ a_variable }}`, `${another}`, `"?"+a`."""
        before = self.text[max(0, each.start - 4) : each.start].rstrip(" ")
        if before.endswith(("{{", "${")):
            return True
        value = self.text[each.start : each.end]
        if value[0] == "+" and before.endswith(('"', "'")) and not each.is_quoted:
            return True
        is_word = not any(map(str.isdigit, value))
        if is_word and self._is_in_template(each.start):
            return True
        first = bisect_left(self.nouns, each.start)
        if first == len(self.nouns) or self.nouns[first] >= each.end:
            return False
        return is_word or regex.fullmatch(_IDENTIFIER, value) is not None

    def _is_in_template(self, at: int) -> bool:
        """Tell of `{{ lookup("a.module", …) }}`."""
        line = self.text[self.text.rfind("\n", 0, at) + 1 : at]
        return line.rfind("{{") > line.rfind("}}")

    def has_break(self, start: int, end: int) -> bool:
        return bisect_left(self.breaks, end) > bisect_left(self.breaks, start)


def _merge(parts: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield parts of a text as one that overlap; they are in the order of their beginnings."""
    if not parts:
        return
    first, last = parts[0]
    for start, end in parts:
        if start > last:
            yield first, last
            first = start
        last = max(last, end)
    yield first, last


def _part_near(text: str, noun: Noun) -> tuple[int, int]:
    """Return where the part of the text begins and ends in which all candidates of a name are.

    It is the name's line with the break before it, up to the next word; of a long one a part.
    """
    start = noun.start - AFFIX_CHARS - BEFORE_CHARS - 1
    first = text.rfind(" ", 0, start) + 1 if start > 0 else 0
    behind = regex.compile(_UP_TO_WORD).match(text, noun.end)
    ends = (
        text.find("\n", behind.end() if behind else noun.end),
        text.find(" ", noun.end + AFFIX_CHARS + AFTER_CHARS + 1),
    )
    last = min((end for end in ends if end >= 0), default=len(text))
    if _is_heading(text, noun.start):
        below = regex.compile(_LINES_BELOW).match(text, noun.end, noun.end + AFTER_CHARS)
        last = max(last, below.end() if below else 0)
    return max(first, text.rfind("\n", first, noun.start)), last


def _is_heading(text: str, at: int) -> bool:
    """Tell whether values may stand on the lines below one that is not the last.

    It is a heading (`# Password`, `Password:`, `**Password**`), said in a chat, or goes on there.
    """
    start = text.rfind("\n", max(0, at - HEADING_CHARS), at) + 1
    end = text.find("\n", at, at + HEADING_CHARS)
    if end < 0 or not (start or at <= HEADING_CHARS):
        return False
    line = text[start:end].strip().removeprefix("- ")
    if line.startswith("#") or line.endswith((":", "：")) or _is_said(text, start, at):
        return True
    is_bold = line[:2] == line[-2:] == "**" and line.count("**") == 2
    goes_on = end - at <= LEAD_CHARS and line[-1:].isalpha() and line.count(" ") > 1
    return is_bold or goes_on


def _is_said(text: str, start: int, at: int) -> bool:
    """Tell of a line of a chat with a name in what is said: a question, or one of several lines."""
    speaker = regex.compile(_SPEAKER).match(text, start)
    if not speaker or speaker.end() > at:
        return False
    end = text.find("\n", at, at + HEADING_CHARS)
    if text[at : max(end, at)].rstrip().endswith(("?", "？")):
        return True
    is_timed = speaker.start(speaker.lastindex or 0) > start + 3
    near = text[max(0, start - AFTER_CHARS) : start] + text[speaker.end() : start + AFTER_CHARS]
    return is_timed or f"\n{speaker[0]}" in "\n" + near


class Name:
    """A noun with the rest of its word, and the features of both."""

    def __init__(self, noun: Noun, text: str, part: tuple[int, int]) -> None:
        self.text, self.part = text, part
        self.start, self.end = noun.start, noun.end
        while self.start > noun.start - AFFIX_CHARS and _goes_on(text[self.start - 1 : self.start]):
            self.start -= 1
        while self.end < noun.end + AFFIX_CHARS and _goes_on(text[self.end : self.end + 1]):
            self.end += 1
        self.prefix, self.suffix = text[self.start : noun.start], text[noun.end : self.end]
        self.kind, self.stem = noun.kind, noun.stem
        self.is_variable = "_" in self.prefix and self.prefix.isupper() and not self.suffix

    @cached_property
    def may_open(self) -> bool:
        """Tell of a word in front of the last candidate that says what a code opens."""
        return _opens(self.text[max(0, self.start - OPENED_CHARS) : self.part[1]].lower())

    @cached_property
    def is_public(self) -> bool:
        noun = self.start + len(self.prefix)
        near = self.text[max(0, noun - 24) : self.end + 16].lower().replace("publish", "")
        is_id = self.suffix.lower().lstrip("s_") == "id"
        return is_id or any(word in near for word in _PUBLIC)

    @cached_property
    def features(self) -> list[str]:
        found = ["n=" + self.kind, "nw=" + self.stem]
        found += ["suf=" + self.suffix.lower()[:12]] if self.suffix else []
        found += ["pre=" + self.prefix.lower()[-10:]] if self.prefix else []
        found += ["ident"] if "_" in self.prefix + self.suffix else []
        return [*found, "neg"] if self.is_public else found


def _goes_on(char: str) -> bool:
    """Tell of a sign of the same name; ideographs are written without blanks between words."""
    is_ideograph = "\u3040" <= char <= "\u9fff" or "\uac00" <= char <= "\ud7a3"
    return (char.isalnum() or char in ("_", "-")) and not is_ideograph


def candidates_near(text: str, nouns: list[Noun]) -> Iterator[tuple[Candidate, list[str]]]:
    """Yield each candidate with its features, once for each of the names that it stands near."""
    parts = [_part_near(text, noun) for noun in nouns]
    reading = Reading(text, nouns, parts)
    for noun, part in zip(nouns, parts, strict=True):
        if reading.is_redacted(noun):
            continue
        name = Name(noun, text, part)
        for each, is_before in _around(reading, name):
            place = _Place(reading, name, each, is_before)
            form = reading.form(each) if place.is_near() else None
            if form and place.is_of_kind(name, form):
                yield each, [*name.features, *form.features, *place.features(name, form)]


def _phrases(text: str, name: Name) -> Iterator[Candidate]:
    """Yield the plain words from behind a name up to the end of a clause."""
    clause = regex.compile(_CLAUSE).match(text, name.end) if name.kind == "phrase" else None
    if not clause:
        return
    starts = regex.compile(r"(?<![\w'’])[^\W\d_]").finditer(text, name.end, clause.end())
    for start in islice(starts, MOST_WORDS):
        found = regex.compile(_PHRASE).match(text, start.start())
        if found:
            yield Candidate(text, *found.span())


def _around(reading: Reading, name: Name) -> Iterator[tuple[Candidate, bool]]:
    """Yield the candidates near a name, each with True if it stands before; few plain words."""
    first = bisect_left(reading.starts, name.end)
    last = bisect_right(reading.starts, min(name.end + AFTER_CHARS, name.part[1]))
    for each in reading.candidates[first:last]:
        words = each.is_plain and reading.count_words(name.end, each.start)
        if words <= MOST_WORDS_OF_PLAIN:
            yield each, False
    yield from ((each, False) for each in _plain_words(reading, name))
    yield from ((each, False) for each in _words_behind_dash(reading, name))
    yield from ((each, False) for each in _phrases(reading.text, name))
    first = bisect_left(reading.starts, max(name.start - BEFORE_CHARS, name.part[0]))
    last = bisect_left(reading.starts, name.start)
    for each in reading.candidates[first:last]:
        if each.end <= name.start and not each.is_quoted and not each.is_plain:
            yield each, True


def _plain_words(reading: Reading, name: Name) -> Iterator[Candidate]:
    """Yield the plain words right behind a name, which is mostly the end of a token."""
    tokens = regex.compile(rf"(?<!{_IN_TOKEN}){_TOKEN}")
    last = name.end + AFTER_CHARS + MOST_CHARS + 1  # a token that is cut there is too long
    for found in tokens.finditer(reading.text, name.end, min(last, name.part[1])):
        each = reading.strip_token(found)
        is_far = each.start > name.end + AFTER_CHARS
        if is_far or reading.count_words(name.end, each.start) > MOST_WORDS_OF_PLAIN:
            return
        if each.is_plain:
            yield each


def _words_behind_dash(reading: Reading, name: Name) -> Iterator[Candidate]:
    """Yield a plain word that ends a clause behind a colon or a dash: "for the guests: word"."""
    last = min(name.end + AFTER_CHARS, name.part[1])
    found = regex.compile(_BEHIND_DASH).search(reading.text, name.end, last)
    if found:
        yield Candidate(reading.text, *found.span(1))


class _Place:
    """Where a candidate stands from a name."""

    def __init__(self, reading: Reading, name: Name, each: Candidate, is_before: bool) -> None:
        self.text, self.each, self.is_before = reading.text, each, is_before
        self.start, self.end = (each.end, name.start) if is_before else (name.end, each.start)
        self.words = reading.count_words(self.start, self.end)
        self.breaks = reading.has_break(self.start, self.end)

    @cached_property
    def gap(self) -> str:
        return self.text[self.start : self.end]

    @cached_property
    def is_below(self) -> bool:
        """Tell of a value alone on one of the lines below a heading with the name."""
        if self.is_before or "\n" not in self.gap:
            return False
        if not self.words and self.gap.strip()[:1] == ":":
            return False
        before = self.gap.rpartition("\n")[2]
        if self.is_said:
            before = regex.sub(_SPEAKER, "", before)
        before = before.strip(" \t-*•\"'`")
        after = self.text[self.each.end : self.each.end + 2].lstrip(" \"'`")[:1]
        return not before and after in ("", "\n") and _is_heading(self.text, self.start)

    @cached_property
    def is_said(self) -> bool:
        """Tell of a line of a chat, below one with the name in what is said."""
        if not regex.match(_SPEAKER, self.gap.rpartition("\n")[2]):
            return False
        first = self.text.rfind("\n", max(0, self.start - HEADING_CHARS), self.start) + 1
        return (first > 0 or self.start <= HEADING_CHARS) and _is_said(self.text, first, self.start)

    def is_near(self) -> bool:
        if self._is_call():
            return False
        if self._is_of_another_list():
            return False
        if self.is_before:
            return self.words <= MOST_WORDS_BEFORE and not self.breaks and "=" not in self.gap
        if self.is_below:
            return True
        if not self.words:
            return "\n" not in self.gap or self.gap.strip()[:1] == ":" or '"""' in self.gap
        return self.words <= MOST_WORDS and not self._is_of_another_name()

    def _is_call(self) -> bool:
        """Tell of `name(…` and `pypi-<…>`; a bracket before an ideograph opens a remark."""
        behind = self.text[self.each.end : self.each.end + 2]
        return behind[:1] in ("(", "[", "<") and behind.isascii() and behind != "</"

    def _is_of_another_list(self) -> bool:
        return self.each.is_item and (self.words > 0 or "[" not in self.gap)

    def _is_of_another_name(self) -> bool:
        gap = self.gap.rstrip("\"'").removesuffix(" value=")
        if regex.search(_OPTION, gap):
            return True
        return "\n" in gap or gap[-1:] == "=" or gap[-2:] in ('":', "':") or gap[-3:] == '": '

    def is_of_kind(self, name: Name, form: Form) -> bool:
        """Tell whether such a name can have such a value: a key is no code of a door."""
        if form.is_slug and self._names_other_than(name):
            return False
        if self._is_name_of_object(name) or (name.kind == "secret" and name.is_public):
            return False
        if name.kind == "pair" and "\n" in self.gap:
            return False
        if form.mask == "commit":
            return not self.words and not self.is_before and not self._is_in_brackets()
        if form.mask.startswith(("hex", "opaque")):
            return self._may_have_chance(name)
        value = self.text[self.each.start : self.each.end]
        if self._is_constant(name, value):
            return False
        is_turned = regex.fullmatch(_TURNS, value) is not None
        if name.kind == "lock":
            is_code = not form.has_letter and self._may_open(name, value)
            return is_turned or is_code or (form.has_letter and len(form.mask) < 4)
        if is_turned:
            return False
        if form.has_letter or name.stem in PINS or name.kind == "code":
            return True
        if name.kind != "password" or self.is_before:
            return False
        return not self.words or is_groups_of_digits(value)

    def _may_open(self, name: Name, value: str) -> bool:
        """Tell of digits that open a lock: "thread-safe", a range and a limit have others."""
        if name.prefix.endswith("-") or name.suffix.startswith("-"):
            return False
        if not value.isdigit():
            return value.translate(NO_KEYS).isdigit() or value.count("-") + value.count(" ") > 1
        return not self.is_before and not _is_round(int(value))

    def _is_constant(self, name: Name, value: str) -> bool:
        """Tell of the name of a constant, as opposed to a value that is set."""
        if not regex.fullmatch(_CONSTANT, value):
            return False
        if name.kind == "code" or self.is_before or self.words:
            return True
        return not self.gap.strip() and (name.kind != "password" or name.stem == "pass")

    def _is_in_brackets(self) -> bool:
        """Tell of a commit in brackets, as git and lists of changes write it."""
        return self.text[self.each.end : self.each.end + 1] in (")", "]")

    def _may_have_chance(self, name: Name) -> bool:
        """Tell whether a name, before a value of chance or in a remark behind it, can have one."""
        if self.is_before and not (name.kind == "secret" and self._is_remarked()):
            return False
        if any(word in self.gap.lower() for word in _PUBLIC):
            return False
        return name.kind in ("secret", "password") or (name.kind == "code" and name.may_open)

    def _is_beside_user(self) -> bool:
        """Tell of a line of settings above or below which another one names a user."""
        text, at = self.text, self.each.end
        first = max(text.rfind("\n", max(0, self.start - HEADING_CHARS), self.start), 0)
        last = text.find("\n", at, at + HEADING_CHARS)
        above = text[text.rfind("\n", max(0, first - HEADING_CHARS), first) + 1 : first]
        below = text[last + 1 : last + HEADING_CHARS] if last >= 0 else ""
        return any(regex.match(_USER, line) for line in (above, below))

    def _is_remarked(self) -> bool:
        """Tell of a literal of code, and a name in the remark behind it: `"…")  # admin key`."""
        before = self.text[max(0, self.each.start - HEADING_CHARS) : self.each.start]
        is_public = "publ" in before.rpartition("\n")[2].lower()
        return not is_public and regex.search(_REMARK, self.gap) is not None

    def _is_name_of_object(self, name: Name) -> bool:
        """Tell of `secretName: tls-2031`, the name of an object of Kubernetes."""
        if name.kind != "secret" or name.suffix.lower().lstrip("_-") not in ("name", "ref"):
            return False
        return regex.fullmatch(_OBJECT, self.text[self.each.start : self.each.end]) is not None

    def _names_other_than(self, name: Name) -> bool:
        """Tell of a key of a table, and of a command behind a login: `… && sts get-identity`."""
        is_key = name.stem == "key" and not name.prefix
        return is_key or (name.kind == "login" and self.breaks)

    def features(self, name: Name, form: Form) -> list[str]:
        if self.is_below:
            return [*self._below(name, form), *self._opens(name, form)]
        gap, side = self.gap, "lr"[not self.is_before]
        count, kind = str(min(self.words, 6) + (self.words > FAR)), name.kind
        nearest = gap.lstrip(" ")[:1] if self.is_before else gap.rstrip(" ")[-1:]
        link = f"{side}{min(self.words, 4)}"
        found = [side + "gap" + count, *self._signs(side, nearest), *self._borders()]
        found += self._opens(name, form)
        if form.is_year:
            found += ["year", f"year*{name.kind}*{link}"]
        if not self.words and not self.is_before and not any(map(str.isalnum, gap)):
            link = "sep" + "".join(gap.split()).strip("\"'`])>")[:2] + "q" * self.each.is_quoted
            link = "--" + link if name.prefix[:2] == "--" else link
            found += [link, "rsep=" + " ".join(gap.split())[:6]]
        if name.is_variable:
            found += [f"{form.mask}*{link}*variable"]
        if not self.words and not self.is_before and self._is_beside_user():
            found += ["user", f"{form.mask}*user"]
        if words := regex.findall(r"[^\W\d_]+", gap.lower()) if self.words else []:
            found += ["gw=" + words[0 if self.is_before else -1]]
        if kind == "lock" and not form.has_letter:
            found += self._beside_digits(name, words)
        if form.mask.startswith("phrase"):
            found += [f"words*{self.each.is_quoted}*{kind}*{min(self.words, 2)}"]
        return [
            *found,
            f"p{form.parts}*{link}*{kind}",
            f"p{form.parts}*{form.flags}*{link}",
            f"{form.mask}*{side}*{kind}",
            f"{form.mask}*{link}",
            f"{form.mask}*{link}*{kind}",
            f"{form.flags}*{link}*{kind}",
            f"{form.flags}*{side}*{kind}*{self.breaks}",
            f"{form.mask}*{min(self.words, 3)}*{kind}*{self.breaks}",
        ]

    def _beside_digits(self, name: Name, words: list[str]) -> Iterator[str]:
        """Tell of the word behind digits, which is counted or goes on, and of one behind a lock."""
        behind = regex.compile(r" ?([^\W\d_]+|[%°$€])").match(self.text, self.each.end)
        if behind:
            yield "counts"
            yield "aw=" + behind[1].lower()
        yield "nf=" + (words[0] if words else "")
        yield f"nf*{name.stem}*{'counts' if behind else ''}"

    def _below(self, name: Name, form: Form) -> Iterator[str]:
        yield "below"
        if self.is_said:
            yield "said"
            yield f"{form.mask}*said"
            yield f"{form.flags}*said*{name.kind}"
        yield f"below*{name.kind}"
        yield f"{form.mask}*below"
        yield f"{form.mask}*below*{name.kind}"
        yield f"p{form.parts}*{form.flags}*below"

    def _signs(self, side: str, nearest: str) -> Iterator[str]:
        if self.breaks:
            yield side + "sent"
        if "\n" in self.gap:
            yield side + "nl"
        if nearest and not nearest.isalnum():
            yield f"{side}last={nearest}"
        first = self.gap.lstrip(" \"'`)]")[:1]
        if not self.is_before and first and not first.isalnum():
            yield "rfirst=" + first

    def _borders(self) -> Iterator[str]:
        before = self.text[self.each.start - 1 : self.each.start]
        after = self.text[self.each.end : self.each.end + 1]
        yield "prev=" + _border(before)
        yield "next=" + _border(after)
        if after in ("", "\n"):
            yield "eol"
        if self.each.is_quoted:
            yield "quoted"

    def _opens(self, name: Name, form: Form) -> Iterator[str]:
        """Tell of a code what it is for: a door or a recovery, as opposed to an error."""
        if name.kind != "code":
            return
        if not self.is_before and not name.may_open:
            return
        start = name.start if not self.is_before else self.each.start
        near = (self.text[max(0, start - OPENED_CHARS) : name.end] + self.gap).lower()
        if _opens(near.rpartition("\n")[2] if self.is_before else near):
            yield "opens"
            yield f"{form.mask}*opens"
            yield f"{form.flags}*opens*{min(self.words, 3)}"


def _opens(near: str) -> bool:
    if any(word in near for word in _OPENING):
        return True
    return regex.search(_OPENING_WORDS, near) is not None


def _is_round(number: int) -> bool:
    """Tell of a limit: hundreds, and a power of two or one less."""
    return not number % 100 or not number & (number - 1) or not number & (number + 1)


def _border(char: str) -> str:
    if char in ("", *"\"'`„“”«»「」"):
        return char and '"'
    return "w" if char.isalnum() else char


def credential_spans(text: str, nouns: list[Noun]) -> Iterator[tuple[int, int, str]]:
    """Yield start, end and kind of each candidate over the limit; spans may overlap.

    The other lines of a block are part of it, and a code of the same form beside it is one, too.
    """
    weigh, limit = None, 0
    names: dict[tuple[int, int], str] = {}
    for each, features in candidates_near(text, nouns):
        if not weigh:
            weights = load_weights()
            weigh, limit = weights.get, -weights[BIAS]
        if sum(weigh(feature, 0) for feature in features) > limit:
            name = "secret" if "n=secret" in features else "password"
            names[each.start, each.end] = name
            yield each.start, _end_of_block(text, each.end), name
        else:
            names.setdefault((each.start, each.end), "")
    for one, other in pairwise(sorted(names) if any(names.values()) else ()):
        if (names[one] == "") != (names[other] == "") and _are_listed(text, one, other):
            yield *(other if names[one] else one), names[one] or names[other]


def _end_of_block(text: str, end: int) -> int:
    """Return where the lines of base64 end of which the first one ends at a place."""
    block = regex.compile(_LINES_OF_BASE64).match(text, end)
    return block.end() if block else end


def _are_listed(text: str, one: tuple[int, int], other: tuple[int, int]) -> bool:
    """Tell of two codes of one form with digits on a line, `k3tu-77q and pd9m-81x`."""
    first, second, gap = text[slice(*one)], text[slice(*other)], text[one[1] : other[0]]
    return (
        one[1] <= other[0] <= one[1] + JOIN_CHARS
        and len(first) >= CODE_CHARS
        and _shape(first) == _shape(second)
        and any(map(str.isdigit, first))
        and any(map(str.isdigit, second))
        and not any(char.isdigit() or char == "\n" for char in gap)
    )


def _shape(value: str) -> str:
    return regex.sub(r"[A-Za-z0-9]", "x", value)


@cache
def load_weights() -> dict[str, int]:
    """Read the weights once a process, in hundredths; raises DamagedJudge."""
    try:
        with open(WEIGHTS, encoding="utf-8") as file:
            weights: dict[str, int] = loads(file.read())
        if not weights[BIAS] < 0:
            raise ValueError("the limit is missing")
    except (OSError, ValueError, KeyError, TypeError) as error:
        from ademem.core.judge import DamagedJudge

        raise DamagedJudge(f"the judge of secrets cannot be read: {error}") from None
    return weights
