"""ademem in one world: its command line, in this process, and what it left on disk."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from tests import command_line

from .session import HookRun
from .world import World

REPOSITORY = Path(__file__).parents[2]


class Product:
    def __init__(self, world: World) -> None:
        self.world = world

    def __call__(self, *arguments: str) -> str:
        """Return what `ademem` prints in the project."""
        world = self.world
        return command_line.ademem(*arguments, environment=world.environment, folder=world.project)

    def enrol(self) -> None:
        self("init", "--project", str(self.world.project))

    def install(self) -> None:
        self("install", "--project", str(self.world.project))

    def plug_in(self) -> None:
        """From now on the client is started with this repository as a plugin."""
        self.world.options += ("--plugin-dir", str(REPOSITORY))

    def know(self, text: str) -> None:
        """Keep a memory that a person vouches for."""
        self("add", text, "--category", "convention")

    def memories(self, status: str = "") -> dict[str, dict[str, Any]]:
        """What `list` shows, by content; with a status those that have it."""
        chosen = ("--status", status) if status else ()
        listed = json.loads(self("list", *chosen, "--json"))["memories"]
        return {memory["content"]: memory for memory in listed}

    def decisions(self, kind: str) -> list[dict[str, Any]]:
        """What the guard decided: deny, lift, …"""
        log = json.loads(self("log", "--guard", "--json"))["decisions"]
        return [decision for decision in log if decision["decision"] == kind]

    def knowledge(self) -> list[dict[str, Any]]:
        """The knowledge file, one dict a line."""
        self("files", "refresh")
        file = self.world.project / ".ade/memory/knowledge.jsonl"
        return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]

    def prompts(self) -> list[str]:
        """The prompts kept, in the order typed."""
        with closing(sqlite3.connect(self.world.project / ".ade/ade.db")) as db:
            rows = db.execute("select content from user_prompts order by seq").fetchall()
        return [content for (content,) in rows]

    def failures(self) -> str:
        """What hooks logged about themselves, in the project or in the user's folder."""
        return "".join(log.read_text() for log in self.world.root.rglob("hooks.log"))


@contextmanager
def watched(world: World) -> Iterator[Product]:
    """The product in a world where none of its hooks may fail, not even silently."""
    product = Product(world)
    yield product
    hooks = [hook for session in world.sessions for hook in session.hooks()]

    assert [hook for hook in hooks if not well_behaved(hook)] == []
    assert product.failures() == ""


def well_behaved(hook: HookRun) -> bool:
    """It ended with 0 and printed nothing or one JSON object; for PreCompact, plain text."""
    if hook.exit_code != 0 or hook.stderr:
        return False
    if not hook.stdout or hook.event == "PreCompact":
        return True
    return isinstance(json.loads(hook.stdout), dict)
