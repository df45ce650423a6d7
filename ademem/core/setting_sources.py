"""Read the sources of settings, and merge the values that each may set."""

from __future__ import annotations

import os

from ademem.core import clone_variables, confined, settings, shared_files, trust
from ademem.core.errors import suppress
from ademem.core.json_text import loads
from ademem.core.text import bytes_hex, sha256_hex
from ademem.core.value import Value, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from ademem.core.project import Project

MAX_BYTES = 64_000
MAX_DOTS = 100
"""Most dots in a line of such a file, as parsing a dotted key takes quadratic time."""
SHOWN_CHARS = 80
CLONE = ".claude/settings.json"
"""Name of the source whose variables a clone sets."""


class SettingWarning(Value):
    source: str
    key: str = ""
    """Such as `guard.mode`; empty for the whole source."""
    reason: str = ""
    waits: bool = False
    """It would count after `ademem trust`."""
    is_outdated: bool = False

    def __str__(self) -> str:
        name = self.source
        if os.path.isabs(name):
            name = os.path.join(os.path.basename(os.path.dirname(name)), os.path.basename(name))
        return f"{name}: {self.reason or settings.unknown_warning(self.key)}"


class SourceValues(Value):
    values: dict[str, Any] = {}
    warnings: tuple[SettingWarning, ...] = ()
    digest: str = ""


def read(
    project: Project | None,
    environment: Mapping[str, str],
    there: Sequence[str],
    variables: Sequence[tuple[str, str]],
) -> settings.Configuration:
    """Merge the files that are *there* and the variables, each with its key.

    The tracked file of a project may set shared keys and make others stricter. Its other values are
    held back until the person agrees to exactly these keys and values.
    """
    own = trust.config_path(environment)
    merged = _Merged()
    if own in there:
        merged.add(_file(own, environment), own)
    if project and project.config in there:
        merged.add_tracked(_file(project.config, environment, project.root), project.config)
    if of_clone := clone_variables.carried(environment):
        merged.add_tracked(_check_variables(of_clone), CLONE)
    if merged.held and project:
        merged.admit_held(trust.agreement(project.main, environment).settings)
    merged.warnings += _warn_of_held(merged.origins_of_held)
    if project and project.local_config in there:
        agreed = trust.agreement(project.main, environment).local
        found = _file(project.local_config, environment, project.home_root, agreed)
        merged.add(found, project.local_config)
    for variable, name in variables:
        merged.add(_check({name: environment[variable]}, variable), variable)
    return settings.Configuration(
        settings=settings.as_settings(merged.values),
        origins=merged.origins,
        warnings=tuple(merged.warnings),
        held=merged.held,
    )


class _Merged:
    """The values so far, where a later source replaces an earlier one."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}
        self.origins: dict[str, str] = {}
        self.warnings: list[SettingWarning] = []
        self.held: dict[str, Any] = {}
        self.origins_of_held: dict[str, str] = {}

    def add(self, found: SourceValues, source: str) -> None:
        self.values.update(found.values)
        self.origins.update(dict.fromkeys(found.values, source))
        self.warnings.extend(found.warnings)

    def add_tracked(self, found: SourceValues, source: str) -> None:
        admitted, waiting = _divide(found.values, self.values)
        self.add(replace(found, values=admitted), source)
        self.held |= waiting
        self.origins_of_held |= dict.fromkeys(waiting, source)

    def admit_held(self, agreed: str) -> None:
        """Let the held values count if the person agreed to exactly these."""
        if fingerprint(self.held) == agreed:
            self.values |= self.held
            self.origins |= self.origins_of_held
            self.held, self.origins_of_held = {}, {}


def _warn_of_held(origins: Mapping[str, str]) -> Iterator[SettingWarning]:
    """Yield a warning for each source of settings that wait, given the sources by name."""
    for source in dict.fromkeys(origins.values()):
        names = sorted(name for name in origins if origins[name] == source)
        shown = ", ".join(names[:3]) + (", …" if len(names) > 3 else "")
        verb = "count" if len(names) > 1 else "counts"
        reason = f"sets {shown}, which {verb} only after `ademem trust`"
        yield SettingWarning(source=source, reason=reason, waits=True)


def _divide(
    found: Mapping[str, Any], now: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what a tracked source may set (shared, or stricter than *now*), and the rest."""
    admitted, held = {}, {}
    for name, value in found.items():
        key = settings.key_of(name)
        current = now.get(name, key.default)
        new = value if key.is_shared else key.tightened(value, current)
        if key.is_shared or new != current:
            admitted[name] = new
        if new != value:
            held[name] = value
    return admitted, held


def _check_variables(of_clone: Mapping[str, str]) -> SourceValues:
    """Read variables that a clone sets as settings; name those that are ignored."""
    given, ignored = {}, []
    for variable, value in of_clone.items():
        name = settings.setting_of(variable)
        if name:
            given[name] = value
        else:
            ignored.append(variable)
    found = _check(given, CLONE, of_project=True)
    if ignored:
        shown = ", ".join(sorted(ignored)[:3])
        reason = f"sets {shown}, which a project may not set, so it is ignored"
        warning = SettingWarning(source=CLONE, reason=reason)
        return replace(found, warnings=(*found.warnings, warning))
    return found


def fingerprint(values: Mapping[str, Any]) -> str:
    return sha256_hex(*(f"{key}={value!r}" for key, value in sorted(values.items())))


def local_file(project: Project, environment: Mapping[str, str]) -> SourceValues:
    if not os.path.lexists(project.local_config):
        return SourceValues()
    return _file(project.local_config, environment, project.home_root)


def _file(
    path: str, environment: Mapping[str, str], root: str = "", noted: str | None = None
) -> SourceValues:
    """Read one file, whose values count only if its digest is *noted* or that is None."""
    digest = ""
    try:
        raw = _bytes(path, root)
        digest = bytes_hex(raw)
        if noted is not None and digest != noted:
            reason = "counts only after `ademem trust`"
            return SourceValues(warnings=(SettingWarning(source=path, reason=reason, waits=True),))
        found = _parse_toml(raw, digest, path, environment)
        return replace(_check(found, path, of_project=bool(root)), digest=digest)
    except settings.BadSetting as error:
        warning = SettingWarning(source=path, reason=f"{error}, so none of it counts")
        return SourceValues(warnings=(warning,), digest=digest)


def _bytes(path: str, root: str) -> bytes:
    try:
        if root:
            return confined.read_bytes(root, path, MAX_BYTES) or b""
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            raw = file.read(MAX_BYTES + 1)
    except confined.Refused as error:
        raise settings.BadSetting(error.reason) from error
    except OSError as error:
        raise settings.BadSetting(f"cannot be read ({error.strerror})") from error
    if len(raw) > MAX_BYTES:
        raise settings.BadSetting(f"has more than {MAX_BYTES:,} bytes")
    return raw


def _parse_toml(
    raw: bytes, digest: str, path: str, environment: Mapping[str, str]
) -> dict[str, Any]:
    """Cache the last result, as importing `tomllib` takes twice as long as an ordinary hook."""
    cache = trust.cache_path(path, environment)
    # It may be missing, or of another content.
    with suppress(OSError, ValueError, KeyError, TypeError, RecursionError):
        cached = loads(shared_files.read_text(cache) or "")
        if cached["sha256"] == digest and isinstance(cached["values"], dict):
            return cached["values"]
    import json

    values: dict[str, Any] = {}
    for section, keys in _load_toml(raw).items():
        if isinstance(keys, dict) and settings.is_section(section):
            values |= {f"{section}.{key}": _plain(value) for key, value in keys.items()}
        else:
            values[section] = None
    with suppress(OSError):  # a home that cannot be written: each process parses for itself
        text = json.dumps({"sha256": digest, "values": values})
        shared_files.write_atomic(cache, text, mode=0o600)
    return values


def _load_toml(raw: bytes) -> dict[str, Any]:
    import tomllib

    if max(line.count(b".") for line in raw.split(b"\n")) > MAX_DOTS:
        raise settings.BadSetting(f"has a line with more than {MAX_DOTS} dots")
    try:
        return tomllib.loads(raw.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise settings.BadSetting("is not UTF-8") from error
    except (ValueError, RecursionError) as error:
        why = str(error)[:SHOWN_CHARS]
        raise settings.BadSetting(f"is not valid TOML ({why})") from error


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return [item if isinstance(item, (str, int, float)) else None for item in value]
    return value if isinstance(value, (str, int, float)) else None


def _check(given: Mapping[str, Any], source: str, *, of_project: bool = False) -> SourceValues:
    values, warnings = {}, []

    def warn(key: str, reason: str = "", *, is_outdated: bool = False) -> None:
        warnings.append(
            SettingWarning(source=source, key=key, reason=reason, is_outdated=is_outdated)
        )

    for name, value in given.items():
        if name == "guard.mode" and value in settings.FORMER_MODES:
            reason = f"guard.mode {value!r} is no longer there; `consult` is in force"
            warn(name, reason, is_outdated=True)
            value = "consult"
        if settings.find_key(name) is None:
            warn(name)
        elif of_project and name.startswith(f"{settings.PERSONAL_SECTION}."):
            warn(name, f"{name} counts only in your own file or environment")
        else:
            try:
                values[name] = settings.as_value(name, value)
            except settings.BadSetting as error:
                warn(name, str(error))
    return SourceValues(values=values, warnings=tuple(warnings))
