"""A project with folders of skills, and a clock that moves when told to."""

import os
from datetime import timedelta

import pytest

from ademem import api
from ademem.store import skills as table
from tests.world import Open

RELEASE = """---
name: release
description: Cut a release of the app. Use when somebody asks for a new version.
---

# Release

1. Run the tests:

```sh
npm test
git tag v1
```

2. Push the tag.
"""
COMMAND = """Look at the diff and list what is risky.

```diff
- old line
+ new line
```
"""


class World(Open):
    def write(self, path, text):
        """The clock moves on, and so does the time of the file."""
        self.now += timedelta(minutes=1)
        whole = self.root / path
        whole.parent.mkdir(parents=True, exist_ok=True)
        whole.write_bytes(text if isinstance(text, bytes) else text.encode())
        os.utime(whole, (self.now.timestamp(), self.now.timestamp()))
        return whole

    def scan(self, **options):
        return api.reindex_skills(self.memories, **options)

    def entries(self):
        return {entry.path: entry for entry in table.all_of(self.store)}

    def memory(self, path):
        return api.get(self.memories, self.entries()[path].memory_id)

    def rows(self):
        """All that a scan could write, as text."""
        tables = ("unified_memories", "memory_revisions", "memory_skill_index", "jobs")
        return [
            tuple(row) for name in tables for row in self.store.db.execute(f"select * from {name}")
        ]


@pytest.fixture
def world(tmp_path):
    with World(tmp_path / "project") as world:
        yield world


@pytest.fixture
def skilled(world):
    """One skill, one command, and one page that is no text."""
    world.write(".claude/skills/release/SKILL.md", RELEASE)
    world.write(".claude/commands/review.md", COMMAND)
    world.write(".claude/skills/broken.md", b"\x89PNG\x00\xff\xfe")
    return world
