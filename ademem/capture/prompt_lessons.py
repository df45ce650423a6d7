"""Dictations in a prompt: "remember: …"."""

from __future__ import annotations

from ademem.core import regex
from ademem.core.text import is_cjk
from ademem.core.typed_text import COLONS, read_dictation
from ademem.core.untrusted import without_recalled

MIN_DICTATION_CHARS, MIN_CJK_CHARS = 8, 4
"""Length of a dictated text of one word."""

WRAP_CHARS = range(72, 101)
"""Widths at which editors wrap. A line that the next word would have brought there goes on."""

_BULLET = r"\s*(?:[-*+\u2022]|\d+[.)])\s+(.*)"
_QUESTION = ("?", "\uff1f")


def dictations(prompt: str) -> list[str]:
    """Return the texts dictated by `remember:`, with which a typed prompt begins, in order.

    A text is the rest of its line, or the list below it; each line directly below may dictate
    another one. Behind any other line nothing is dictated.
    """
    lines = prompt.strip().splitlines()
    if not lines or read_dictation(lines[0]) is None:
        return []
    found: list[str] = []
    lines = without_recalled("\n".join(lines)).splitlines()
    at = 0
    while at < len(lines) and (text := read_dictation(lines[at])) is not None:
        end, texts = _read_texts(text, lines, at)
        is_question = lines[at].rstrip().endswith(_QUESTION)
        found += [] if is_question else filter(_says_something, texts)
        at = end
    from ademem.capture import is_placeholder

    return [text for text in dict.fromkeys(found) if not is_placeholder(text)]


def _read_texts(text: str, lines: list[str], at: int) -> tuple[int, list[str]]:
    """Return the number of the line behind a dictation, and its texts: one, or those of a list."""
    at += 1
    while text and at < len(lines) and _is_wrapped(lines[at - 1].rstrip(), lines[at]):
        text = f"{text} {lines[at].rstrip()}"
        at += 1
    listed: list[str] = []
    if not text or text.endswith(tuple(COLONS)):
        listed = _read_list(lines[at:])
        at += len(listed)
    if text and listed:  # a sentence that the list ends
        text = "\n".join((text, *(f"- {each}" for each in listed)))
    return at, [text] if text else listed


def _read_list(lines: list[str]) -> list[str]:
    """Return the entries of a list with which the lines begin."""
    entries = []
    for line in lines:
        bullet = regex.match(_BULLET, line)
        if not bullet:
            break
        entries.append(bullet[1].strip())
    return entries


def _is_wrapped(above: str, below: str) -> bool:
    if above.endswith((".", "!", "?", ":", ";")) or not below[:1].islower():
        return False
    if read_dictation(below) is not None:
        return False
    return len(above) + 1 + len(below.split(None, 1)[0]) in WRAP_CHARS


def _says_something(text: str) -> bool:
    return len(text) >= (MIN_CJK_CHARS if is_cjk(text) else MIN_DICTATION_CHARS) or (
        len(text.split()) > 1
    )
