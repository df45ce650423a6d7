"""The client's own memory of a project, and the hooks of the calls that change it."""

from __future__ import annotations

import os
from pathlib import Path

from ademem.capture import reconciling
from ademem.core import client_memory
from ademem.core.memory import Stage
from ademem.operations import curation
from ademem.store import memory_queries
from tests.world import World

FLAGS = "Feature flags live in flags.toml, not in the environment"
DEPLOY = "Releases are cut on Thursdays from the release branch"


def fact(text: str, kind: str = "project", why: str = "", how: str = "") -> str:
    """A file as the client stamps it."""
    parts = [text, why and f"**Why:** {why}", how and f"**How to apply:** {how}"]
    body = "\n\n".join(filter(None, parts))
    head = f"name: {kind}-fact\ndescription: {text[:30]}\nmetadata:\n  node_type: memory\n"
    return f"---\n{head}  type: {kind}\n---\n\n{body}\n"


class Client:
    """A project with the client's memory of it, and the hooks of the calls that change it."""

    def __init__(self, root: Path) -> None:
        (root / "project/.git").mkdir(parents=True)
        self.world = World(root / "project")
        self.folder = self.main
        self.calls = 0

    @property
    def main(self) -> Path:
        (main, *_) = client_memory.list_folders(self.project, self.world.environment)
        return Path(main.path)

    @property
    def project(self):
        with self.world.memories() as memories:
            return memories.project

    def put(self, name: str, text: str) -> Path:
        """Change a file without a hook."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        self.calls += 1
        moment = 1_772_000_000_000_000_000 + self.calls * 10**9
        os.utime(path, ns=(moment, moment))
        return path

    def write(self, name: str, text: str, prompt: str = "p1", **payload: object) -> str:
        path = self.put(name, text)
        return self.world.fire(
            "post_tool_use",
            prompt_id=prompt,
            tool_name="Write",
            tool_input={"file_path": str(path), "content": text},
            tool_response={"type": "create"},
            tool_use_id=f"t{self.calls}",
            **payload,
        )

    def bash(self, command: str, prompt: str = "p1", **payload: object) -> str:
        response = {"stdout": "", "stderr": "", "interrupted": False}
        return self.world.fire(
            "post_tool_use",
            prompt_id=prompt,
            tool_name="Bash",
            tool_input={"command": command},
            tool_response=response,
            **payload,
        )

    def prompt(self, text: str, prompt: str = "p1", **payload: object) -> str:
        return self.world.context("user_prompt_submit", prompt=text, prompt_id=prompt, **payload)

    def start(self, **payload: object) -> str:
        return self.world.fire("session_start", source="startup", **payload)

    def all(self):
        """Every memory of both stores by text, archived ones too."""
        with self.world.memories() as memories:
            found = {}
            for each in memories.with_own():
                each.store.show_all()
                found |= {one.content: one for one in memory_queries.everything(each.store)}
            return found

    def live(self):
        return {text: one for text, one in self.all().items() if one.live}

    def stage(self, text: str) -> Stage:
        return self.all()[text].stage

    def dump(self):
        """All that a run may change."""
        tables = ("unified_memories", "memory_revisions", "evidence", "client_file")
        with self.world.memories() as memories:
            return {
                (each.store.is_personal, table): each.store.dicts(f"select * from main.{table}")
                for each in memories.with_own()
                for table in tables
            }

    def confirm(self, text: str) -> None:
        with self.world.terminal() as memories:
            curation.promote(memories, self.find(text).id)

    def find(self, beginning: str):
        """The live memory whose text begins so."""
        return next(one for text, one in self.live().items() if text.startswith(beginning))

    def reconcile(self) -> None:
        with self.world.memories() as memories:
            reconciling.run(memories, seconds=60)
