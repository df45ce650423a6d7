"""However the database is lost, no text of the files is: whoever comes first reads them again.

Each case is a state of git, a way to lose the database or what `run/` notes about the files, and
who comes first. Then every text that was on disk is in a file and in the database, unless the
database says that it is gone.
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from copy import deepcopy
from datetime import timedelta
from itertools import product
from pathlib import Path

import pytest

from ademem.core import clock
from ademem.core.project import at
from ademem.files.snapshot import snapshot
from ademem.session import answer, session_start
from ademem.store.runtime import open_runtime
from ademem.sync.tracked_files import present
from ademem.worker.running import JobContext, run_due
from tests.examples import FULL
from tests.sync.repository import FOLDER, Worktree, enrolled

HOOKS = Path(__file__).parents[2] / "hooks"
OLD = "the cache is not thread safe"
REVISED = "the cache is not thread safe before 2.0"
NEW = "the queue drops what is older than a day"
WRONG = "the moon is made of cheese"
LATER = "the nightly build has no network"


class Lost:
    """A work tree whose files have texts that the database is about to lose."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.here = enrolled(folder / "project")
        self.here.clock.now = clock.now() - timedelta(hours=6)  # processes have no other clock
        self.first = self.here
        self.memory = self.here.learn(OLD)
        self.wrong = self.here.learn(WRONG)
        self.expected = {REVISED, NEW}

    def finish(self) -> None:
        """Learn, revise and archive after the copy, and bring the files up to date."""
        self.save_copy()
        self.here.learn(NEW)
        with self.here.open() as memories:
            from ademem.operations import curation

            curation.edit(memories, self.memory.id, content=REVISED)
            curation.archive(memories, self.wrong.id)
        self.here.refresh()

    @property
    def database(self) -> Path:
        return self.first.root / ".ade/ade.db"

    def save_copy(self) -> None:
        copy = self.folder / "older.db"
        with closing(sqlite3.connect(self.database)) as db, closing(sqlite3.connect(copy)) as other:
            db.backup(other)

    def remove_database(self) -> None:
        for path in self.database.parent.glob("ade.db*"):
            path.unlink()

    @property
    def environment(self) -> dict[str, str]:
        root = str(self.here.root)
        own = {"HOME": str(self.here.home), "PATH": os.environ["PATH"], "CLAUDE_PROJECT_DIR": root}
        no_other_process = {"ADEMEM_JOBS_AUTO": "false"}
        return own | no_other_process | {"CLAUDE_CONFIG_DIR": f"{self.folder}/config"}


def untracked(lost: Lost) -> None:
    lost.here.git("rm", "-r", "--quiet", "--cached", "--ignore-unmatch", ".ade")
    lost.here.git("commit", "--quiet", "--allow-empty", "-m", "without memory")
    lost.finish()


def staged(lost: Lost) -> None:
    untracked(lost)
    lost.here.git("add", "-A", FOLDER)


def committed(lost: Lost) -> None:
    lost.finish()
    lost.here.commit()


def committed_and_newer(lost: Lost) -> None:
    committed(lost)
    lost.here.learn(LATER)
    lost.here.refresh()
    lost.expected |= {LATER}


def on_a_branch(lost: Lost) -> None:
    lost.here.commit()
    lost.here.git("checkout", "--quiet", "-b", "work")
    lost.finish()
    lost.here.learn(LATER)
    lost.here.commit()
    lost.expected |= {LATER}


def stashed(lost: Lost) -> None:
    """What the stash has is git's, and comes back with it."""
    committed(lost)
    lost.here.learn(LATER)
    lost.here.refresh()
    lost.here.git("stash", "--quiet")


def reset(lost: Lost) -> None:
    """The work tree is at an earlier commit than the last agreement of files and database."""
    committed(lost)
    lost.here.learn(LATER)
    lost.here.commit()
    lost.here.git("reset", "--quiet", "--hard", "HEAD~1")


def rebase_under_way(lost: Lost) -> None:
    """It stopped at a conflict in another file than those of memory."""
    committed(lost)
    other = lost.here.root / "other.txt"
    lost.here.git("checkout", "--quiet", "-b", "work", "HEAD~1")
    other.write_text("one\n")
    lost.here.git("add", "other.txt")
    lost.here.git("commit", "--quiet", "-m", "one")
    lost.here.git("checkout", "--quiet", "-")
    other.write_text("two\n")
    lost.here.git("add", "other.txt")
    lost.here.git("commit", "--quiet", "-m", "two")
    lost.here.git("checkout", "--quiet", "work")
    lost.here.git("rebase", "main", check=False)
    assert "rebase in progress" in lost.here.git("status")


def in_another_worktree(lost: Lost) -> None:
    lost.here.commit()
    lost.here = lost.here.worktree(str(lost.folder / "there"), "-b", "side")
    lost.here = Worktree(Path(lost.here.root), lost.first.clock, lost.first.home)
    lost.here.refresh()
    lost.finish()


STATES = (
    *(untracked, staged, committed, committed_and_newer, on_a_branch, stashed, reset),
    *(rebase_under_way, in_another_worktree),
)


def removed(lost: Lost) -> None:
    lost.remove_database()


def emptied(lost: Lost) -> None:
    lost.remove_database()
    lost.database.touch()


def with_a_damaged_header(lost: Lost) -> None:
    """Commands refuse it until `doctor --fix`."""
    data = lost.database.read_bytes()
    lost.remove_database()
    lost.database.write_bytes(b"\xff" * 100 + data[100:])
    from ademem.operations import recovery

    recovery.recover(at(str(lost.here.root)), lost.environment, clock.now())


def with_garbage(lost: Lost) -> None:
    lost.remove_database()
    lost.database.write_bytes(b"garbage" * 1000)


def overwritten_in_place(lost: Lost) -> None:
    """It is the file that was looked at, with something else in it."""
    for path in lost.database.parent.glob("ade.db-*"):
        path.unlink()
    with lost.database.open("r+b") as file:
        file.truncate(0)
        file.write(b"\xfe\x01garbage" * 1000)


def set_aside(lost: Lost) -> None:
    """It has a second name, so that it may be anybody's."""
    os.link(lost.database, lost.folder / "second")


def replaced_by_an_older_copy(lost: Lost) -> None:
    lost.remove_database()
    shutil.copy(lost.folder / "older.db", lost.database)


def overwritten_by_an_older_copy(lost: Lost) -> None:
    """In place, as `cp` does: it has the same inode."""
    for path in lost.database.parent.glob("ade.db-*"):
        path.unlink()
    lost.database.write_bytes((lost.folder / "older.db").read_bytes())


def older_copy_that_goes_on(lost: Lost) -> None:
    """More is learned by another door before anything reads the files."""
    overwritten_by_an_older_copy(lost)
    with open_runtime(at(str(lost.first.root)), lost.environment, lost.first.clock()) as runtime:
        from ademem.capture.gate import write
        from ademem.core.memory import Draft

        for number in range(9):
            draft = Draft(content=f"lesson {number} of {number * 7} in the meantime", promoted=True)
            write(draft, runtime.store, runtime.settings.gate, lost.first.clock())


def moved(lost: Lost) -> None:
    if lost.here is not lost.first:
        lost.here.git("worktree", "move", str(lost.here.root), str(lost.folder / "moved"))
        lost.here = Worktree(lost.folder / "moved", lost.here.clock)
        return
    lost.here.root.rename(lost.folder / "moved")
    lost.here = lost.first = Worktree(lost.folder / "moved", lost.here.clock)


def moved_and_removed(lost: Lost) -> None:
    moved(lost)
    removed(lost)


def without_run(lost: Lost) -> None:
    shutil.rmtree(lost.here.root / ".ade/run")


def _without(name: str):
    def lose(lost: Lost) -> None:
        (lost.here.root / ".ade/run" / name).unlink(missing_ok=True)

    lose.__name__ = f"without_run_{name}"
    return lose


WAYS = (
    *(removed, emptied, with_a_damaged_header, with_garbage, overwritten_in_place, set_aside),
    *(replaced_by_an_older_copy, overwritten_by_an_older_copy, older_copy_that_goes_on),
    *(moved, moved_and_removed, without_run),
    *map(_without, ("agreed", "mirror.json", "rendered", "files.seen")),
)


def command(lost: Lost) -> None:
    with lost.here.open() as memories:
        from ademem.operations import searching

        searching.recall(memories, "cache")


def refresh(lost: Lost) -> None:
    lost.here.refresh()


def forced_refresh(lost: Lost) -> None:
    with lost.here.open() as memories:
        from ademem.operations import files

        files.refresh_files(memories, force=True)


def hook(lost: Lost) -> None:
    said = answer(session_start.handle, start_of_session(lost), lost.environment, clock.now())
    assert "failed" not in said


def worker(lost: Lost) -> None:
    with open_runtime(at(str(lost.here.root)), lost.environment, clock.now()) as runtime:
        now = lost.here.clock()
        run_due(JobContext(runtime, lambda: now, None))


def hook_process(lost: Lost) -> None:
    run([str(HOOKS / "session_start.py")], lost, start_of_session(lost))


def worker_process(lost: Lost) -> None:
    code = "import sys; from ademem.worker import __main__ as worker; worker.main(sys.argv[1])"
    run(["-c", code, str(lost.here.root)], lost)


def run(arguments: list[str], lost: Lost, given: bytes = b"") -> None:
    ran = subprocess.run(
        [sys.executable, *arguments],
        input=given,
        capture_output=True,
        env=lost.environment,
        cwd=lost.here.root,
        timeout=120,
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (0, b"")


def start_of_session(lost: Lost) -> bytes:
    payload = {
        "session_id": "first",
        "cwd": str(lost.here.root),
        "hook_event_name": "SessionStart",
        "source": "startup",
        "transcript_path": str(lost.folder / "none.jsonl"),
    }
    return json.dumps(payload).encode()


ACTORS = (command, refresh, forced_refresh, hook, worker)
PROCESSES = (hook_process, worker_process)

CASES = list(product(STATES, WAYS, ACTORS))
EVERY = 1 if FULL else 37
"""A prime, so that the share has every state, way and actor."""


def each_case(cases, every):
    for state, way, actor in cases[::every]:
        yield pytest.param(
            state, way, actor, id=f"{state.__name__}-{way.__name__}-{actor.__name__}"
        )


def texts_of(root: Path) -> tuple[set[str], set[str]]:
    """The texts on pages, and those of confirmed lines."""
    found = snapshot(present(at(str(root))))
    placed = {item.item.content for id in found.placed for item in found.placed[id]}
    lines = (line.found for each in found.lines.values() for line in each.lines)
    return placed, {line["content"] for line in lines if line["status"] == "promoted"}


@pytest.fixture(scope="module")
def begin(tmp_path_factory):
    """Make each state once; a case gets a copy of it at the same place."""
    made = {}

    def begin(state):
        if state not in made:
            lost = Lost(tmp_path_factory.mktemp("lost") / "work")
            state(lost)
            shutil.copytree(lost.folder, f"{lost.folder}-saved", symlinks=True)
            made[state] = lost
        lost = deepcopy(made[state])
        shutil.rmtree(lost.folder)
        shutil.copytree(f"{lost.folder}-saved", lost.folder, symlinks=True)
        return lost

    return begin


@pytest.mark.parametrize(
    ("state", "way", "actor"),
    [*each_case(CASES, EVERY), *each_case(list(product(STATES, WAYS, PROCESSES)), 3 * EVERY)],
)
def test_no_text_is_lost_with_the_database(begin, state, way, actor):
    lost = begin(state)
    on_pages, in_lines = texts_of(lost.here.root)
    assert on_pages == in_lines == lost.expected
    way(lost)
    actor(lost)
    if state is rebase_under_way:
        on_pages, in_lines = texts_of(lost.here.root)
        assert lost.expected <= on_pages & in_lines  # git's operation is on: nothing is written
        lost.here.git("checkout", "--quiet", "--theirs", "other.txt")
        lost.here.git("add", "other.txt", ".ade")
        lost.here.git("rebase", "--continue")
        actor(lost)

    on_pages, in_lines = texts_of(lost.here.root)
    assert lost.expected <= on_pages & in_lines
    assert WRONG not in on_pages | in_lines
    live = set(lost.here.live())
    assert lost.expected <= live
    assert WRONG not in live


@pytest.mark.parametrize(
    ("state", "back"),
    [
        pytest.param(stashed, ("stash", "pop", "--quiet"), id="a stash"),
        pytest.param(reset, ("reset", "--quiet", "--hard", "ORIG_HEAD"), id="a reset commit"),
    ],
)
@pytest.mark.parametrize("way", [removed, replaced_by_an_older_copy], ids=lambda way: way.__name__)
def test_what_only_git_has_comes_back_with_it(begin, state, back, way):
    lost = begin(state)
    way(lost)
    refresh(lost)
    lost.here.git(*back)
    refresh(lost)

    on_pages, in_lines = texts_of(lost.here.root)
    assert lost.expected | {LATER} <= on_pages & in_lines & set(lost.here.live())
