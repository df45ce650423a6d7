"""A team in small: members with a store and a repository each, and git between them.

The repositories share one store of objects, so that any commit can be merged without a transport.
Git asks the merge driver through two pipes that a thread of this process serves: the merge is git's
own, and what the driver does is what `ademem merge-file` does.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
from contextlib import contextmanager, suppress
from datetime import timedelta
from operator import attrgetter

from ademem.capture import gate
from ademem.core import repository, shared_files
from ademem.core.memory import Category, Draft, Origin, Trust
from ademem.core.settings import Settings
from ademem.files import IGNORED, enrolment, knowledge
from ademem.files.records import export_lines
from ademem.store import memories, transitions
from ademem.store.transitions import Act, CannotDo
from ademem.sync import mirror, rendering
from ademem.sync.merging import merge_versions
from tests import builders
from tests.builders import NOW
from tests.store.stores import in_memory

FOLDER = ".ade/memory"
SETTINGS = Settings()
CATEGORIES = (Category.GOTCHA, Category.FACT, Category.DECISION, Category.PATTERN)
ENVIRONMENT = {
    **os.environ,
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "n",
    "GIT_AUTHOR_EMAIL": "e@x",
    "GIT_COMMITTER_NAME": "n",
    "GIT_COMMITTER_EMAIL": "e@x",
    "GIT_MERGE_AUTOEDIT": "no",
}
CONFIG = """[core]
	repositoryformatversion = 0
	fsync = none
[maintenance]
	auto = false
[advice]
	mergeConflict = false
	skippedCherryPicks = false
"""
ASK = """#!/bin/sh
printf '%s\\n' "$PWD" "$@" > {}
read -r said < {} && [ "$said" = merged ]
"""


class Driver:
    """Merges what git asks for, in this process; *asked* counts it."""

    served: Driver
    """The one of this process."""

    def __init__(self, folder):
        self.asked = 0
        self.failure = None
        self._ways = [str(folder / name) for name in ("ask", "tell")]
        for way in self._ways:
            os.mkfifo(way)
        script = folder / "driver"
        script.write_text(ASK.format(*self._ways))
        script.chmod(0o755)
        self.command = f"{script} %O %A %B %P"

    @contextmanager
    def serving(self):
        # Open for both, so that the end of one client is no end of the pipe.
        self._in, self._out = (os.open(way, os.O_RDWR) for way in self._ways)
        thread = threading.Thread(target=self._serve, daemon=True)
        thread.start()
        try:
            yield self
        finally:
            os.write(os.open(self._ways[0], os.O_RDWR), b"\n\n\n\n\n")
            thread.join()
            for end in (self._in, self._out):
                os.close(end)

    def _serve(self):
        with open(self._in, encoding="utf-8", closefd=False) as asked:
            while True:
                folder, *names, path = (next(asked).rstrip("\n") for _ in range(5))
                if not folder:
                    return
                os.write(self._out, self._merge(path, [os.path.join(folder, n) for n in names]))

    def _merge(self, path, versions):
        self.asked += 1
        try:
            texts = [shared_files.read_text(version) for version in versions]
            shared_files.write_atomic(versions[1], merge_versions(path, *texts))
        except BaseException as error:
            self.failure = error
            return b"failed\n"
        return b"merged\n"


class Member:
    """Somebody's repository and store; every act is a second later than the one before."""

    def __init__(self, root, number):
        self.root, self.number = root, number
        self.store = in_memory()
        self.project = builders.project(root)
        self.now = NOW + timedelta(hours=number)
        self._tracked = set()

    def tick(self):
        self.now += timedelta(seconds=1)
        return self.now

    @property
    def act(self):
        return Act(store=self.store, now=self.tick())

    def git(self, *arguments, check=True):
        environment = ENVIRONMENT | {"GIT_COMMITTER_DATE": self.now.isoformat()}
        ran = subprocess.run(
            ["git", *arguments], cwd=self.root, env=environment, capture_output=True, text=True
        )
        assert not check or ran.returncode == 0, f"{arguments}: {ran.stdout}{ran.stderr}"
        return ran

    def head(self):
        return repository.commit(self.root)

    def refresh(self, **flags):
        here = builders.opened(self.project, self.store, SETTINGS, self.tick())
        return mirror.refresh(here, **flags)

    def commit(self, message="memory"):
        """What is on disk, as a person does it who cares for nothing else."""
        there = set(os.listdir(self.project.memory))
        if not there <= self._tracked:
            self.git("add", "-A", FOLDER)
        self.git("commit", "--all", "--quiet", "--allow-empty", "-m", message)
        self._tracked = there

    def share(self, message="memory"):
        """Commit what the worker wrote."""
        self.refresh(lazily=True)
        self.commit(message)

    def merge(self, commit):
        """git's own merge; tells whether it left no conflict."""
        return self.git("merge", "--quiet", "--no-edit", commit, check=False).returncode == 0

    # --- what is known ---

    def lines(self):
        return [knowledge.to_line(record) for record in rendering.Lines(self.store).records()]

    def told(self):
        """All that the files can tell, by id."""
        return {record["id"]: record for record in self.lines()}

    def texts(self):
        """What the store still says to everybody, be it only as a candidate."""
        alive = "status <> 'archived' and deleted_at is null and kept_of is null"
        found = memories.find(self.store, alive)
        return {row.content for row in found}

    def gone(self):
        """What somebody who knew it let go, but for what is said elsewhere."""
        found = memories.find(self.store, "status = 'archived' or deleted_at is not null")
        return {row.content for row in found} - self.texts()

    def export(self):
        return [line | {"stamps": None} for line in export_lines(self.store, True)]

    def pages(self):
        return {
            name: shared_files.read_text(os.path.join(self.project.memory, name))
            for name in sorted(os.listdir(self.project.memory))
        }

    # --- what people do ---

    def rows(self):
        """The memories with a line, also of what another member changed here."""
        alive = (row for row in rendering.Lines(self.store) if row.live)
        return sorted(alive, key=attrgetter("content", "id"))

    def add(self, text, category):
        draft = Draft(
            content=text,
            category=category,
            promoted=True,
            origin=Origin(trust=Trust.USER, source_type="user", source_id=str(self.number)),
        )
        return gate.write(draft, self.store, SETTINGS.gate, self.tick()).memory

    def edit(self, row, **changes):
        with suppress(CannotDo):  # another memory says the same
            transitions.edit(row.id, self.act, SETTINGS.gate, **changes)

    def page_of(self, row):
        """The path of the page that has the item of the memory, and the item."""
        for name, text in self.pages().items():
            if name.endswith(".md") and name != "MEMORY.md":
                for block in text.split("\n\n"):
                    if f"<!-- {row.id} -->" in block:
                        return name, block.strip("\n")
        return None, None

    def write(self, name, text):
        shared_files.write_atomic(os.path.join(self.project.memory, name), text)


class Team:
    """Members whose repositories are one folder each, used again for history after history."""

    def __init__(self, folder, size=3, driver=None):
        self.roots = [folder / f"member-{number}" for number in range(size)]
        self.driver = driver
        self.begun = 0
        for root in self.roots:
            (root / ".git/refs").mkdir(parents=True)
            (root / ".git/HEAD").write_text("ref: refs/heads/main\n")
            (root / ".git/config").write_text(CONFIG)
        (self.roots[0] / ".git/objects").mkdir()
        for root in self.roots[1:]:
            (root / ".git/objects").symlink_to(self.roots[0] / ".git/objects")

    @contextmanager
    def history(self, merging, size):
        """Fresh members; *merging* is what `.gitattributes` says of the files of memory."""
        self.begun += 1
        members = []
        for number, root in enumerate(self.roots[:size]):
            shutil.rmtree(root / ".ade", ignore_errors=True)
            for name in ("refs", "logs"):
                shutil.rmtree(root / ".git" / name, ignore_errors=True)
            (root / ".git/refs").mkdir()
            for name in os.listdir(root / ".git"):
                if name.isupper() or name == "index":
                    (root / ".git" / name).unlink()
            (root / ".git/HEAD").write_text(f"ref: refs/heads/history-{self.begun}\n")
            driver = f'[merge "ademem"]\n\tdriver = "{self.driver.command}"\n'
            (root / ".git/config").write_text(CONFIG + driver)
            members.append(Member(root, number))
            attributes = enrolment.MERGED.replace("merge=ademem", merging)
            (root / ".ade/.gitattributes").write_text(attributes)
            (root / ".ade/.gitignore").write_text(IGNORED)
        try:
            yield members
        finally:
            for member in members:
                member.store.close()
        if self.driver.failure:
            raise self.driver.failure


# --- what happens in a history: an act, which memory, and a value ---


def pick(member, which):
    rows = member.rows()
    return rows[which % len(rows)] if rows else None


def add(member, which, value):
    """Rarely the text that somebody else has, too."""
    text = f"lesson {value} of all" if which == 0 else f"lesson {which}{value} of {member.number}"
    member.add(f"{text} counts", CATEGORIES[value % len(CATEGORIES)])


def rewrite(member, which, value):
    if row := pick(member, which):
        said = f"lesson {value} of all counts" if which == 0 else f"{row.id} by {member.now:%H%M%S}"
        member.edit(row, content=said)


def retitle(member, which, value):
    if row := pick(member, which):
        member.edit(row, title=f"Title {value}" if value else None)


def retag(member, which, value):
    if row := pick(member, which):
        member.edit(row, tags=("api", "web", "db")[:value])


def move(member, which, value):
    if row := pick(member, which):
        member.edit(row, category=CATEGORIES[value % len(CATEGORIES)])


def archive(member, which, value):
    if row := pick(member, which):
        transitions.archive(row.id, member.act)


def delete(member, which, value):
    if row := pick(member, which):
        transitions.delete(row.id, member.act)


def pin(member, which, value):
    if row := pick(member, which):
        transitions.pin(row.id, member.act, pinned=not row.pinned)


def hand_add(member, which, value):
    name = ("gotchas", "facts", "decisions", "patterns")[value % 4] + ".md"
    text = member.pages().get(name) or "# Page\n"
    said = f"lesson {value} of all" if which == 0 else f"line {which}{value} of {member.number}"
    member.write(name, f"{text}\n- {said} counts\n")


def hand_edit(member, which, value):
    row = pick(member, which)
    name, item = member.page_of(row) if row else (None, None)
    if name:
        text = f"typed {value} by {member.number} at {member.tick():%H%M%S}"
        member.write(name, member.pages()[name].replace(item, f"- {text} <!-- {row.id} -->"))


def hand_delete(member, which, value):
    row = pick(member, which)
    name, item = member.page_of(row) if row else (None, None)
    if name:
        member.write(name, member.pages()[name].replace(item, ""))


def hand_move(member, which, value):
    row = pick(member, which)
    name, item = member.page_of(row) if row else (None, None)
    target = ("gotchas", "facts", "decisions", "patterns")[value % 4] + ".md"
    if name and target != name:
        member.write(name, member.pages()[name].replace(item, ""))
        member.write(target, f"{member.pages().get(target) or ''}\n{item}\n")


def share(member, which, value):
    member.share()


def commit(member, which, value):
    member.commit()


BY_COMMAND = (add, rewrite, retitle, retag, move, archive, delete, pin)
BY_HAND = (hand_add, hand_edit, hand_delete, hand_move)
COMMITS = (share, commit)
