"""The learnings section that agents put at the end of a message."""

from __future__ import annotations

import re

from ademem.capture.placeholders import is_placeholder
from ademem.core import untrusted
from ademem.core.text import fold, is_cjk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

TITLES = (
    "(?:key )?learnings?",
    "(?:key )?takeaways?",
    "lessons? learn(?:ed|t)",
    "what (?:i|we) learned",
    "aprendizajes(?: clave| principales)?",
    "lecciones aprendidas",
    "conclusiones clave",
)
"""Titles of such a section, as patterns."""

MAX_ITEMS = 20
MIN_CHARS = 20
MIN_WORDS = 4
MIN_CJK_CHARS = 8

_HEADING = re.compile(
    r"(?:#{1,6}\s+(?P<title>.+?)\s*#*|(?P<bold>\*\*|__)(?P<pseudo>.+?)(?P=bold)\s*:?)\s*$"
)
_TITLE = re.compile(rf"(?:\W*)(?:{'|'.join(TITLES)})\W*$", re.I)
_NUMBERED = re.compile(r"\s*\d+[.)]\s+(.*)")
_BULLET = re.compile(r"\s*[-*+\u2022]\s+(.*)")
_EMPHASIS = re.compile(r"(\*\*|__|(?<!\w)[*_]|[*_](?!\w)|`)")


def learnings(message: str) -> list[str]:
    """Items of the last section that has any; numbered ones if there are, else bullets."""
    for section in reversed(list(_sections(_prose(message)))):
        for shape in (_NUMBERED, _BULLET):
            items = [_plain(found[1]) for line in section if (found := shape.match(line))]
            kept = [item for item in items if _says_something(item)]
            if kept:
                first = {fold(item): item for item in reversed(kept[:MAX_ITEMS])}
                return list(first.values())[::-1]
    return []


def _prose(message: str) -> list[str]:
    """Its lines without fenced code and without what we ourselves had shown."""
    lines, closing = [], ""
    for line in untrusted.without_recalled(message).splitlines():
        bare = line.strip()
        if closing:
            closing = "" if bare.startswith(closing) else closing
        elif bare.startswith(("```", "~~~")):
            closing = bare[:3]
        else:
            lines.append(line)
    return lines


def _sections(lines: list[str]) -> Iterator[list[str]]:
    section: list[str] | None = None
    for line in lines:
        heading = _HEADING.match(line.strip())
        if heading:
            if section is not None:
                yield section
            section = [] if _TITLE.match(heading["title"] or heading["pseudo"]) else None
        elif section is not None:
            section.append(line)
    if section is not None:
        yield section


def _plain(item: str) -> str:
    return _EMPHASIS.sub("", item).strip()


def _says_something(item: str) -> bool:
    if is_placeholder(item):
        return False
    if is_cjk(item):
        return len(item) >= MIN_CJK_CHARS
    return len(item) >= MIN_CHARS and len(item.split()) >= MIN_WORDS
