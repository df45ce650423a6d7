"""JSON text edited in place: what an edit does not name keeps every character."""

from __future__ import annotations

import json
from typing import Any, NoReturn

from ademem.core.value import Value

Keys = tuple[str | int, ...]
"""The way from the whole text to a value: keys of objects, places in arrays."""

_DECODER = json.JSONDecoder()
_BYTE_ORDER_MARK = "\ufeff"


class Item(Value):
    """A member of an object or array, by its place in the text."""

    name: str | int
    start: int
    value: int
    """Where the value starts: behind the key, if there is one."""
    end: int


def parsed(text: str) -> Any:
    """What the text says, read as strictly as Claude Code does; ValueError if it is not JSON."""
    try:
        return json.loads(text.removeprefix(_BYTE_ORDER_MARK), parse_constant=_no_constant)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def raw(text: str, path: Keys) -> str | None:
    """The characters of the value at *path*; None when there is none."""
    span = _span(text, path)
    return text[slice(*span)] if span else None


def replace(text: str, path: Keys, written: str) -> str:
    """Put the characters *written* in place of the value at *path*."""
    start, end = _found(text, path)
    return text[:start] + written + text[end:]


def append(text: str, path: Keys, value: Any) -> str:
    """Add *value* to the array at *path*; the array, and what it lies in, is made when missing."""
    depth = len(path)
    while _span(text, path[:depth]) is None:
        depth -= 1
    if depth == len(path):
        return _insert(text, path, "", value)
    value = [value]
    for name in reversed(path[depth + 1 :]):
        value = {name: value}
    return _insert(text, path[:depth], json.dumps(path[depth]) + ": ", value)


def remove(text: str, path: Keys) -> str:
    """Take the member at *path* out, with the comma and the blanks that came with it."""
    opening, end = _found(text, path[:-1])
    items = _items(text, opening)
    place = max(number for number, item in enumerate(items) if item.name == path[-1])
    if len(items) == 1:
        return text[: opening + 1] + text[end - 1 :]
    if place == 0:
        return text[: items[0].start] + text[items[1].start :]
    return text[: items[place - 1].end] + text[items[place].end :]


def _insert(text: str, path: Keys, label: str, value: Any) -> str:
    """Add a last member, laid out like the one before it."""
    opening, end = _found(text, path)
    items = _items(text, opening)
    if not items:
        shown = _indented(label, value, text, opening)
        return text[: opening + 1] + shown + text[end - 1 :]
    if len(items) == 1:
        gap = "," + text[opening + 1 : items[0].start]
    else:
        gap = text[items[-2].end : items[-1].start]
    shown = label + _shown(value, text, _last_line(gap) if "\n" in gap else None)
    return text[: items[-1].end] + gap + shown + text[items[-1].end :]


def _indented(label: str, value: Any, text: str, opening: int) -> str:
    """The only member of a container: on lines of its own unless the whole file is one line."""
    start, end = _found(text, ())
    if "\n" not in text[start:end] and _items(text, start):
        return label + _shown(value, text, None)
    outer = _last_line(text[:opening])
    inner = outer + _unit(text)
    return _newline(text) + inner + label + _shown(value, text, inner) + _newline(text) + outer


def _shown(value: Any, text: str, indent: str | None) -> str:
    """The value as this file would write it; without an indent on one line."""
    if indent is None:
        return json.dumps(value, ensure_ascii=False)
    lines = json.dumps(value, ensure_ascii=False, indent=_unit(text)).split("\n")
    return (_newline(text) + indent).join(lines)


def _unit(text: str) -> str:
    """One step of indentation: what the first line of the first member has more than the braces."""
    start, _ = _found(text, ())
    items = _items(text, start)
    gap = text[start + 1 : items[0].start] if items else ""
    return _last_line(gap).removeprefix(_last_line(text[:start])) if "\n" in gap else "  "


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _last_line(text: str) -> str:
    """The blanks that the last line begins with."""
    line = text[text.rfind("\n") + 1 :].removeprefix(_BYTE_ORDER_MARK)
    return line[: len(line) - len(line.lstrip(" \t"))]


def _found(text: str, path: Keys) -> tuple[int, int]:
    span = _span(text, path)
    if span is None:
        raise KeyError(path)
    return span


def _span(text: str, path: Keys) -> tuple[int, int] | None:
    start = _blank(text, len(_BYTE_ORDER_MARK) if text.startswith(_BYTE_ORDER_MARK) else 0)
    end = _DECODER.raw_decode(text, start)[1]
    for name in path:
        items = [item for item in _items(text, start) if item.name == name]
        if not items:
            return None
        start, end = items[-1].value, items[-1].end  # of equal keys the last counts
    return start, end


def _items(text: str, opening: int) -> list[Item]:
    """The members of the container that opens there, of a scalar none."""
    items: list[Item] = []
    if text[opening] not in "{[":
        return items
    at = _blank(text, opening + 1)
    while text[at] not in "}]":
        start, name = at, len(items)
        if text[opening] == "{":
            name, at = _DECODER.raw_decode(text, at)
            at = _blank(text, _blank(text, at) + 1)
        end = _DECODER.raw_decode(text, at)[1]
        items.append(Item(name=name, start=start, value=at, end=end))
        at = _blank(text, end)
        if text[at] == ",":
            at = _blank(text, at + 1)
    return items


def _blank(text: str, at: int) -> int:
    while text.startswith((" ", "\t", "\r", "\n"), at):
        at += 1
    return at


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
