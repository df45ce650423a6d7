"""knowledge.jsonl: the lines Beads reads, with our fields behind them."""

from __future__ import annotations

import json

from ademem.core.memory import Trust
from ademem.core.text import slug

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    Line = dict[str, Any]

TYPES = ("learned", "investigation", "decision", "fact", "pattern", "gotcha", "convention")
"""Kinds of captured sentences; the first tag of a memory names its kind."""

DOUBTFUL = (Trust.TOOL, Trust.WEB)
"""Levels of trust that a file may claim: it can lower trust and never raise it."""

TOMBSTONE = "tombstone"
SAID_AT = "said_at"
"""On a line without stamps: the time of its text, if another field was changed later."""
VALUES = "values"
"""On a line with anchors: the values that the memory depends on, by their places."""

_LINE_BREAKS = str.maketrans({char: f"\\u{ord(char):04x}" for char in "\x85\u2028\u2029"})


def line(found: Line) -> str:
    """Return compact JSON on one line, with every line separator of Unicode escaped."""
    text = json.dumps(found, ensure_ascii=False, separators=(",", ":"))
    return text.translate(_LINE_BREAKS) + "\n"


def read(raw: str) -> Line | None:
    """Parse a line; None if it is no object, or has no content."""
    try:
        found = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict) or not isinstance(found.get("content"), str):
        return None
    return found if found["content"].strip() or "sync_id" in found else None


def key_of(found: Mapping[str, Any]) -> str | None:
    """Return the key that the memory was given; None for a key derived from its text."""
    derived = derived_key(found["category"], found["content"], found["id"])
    return None if found["key"] in (derived, f"{derived}-{found['id']}") else found["key"]


def derived_key(category: str | None, content: str, id: str) -> str:
    """Return the key of a memory that was given none: its category and text."""
    return f"{category}-{slug(content) or id}"
