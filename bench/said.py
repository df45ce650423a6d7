"""Whether the shell part of hooks takes anything away: 2,000 calls in two projects that live alike.

    PYTHONPATH=. python bench/said.py [--calls 2000] [--files 6,40]

In one project the hooks run as the client runs them, in the other Python answers each event. The
calls are those of `session.py`, 100 a session, with a Makefile and a package.json that change,
prompts that the person takes back, and lessons; then those of the strangers' recorded sessions.
Prints how many hooks of each event the shell ended, and each answer that differs.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import tempfile
from itertools import count
from pathlib import Path
from typing import Any
from unittest.mock import patch

from session import ASKED, CODE, COMMANDS, MEMORIES, RULES, SHARES

from hooks import NOUNS
from tests.session.twins import Twins

CALLS = 100
"""Of a session."""
MORE = (
    *("npm test", "make test", "npm run build", "rm -r build", "git checkout -b {word}"),
    *("sed -i s/{word}/{other}/ src/{name}.py", 'git push origin "{word}"', "make {word}"),
    *("npx jest", "cd src && ls", "cp src/{name}.py /tmp/{word}.py", "git pull"),
)
LESSON = 'echo "LEARNED: the {word} of {name} needs {other}"'
STRANGERS = Path(__file__).parents[1] / "tests/strangers"


def twins_of(folder: Path, files: dict[str, str]) -> Any:
    return Twins(folder, files)  # type: ignore[no-untyped-call]


class Session:
    """A session of a person whose words and calls are drawn."""

    def __init__(self, folder: Path, seed: int, files: int) -> None:
        self.rng = random.Random(seed)
        self.names = self.rng.sample(NOUNS, files)
        code = {f"src/{name}.py": self.code(name) for name in self.names}
        self.twins = twins_of(folder, code)
        for number in range(MEMORIES):
            text, options = RULES[number % len(RULES)]
            places = [f"`{each}`" if " " in each else each for each in options if each[0] != "-"]
            self.twins.know(self.fill(text), *map(self.fill, places))

    def live(self) -> Any:
        twins, tools = self.twins, [tool for tool, share in SHARES for _ in range(share)]
        twins.begin()
        for number in range(CALLS):
            if number % 10 == 0:
                before = twins.last
                twins.prompt(self.fill(self.rng.choice(ASKED)))
            self.call(self.rng.choice(tools))
            if number % 30 == 12:
                twins.write(
                    "Makefile", f"{self.fill('{word}')}:\n\trm {self.fill('src/{name}.py')}\n"
                )
            if number % 30 == 22:
                scripts = {"lint": self.fill("eslint --fix src/{name}.py"), "build": "tsc"}
                twins.write("package.json", json.dumps({"scripts": scripts}))
            if number % 10 == 9:
                twins.stop("Done." if number % 20 == 9 else "Takeaways:\n- none")
            if number % 40 == 29:
                twins.last = before  # the person takes the last prompt back
        twins.close()
        return twins

    def call(self, tool: str) -> None:
        path = self.fill("src/{name}.py")
        given: dict[str, Any] = {"file_path": f"/project/{path}"}
        match tool:
            case "Bash":
                line = LESSON if self.rng.random() < 0.02 else self.rng.choice((*COMMANDS, *MORE))
                given = {"command": self.fill(line), "description": "do it"}
            case "Write":
                given |= {"content": self.code("added")}
            case "Edit":
                given |= {"old_string": self.line(), "new_string": self.line()}
        self.twins.call(tool, given, failed=tool == "Bash" and self.rng.random() < 0.05)

    def fill(self, text: str) -> str:
        word, other = (self.rng.choice(NOUNS[1::2]) for _ in range(2))
        return text.format(name=self.rng.choice(self.names), word=word, other=other)

    def line(self) -> str:
        words = NOUNS if self.rng.random() < 0.2 else CODE
        return f"    {self.rng.choice(words)} = {self.rng.randrange(99)}\n"

    def code(self, name: str) -> str:
        return "".join([f"def {name}():\n", *(self.line() for _ in range(30))])


def live_strangers(folder: Path) -> Any:
    """Live through the recorded sessions of strangers with their rules."""
    from tests.session.test_same_answers import cases, live

    twins = twins_of(folder, {})
    for rule in cases("replay_rules"):  # type: ignore[no-untyped-call]
        twins.know(rule["text"], *rule["at"])
    twins.begin()
    for session in cases("replay_sessions"):  # type: ignore[no-untyped-call]
        live(twins, session["steps"])  # type: ignore[no-untyped-call]
    twins.close()
    return twins


def report(name: str, twins: Any) -> None:
    print(f"{name}: {twins.answers} answers; shell parts ended {twins.passed} hooks of", end=" ")
    print(f"{twins.passed + twins.asked}; {len(twins.differing)} answers differ", flush=True)
    for event, payload, shell, python in twins.differing:
        print(f"  {event} {json.dumps(payload)[:300]}\n    {shell!r}\n    {python!r}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--calls", type=int, default=2000)
    parser.add_argument("--files", default="6,40")
    given = parser.parse_args()
    sizes = [int(each) for each in given.files.split(",")]
    os.environ.pop("CLAUDE_PROJECT_DIR", None)
    with (
        patch("ademem.worker._detach"),
        tempfile.TemporaryDirectory(prefix="said-") as place,
    ):
        for number, seed in zip(range(given.calls // CALLS), count(), strict=False):
            files = sizes[number % len(sizes)]
            twins = Session(Path(place) / str(seed), seed, files).live()
            report(f"session {number + 1} of {CALLS} calls, {files} files", twins)
        report("the strangers' sessions", live_strangers(Path(place) / "strangers"))


if __name__ == "__main__":
    main()
