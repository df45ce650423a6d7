"""What differs from one time to the next, as a word in capitals."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

MASKS = (
    (re.compile(r"\b\d{4}-\d\d-\d\d(?:T[\d:.]+Z?)?\b"), "DATE"),
    (re.compile(r"\bv?\d+(?:\.\d+)+(?:[-+][0-9A-Za-z]+(?:\.\d+)*)?\b"), "VERSION"),
    (re.compile(r"\b(?=[0-9a-f]*\d)[0-9a-f]{7,40}\b"), "ID"),
    (re.compile(r"(?:\b[A-Z][A-Z0-9]+-|#)\d+\b"), "ISSUE"),
    (re.compile(r"\b\d+\b"), "NUMBER"),
)
"""Each with the word for it; the first that fits a place takes it."""
WORDS = frozenset(word for _, word in MASKS) | {"MESSAGE", "PATH", "NAME"}
_SAYING = re.compile(r"-[a-z]*m|-[tbn]|--(?:message|title|body|notes)")
"""Options that are followed by something somebody words anew each time."""


def masked(text: str) -> str:
    """The text without versions, numbers, dates and ids."""
    for pattern, word in MASKS:
        text = pattern.sub(word, text)
    return text


def common(lines: Sequence[Sequence[str]]) -> list[str]:
    """One command for several of the same sign, word by word; what differs is a word in capitals.

    Of lines that differ in length, the newest with its words masked.
    """
    newest = lines[-1]
    if any(len(line) != len(newest) for line in lines):
        alike = [line for line in lines if len(line) == len(newest)]
        return common(alike) if len(alike) > 1 else [masked(word) for word in newest]
    return [
        _common([line[at] for line in lines], newest[at - 1] if at else "")
        for at in range(len(newest))
    ]


def _common(words: Sequence[str], before: str) -> str:
    if len(set(words)) == 1 and words[0] != "…":
        return words[0]
    plain = {masked(word) for word in words}
    if len(plain) == 1 and "…" not in plain:
        return plain.pop()
    if _SAYING.fullmatch(before):
        return "MESSAGE"
    return "PATH" if all("/" in word or "." in word for word in words) else "NAME"
