"""Settings by section, each with its range and its sentence."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any

from ademem.core.text import counted

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import timedelta

    from ademem.api.configuring import Described, Setting


def to_age(since: timedelta) -> str:
    """Return a length of time in the largest unit that it fills."""
    seconds = max(0, round(since.total_seconds()))
    for unit, length in (("day", 86_400), ("hour", 3600), ("minute", 60)):
        if seconds >= length:
            return counted(seconds // length, unit)
    return counted(seconds, "second")


def to_text(value: Any) -> str:
    """Return a value as a person types it."""
    if isinstance(value, bool):
        return str(value).lower()
    return ", ".join(value) if isinstance(value, (list, tuple)) else str(value)


def to_setting(setting: Setting, described: Described) -> dict[str, Any]:
    key = described.key
    choices = ("true", "false") if isinstance(key.default, bool) else key.choices
    has_range = key.least is not None and not choices
    return {
        "key": setting.key,
        "value": to_text(setting.value),
        "default": to_text(key.default),
        "is_default": setting.value == key.default,
        "source": setting.source,
        "owner": setting.owner,
        "is_shared": key.is_shared,
        "meaning": described.meaning,
        "choices": choices,
        "range": f"{key.least:,} to {key.most:,}" if has_range else "",
    }


def by_section(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    groups = groupby(rows, key=lambda row: row["key"].partition(".")[0])
    return [{"name": name, "rows": list(found)} for name, found in groups]
