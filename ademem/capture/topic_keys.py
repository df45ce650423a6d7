"""Keys of topics, `family/segment`: the form of a given one, and the suggestion for a text."""

from __future__ import annotations

import re

from ademem.core.redaction import redact
from ademem.core.text import fold, sha256_hex, words

KEY_CHARS, SEGMENT_CHARS = 120, 100
SUGGESTED_WORDS = 8

FAMILIES = {
    "architecture": ("architecture", "design", "module", "layer", "component", "schema"),
    "bug": ("bug", "bugfix", "fix", "gotcha", "crash", "error", "fails", "failure", "regression"),
    "decision": ("decision", "decided", "chose", "choose", "policy", "instead"),
    "pattern": ("pattern", "convention", "procedure", "style", "always", "never"),
    "config": ("config", "configuration", "setting", "environment", "variable", "flag", "port"),
    "discovery": ("discovery", "discovered", "found", "fact", "turns"),
    "learning": ("learning", "learned", "lesson", "preference"),
    "session": ("session", "session_summary", "handoff", "episode", "digest"),
}
"""Types and words of each family; the first one with a word of the text is chosen."""
OTHER = "topic"
"""Family of a text with none of them."""


def normalize_key(key: str) -> str | None:
    """Return the key in lower-case letters, digits and hyphens; None where nothing is left.

    Secrets are removed first, as in this form none would be recognized.
    """
    segments = [_segment(part) for part in redact(key).text.split("/")]
    return "/".join(filter(None, segments))[:KEY_CHARS].rstrip("/-") or None


def suggest_key(type: str | None, title: str | None, content: str) -> str:
    """Return the same key for the same type and text; different texts of any script differ."""
    about = title or " ".join(content.split()[:SUGGESTED_WORDS])
    segment = _segment(about) or sha256_hex(about)[:8]
    for given in ({(type or "").strip().lower()}, words(about)):
        for family, named in FAMILIES.items():
            if not given.isdisjoint(named):
                return f"{family}/{segment}"
    return f"{OTHER}/{segment}"


def _segment(text: str) -> str:
    return re.sub(r"[^\w]+|_+", "-", fold(text))[:SEGMENT_CHARS].strip("-")
