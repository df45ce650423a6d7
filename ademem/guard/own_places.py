"""Keep ademem's own places from tools: the person's data and settings, the program, the database.

The files of memory below `.ade/` are not among them: agents may edit these, and it is noted.
"""

from __future__ import annotations

import os
import re

from ademem.guard.policy import SHELL_TOOLS, WRITING_TOOLS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from ademem.core.settings import GuardSettings

USUAL = (
    r"\.config/+ademem\b|\bademem-data\b|\.local/+share/+ademem\b|Application Support/+ademem"
    r"|\.ade/+(?:\./+)*(?:ade\.db|run\b)"
)
"""Where they are without a variable that moves them, however the home folder is spelled."""
DEPTH = 8


def named_in(
    tool: str,
    path: str,
    command: str,
    tool_input: dict[str, Any],
    places: Sequence[str],
    settings: GuardSettings,
    *,
    usual: str = USUAL,
) -> str:
    """Return the place that the call would write, or an empty text; *places* are absolute.

    *usual* is a pattern of places that are spelled in many ways.
    """
    if tool in WRITING_TOOLS:
        return _place_of(path, places)
    if tool in SHELL_TOOLS:
        return _written_by(command, places, usual, settings)
    if tool.startswith("mcp__"):
        from ademem.guard.programs import mcp_tool_changes

        if mcp_tool_changes(tool, settings):
            texts = _texts(tool_input)
            return next(filter(None, (_mentioned(text, places, usual) for text in texts)), "")
    return ""


def _place_of(path: str, places: Sequence[str]) -> str:
    real = f"{os.path.realpath(path)}/".lower()  # a file system may ignore case
    for place in places:
        whole = os.path.realpath(place).lower()
        if real.startswith(f"{whole}/") or (whole.endswith("ade.db") and real.startswith(whole)):
            return place
    return ""


def _written_by(command: str, places: Sequence[str], usual: str, settings: GuardSettings) -> str:
    place = _mentioned(command, places, usual)
    if not place and ".ade" not in command and ".claude" not in command:
        return ""
    from ademem.guard import mutation, shell

    script = shell.parse(command)
    if script is None:
        return place
    parts = list(mutation.parts_in(script, settings))
    words = [word.text for part in parts for word in _words(part.command)]
    place = place or next(filter(None, (_mentioned(word, places, usual) for word in words)), "")
    if not place:
        return ""
    entered = [word for part in parts for word in _targets_of_cd(part)]
    is_inside = any(_mentioned(f"{word}/", places, usual) for word in entered)
    writing = (
        part.command
        for part in parts
        if part.command.name.rpartition("/")[2] != "ademem" and mutation.judge_part(part).mutates
    )
    for each in writing:
        texts = _words(each)
        if is_inside or any(word.expands or _mentioned(word.text, places, usual) for word in texts):
            return place
    return ""


def _targets_of_cd(part: Any) -> list[str]:
    words = [word.text for word in part.command.words]
    return words[1:] if words[:1] == ["cd"] else []


def _words(command: Any) -> Iterator[Any]:
    yield from (*command.words, *command.assignments)
    yield from (redirect.target for redirect in command.redirects)
    if command.stdin:
        yield command.stdin


def _mentioned(text: str, places: Sequence[str], usual: str) -> str:
    if found := re.search(usual, text):
        return found[0]
    return next((place for place in places if place in text), "")


def _texts(value: Any, depth: int = 0) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif depth < DEPTH and isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _texts(each, depth + 1)
