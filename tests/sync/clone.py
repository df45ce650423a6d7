"""A worktree with a store of its own, and what people and git do to its files."""

from __future__ import annotations

import json
from datetime import timedelta

from ademem.core.memory import Category
from ademem.core.settings import Settings
from ademem.core.value import replace
from ademem.files import enrolment
from ademem.files.markdown import NOTHING
from ademem.store import memories
from ademem.store.memories import Change
from ademem.sync import mirror
from tests import builders
from tests.builders import NOW, memory
from tests.sync.repository import git
from tests.sync.team import Driver

FOLDER = ".ade/memory"
GOTCHAS = f"{FOLDER}/gotchas.md"
FACTS = f"{FOLDER}/facts.md"
LINES = f"{FOLDER}/knowledge.jsonl"


class Clone:
    """A worktree with its own store, whose clock moves a minute with every act."""

    settings = Settings()

    def __init__(self, root, now=NOW):
        self.root = root
        self.project = builders.project(root)
        self.store = builders.open_project(root)
        self.now = now

    def tick(self):
        self.now += timedelta(minutes=1)
        return self.now

    def know(self, content, **fields):
        row = memory(content, created_at=self.tick(), updated_at=self.now, **fields)
        change = Change(operation="insert", actor="user", at=self.now)
        return memories.insert(self.store, replace(row, project_id=self.store.project_id), change)

    def refresh(self, **flags):
        return mirror.refresh(self.open(), **flags)

    def open(self):
        return builders.opened(self.project, self.store, self.settings, self.tick())

    def taken(self):
        return self.refresh().taken

    def read(self, path):
        return (self.root / path).read_bytes().decode()

    def write(self, path, text):
        (self.root / path).write_bytes(text.encode())

    def edit(self, path, old, new):
        """Replace a part of a file; a topic without entries has none yet."""
        text = self.read(path) if old != NOTHING or (self.root / path).exists() else NOTHING
        assert old in text
        self.write(path, text.replace(old, new))

    def item(self, path, row):
        """The lines of one entry."""
        (block,) = (part for part in self.read(path).split("\n\n") if row.id in part)
        return block

    def get(self, row):
        return memories.get(self.store, row.id)

    def live(self):
        found = memories.find(
            self.store, "status = 'promoted' and deleted_at is null and superseded_by is null"
        )
        return sorted(row.content for row in found)

    def pages(self):
        folder = self.root / FOLDER
        return {path.name: path.read_text() for path in sorted(folder.iterdir())}

    def said(self):
        """The files, without when and by whom each field of a line was written."""
        return without_stamps(self.pages())

    def git(self, *arguments, check=True):
        return git(self.root, *arguments, check=check)

    def commit(self, message="memory"):
        self.git("add", "-A", FOLDER)
        self.git("commit", "--quiet", "--allow-empty", "-m", message)
        return self.git("rev-parse", "HEAD")


def gotcha(clone, text="the cache is not thread safe", **fields):
    return clone.know(text, category=Category.GOTCHA, **fields)


def fork(repository, path):
    """Another clone of what the first one committed."""
    repository.git("clone", "--quiet", str(repository.root), str(path))
    return Clone(path, repository.now)


def with_driver(clone):
    """Let git ask the driver that this process serves."""
    (clone.root / ".ade/.gitattributes").write_text(enrolment.MERGED)
    clone.git("config", enrolment.DRIVER, Driver.served.command)


def without_stamps(pages):
    """Files by name, their lines without stamps and in the order of their ids."""
    return {
        name: unstamped(text) if name.endswith(".jsonl") else text for name, text in pages.items()
    }


def unstamped(text):
    lines = map(json.loads, text.splitlines())
    left = ({k: v for k, v in line.items() if k not in ("stamps", "updated_at")} for line in lines)
    return sorted(json.dumps(line, sort_keys=True) for line in left)
