"""Redact secrets and private spans before a text is hashed, stored or logged.

`redaction_patterns` has the credentials of a known form and those behind a name in code;
`credential_judge` finds others near a name, in prose and in configuration.
"""

from __future__ import annotations

from ademem.core import regex
from ademem.core.credential_nouns import STEMS, find_nouns, without_accents
from ademem.core.literals import Literals
from ademem.core.redaction_lists import CODE_LEADS, SEED_LEADS, list_spans
from ademem.core.redaction_patterns import IS, LONG, LONG_CHARS, TABLE
from ademem.core.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

_PRIVATE = "[private]"

_TAG = r"""(?ix) < \s* (?:
    (?P<closing> / ) \s* (?a:private) (?: \s [^<>]* )? >
  | (?a:private) (?:
        [\s/]* >
      | \s [^<>=]* = [^<>]* >?           # attributes, which `<private key>` has not
      | (?: \s [^<>]* )? (?= < | \Z )    # the tag itself was never finished
    )
)"""

_ROUNDS = 5
_WORD_CHARS = 12


class Redacted(Value):
    text: str
    found: tuple[str, ...] = ()


def redact(text: str) -> Redacted:
    """Replace private spans by `[private]` and secrets by `[redacted:<name>]`; idempotent.

    A replacement can join parts of another secret, so this repeats until nothing is found; a text
    that goes on to produce secrets is withheld whole.
    """
    if not text or (len(text) <= _WORD_CHARS and text.isalpha()) or text in _clean:
        return Redacted(text=text)
    found: tuple[str, ...] = ()
    for _ in range(_ROUNDS):
        cleaned, spans = _without_private_spans(text)
        cleaned, secrets = mask(cleaned)
        names = ("private",) * spans + secrets
        if cleaned == text:
            if not found:
                _remember_clean(text)
            return Redacted(text=text, found=found)
        text, found = cleaned, (*found, *names)
    return Redacted(text=_PRIVATE, found=(*found, "private"))


_clean: set[str] = set()
"""Texts in which nothing was found, as a write and a search redact the same ones several times."""
_MOST_CLEAN, _CLEAN_CHARS = 64, 4096


def _remember_clean(text: str) -> None:
    if len(text) <= _CLEAN_CHARS:
        if len(_clean) == _MOST_CLEAN:
            _clean.clear()
        _clean.add(text)


def _without_private_spans(text: str) -> tuple[str, int]:
    if "<" not in text or "private" not in text.lower():
        return text, 0
    parts: list[str] = []
    depth = spans = end = 0
    for tag in regex.finditer(_TAG, text):
        if depth == 0:
            parts.append(text[end : tag.start()])
        end = tag.end()
        if tag["closing"]:
            depth = max(depth - 1, 0)
            continue
        if depth == 0:
            parts.append(_PRIVATE)
            spans += 1
        depth += 1
    if depth == 0:
        parts.append(text[end:])
    return "".join(parts), spans


_ESCAPE = r"\\(?:u00([2-7][0-9a-fA-F])|(/))|%([2-7][0-9a-fA-F])"

_RANKS = {name: rank for rank, (name, _, _) in enumerate(TABLE)}
_RANKS_OF: dict[str, list[int]] = {}
for _rank, (_, _hints, _) in enumerate(TABLE):
    for _hint in _hints:
        _RANKS_OF.setdefault(_hint, []).append(_rank)
_SIGNS = Literals((*_RANKS_OF, *STEMS, *SEED_LEADS, *CODE_LEADS), without_accents)
"""What each secret that is found has beside it."""
_ASSIGNED = frozenset([rank for rank, (_, _, pattern) in enumerate(TABLE) if IS in pattern])
# Judged by the first word, so that a private key stays one whatever is written inside.
_PLACEHOLDER = (
    r"(?i)\S*?(?:x{6}|\bx{3,}\b|\*{3}|\.{3}|…|redacted:|placeholder|change[-_]?me"
    r"|\byour|[-_]your|[-_]here\b|\b(?:example|replace|dummy)[-_]|[-_]example\b"
    r"|(?-i:EXAMPLE)(?:KEY)?\b|(?<!\S)example(?!\S))"
)
_ONE_SIGN = r"(\S)\1{5,}(?!\S)|(?:0123456789abcdef)+(?!\S)"

_ASSIGNING = frozenset("-:=>(")
"""Every match of a pattern with `IS` has one of these; prose with "token" often has none."""


def match_hints(text: str, signs: Iterable[str] | None = None) -> Iterator[tuple[int, str, str]]:
    signs = _SIGNS.find(text) if signs is None else signs
    found = {rank for hint in signs if hint in _RANKS_OF for rank in _RANKS_OF[hint]}
    assigns = found and not _ASSIGNING.isdisjoint(text)
    for rank in sorted(found):
        name, _, pattern = TABLE[rank]
        if assigns or rank not in _ASSIGNED:
            yield rank, name, pattern


def mask(text: str) -> tuple[str, tuple[str, ...]]:
    spans = list(_spans_in(text))
    if unescaped := unescape(text):
        plain, places = unescaped
        spans += [(places[start], places[end], rank) for start, end, rank in _spans_in(plain)]
    merged: list[tuple[int, int, int]] = []
    for start, end, rank in sorted(spans):
        if merged and start < merged[-1][1]:
            first, last, upper = merged.pop()
            start, end, rank = first, max(last, end), min(upper, rank)
        merged.append((start, end, rank))
    parts: list[str] = []
    names: list[str] = []
    end = 0
    for start, stop, rank in merged:
        names.append(TABLE[rank][0])
        parts += text[end:start], f"[redacted:{names[-1]}]"
        end = stop
    return "".join(parts) + text[end:], tuple(names)


def _spans_in(text: str) -> Iterator[tuple[int, int, int]]:
    """Yield start, end and rank in TABLE of each secret; spans may overlap."""
    signs = _SIGNS.find(text)
    yield from _spans_by_issuer(text, signs)
    yield from _spans_in_long_lines(text)
    lists = list(list_spans(text, signs))
    yield from ((start, end, _RANKS["secret"]) for start, end in lists)
    for start, end, rank in _spans_by_judge(text, signs):
        if not any(first <= start and end <= last for first, last in lists):
            yield start, end, rank


def _spans_by_issuer(text: str, signs: Collection[str]) -> Iterator[tuple[int, int, int]]:
    for rank, name, pattern in match_hints(text, signs):
        for match in _matches(pattern, TABLE[rank][1], text):
            secret = match.lastindex or 0
            if is_placeholder(match[secret]):
                continue
            if name != "basic-auth" or is_basic(match[secret]):
                yield *match.span(secret), rank


def _spans_in_long_lines(text: str) -> Iterator[tuple[int, int, int]]:
    for start, end in _long_lines(text):
        for pattern in LONG:
            for match in regex.compile(pattern, regex.ASCII).finditer(text, start, end):
                secret = match.lastindex or 0
                if not is_placeholder(match[secret]):
                    yield *match.span(secret), _RANKS["secret"]


def _spans_by_judge(text: str, signs: Collection[str]) -> Iterator[tuple[int, int, int]]:
    if not text.isalpha() and (nouns := find_nouns(text, signs)):
        from ademem.core.credential_judge import credential_spans

        for start, end, name in credential_spans(text, nouns):
            if not is_placeholder(text[start:end]):
                yield start, end, _RANKS[name]


def _matches(pattern: str, hints: tuple[str, ...], text: str) -> Iterator[regex.Match[str]]:
    if IS not in pattern:
        yield from regex.finditer(pattern, text, regex.ASCII)
        return
    for start, end in _lines_with(hints, text):  # ten times as fast as from sign to sign
        yield from regex.compile(pattern, regex.ASCII).finditer(text, start, end)


def _lines_with(hints: tuple[str, ...], text: str) -> list[tuple[int, int]]:
    """Return where lines with one of *hints* begin, and where those after them end."""
    lowered = text.lower()
    if len(lowered) != len(text):
        return [(0, len(text))]
    places = []
    for hint in hints:
        at = lowered.find(hint)
        while at >= 0:
            places.append(at)
            at = lowered.find(hint, at + len(hint))
    regions: list[tuple[int, int]] = []
    line = -1
    for at in sorted(places):
        if at <= line:
            continue
        start = text.rfind("\n", 0, at) + 1
        line = text.find("\n", at)
        if line < 0:
            line = len(text)
        end = text.find("\n", line + 1)
        if regions and start < regions[-1][1]:
            start = regions.pop()[0]
        regions.append((start, end if end >= 0 else len(text)))
    return regions


def _long_lines(text: str) -> Iterator[tuple[int, int]]:
    words = {word for word in text.split() if len(word) >= LONG_CHARS}
    start = 0
    for line in text.splitlines(keepends=True) if words else ():
        if len(line) >= LONG_CHARS and not words.isdisjoint(line.split()):
            yield start, start + len(line)
        start += len(line)


def is_placeholder(value: str) -> bool:
    return regex.match(_PLACEHOLDER, value) is not None or regex.match(_ONE_SIGN, value) is not None


def unescape(text: str) -> tuple[str, list[int]] | None:
    """Decode escapes of JSON and URLs, save quotes and line breaks; with places in *text*."""
    if "%" not in text and "\\u00" not in text and "\\/" not in text:
        return None
    escapes = list(regex.finditer(_ESCAPE, text))
    if not escapes:
        return None
    plain: list[str] = []
    places: list[int] = []
    end = 0
    for escape in escapes:
        code = escape[1] or escape[3]
        plain += text[end : escape.start()], chr(int(code, 16)) if code else "/"
        places += [*range(end, escape.start()), escape.start()]
        end = escape.end()
    plain.append(text[end:])
    places += range(end, len(text) + 1)
    return "".join(plain), places


def is_basic(encoded: str) -> bool:
    from binascii import Error, a2b_base64

    try:
        user, colon, password = a2b_base64(encoded).partition(b":")
    except Error:
        return False
    return bool(colon and user and password) and (user + password).decode("latin-1").isprintable()
