"""A git repository with a project, its worktrees, and one clock for all of them."""

from __future__ import annotations

import subprocess
from datetime import timedelta

from ademem import operations
from ademem.core.memory import Draft, Origin, Trust
from ademem.core.project import at
from ademem.files import enrolment
from ademem.files.snapshot import snapshot
from ademem.operations import files, searching, writing
from ademem.store import memories as rows
from ademem.sync.tracked_files import present
from tests.builders import NOW

FOLDER = ".ade/memory"
PERSON = Origin(trust=Trust.USER, source_type="user")


def git(root, *arguments, check=True):
    ran = subprocess.run(
        ["git", "-c", "user.name=n", "-c", "user.email=e@x", "-c", "core.editor=true"]
        + ["-c", "maintenance.auto=false"]  # which each commit would start a process for
        + [str(argument) for argument in arguments],
        cwd=root,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert not check or ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout.strip()


class Clock:
    """A minute later at every look."""

    def __init__(self):
        self.now = NOW

    def __call__(self):
        self.now += timedelta(minutes=1)
        return self.now


class Worktree:
    """One of them; whoever opens its memory does so as a command typed in it."""

    def __init__(self, root, clock=None, home=None):
        self.root, self.home = root, home or root
        self.clock = clock or Clock()

    def git(self, *arguments, check=True):
        return git(self.root, *arguments, check=check)

    def open(self, now=None):
        environment = {"HOME": str(self.home), "PATH": "/usr/bin"}
        return operations.open_memories(
            str(self.root), environment=environment, now=now or self.clock
        )

    def learn(self, text, category="gotcha", origin=PERSON, **fields):
        with self.open() as memories:
            written = writing.write(
                memories, Draft(content=text, category=category, origin=origin, **fields)
            )
        assert written.memory, written.reason
        return written.memory

    def refresh(self):
        with self.open() as memories:
            return files.refresh_files(memories)

    def commit(self, message="memory"):
        """Bring the files up to date and commit them."""
        self.refresh()
        self.git("add", "-A", ".ade")
        self.git("commit", "--quiet", "--allow-empty", "-m", message)
        return self.git("rev-parse", "HEAD")

    def switch(self, *arguments):
        self.git("checkout", "--quiet", *arguments)
        return self.refresh()

    def shown(self):
        """What the topic files say; the lines say no other, but for candidates."""
        found = snapshot(present(at(str(self.root))))
        placed = {item.item.content for id in found.placed for item in found.placed[id]}
        lines = {
            line.found["content"]
            for lines in found.lines.values()
            for line in lines.lines
            if line.found["status"] == "promoted"
        }
        assert placed == lines
        return sorted(placed)

    def row(self, memory):
        with self.open() as memories:
            return searching.get(memories, memory.id)

    def live(self):
        with self.open() as memories:
            return {
                row.content: row.source_branch
                for row in searching.list_memories(memories, limit=None)
            }

    def history(self, memory):
        with self.open() as memories:
            return rows.revisions(memories.store, memory.id)

    def dirty(self):
        return self.git("status", "--porcelain", "--", FOLDER)

    def worktree(self, path, *options, at=""):
        self.git("worktree", "add", "--quiet", *options, path, *filter(None, [at]))
        return Worktree(path, self.clock, self.home)


def enrolled(root, branch="main"):
    """A repository in whose first commit the files of memory are."""
    root.mkdir(parents=True, exist_ok=True)
    git(root, "init", "--quiet", f"--initial-branch={branch}")
    here = Worktree(root)
    enrolment.enrol(_made(root), "ademem")
    git(root, "config", "--remove-section", "merge.ademem")  # git's own merge of text
    here.commit("start")
    return here


def _made(root):
    (root / ".ade").mkdir(exist_ok=True)
    return at(str(root))
