"""Settings by section, each with its range and its sentence."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ademem.api.configuring import Described, Setting


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
