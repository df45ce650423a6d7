"""ADE's values as ours: whatever stands in a column, reading it cannot fail."""

from __future__ import annotations

import math

from ademem.core.clock import parse, stamp
from ademem.core.memory import Scope

TYPE_CHECKING = False
if TYPE_CHECKING:
    from enum import StrEnum
    from typing import Any, TypeVar

    Row = dict[str, Any]
    Word = TypeVar("Word", bound=StrEnum)

PROSE = ("content", "trigger", "procedure_markdown", "payload_json")
"""Columns that people and agents write, so that a secret may be in them."""

LARGEST = 2**31


def text(value: object) -> str | None:
    """None for what is blank."""
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    return None if value is None or not str(value).strip() else str(value)


def number(value: object, default: float) -> float:
    try:
        found = float(str(value))
    except ValueError:
        return default
    return found if math.isfinite(found) else default


def whole(value: object, default: int) -> int:
    """A number of things, within what sums of it can bear."""
    return int(max(-LARGEST, min(LARGEST, number(value, default))))


def moment(value: object) -> str | None:
    """A stamp for any ISO-8601 time, None for anything else."""
    try:
        return stamp(parse(str(value)))
    except (ValueError, OverflowError):
        return None


def word(words: type[Word], value: object, default: Word) -> Word:
    try:
        return words(str(value).strip().lower())
    except ValueError:
        return default


def scope(value: object) -> Scope:
    """ADE shows what it does not know to the whole project."""
    try:
        return Scope.parse(str(value))
    except ValueError:
        return Scope.PROJECT


def lost(old: Row, new: Row) -> Row:
    """Return values of a row that its new form lacks; prose only loses secrets."""
    return {
        name: value
        for name, value in old.items()
        if value not in (None, "")
        and name not in (*PROSE, "dedupe_key")
        and new.get(name) not in (value, moment(value) or value)
    }
