"""Load the settings: environment, files of the project, the person's own file, defaults."""

from __future__ import annotations

import os

from ademem.core import trust
from ademem.core.settings import BadSetting, Settings, as_settings, as_value
from ademem.core.text import preview, unique
from ademem.core.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from ademem.core.project import Project
    from ademem.core.setting_sources import SettingWarning

MAX_LINES = 5
"""Warnings that a command lists."""
MAX_NOTICE_CHARS = 100
NAMED = 2
"""Most keys that a short line names."""
NAME_CHARS = 30

SECRETS = ("ADEMEM_AI_KEY", "ADEMEM_HUB_DSN")
"""Variables that look like settings; each is read where it is used, and never stored."""


class Configuration(Value):
    settings: Settings = Settings()
    origins: dict[str, str] = {}
    """Path or variable of each key that a source sets."""
    warnings: tuple[SettingWarning, ...] = ()
    held: dict[str, Any] = {}
    """Values of the tracked file that count only after `ademem trust`."""


_DEFAULTS = Configuration()


def load(project: Project | None, environment: Mapping[str, str]) -> Configuration:
    """Read all sources; a fault costs its key or file alone.

    Every hook calls this, mostly without any source.
    """
    paths = [trust.config_path(environment)]
    if project:
        paths += [project.config, project.local_config]
    there = [path for path in paths if os.path.lexists(path)]
    variables = list(_variables(environment))
    if not there and not variables:
        return _DEFAULTS
    if not there and (found := _load_variables(variables, environment)):
        return found
    from ademem.core import setting_sources

    return setting_sources.read(project, environment, there, variables)


def lines(warnings: Sequence[SettingWarning]) -> list[str]:
    """Return the first MAX_LINES warnings and the number of the others."""
    shown = [str(warning) for warning in warnings[:MAX_LINES]]
    more = len(warnings) - MAX_LINES
    return [*shown, f"{more} more warnings of settings"] if more > 0 else shown


def notice(warnings: Sequence[SettingWarning]) -> str:
    """Summarize one or more warnings in a short line."""
    if len(warnings) == 1 and len(str(warnings[0])) <= MAX_NOTICE_CHARS:
        return str(warnings[0])
    if all(warning.waits for warning in warnings):
        return "settings of this project wait for `ademem trust`"
    if all(warning.is_outdated for warning in warnings):
        return "some settings have changed: `ademem config list`"
    from ademem.core.untrusted import visible

    wrong = unique(each.key for each in warnings if not each.waits and not each.is_outdated)
    names = [preview(visible(name), NAME_CHARS) for name in filter(None, wrong)]
    shown = ", ".join(names[:NAMED]) + (", …" if len(names) > NAMED else "")
    what = f"{shown} {'do' if len(names) > 1 else 'does'}" if shown else "some settings do"
    return f"{what} not count: `ademem config list`"


def trust_roots(environment: Mapping[str, str]) -> tuple[str, ...]:
    """Return the globs of folders whose databases count as the person's, from no project's file."""
    return load(None, environment).settings.trust.roots


def value_of(settings: Settings, name: str) -> Any:
    section, _, key = name.partition(".")
    return getattr(getattr(settings, section), key)


def _load_variables(
    variables: Sequence[tuple[str, str]], environment: Mapping[str, str]
) -> Configuration | None:
    """Load variables alone without importing the reader of files; None if one is wrong."""
    try:
        values = {key: as_value(key, environment[name]) for name, key in variables}
    except BadSetting:
        return None
    origins = {key: name for name, key in variables}
    return Configuration(settings=as_settings(values), origins=origins)


def _variables(environment: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield name and key of the variables that are settings."""
    for name in environment:
        if name.startswith("ADEMEM_") and name not in SECRETS:
            section, _, key = name[len("ADEMEM_") :].lower().partition("_")
            if section in Settings._names and key:
                yield name, f"{section}.{key}"
