"""Noticing what commands, messages, prompts and errors teach, and bringing it to the gate."""

from __future__ import annotations

TITLE_PARTS = ("learn", "takeaway", "aprend", "conclus")
"""Each title of a learnings section has one of them, folded; see `message_lessons.TITLES`."""


def may_have_learnings(message: str) -> bool:
    """False for a message without a learnings section, before anything is loaded to read it."""
    folded = message.casefold()
    return any(part in folded for part in TITLE_PARTS)
