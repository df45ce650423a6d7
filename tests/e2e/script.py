"""A conversation as a test writes it down: what the person types, what the model answers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

Speaker = Literal["model", "helper"]


@dataclass(frozen=True)
class Call:
    """A tool the model asks for."""

    name: str
    input: dict[str, Any]


@dataclass(frozen=True)
class Person:
    text: str


@dataclass(frozen=True)
class Reply:
    """One answer of the main thread's model, or of the subagent's."""

    speaker: Speaker
    text: str
    calls: tuple[Call, ...]
    late: bool = False
    """Held back until the main thread is idle."""
    used: int = 1000
    """Tokens of the request, as the model counts them."""


Line = Person | Reply
FULL = 990_000
"""Tokens from which the newest client compacts a conversation before its next request."""


def person(text: str) -> Person:
    return Person(text)


def model(*parts: str | Call) -> Reply:
    return _reply("model", parts)


def helper(*parts: str | Call, late: bool = False, full: bool = False) -> Reply:
    """What the subagent answers.

    *late*: only once the main thread has finished its turn. *full*: its context is full then.
    """
    return _reply("helper", parts, late, FULL if full else 1000)


def write(path: Path, content: str = "written\n") -> Call:
    return Call("Write", {"file_path": str(path), "content": content})


def bash(command: str) -> Call:
    return Call("Bash", {"command": command, "description": "as scripted"})


def delegate(task: str, *, background: bool = False) -> Call:
    """Start a subagent; in the foreground its end is awaited."""
    return Call(
        "Agent",
        {
            "description": "scripted task",
            "prompt": task,
            "subagent_type": "general-purpose",
            "run_in_background": background,
        },
    )


def _reply(
    speaker: Speaker, parts: tuple[str | Call, ...], late: bool = False, used: int = 1000
) -> Reply:
    return Reply(
        speaker,
        text="\n".join(part for part in parts if isinstance(part, str)),
        calls=tuple(part for part in parts if isinstance(part, Call)),
        late=late,
        used=used,
    )
