"""What commands, hooks and the worker cost as a store grows, as processor time, with exponents.

    PYTHONPATH=. python bench/growth.py [--sizes 2000,20000] [--folder DIR] [--only WORD]

Whole processes, and what they start, in git projects whose files hold all memories; each figure is
the median of some runs over that of `python -I -c "import json, sqlite3"` in the same run. The last
column is the exponent k of cost ~ n^k between the first and the last size. `relate` takes stores of
drawn vectors, as so many texts take long to embed. With --folder the projects stay.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as the program sets it

import files
import stores

from ademem.core import clock, project, shared_files
from ademem.operations import install
from ademem.operations.install import Where
from ademem.search import dense, neighbours
from ademem.store import jobs
from ademem.store.opening import open_store
from tests import builders

if TYPE_CHECKING:
    from collections.abc import Callable

RUNS = 3
EDITED = 20
ADEMEM = str(Path(sys.executable).with_name("ademem"))
QUIET = {"ADEMEM_JOBS_AUTO": "false"}
WITHOUT_MODEL = {"ADEMEM_MODELS_DIR": "/nonexistent"}
"""So many texts take long to embed."""


def spent() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class Place:
    """A project of so many memories whose files are committed, registered hooks included."""

    def __init__(self, folder: Path, size: int) -> None:
        self.root = folder / f"growth-{size}"
        self.rng = random.Random(size)
        if not self.root.exists():
            self.build(size)
        self.install()
        self.hooks = install.find_commands(str(self.root), Where.LOCAL)

    def build(self, size: int) -> None:
        self.root.mkdir(parents=True)
        self.git("init", "-q", "-b", "main")
        self.run(ADEMEM, "init")
        with closing(open_store(project.at(str(self.root)), clock.now())) as store:
            files.fill(store, size)
        self.run(ADEMEM, "files", "refresh")
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "Remember")
        self.run(ADEMEM, "work")
        self.run(ADEMEM, "files", "refresh")

    def install(self) -> None:
        hooks = install.hooks_folder()
        install.install(str(self.root), Where.LOCAL, python=sys.executable, hooks=hooks)

    def run(self, *command: str, stdin: str = "", **environment: str) -> float:
        """Return the seconds of processors that it took with what it waited for."""
        before = spent()
        subprocess.run(
            command,
            input=stdin,
            text=True,
            cwd=self.root,
            env=os.environ | WITHOUT_MODEL | {"CLAUDE_PROJECT_DIR": str(self.root)} | environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=False,
        )
        return spent() - before

    def git(self, *arguments: str) -> None:
        who = ("-c", "user.name=Bench", "-c", "user.email=bench@example.invalid")
        subprocess.run(["git", *who, *arguments], cwd=self.root, check=True)

    def hook(self, event: str, **payload: Any) -> float:
        given = {
            "session_id": str(uuid.uuid4()),
            "cwd": str(self.root),
            "prompt_id": str(uuid.uuid4()),
            "hook_event_name": event,
            **payload,
        }
        return self.run("sh", "-c", self.hooks[event], stdin=json.dumps(given), **QUIET)

    def edit(self) -> None:
        """Change the words of twenty entries of one page, as a person or a pull does."""
        page = sorted(self.root.glob(".ade/memory/decisions*.md"))[0]
        entries = page.read_text().split("\n\n")
        for at in self.rng.sample(range(3, len(entries)), EDITED):
            words = entries[at].split(" ")
            words.insert(4, self.rng.choice(files.WORDS))
            entries[at] = " ".join(words)
        # A worker that a run left behind must not read half a page.
        shared_files.write_atomic(str(page), "\n\n".join(entries))

    def check(self) -> float:
        return self.run(ADEMEM, "files", "check")

    def check_again(self) -> float:
        self.run(ADEMEM, "files", "refresh")
        self.check()
        return self.check()

    def check_anew(self) -> float:
        for name in ("searched", "checked"):
            (self.root / ".ade/run" / name).unlink(missing_ok=True)
        return self.check()

    def import_edits(self) -> float:
        self.edit()
        took = self.run(ADEMEM, "files", "import", ADEMEM_DISABLE="1")
        self.run(ADEMEM, "files", "refresh")
        return took

    def start(self) -> float:
        return self.hook("SessionStart", source="startup")

    def start_after_pull(self) -> float:
        self.edit()
        took = self.start()
        self.run(ADEMEM, "files", "import")
        self.run(ADEMEM, "files", "refresh")
        return took

    def status(self) -> float:
        return self.run(ADEMEM, "status")

    def deny(self) -> float:
        turn = str(uuid.uuid4())
        self.hook("UserPromptSubmit", prompt="Fix the login bug", prompt_id=turn)
        call = {"file_path": "/tmp/x.py", "content": "x = 1\n"}
        return self.hook("PreToolUse", tool_name="Write", tool_input=call, prompt_id=turn)

    def fail(self) -> float:
        call = {"command": "make frobnicate", "description": "x"}
        return self.hook(
            "PostToolUseFailure",
            tool_name="Bash",
            tool_input=call,
            error="make: *** No rule to make target 'frobnicate'.  Stop.",
        )

    def stop(self) -> float:
        return self.hook("Stop", last_assistant_message="Done.")

    def prompt(self, **turn: str) -> float:
        return self.hook("UserPromptSubmit", prompt=f"Fix the {self.text()} please", **turn)

    def work_after_add(self) -> float:
        self.run(ADEMEM, "add", f"The {self.text()}", **QUIET)
        return self.run(ADEMEM, "work")

    def work_after_confirmed(self) -> float:
        with closing(open_store(project.at(str(self.root)), clock.now())) as store:
            now = clock.now()
            row = builders.memory(f"The {self.text()}", created_at=now, updated_at=now)
            builders.insert(store, row)
            jobs.queue(store, "mirror", "project", now)
        return self.run(ADEMEM, "work")

    def text(self) -> str:
        return " ".join([*self.rng.sample(files.WORDS, 10), uuid.uuid4().hex[:8]])


def relate(folder: Path, size: int) -> float:
    """Return the seconds in which all memories are compared with all."""
    root = folder / f"drawn-{size}"
    made = not root.exists()
    (root / ".ade").mkdir(parents=True, exist_ok=True)
    with closing(open_store(project.at(str(root)), clock.now())) as store:
        if made:
            stores.fill(store, size)
        dense.update_whitening(store, stores.MODEL, stores.DIMENSIONS)
        with store.transaction() as db:
            db.execute("delete from memory_neighbours")
            db.execute("delete from store_values where name = 'related'")
        began = time.process_time()
        neighbours.catch_up(store, stores.MODEL, clock.now())
        return time.process_time() - began


def yardstick(place: Place) -> float:
    command = (sys.executable, "-I", "-c", "import json, sqlite3")
    return statistics.median(place.run(*command) for _ in range(11))


def measure(folder: Path, size: int, only: str) -> dict[str, float]:
    place = Place(folder, size)
    works: dict[str, Callable[[], float]] = {
        "files check, first": place.check_anew,
        "files check, again": place.check_again,
        "import of 20 edits": place.import_edits,
        "session start": place.start,
        "session start after a pull": place.start_after_pull,
        "prompt": place.prompt,
        "denial": place.deny,
        "failure": place.fail,
        "stop": place.stop,
        "status": place.status,
        "worker after a candidate": place.work_after_add,
        "worker after a confirmed": place.work_after_confirmed,
        "relating all": lambda: relate(folder, size),
    }
    unit = yardstick(place)
    print(f"{size} memories; yardstick {unit * 1000:.1f} ms", file=sys.stderr, flush=True)
    found = {}
    for name, work in works.items():
        if re.search(only, name):
            work()
            found[name] = statistics.median(work() for _ in range(RUNS)) / unit
            took = f"{found[name]:8.2f} Y {found[name] * unit * 1000:8.0f} ms"
            print(f"  {name:28}{took}", file=sys.stderr, flush=True)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", default="2000,20000")
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    sizes = [int(size) for size in given.sizes.split(",")]
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.folder or Path(temporary)
        os.environ["ADEMEM_DATA_DIR"] = str(folder / "data")  # the person's may be large
        columns = [measure(folder, size, given.only) for size in sizes]
    steps = math.log(sizes[-1] / sizes[0]) if len(sizes) > 1 else math.inf
    for name, first in columns[0].items():
        growth = math.log(columns[-1][name] / first) / steps
        figures = "".join(f"{column[name]:12.1f}" for column in columns)
        print(f"{name:28}{figures}   n^{growth:.2f}")


if __name__ == "__main__":
    main()
