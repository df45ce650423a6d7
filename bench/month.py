"""What the worker costs in a month of two people who share memory by git: seconds a session.

    PYTHONPATH=. python bench/month.py [--days N] [--held N] [--model]

Each works on a clone, two sessions a day: ten prompts, a `LEARNED:` line for every third, and a
memory that the person adds, which is confirmed at once. The worker runs once behind each session,
as a process; then the files are committed, pulled and pushed. Its processor time is summed with
that of what it starts. The project begins with as many memories as --held says.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import subprocess
import sys
import tempfile
import uuid
from pathlib import Path

import growth
from growth import ADEMEM, QUIET, Place

from ademem.operations import install
from ademem.operations.install import Where
from tests.persons import type_command

SESSIONS = 2
"""Of a person on a day."""
PROMPTS, LEARNS_EVERY = 10, 3


class Person(Place):
    def __init__(self, root: Path, seed: int) -> None:
        self.root, self.rng = root, random.Random(seed)
        self.run(ADEMEM, "init")
        self.install()
        self.hooks = install.find_commands(str(self.root), Where.LOCAL)

    def live(self) -> float:
        """Live through a session; return the seconds of the worker behind it."""
        session = {"session_id": str(uuid.uuid4())}
        self.hook("SessionStart", source="startup", **session)
        for number in range(PROMPTS):
            turn = session | {"prompt_id": str(uuid.uuid4())}
            self.prompt(**turn)
            if number % LEARNS_EVERY == 0:
                call = {"command": f"git commit -m 'LEARNED: The {self.text()}'"}
                self.hook("PostToolUse", tool_name="Bash", tool_input=call, **turn)
            self.hook("Stop", last_assistant_message="Done.", **turn)
        command = [ADEMEM, "add", f"The {self.text()}", "--category", "convention"]
        world = os.environ | growth.WITHOUT_MODEL | QUIET
        type_command(command, world, self.root)  # type: ignore[no-untyped-call]
        self.hook("SessionEnd", reason="exit", **session)
        return self.run(ADEMEM, "work")

    def exchange(self) -> None:
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "Work", "--allow-empty")
        self.git("pull", "-q", "--no-rebase", "--no-edit")
        self.git("push", "-q")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--days", type=int, default=22)
    parser.add_argument("--held", type=int, default=500)
    parser.add_argument("--model", action="store_true")
    given = parser.parse_args()
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    if given.model:
        growth.WITHOUT_MODEL.clear()
    with tempfile.TemporaryDirectory() as temporary:
        first = Place(Path(temporary), given.held).root
        shared, second = Path(temporary) / "shared.git", Path(temporary) / "second"
        for clone in (("--bare", str(first), str(shared)), (str(shared), str(second))):
            subprocess.run(["git", "clone", "-q", *clone], check=True)
        git = ["git", "-C", str(first)]
        subprocess.run([*git, "remote", "add", "origin", str(shared)], check=True)
        subprocess.run([*git, "fetch", "-q"], check=True)
        subprocess.run([*git, "branch", "-q", "-u", "origin/main"], check=True)
        people = [Person(first, 1), Person(second, 2)]
        unit = growth.yardstick(people[0])
        spent = []
        for _ in range(given.days * SESSIONS):
            for person in people:
                spent.append(person.live())
                person.exchange()
        held = sum(len(file.read_text().split("\n")) for file in second.glob(".ade/memory/*.jsonl"))
    print(f"{len(spent)} sessions, {held} lines at the end; yardstick {unit * 1000:.1f} ms")
    print(f"worker: {statistics.mean(spent):.2f} s a session, {sum(spent):.0f} s in all;")
    print(
        f"  {statistics.mean(spent) / unit:.1f} Y, median {statistics.median(spent) / unit:.1f} Y"
    )


if __name__ == "__main__":
    main()
