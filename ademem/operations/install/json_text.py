"""Edit JSON text in place: other characters stay as they are."""

from __future__ import annotations

import json
from typing import Any, NoReturn

from ademem.core.value import Value

Keys = tuple[str | int, ...]
"""Path to a value: keys of objects, indexes of arrays."""

_DECODER = json.JSONDecoder()
_BYTE_ORDER_MARK = "\ufeff"


class Item(Value):
    name: str | int
    start: int
    value: int
    """Start of the value, behind its key."""
    end: int


def parse(text: str) -> Any:
    """Parse as strictly as Claude Code does; raises ValueError."""
    try:
        return json.loads(text.removeprefix(_BYTE_ORDER_MARK), parse_constant=_no_constant)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def raw(text: str, path: Keys) -> str | None:
    span = _span(text, path)
    return text[slice(*span)] if span else None


def replace(text: str, path: Keys, written: str) -> str:
    start, end = _find(text, path)
    return text[:start] + written + text[end:]


def append(text: str, path: Keys, value: Any) -> str:
    """Append *value* to the array at *path*, which is created when missing."""
    if _span(text, path) is not None:
        return _insert(text, path, "", value)
    return add(text, path, [value])


def add(text: str, path: Keys, value: Any) -> str:
    """Add a member, which is missing, with the objects that lead to it."""
    depth = len(path) - 1
    while _span(text, path[:depth]) is None:
        depth -= 1
    for name in reversed(path[depth + 1 :]):
        value = {name: value}
    return _insert(text, path[:depth], json.dumps(path[depth]) + ": ", value)


def remove(text: str, path: Keys) -> str:
    opening, end = _find(text, path[:-1])
    items = _items(text, opening)
    place = max(number for number, item in enumerate(items) if item.name == path[-1])
    if len(items) == 1:
        return text[: opening + 1] + text[end - 1 :]
    if place == 0:
        return text[: items[0].start] + text[items[1].start :]
    return text[: items[place - 1].end] + text[items[place].end :]


def _insert(text: str, path: Keys, label: str, value: Any) -> str:
    """Add a last member in the layout of the one before, or of the whole file."""
    opening, end = _find(text, path)
    if items := _items(text, opening):
        gap = "," + text[opening + 1 : items[0].start]
        if len(items) > 1:
            gap = text[items[-2].end : items[-1].start]
        shown = label + _format(value, text, _last_indent(gap) if "\n" in gap else None)
        return text[: items[-1].end] + gap + shown + text[items[-1].end :]
    top, bottom = _find(text, ())
    if "\n" not in text[top:bottom] and _items(text, top):
        shown = label + _format(value, text, None)
    else:
        outer, line = _last_indent(text[:opening]), _newline(text)
        inner = outer + _indent_step(text)
        shown = line + inner + label + _format(value, text, inner) + line + outer
    return text[: opening + 1] + shown + text[end - 1 :]


def _format(value: Any, text: str, indent: str | None) -> str:
    if indent is None:
        return json.dumps(value, ensure_ascii=False)
    lines = json.dumps(value, ensure_ascii=False, indent=_indent_step(text)).split("\n")
    return (_newline(text) + indent).join(lines)


def _indent_step(text: str) -> str:
    start, _ = _find(text, ())
    items = _items(text, start)
    gap = text[start + 1 : items[0].start] if items else ""
    return _last_indent(gap).removeprefix(_last_indent(text[:start])) if "\n" in gap else "  "


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _last_indent(text: str) -> str:
    line = text[text.rfind("\n") + 1 :].removeprefix(_BYTE_ORDER_MARK)
    return line[: len(line) - len(line.lstrip(" \t"))]


def _find(text: str, path: Keys) -> tuple[int, int]:
    span = _span(text, path)
    if span is None:
        raise KeyError(path)
    return span


def _span(text: str, path: Keys) -> tuple[int, int] | None:
    start = _skip_blanks(text, len(_BYTE_ORDER_MARK) if text.startswith(_BYTE_ORDER_MARK) else 0)
    end = _DECODER.raw_decode(text, start)[1]
    for name in path:
        items = [item for item in _items(text, start) if item.name == name]
        if not items:
            return None
        start, end = items[-1].value, items[-1].end  # of equal keys the last counts
    return start, end


def _items(text: str, opening: int) -> list[Item]:
    items: list[Item] = []
    if text[opening] not in "{[":
        return items
    at = _skip_blanks(text, opening + 1)
    while text[at] not in "}]":
        start, name = at, len(items)
        if text[opening] == "{":
            name, at = _DECODER.raw_decode(text, at)
            at = _skip_blanks(text, _skip_blanks(text, at) + 1)
        end = _DECODER.raw_decode(text, at)[1]
        items.append(Item(name=name, start=start, value=at, end=end))
        at = _skip_blanks(text, end)
        if text[at] == ",":
            at = _skip_blanks(text, at + 1)
    return items


def _skip_blanks(text: str, at: int) -> int:
    while text.startswith((" ", "\t", "\r", "\n"), at):
        at += 1
    return at


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
