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

    @property
    def hook(self) -> str:
        """The script below `hooks/`, without its suffix: by default named as the event."""
        return self.script or re.sub(r"\B([A-Z])", r"_\1", self.name).lower()


_SHELLS = "Bash|PowerShell|Monitor"

EVENTS = (
    Event("SessionStart", "briefing"),
    Event("UserPromptSubmit", "recalling"),
    Event(
        *("PreToolUse", "checking memory"),
        f"^(Write|Edit|MultiEdit|NotebookEdit|{_SHELLS}|mcp__.*)$",
    ),
    Event(
        *("PostToolUse", "noting lessons"),
        f"^(Write|Edit|MultiEdit|{_SHELLS}|WebFetch|WebSearch|mcp__.*)$",
    ),
    Event("PostToolUseFailure", "looking up the error", f"^({_SHELLS}|mcp__.*)$"),
    Event("PostToolBatch", "ending the calls"),
    Event("PreCompact", "preparing the summary"),
    Event("Stop", "ending the turn"),
    Event("SubagentStart", "briefing the agent"),
    Event("SubagentStop", "noting lessons"),
    Event("SessionEnd", "closing the session", timeout=5),
)
"""Names known to the oldest supported client, where an unknown one can disable the file."""
NEWER = {
    (2, 1, 332): Event("PreSkillShellCommand", "checking memory", script="pre_tool_use"),
}
"""Events that a client knows from this version on. An older one asks the person about the file, and
a plugin's would disable its hooks (observed in 2.1.197)."""
EVENT_NAMES = tuple(event.name for event in (*EVENTS, *NEWER.values()))


def events_of(version: tuple[int, ...]) -> tuple[Event, ...]:
    """Return the events that a client of this version knows; an unknown one knows the oldest."""
    return (*EVENTS, *(event for since, event in NEWER.items() if version >= since))


PERMISSIONS = (
    *(f"Bash(ademem {verb}:*)" for verb in ("recall", "search", "get", "add")),
    *(f"mcp__ademem__memory_{tool}" for tool in ("search", "timeline", "get", "context", "status")),
)


_START = '[ -r "$hooks/start.sh" ] && . "$hooks/start.sh"'
_BY_NAME = "/ademem pre_compact"
"""Part of the command of PreCompact, which the client shows to the person after a compaction."""


def make_groups(
    *, python: str, hooks: str, events: Iterable[Event] = EVENTS
) -> dict[str, Settings]:
    """Return the entry of each event; *python* and *hooks* are quoted for the shell."""
    groups = {}
    for event in events:
        status = f"ademem: {event.status}"
        if event.hook == "pre_compact":
            # The shortest command, as no setting hides it; `hooks/ademem` finds its own Python.
            prefix, home = hooks.removesuffix("/share/ademem/hooks"), os.path.expanduser("~/")
            own = prefix != hooks and python.startswith(f"{prefix}/bin/")
            is_below = home.startswith("/") and hooks.startswith(home)
            command = (f"~/{hooks.removeprefix(home)}" if is_below else hooks) + _BY_NAME
            command += "" if own or not python else f" {python}"
        else:
            # 2 is the exit code that blocks a tool call, and also a shell's own for a file it
            # cannot source: the trap makes every ending 0. An empty python= hides the user's.
            command = f"trap 'exit 0' 0; hook={event.hook} python={python} hooks={hooks}; {_START}"
        handler: Settings = {"type": "command", "command": command}
        handler |= {"timeout": event.timeout, "statusMessage": status}
        matcher = {"matcher": event.matcher} if event.matcher else {}
        groups[event.name] = matcher | {"hooks": [handler]}
    return groups


def add_entries(
    text: str, wanted: dict[str, Settings], permissions: Sequence[str] = PERMISSIONS
) -> str:
    for event, group in wanted.items():
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
    settings: Settings, wanted: dict[str, Settings], permissions: Sequence[str] = PERMISSIONS
) -> bool:
    """Tell whether our entries are just the wanted ones, at any position."""
    found = [(path[1], entry) for path, entry in _our_hooks(settings)]
    return (
        len(found) == len(wanted)
        and all(item in found for item in wanted.items())
        and set(permissions) <= set(map(str, _read_permissions(settings)))
    )


def list_commands(settings: Settings) -> dict[str, str]:
    return {
        str(path[1]): handler["command"]
        for path, entry in _our_hooks(settings)
        for handler in entry.get("hooks", [entry])
    }


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
    for event, groups in settings.get("hooks", {}).items():
        for number, group in enumerate(groups if isinstance(groups, list) else []):
            handlers = group.get("hooks") if isinstance(group, dict) else None
            if not isinstance(handlers, list):
                continue
            ours = [place for place, handler in enumerate(handlers) if _is_ours(handler)]
            if ours and len(ours) == len(handlers):
                yield ("hooks", event, number), group
            else:
                for place in ours:
                    yield ("hooks", event, number, "hooks", place), handlers[place]


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
