"""Validate names and values of settings."""

from __future__ import annotations

from ademem.core.errors import UsageError
from ademem.core.settings import LONGEST_TEXT, MOST_WORDS, Settings, all_keys, find_key

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from ademem.core.settings import Key

SHOWN_CHARS = 40
"""Characters of a name or value that a message repeats."""
SHOWN_NAMES = 3
"""Names that a message lists."""

FORMER = {
    "briefing": "patience",
    "guard": "aliases",
    "gate": "derivable_lines derivable_lines_strict max_bytes_titled merge_gain near_duplicate",
    "lifecycle": (
        "archive_score conflict_cosine demote_score merge_cosine merge_least mission_confidence"
        " weak_confidence weak_days"
    ),
    "mirror": "rotate_lines",
    "procedures": (
        "alike archive_confidence archive_outcomes contexts feedback_weight followed gain loss"
        " newest outdated promote_confidence rare share start steps"
    ),
    "search": (
        "access answer_cosine answer_share answer_words asks astray_discount branch_discount"
        " candidate_discount confidence contradicted_discount cosine_floor date floor"
        " half_life_days importance meaning mmr_lambda near_meaning near_notes near_words pool"
        " prompt_floor recency relevance speaker steps tier_bonus time words"
    ),
}
"""Settings of earlier versions, by section. Their values are built in now."""

RENAMED = {"briefing.site": "briefing.hints", "briefing.site_tokens": "briefing.hint_tokens"}
"""Earlier names of settings."""


class BadSetting(UsageError):
    """A key that does not exist, or a value that it cannot have."""

    hint = "`ademem config list` shows all keys"


def key_of(name: str) -> Key:
    """Return the key `section.key`; raises BadSetting with the nearest name."""
    key = find_key(name)
    if key is None:
        raise BadSetting(unknown(name))
    return key


def as_value(name: str, given: Any) -> Any:
    """Convert *given* to a value of the key; raises BadSetting."""
    key = key_of(name)
    value = _typed(name, given, key.default)
    if key.choices and value not in key.choices:
        raise BadSetting(f"{name} is {_shown(given)}; it may be {', '.join(key.choices)}")
    for part in value if isinstance(value, tuple) else (value,):
        if isinstance(part, str):
            if len(part) > LONGEST_TEXT:
                raise BadSetting(f"{name} is longer than {LONGEST_TEXT} characters")
        elif key.least is not None and key.most is not None and not key.least <= part <= key.most:
            raise BadSetting(f"{name} is {_shown(given)}; it may be {key.least:,} to {key.most:,}")
    return value


def as_settings(values: Mapping[str, Any]) -> Settings:
    """Return settings with these values by `section.key`, and defaults for the rest."""
    changed: dict[str, dict[str, Any]] = {}
    for name, value in values.items():
        section, _, key = name.partition(".")
        changed.setdefault(section, {})[key] = value
    return Settings(
        **{name: type(Settings._defaults[name])(**keys) for name, keys in changed.items()}
    )


def is_former(name: str) -> bool:
    section, _, key = name.partition(".")
    return key in FORMER.get(section, "").split()


def former_warning(names: Sequence[str]) -> str:
    shown = ", ".join(names[:SHOWN_NAMES])
    if len(names) > SHOWN_NAMES:
        shown += f" and {len(names) - SHOWN_NAMES} more"
    if len(names) > 1:
        return f"{shown} are no longer settings; their built-in values are in force"
    return f"{shown} is no longer a setting; its built-in value is in force"


def renamed_warning(name: str) -> str:
    return f"{name} is called {RENAMED[name]} now"


def unknown(name: str) -> str:
    """Word an unknown name, with the nearest key or section."""
    from difflib import get_close_matches

    section, dot, _ = name.partition(".")
    if section in Settings._names and not dot:
        return f"[{section}] is a section, not a value"
    names = [full for full, _ in all_keys()] if dot else list(Settings._fields)
    inside = [full for full in names if full.startswith(f"{section}.")] or names
    near = get_close_matches(name[:SHOWN_CHARS], inside, n=1, cutoff=0.0)
    return f"unknown setting {_shown(name)}; did you mean {near[0]!r}?"


def _typed(name: str, given: Any, default: Any) -> Any:
    """Convert *given*, which may be text, to the type of *default*."""
    try:
        if isinstance(default, bool):
            return given if isinstance(given, bool) else _TRUTH[str(given).lower()]
        if isinstance(default, tuple):
            words = [item.strip() for item in given.split(",")] if isinstance(given, str) else given
            if not isinstance(words, list):
                raise ValueError(given)
            if len(words) > MOST_WORDS:
                raise BadSetting(f"{name} has more than {MOST_WORDS} words")
            return tuple(_typed(name, word, "") for word in words if word != "")
        if isinstance(given, bool) or not isinstance(given, (str, int, float)):
            raise ValueError(given)
        value = type(default)(given)
        if not isinstance(given, str) and value != given:
            raise ValueError(given)
        return value
    except (KeyError, ValueError, TypeError, OverflowError) as error:
        raise BadSetting(f"{name} cannot be {_shown(given)}; its default is {default!r}") from error


def _shown(given: Any) -> str:
    """Return a name or value, however long and odd, in the form of a message."""
    if given is None or isinstance(given, list):
        return "a list" if given else "a table or a date"
    return ascii(given[:SHOWN_CHARS]) if isinstance(given, str) else f"{given!s:.{SHOWN_CHARS}}"


_TRUTH = {
    "true": True,
    "1": True,
    "yes": True,
    "on": True,
    "false": False,
    "0": False,
    "no": False,
    "off": False,
}
