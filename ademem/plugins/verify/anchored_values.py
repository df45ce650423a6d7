"""Values on which a memory depends: names, and what they are set to, of its text and its code.

A value is written `name=token` or, for a name alone, `name`. It stands in the text of the memory
and in the anchored lines, where `token` is part of what `name` is bound to: by an assignment, a
default, a key, a comparison, a version range or a call. No language is parsed, so that
configuration, scripts and code are read by one set of patterns.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from functools import lru_cache

from ademem.core.value import Value

Lines = tuple[int, int]

MOST_VALUES = 8
MOST_CHARS = 200_000
BOUND_CHARS = 2_000
TOKEN_CHARS = 120
PLAIN_CHARS = 4
"""Letters of the shortest name that counts without looking like code, if the lines define it."""
DEFINITION_LINES = 60

_KEYWORDS = frozenset(
    """
    True False None true false null nil undefined self cls this super return yield raise if elif
    else for while with try except finally import from as in is not and or lambda def class async
    await function func fn const let var new int str bool float bytes dict list set tuple object
    type Any Optional Union void string number boolean public private protected static final
    """.split()
)
_NEVER_BOUND = _KEYWORDS - {"return"}
_TRUTHS = frozenset("true false none null nil undefined".split())
_NAME = r"--?[A-Za-z][\w-]*|[A-Za-z_$@][\w$]*(?:[.\-][\w$]+)*"
_TYPE = r"""(?:[ \t]*:[ \t]*[\w.$|?&*<> \t"'-]*(?:\[[^=\n]*?\][\w.$|? \t\]]*?)?(?=[ \t]*=[^=]))?"""
_OPERATOR = r"(?::=|=>|===?|[<>~!^?]=|=|:(?!:)|\^|[<>](?=[ \t]*v?\d)|\()"
_BINDING = r"""["'`]?\]?{type}[ \t]*(?:\[[\w, -]*\])?[ \t]*\(?(?P<operator>{operator})[ \t]*"""
_AFTER = _BINDING.format(type=_TYPE, operator=_OPERATOR)
_BOUND = re.compile(rf"(?<![\w$.-])(?P<name>{_NAME}){_AFTER}")
_SPACED = re.compile(
    r"(?<![\w$-])(?:(?P<name>return|--[A-Za-z][\w-]*)|#[ \t]*define[ \t]+(?P<macro>\w+))"
    r"[ \t]+(?P<operator>)(?=[\w\"'`.\[{(-])"
)
_TOKEN = re.compile(
    r"""(?P<string>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`[^`\n]*`)"""
    r"|(?P<number>(?<![\w.])v?\d[\w.]*(?<!\.))"
    r"|(?P<truth>\b(?:True|False|None|true|false|null|nil|undefined)\b)"
)
_SIMPLE = re.compile(r"[\w./@:+$~-]+")
_IDENTIFIER = re.compile(r"[A-Za-z_$][\w$.]*")
_NUMBER = re.compile(r"(?<![\w.])v?\d[\w.]*(?<!\.)|[\w.-]+(?:/[\w.-]+)+")
_WORD = re.compile(r"--[A-Za-z][\w-]*|(?<![\w$])[A-Za-z_$][\w$]*")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_LITERAL = re.compile(r"`([^`]+)`|\"([^\"]+)\"|'([^']+)'|“([^”]+)”")
_KEYWORD_BEFORE = re.compile(
    r"(?:^|[^\w$])(?:def|class|func|fn|function|struct|enum|interface|trait|type|const|let|var|val"
    r"|module|package|sub|proc|define)[ \t]+(?:\([^()]*\)[ \t]*)?$"
)
_KEY_BEFORE = re.compile(
    r"^[ \t]*(?:(?:export|public|private|protected|static|final)[ \t]+)*[\"']?$"
)
_KEY_AFTER = re.compile(r"[\"']?[ \t]*(?:[:?][^=]*)?[=:](?!=)")
_TYPE_BEFORE = re.compile(r"^[ \t]*(?:[\w<>\[\],*&:]+[ \t]+)+[*&]?$")
_STATEMENT = re.compile(
    r"\s*(?:return|await|yield|raise|throw|new|not|else|in|and|or|assert|del)\b"
)
_PARAMETERS_AFTER = re.compile(r"[ \t]*\([^;=]*[{,]?[ \t]*$")
_MARK = re.compile(r"[\"'`(\[{)\]},;\n#/]")
"""Characters that may end what a name is bound to, or that open what hides its end."""
_COMMENT = re.compile(r"(?:(?<=\s)|^)(?:#|//)")


class CodeValue(Value):
    name: str = ""
    token: str = ""
    """Empty for a name alone."""

    @property
    def text(self) -> str:
        return f"{self.name}={self.token}" if self.token else self.name

    @property
    def kind(self) -> str:
        if not self.token:
            return "option" if self.name.startswith("-") else "symbol"
        if re.fullmatch(r"v?\d+\.[\w.]+", self.token) and not re.fullmatch(r"\d*\.\d+", self.token):
            return "version"
        return "path" if "/" in self.token else "constant"


class Finding(Value):
    """A value that the code no longer has, and what stands in its place."""

    value: CodeValue
    now: str = ""

    @property
    def shown(self) -> str:
        """A line for people: `timeout: 10 -> 20`."""
        name = f"{self.value.name}: " if self.value.token and self.value.name else ""
        return f"{name}{self.value.token or self.value.name} -> {self.now or 'gone'}"


class Binding(Value):
    name: str
    bound: str
    at: int
    end: int
    is_call: bool


_UNBOUND = Binding(name="", bound="", at=0, end=0, is_call=False)


def parse_value(text: str) -> CodeValue:
    name, _, token = text.partition("=")
    return CodeValue(name=name, token=token)


def find_values(text: str, code: str, headers: str = "") -> tuple[CodeValue, ...]:
    """Find the values that a text and code share; *headers* open the blocks around the code."""
    code = code[:MOST_CHARS]
    note = _Note(text)
    values = [*_bound_values(note, code), *_named(note, code), *_named(note, headers)]
    bound = [value for value in values if value.token]
    named = {value.name for value in bound} | {value.token for value in bound}
    found = dict.fromkeys(value for value in values if value.token or value.name not in named)
    in_order = sorted(found, key=lambda value: note.find(value.token or value.name))
    return tuple(in_order)[:MOST_VALUES]


def _named(note: _Note, lines: str) -> Iterator[CodeValue]:
    """Yield the names of the note that the lines define, or that the note has as code."""
    for word in dict.fromkeys(_WORD.findall(lines)):
        if word in note.words and word not in _KEYWORDS:
            plain = len(word) >= PLAIN_CHARS and defines(word, lines)
            if plain or (len(word) > 1 and note.is_code(word)):
                yield CodeValue(name=word)


class Earlier(Value):
    code: str
    span: str
    """The anchored lines, and those that open the blocks around them."""


def find_missing(
    values: Iterable[CodeValue],
    code: str,
    *,
    region: Lines | None = None,
    earlier: Earlier | None = None,
) -> list[Finding]:
    """Return the values that the code lacks, where *region* are the lines that should have them.

    Elsewhere a value counts if there are no fewer places that have it than *earlier*, and a name
    that was defined if it still is.
    """
    values = tuple(values)
    region = region or _find_region(values, code)
    near = code if region is None else "\n".join(code.split("\n")[region[0] - 1 : region[1]])
    found = []
    for value in values:
        if value.token:
            if missing := _missing_token(value, code, near, region, earlier):
                found.append(missing)
        elif not _has_name(value.name, code, near, earlier):
            now = _replacement(value.name, earlier.span, near) if earlier else ""
            found.append(Finding(value=value, now=now))
    return found


def _find_region(values: Iterable[CodeValue], code: str) -> Lines | None:
    """Return the lines from the last definition of one of the names."""
    names = (value.name for value in values if not value.token)
    starts = [places[0] for name in names if (places := _definitions(name, code))]
    if not starts:
        return None
    line = code.count("\n", 0, max(starts)) + 1
    return line, line + DEFINITION_LINES


def defines(name: str, code: str) -> bool:
    return bool(_definitions(name, code))


_OPENING = "([{"


def correct(text: str, findings: Iterable[Finding]) -> str | None:
    """Return None if a value has no new one, or a list for one, or its place is unclear."""
    for finding in findings:
        if (corrected := _correct_value(text, finding)) is None:
            return None
        text = corrected
    return text


def _correct_value(text: str, finding: Finding) -> str | None:
    old, new = finding.value.token or finding.value.name, finding.now
    places = [found.span() for found in _whole(old).finditer(text)]
    if not new or not places or (finding.value.token and len(places) > 1):
        return None
    if new[0] in _OPENING and old[0] not in _OPENING:
        return None
    for start, end in reversed(places):
        text = text[:start] + new + text[end:]
    return text


def headers_above(lines: Sequence[bytes], first: int) -> list[bytes]:
    """Return the lines that open the blocks around line *first*, counted from 1."""
    depth = _indent(lines[first - 1]) if 0 < first <= len(lines) else 0
    found = []
    for line in reversed(lines[: first - 1]):
        if depth == 0:
            break
        if line.strip() and _indent(line) < depth:
            depth = _indent(line)
            found.append(line)
    return found[::-1]


def contains(text: str, token: str) -> bool:
    return _whole(_normal(token)).search(_normal(text)) is not None


def is_named(value: CodeValue, text: str) -> bool:
    token = value.token or value.name
    return contains(text, token) or (
        token.lower() in _TRUTHS and contains(text.lower(), token.lower())
    )


class _Note:
    def __init__(self, text: str) -> None:
        self.text = text
        self.lower = text.lower()
        self.quoted = {part for found in _LITERAL.findall(text) for part in found if part}
        self.words = set(_WORD.findall(text))
        self.parts = {part for word in self.words for part in _parts(word)}

    def has(self, token: str) -> bool:
        if token.lower() in _TRUTHS:
            return re.search(rf"\b{token.lower()}\b", self.lower) is not None
        return contains(self.text, token)

    def find(self, token: str) -> int:
        found = _whole(token).search(self.text)
        return found.start() if found else len(self.text)

    def is_code(self, word: str) -> bool:
        if word[0] == "-" or "_" in word or re.search(r"[a-z\d][A-Z]|[A-Za-z]\d|[A-Z]{2}", word):
            return True
        if any(_whole(word).search(part) for part in self.quoted if " " not in part):
            return True
        name = re.escape(word)
        dotted = rf"\w(?:\.|::|#|->){name}(?!\w)|(?<!\w){name}(?:\(|(?:\.|::|#|->)\w)"
        return re.search(dotted, self.text) is not None

    def relevance(self, name: str) -> int:
        """Return 3 if the note has the name as code, 2 as any word, 1 if it has a part of it."""
        if name and _whole(name).search(self.text):
            return 3 if self.is_code(name) else 2
        parts = [part for part in _parts(name) if len(part) > 2]
        return int(any(part in self.parts or f"{part}s" in self.parts for part in parts))


def _bound_values(note: _Note, code: str) -> Iterator[CodeValue]:
    """Yield the tokens of the note with the name that the code binds each to."""
    by_token: dict[str, list[tuple[int, Binding]]] = {}
    bindings = list(_bindings(code))
    shortest_first = sorted(bindings, key=lambda each: each.end - each.at)
    for token, start, end in _tokens(code, bindings):
        if 0 < len(token) <= TOKEN_CHARS and token[0] != "-" and note.has(token):
            around = (each for each in shortest_first if each.at <= start and end <= each.end)
            inner = next(around, _UNBOUND)
            by_token.setdefault(token, []).append((note.relevance(inner.name), inner))
    chosen = (_choose_name(token, places, note) for token, places in by_token.items())
    yield from filter(None, chosen)


def _choose_name(
    token: str, places: Sequence[tuple[int, Binding]], note: _Note
) -> CodeValue | None:
    """Return a token with its name; None for one that the note does not speak of."""
    relevance, binding = max(places, key=lambda place: place[0])
    if _binds_name(binding, token) and (relevance < 2 or binding.name == token):
        return None  # of two names, the text speaks of one
    if not (relevance or _is_literal(token) or token in note.quoted):
        return None
    names = {bound.name for _, bound in places} - {""}
    is_certain = relevance > 0 or len(names) == 1
    return CodeValue(name=binding.name if is_certain else "", token=token)


def _is_literal(token: str) -> bool:
    return not token.isalpha() and token.lower() not in _TRUTHS and len(token) > 2


def _binds_name(binding: Binding, token: str) -> bool:
    return binding.bound == token and _IDENTIFIER.fullmatch(token) is not None


def _tokens(code: str, bindings: Iterable[Binding]) -> Iterator[tuple[str, int, int]]:
    """Yield literals, numbers and paths in strings, and names that others are bound to."""
    for found in _TOKEN.finditer(code):
        token = found.group()
        if found.lastgroup != "string":
            yield token, *found.span()
            continue
        yield token[1:-1], *found.span()
        for part in _NUMBER.finditer(code, found.start() + 1, found.end() - 1):
            if part.end() - part.start() < len(token) - 2:
                yield part.group(), *part.span()
    for binding in bindings:
        bound = binding.bound
        if not binding.is_call and _SIMPLE.fullmatch(bound) and not _TOKEN.fullmatch(bound):
            yield bound, binding.at, binding.end


def _bindings(code: str, name: str = "") -> Iterator[Binding]:
    """Yield what names are bound to; with a *name*, only what that is."""
    if name not in code:
        return
    for pattern in (_bound_by(name), _SPACED):
        for found in pattern.finditer(code):
            own = found["name"] or found["macro"]
            if (name and own != name) or own in _NEVER_BOUND:
                continue
            bound, end = _read_bound(code, found.end())
            if bound and not bound.startswith("//"):
                is_call = found["operator"] == "("
                yield Binding(name=own, bound=bound, at=found.end(), end=end, is_call=is_call)


def _bound_by(name: str) -> re.Pattern[str]:
    """Return the pattern of what a name is bound to; an attribute is bound by its last name."""
    if not name:
        return _BOUND
    is_last = "." not in name and name != "return" and not name.startswith("--")
    before = r"(?<![\w$-])" if is_last else r"(?<![\w$.-])"
    return re.compile(rf"{before}(?P<name>{re.escape(name)}){_AFTER}")


def _read_bound(code: str, start: int) -> tuple[str, int]:
    end = _end_of_bound(code, start)
    bound = code[start:end].strip()
    return bound if _TOKEN.match(code, start) else bound.rstrip("\"'` \t"), end


def _end_of_bound(code: str, start: int) -> int:
    """Return the end of the expression: a comma, a line end or a closing bracket outside of it."""
    depth, at = 0, start
    limit = min(len(code), start + BOUND_CHARS)
    while found := _MARK.search(code, at, limit):
        at = found.start()
        if _ends_at(code, at, depth):
            return at
        depth += (code[at] in "([{") - (code[at] in ")]}")
        at = _after(code, at)
    return max(at, limit)


def _ends_at(code: str, at: int, depth: int) -> bool:
    """Tell whether the character ends an expression within so many open brackets."""
    match code[at]:
        case '"' | "'" | "`":
            return _TOKEN.match(code, at) is None
        case ")" | "]" | "}" | "," | ";":
            return depth == 0
        case "\n":
            return depth == 0 or not code[at:].strip()
        case "#" | "/" if _COMMENT.match(code, at):
            return depth == 0 or "\n" not in code[at:]
    return False


def _after(code: str, at: int) -> int:
    """Return the place behind a character, a text in quotes, or a comment and its line."""
    if code[at] in "\"'`" and (token := _TOKEN.match(code, at)):
        return token.end()
    if code[at] in "#/" and _COMMENT.match(code, at):
        return code.index("\n", at) + 1
    return at + 1


def _missing_token(
    value: CodeValue, code: str, near: str, region: Lines | None, earlier: Earlier | None
) -> Finding | None:
    if not value.name:
        found = contains(near, value.token) or contains(code, value.token)
        return None if found else Finding(value=value)
    bindings = list(_bindings(near, value.name))
    if _count(bindings, value.token):
        return None
    everywhere = list(_bindings(code, value.name))
    count = _count(everywhere, value.token)
    if count and not bindings:
        before = _bindings(earlier.code, value.name) if earlier else ()
        return None if count >= _count(before, value.token) else Finding(value=value)
    return Finding(value=value, now=_closest_part(value, bindings or everywhere, code, region))


def _closest_part(
    value: CodeValue, bindings: Sequence[Binding], code: str, region: Lines | None
) -> str:
    """Return what stands for a value in the binding that is closest to the *region*."""
    if not bindings:
        return ""
    middle = sum(region) / 2 if region else 0
    closest = min(bindings, key=lambda each: abs(code.count("\n", 0, each.at) - middle))
    return _part_like(value.token, closest.bound)


def _part_like(token: str, bound: str) -> str:
    """Return what stands where the token was, as far as it is one value; empty if it is not."""
    is_number = token[:1].isdigit()
    tokens = _tokens(bound, _bindings(bound))
    alike = [each for each, *_ in tokens if each[:1].isdigit() is is_number]
    if len(alike) == 1:
        return alike[0]
    is_short = len(bound) <= TOKEN_CHARS and "\n" not in bound
    return bound.strip("\"'`") if is_short else ""


def _count(bindings: Iterable[Binding], token: str) -> int:
    return sum(contains(each.bound, token) for each in bindings)


def _has_name(name: str, code: str, near: str, earlier: Earlier | None) -> bool:
    if earlier is None or not defines(name, earlier.span):
        return name in code and _whole(name).search(code) is not None
    if defines(name, near):
        return True
    definitions = len(_definitions(name, code))
    return 0 < definitions >= len(_definitions(name, earlier.code))


def _replacement(name: str, before: str, after: str) -> str:
    word = re.compile(r"--[A-Za-z][\w-]*|[\w$]+|[^\w\s]")
    old, new = (word.findall(text)[:600] for text in (before, after))
    if name not in old:
        return ""
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    votes = Counter(
        now
        for kind, start, end, other, other_end in matcher.get_opcodes()
        if kind == "replace" and end - start == other_end - other
        for was, now in zip(old[start:end], new[other:other_end], strict=True)
        if was == name and _WORD.fullmatch(now) and now not in _KEYWORDS
    )
    return next((now for now, _ in votes.most_common(1)), "")


def _definitions(name: str, code: str) -> list[int]:
    """Return where a name is defined: after keywords or types, then as keys; an option, quoted."""
    if name not in code:
        return []
    if name.startswith("-"):
        quoted = list(re.finditer(rf"[\"'`]{re.escape(name)}(?![\w-])", code))
        return [found.start() for found in quoted or _whole(name).finditer(code)]
    places, keys = [], []
    for found in _whole(name).finditer(code):
        start, end = code.rfind("\n", 0, found.start()) + 1, code.find("\n", found.end())
        before, after = code[start : found.start()], code[found.end() : end if end >= 0 else None]
        if _is_definition(before, after):
            places.append(found.start())
        elif _KEY_BEFORE.match(before) and _KEY_AFTER.match(after):
            keys.append(found.start())
    return places + keys


def _is_definition(before: str, after: str) -> bool:
    """Tell by the line *before* and *after* a name."""
    if _KEYWORD_BEFORE.search(before):
        return True
    is_typed = _TYPE_BEFORE.match(before) and _PARAMETERS_AFTER.match(after)
    return bool(is_typed) and not _STATEMENT.match(before)


@lru_cache(maxsize=4096)
def _whole(token: str) -> re.Pattern[str]:
    """Match a token that is not a part of a longer word, number, version or option."""
    quoted = re.escape(token)
    before = r"(?<![\w$])(?<!\d\.)" if token[:1].isalnum() or token[:1] in "_$" else ""
    before = before or (r"(?<![\w-])" if token[:1] == "-" else "")
    after = r"(?![\w$])" if token[-1:].isalnum() or token[-1:] in "_$" else ""
    if token[-1:].isdigit() and token[:1].isdigit():
        after += r"(?!\.\d)"
    if token[:1] == "-":
        after += r"(?!-\w)"
    return re.compile(before + quoted + after)


def _normal(text: str) -> str:
    """Write numbers in one way: 1_000 and 1,000 as 1000, 5.0 as 5."""
    text = re.sub(r"(?<=\d)[_,](?=\d{3}(?!\d))", "", text)
    return re.sub(r"(?<![\w.])(\d+)\.0(?!\w|\.\w)", r"\1", text)


def _parts(name: str) -> list[str]:
    return [part.lower() for part in _PART.findall(name)]


def _indent(line: bytes) -> int:
    text = line.expandtabs()
    return len(text) - len(text.lstrip())
