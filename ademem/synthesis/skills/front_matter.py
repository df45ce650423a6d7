"""The head of a page: YAML between two lines of dashes."""

from __future__ import annotations

import re

import yaml

HEAD = re.compile(r"\A---[ \t]*\n(.*?)^---[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
HEAD_CHARS = 10_000
"""Above it a head is none: YAML takes time."""
_LINE = re.compile(r"^(\w[\w-]*):[ \t]*(\S.*)$", re.MULTILINE)


class BadHead(Exception):
    """It is no YAML; *lines* has what its lines say by themselves."""

    def __init__(self, reason: str, lines: dict[str, str]) -> None:
        super().__init__(reason)
        self.lines = lines


def body(text: str) -> str:
    """What follows the head."""
    return HEAD.sub("", text, count=1)


def read(text: str) -> dict[str, str]:
    """The keys of the head that hold one text each; none without a head. Raises BadHead."""
    found = HEAD.match(text[:HEAD_CHARS])
    if found is None:
        return {}
    try:
        head = yaml.load(found[1], Loader=yaml.BaseLoader)  # BaseLoader makes nothing but text
    except (yaml.YAMLError, RecursionError) as error:
        raise BadHead(_reason(error), dict(_LINE.findall(found[1]))) from error
    if not isinstance(head, dict):
        return {}
    return {key: value for key, value in head.items() if _is_text(key) and _is_text(value)}


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _reason(error: Exception) -> str:
    """Where it went wrong, counted from the first line of the file."""
    mark = getattr(error, "problem_mark", None)
    what = getattr(error, "problem", None) or type(error).__name__
    return f"line {mark.line + 2}: {what}" if mark else str(what)
