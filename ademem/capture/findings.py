"""Findings that a message calls by their name: "Root cause: …", "Gotcha: …", "Decision: …"."""

from __future__ import annotations

import re

from ademem.capture.placeholders import is_placeholder
from ademem.core.memory import Category
from ademem.core.text import fold, is_cjk
from ademem.core.untrusted import without_recalled

LABELS = {
    "gotcha|pitfall|caveat|trap|watch out|root cause|cause|achtung|ursache": Category.GOTCHA,
    "decision|decided|entscheidung|décision|decisión": Category.DECISION,
    "convention|rule|konvention|regel": Category.CONVENTION,
    "pattern|muster": Category.PATTERN,
    "lesson(?: learned)?|learned|learning|finding|discovery|insight|fact": Category.FACT,
}
"""What stands before the colon, at the beginning of a line, and the category it means."""

MAX_CHARS = 400
MIN_CHARS = 24
MIN_WORDS = 5
MIN_CJK_CHARS = 10
MOST = 10
"""Findings of one message."""

_EDGE = r"(?:[^\S\n]|[>*_#\-\u2022\d.)])*"
_LABEL = re.compile(
    rf"^{_EDGE}(?P<label>{'|'.join(LABELS)})[\W_]{{0,3}}:[\W_]{{0,3}}(?P<said>\S.*)$", re.I | re.M
)
_EMPHASIS = re.compile(r"\*\*|__|(?<!\w)[*_]|[*_](?!\w)")


def findings(message: str) -> list[tuple[Category, str]]:
    """Each with its category, in order; nothing that is fenced, recalled, asked or too short."""
    prose = "".join(without_recalled(message).split("```")[::2])
    found: dict[str, tuple[Category, str]] = {}
    for line in _LABEL.finditer(prose):
        said = _EMPHASIS.sub("", line["said"]).strip()
        if _says_something(said) and not is_placeholder(line[0].partition(":")[2]):
            found.setdefault(fold(said), (_category(line["label"]), said))
    return list(found.values())[:MOST]


def _category(label: str) -> Category:
    return next(kind for words, kind in LABELS.items() if re.fullmatch(words, label, re.I))


def _says_something(text: str) -> bool:
    if len(text) > MAX_CHARS or text.endswith(("?", ":")):
        return False
    if is_cjk(text):
        return len(text) >= MIN_CJK_CHARS
    return len(text) >= MIN_CHARS and len(text.split()) >= MIN_WORDS
