"""Entries in the settings file of a client: hooks and, of Claude Code, permissions."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from ademem.operations.install import json_text
from ademem.operations.install.json_text import Keys

Settings = dict[str, Any]


class Event(NamedTuple):
    name: str
    status: str
    """Shown while the hook runs, in place of its command."""
    matcher: str | None = None
    timeout: int = 10
    """Seconds."""
    script: str = ""
    is_late: bool = False
    """It runs beside the session; what it prints reaches a later request of the turn."""
    calls: tuple[str, ...] = ()
    """Permission rules: the client starts the hook at calls that meet one, by default at all."""

    is_brief: bool = False
    """What it is told is short: the shell reads it byte by byte, for less than a process takes."""

    @property
    def hook(self) -> str:
        """The script below `hooks/`, without its suffix: by default named as the event."""
        return self.script or re.sub(r"\B([A-Z])", r"_\1", self.name).lower()

    @property
    def started_as(self) -> str:
        """What `hooks/start.sh` is told to start: the script, or the short way to it."""
        return "pre_command" if self.is_brief else self.hook


_SHELLS = "Bash|PowerShell|Monitor"
_WRITERS = ("Write", "Edit", "MultiEdit")
_OTHERS = f"{_SHELLS}|WebFetch|WebSearch|mcp__.*"
_TEXTS = tuple(f"{tool}(//**/*.md)" for tool in _WRITERS)
"""Calls that write what may be a file of the client's memory, in any folder."""

EVENTS = (
    Event("SessionStart", "briefing"),
    Event("UserPromptSubmit", "recalling"),
    Event("PreToolUse", "checking memory", f"^({_SHELLS})$", is_brief=True),
    Event("PreToolUse", "checking memory", f"^({'|'.join(_WRITERS)}|NotebookEdit|mcp__.*)$"),
    Event("PostToolUse", "noting lessons", f"^({_OTHERS})$"),
    Event("PostToolUse", "noting lessons", f"^({'|'.join(_WRITERS)})$", calls=_TEXTS),
    Event("PostToolUseFailure", "looking up the error", f"^({_SHELLS}|mcp__.*)$"),
    Event("PostToolBatch", "ending the calls"),
    Event("PreCompact", "preparing the summary"),
    Event("Stop", "ending the turn"),
    Event("SubagentStart", "briefing the agent"),
    Event("SubagentStop", "noting lessons"),
    Event("SessionEnd", "closing the session", timeout=5),
)
"""Names known to the oldest supported client, where an unknown one can disable the file."""
SINCE = (2, 1, 332)
NEWER = (
    Event("PreSkillShellCommand", "checking memory", script="pre_tool_use"),
    Event("FileChanged", "noting a changed file"),
    Event("CwdChanged", "watching files"),
    Event("InstructionsLoaded", "noting instructions"),
    Event(
        *("PostToolUse", "recalling", f"^({'|'.join(_WRITERS)}|{_OTHERS})$"),
        script="late_recall",
        is_late=True,
    ),
)
"""What a client knows from that version on. An older one asks the person about the file, and
a plugin's would disable its hooks (observed in 2.1.197)."""
EVENT_NAMES = tuple(dict.fromkeys(event.name for event in (*EVENTS, *NEWER)))
BLOCKING = (2, 1, 330)
"""Version from which a client blocks a call whose hook fails, where `onFailure` says so."""


def events_of(version: tuple[int, ...]) -> tuple[Event, ...]:
    """Return the events that a client of this version knows; an unknown one knows the oldest."""
    return (*EVENTS, *(NEWER if version >= SINCE else ()))


PERMISSIONS = (
    *(f"Bash(ademem {verb}:*)" for verb in ("recall", "search", "get", "add", "at")),
    *(f"mcp__ademem__memory_{tool}" for tool in ("search", "timeline", "get", "context", "status")),
)


_START = '[ -r "$hooks/start.sh" ] && . "$hooks/start.sh"'
_BY_NAME = "/ademem pre_compact"
"""Part of the command of PreCompact, which the client shows to the person after a compaction."""


def make_groups(
    *, python: str, hooks: str, events: Iterable[Event] = EVENTS, is_closed: bool = False
) -> dict[str, list[Settings]]:
    """Return the entries of each event; *python* and *hooks* are quoted for the shell.

    With *is_closed*, a call is blocked whose hook cannot answer.
    """
    groups: dict[str, list[Settings]] = {}
    for event in events:
        blocks = is_closed and event.hook == "pre_tool_use"
        command = f"hook={event.started_as} python={python} hooks={hooks}; {_START}"
        if event.hook == "pre_compact":
            command = _short_command(python, hooks)
        elif not blocks:
            command = f"trap '{_LATE_ENDING if event.is_late else _ENDING}' 0; {command}"
        handler: Settings = {"type": "command", "command": command, "timeout": event.timeout}
        handler["statusMessage"] = f"ademem: {event.status}"
        handler |= {"onFailure": "block"} if blocks else {}
        handler |= {"asyncRewake": True} if event.is_late else {}
        matcher = {"matcher": event.matcher} if event.matcher else {}
        handlers = [handler | {"if": rule} for rule in event.calls] or [handler]
        groups.setdefault(event.name, []).append(matcher | {"hooks": handlers})
    return groups


_ENDING = "exit 0"
"""Ends each hook with 0: 2 blocks a call, and is a shell's own code for a file it cannot source."""
_LATE_ENDING = "[ $? -eq 3 ] && exit 2; exit 0"
"""Ends a late hook with 2, at which the client reads its text, only where it has one."""


def _short_command(python: str, hooks: str) -> str:
    """Return the shortest command, as no setting hides it; `hooks/ademem` finds its own Python.

    It ends with 0 also where the script is gone, as after ademem was uninstalled.
    """
    prefix, home = hooks.removesuffix("/share/ademem/hooks"), os.path.expanduser("~/")
    own = prefix != hooks and python.startswith(f"{prefix}/bin/")
    is_below = home.startswith("/") and hooks.startswith(home)
    command = (f"~/{hooks.removeprefix(home)}" if is_below else hooks) + _BY_NAME
    return command + ("" if own or not python else f" {python}") + " || :"


def add_entries(
    text: str, wanted: dict[str, list[Settings]], permissions: Sequence[str] = PERMISSIONS
) -> str:
    for event, group in _pairs(wanted):
        text = json_text.append(text, ("hooks", event), group)
    allowed = _read_permissions(json_text.parse(text))
    missing = [permission for permission in permissions if permission not in allowed]
    if len(missing) < len(permissions):  # else `_as_added` takes theirs for ours
        missing.reverse()
    for permission in missing:
        text = json_text.append(text, ("permissions", "allow"), permission)
    return text


def remove_entries(text: str, original: str | None) -> str:
    """Remove our entries; *original* has the permissions that were there before them.

    Without it, permissions in our order beside our hooks are removed.
    """
    settings = json_text.parse(text)
    allowed = _read_permissions(settings)
    hooks = [path for path, _ in _our_hooks(settings)]
    if original is not None:
        theirs = _read_permissions(json_text.parse(original))
        places = [
            place
            for place, permission in enumerate(allowed)
            if permission in PERMISSIONS and permission not in theirs
        ]
    else:
        places = _as_added(allowed) if hooks else []
    ours = hooks + [("permissions", "allow", place) for place in places]
    for path in reversed(ours):
        text = _without_empty(json_text.remove(text, path), path[:-1], original)
    return text


def is_current(
    settings: Settings, wanted: dict[str, list[Settings]], permissions: Sequence[str] = PERMISSIONS
) -> bool:
    """Tell whether our entries are just the wanted ones, at any position."""
    found = [(path[1], entry) for path, entry in _our_hooks(settings)]
    pairs = _pairs(wanted)
    return (
        len(found) == len(pairs)
        and all(pair in found for pair in pairs)
        and set(permissions) <= set(map(str, _read_permissions(settings)))
    )


def _pairs(wanted: dict[str, list[Settings]]) -> list[tuple[str, Settings]]:
    return [(event, group) for event, groups in wanted.items() for group in groups]


def list_commands(settings: Settings) -> dict[str, str]:
    """Return the command of each event, without those of late hooks."""
    return {
        event: handler["command"]
        for event, handler in _list_handlers(settings)
        if not handler.get("asyncRewake")
    }


def blocks_on_failure(settings: Settings) -> bool:
    return any(handler.get("onFailure") == "block" for _, handler in _list_handlers(settings))


def _list_handlers(settings: Settings) -> Iterator[tuple[str, Settings]]:
    for path, entry in _our_hooks(settings):
        for handler in entry.get("hooks", [entry]):
            yield str(path[1]), handler


def find_misfit(settings: Any, events: Iterable[str] = EVENT_NAMES) -> str | None:
    if not isinstance(settings, dict):
        return "it is not a JSON object"
    hooks, permissions = settings.get("hooks", {}), settings.get("permissions", {})
    if not isinstance(hooks, dict):
        return '"hooks" is not an object'
    if not isinstance(permissions, dict):
        return '"permissions" is not an object'
    if not isinstance(permissions.get("allow", []), list):
        return '"permissions.allow" is not a list'
    names = [name for name in events if not isinstance(hooks.get(name, []), list)]
    return f'"hooks.{names[0]}" is not a list' if names else None


def _our_hooks(settings: Settings) -> Iterator[tuple[Keys, Settings]]:
    """Yield our groups, and our handlers in groups of others."""
    for keys, group in _groups(settings):
        handlers = group["hooks"]
        ours = [place for place, handler in enumerate(handlers) if _is_ours(handler)]
        if ours and len(ours) == len(handlers):
            yield keys, group
        else:
            yield from (((*keys, "hooks", place), handlers[place]) for place in ours)


def _groups(settings: Settings) -> Iterator[tuple[Keys, Settings]]:
    """Yield the groups that have a list of handlers."""
    for event, groups in settings.get("hooks", {}).items():
        for number, group in enumerate(groups if isinstance(groups, list) else []):
            if isinstance(group, dict) and isinstance(group.get("hooks"), list):
                yield ("hooks", event, number), group


def _is_ours(handler: Any) -> bool:
    command = str(handler.get("command", "")) if isinstance(handler, dict) else ""
    return command.endswith(_START) or _BY_NAME in command


def _read_permissions(settings: Settings) -> list[Any]:
    allowed: list[Any] = settings.get("permissions", {}).get("allow", [])
    return allowed


def _as_added(allowed: list[Any]) -> list[int]:
    """Return the indexes of our permissions in their order; none where a person chose some."""
    count = len(PERMISSIONS)
    for start in range(len(allowed) - count + 1):
        if allowed[start : start + count] == list(PERMISSIONS):
            return [*range(start, start + count)]
    return []


def _without_empty(text: str, path: Keys, original: str | None) -> str:
    """Remove containers that a removal left empty, except those empty in the original."""
    while json_text.raw(text, path) in ("{}", "[]"):
        before = json_text.raw(original, path) if original is not None else None
        if before is not None:
            was_empty = not json_text.parse(before)
            return json_text.replace(text, path, before) if was_empty else text
        if not path:
            return text
        text, path = json_text.remove(text, path), path[:-1]
    return text
