"""What memory did, as a sentence and as a list of counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ademem.core.text import counted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ademem.store.effects import Effect

NOUNS = {"prevented": "mistake", "answered": "question", "learned": "thing"}


def list_parts(counts: Mapping[str, int]) -> list[tuple[str, int, str]]:
    """Return verb, number and noun of each kind that is not zero."""
    return [
        (name, counts[name], counted(counts[name], NOUNS[name]).partition(" ")[2])
        for name in NOUNS
        if counts[name]
    ]


def nothing(days: int) -> str:
    return f"Nothing to tell in {counted(days, 'day')}."


def sentence(counts: Mapping[str, int], days: int) -> str:
    """Tell the effects of a period; empty where there is none.

    >>> sentence({"prevented": 4, "answered": 0, "learned": 6}, 7)
    'In 7 days memory prevented 4 mistakes and learned 6 things.'
    """
    parts = [f"{name} {counted(counts[name], NOUNS[name])}" for name in NOUNS if counts[name]]
    if not parts:
        return ""
    last = parts.pop()
    done = f"{', '.join(parts)} and {last}" if parts else last
    return f"In {counted(days, 'day')} memory {done}."


def proof(effect: Effect) -> str:
    """Tell what shows an effect, and its number: “prevented npm ci → pnpm install (#12)”."""
    instead = f" → {effect.instead}" if effect.instead else ""
    return f"{effect.evidence}{instead} (#{effect.row})"


def listed(counts: Mapping[str, int]) -> str:
    """Return “prevented 2, answered 1” without what is zero."""
    return ", ".join(f"{name} {count:,}" for name, count in counts.items() if count)
