"""The settings of a project: defaults, what its file says, what the environment says."""

from __future__ import annotations

import os

from ademem.errors import AdememError
from ademem.settings import AI_PROVIDERS, DTYPES, LEVELS, Settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

CHOICES = {
    ("ai", "provider"): AI_PROVIDERS,
    ("briefing", "level"): tuple(LEVELS),
    ("embed", "dtype"): DTYPES,
    ("guard", "mode"): ("strict", "assist", "orient", "warn", "off"),
    ("guard", "fail"): ("open", "closed"),
}


SECRETS = ("ADEMEM_AI_KEY",)
"""Named like settings, but read where they are used, and written down nowhere."""


class BadSetting(AdememError):
    hint = "see the settings table in the README"


def load(config_path: str, environment: Mapping[str, str]) -> Settings:
    """Defaults, then `config.toml` if there is one, then ADEMEM_SECTION_KEY."""
    given = _read(config_path) if os.path.exists(config_path) else {}
    for name, section, key in _variables(environment):
        given[section] = _section(section, given.get(section, {})) | {key: environment[name]}
    return _settings(given) if given else Settings()


def places(section: str, config_path: str, environment: Mapping[str, str]) -> list[str]:
    """Where a person finds what is set in a section: the variables, and the file if it counts."""
    named = [name for name, of, _ in _variables(environment) if of == section]
    file = [] if named and not os.path.exists(config_path) else [f"`[{section}]` in {config_path}"]
    return named + file


def _variables(environment: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    """Name, section and key of those that are settings."""
    for name in environment:
        if name.startswith("ADEMEM_") and name not in SECRETS:
            section, _, key = name[len("ADEMEM_") :].lower().partition("_")
            if section in Settings._fields and key:
                yield name, section, key


def _read(path: str) -> dict[str, Any]:
    import tomllib

    with open(path, "rb") as file:
        try:
            return tomllib.load(file)
        except ValueError as error:  # not TOML, or not UTF-8
            raise BadSetting(f"{path}: {error}") from error


def _settings(given: dict[str, Any]) -> Settings:
    sections = {}
    for name, values in given.items():
        default = Settings._defaults[_known(name, Settings._fields, "the settings")]
        values = _section(name, values)
        for key in values:
            _known(key, default._fields, f"[{name}]")
        sections[name] = type(default)(
            **{
                key: _read_as(f"{name}.{key}", value, default._defaults[key])
                for key, value in values.items()
            }
        )
    for (section, key), choices in CHOICES.items():
        chosen = getattr(sections.get(section, Settings._defaults[section]), key)
        if chosen not in choices:
            raise BadSetting(f"{section}.{key} is {chosen!r}; it may be {', '.join(choices)}")
    return Settings(**sections)


def _section(name: str, values: Any) -> dict[str, Any]:
    if not isinstance(values, dict):
        raise BadSetting(f"[{name}] is a section, not a value")
    return values


def _known(name: str, names: tuple[str, ...], where: str) -> str:
    if name in names:
        return name
    from difflib import get_close_matches

    near = get_close_matches(name, names, n=1, cutoff=0.0)
    raise BadSetting(f"unknown setting {name!r} in {where}; did you mean {near[0]!r}?")


def _read_as(name: str, given: Any, default: Any) -> Any:
    """*given* as the type of *default*; text from the environment is parsed."""
    try:
        if isinstance(default, bool):
            return given if isinstance(given, bool) else _TRUTH[str(given).lower()]
        if isinstance(default, tuple):
            return _read_items(name, given, default)
        if isinstance(given, bool) or not isinstance(given, (str, int, float)):
            raise ValueError(given)
        value = type(default)(given)
        if not isinstance(given, str) and value != given:
            raise ValueError(given)
        return value
    except (KeyError, ValueError, TypeError, OverflowError) as error:
        raise BadSetting(f"{name} cannot be {given!r}; its default is {default!r}") from error


def _read_items(name: str, given: Any, default: tuple[Any, ...]) -> tuple[Any, ...]:
    """A list of words has any length; numbers each have their place."""
    items = [item.strip() for item in given.split(",")] if isinstance(given, str) else given
    words = not default or isinstance(default[0], str)
    if not isinstance(items, list) or not (words or len(items) == len(default)):
        raise ValueError(given)
    kind = "" if words else default[0]
    return tuple(_read_as(name, item, kind) for item in items if item or not words)


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
