"""What the first adoption of 3,000 lines takes, and how many lines of public repositories arrive.

    PYTHONPATH=. python bench/adopting.py [--seed N]
    PYTHONPATH=. python bench/adopting.py --checkouts FOLDER

Processor time in this process, of lines that all forbid something, and of a fifth of such lines
among sentences of this documentation: the first adoption, one after a line changed, and the look
that finds no change. With a folder of checkouts, named as their repositories are, those lines of
`rule_lines.tsv` are counted that arrive with the right scope: it has repository, commit, file,
scope and numbers of lines that were chosen by hand as rules.
"""

from __future__ import annotations

import argparse
import gc
import os
import random
import subprocess
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ademem import operations
from ademem.doors.cli import commands
from ademem.files.instructions import reading
from ademem.store import adopted
from ademem.sync import adopting, instruction_state

if TYPE_CHECKING:
    from collections.abc import Callable

    from ademem.files.instructions.reading import Adopted

HERE = Path(__file__).parent
FILES, LINES, SOURCES = 30, 100, 300
NOUNS = (HERE / "words.txt").read_text(encoding="utf-8").split()
VERBS = "edit change delete touch rename move commit rewrite".split()
RULES = (
    "Never {verb} `src/{a}/{b}.py` by hand, the {c} makes it from the {d}.",
    "Do not {verb} files below `{a}/`: they belong to the {b} and its {c}.",
    "Don't run `npm {a}` before the {b} of {c} is done.",
    "You must not {verb} the {a} of {b} in src/{c}/{d}.ts; ask first.",
    "Never use {a} for {b}, the {c} cannot read it.",
    "The {a} must never call `{b}_{c}()` while the {d} is open.",
    "Avoid {a} in {b}.{c}, use `{d}.py` instead.",
    "Never push to main without a review of {a} and {b}.",
)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--checkouts", type=Path)
    given = parser.parse_args()
    if given.checkouts:
        count_lines(given.checkouts)
        return
    gc.set_threshold(commands.YOUNG)  # as the worker collects
    for name, other in (("forbidding", []), ("a mix", list_sentences())):
        with tempfile.TemporaryDirectory() as folder:
            environment = {"HOME": folder, "CLAUDE_CONFIG_DIR": f"{folder}/config"}
            os.environ |= environment | {"ADEMEM_JOBS_AUTO": "false"}
            adopt(f"{folder}/warm", random.Random(0), other, files=3)
            print(name, adopt(f"{folder}/project", random.Random(given.seed), other))


def list_sentences() -> list[str]:
    paths = [*sorted((HERE.parent / "docs").rglob("*.md")), *sorted(HERE.parent.glob("*.md"))]
    lines = [line for path in paths for line in path.read_text(encoding="utf-8").splitlines()]
    return [line.strip(" -*") for line in lines if len(line.split()) > 5 and line[0] not in "|#`"]


def adopt(root: str, rng: random.Random, other: list[str], files: int = FILES) -> str:
    for number in range(files):
        lines = (write_line(at, rng, other) for at in range(LINES))
        put(Path(root) / f"pkg{number}/CLAUDE.md", "".join(lines))
    for _ in range(SOURCES):
        put(Path(root) / f"src/{rng.choice(NOUNS)}/{rng.choice(NOUNS)}.py", "")
    for command in ("init -q -b main", "add -A", "-c user.name=a -c user.email=a@b.c commit -qm a"):
        subprocess.run(["git", "-C", root, *command.split()], check=True)
    operations.init(root)
    memories = operations.open_memories(root, environment=dict(os.environ))
    adopted.take(memories.store, memories.now)
    first, outcome = timed(lambda: adopting.adopt(memories))
    with (Path(root) / "pkg1/CLAUDE.md").open("a", encoding="utf-8") as file:
        file.write("- Never edit `src/` on a Friday\n")
    changed, _ = timed(lambda: adopting.adopt(memories))
    same, _ = timed(lambda: instruction_state.is_behind(memories))
    return f"{outcome.added} items {first:.0f} ms, a change {changed:.0f}, none {same:.1f}"


def write_line(at: int, rng: random.Random, other: list[str]) -> str:
    a, b, c, d = rng.sample(NOUNS, 4)
    rule = rng.choice(RULES).format(verb=rng.choice(VERBS), a=a, b=b, c=c, d=d)
    heading = f"\n## {rng.choice(NOUNS)}\n\n" if at % 10 == 0 else ""
    return f"{heading}- {rng.choice(other) if other and at % 5 else rule}\n"


def put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def timed(call: Callable[[], Any]) -> tuple[float, Any]:
    before = time.process_time()
    result = call()
    return (time.process_time() - before) * 1000, result


def count_lines(folder: Path) -> None:
    right = total = 0
    read: dict[str, tuple[Adopted, ...]] = {}
    for row in (HERE / "rule_lines.tsv").read_text(encoding="utf-8").splitlines():
        name, _, path, scope, numbers = row.split("\t")
        root = str(folder / name.rpartition("/")[2])
        if root not in read:
            read[root] = reading.read(root, adopting.list_paths(root)).items
            texts = [(each.folder, each.scope, each.lead, each.text) for each in read[root]]
            print(f"{name}: {len(texts)} items, {len(texts) - len(set(texts))} twice")
        lines = (Path(root) / path).read_text(encoding="utf-8").splitlines()
        for number in map(int, numbers.split()):
            total += 1
            here = [each for each in read[root] if stands_at(each, root, path, number)]
            arrived = any(has_scope(each, scope) and says(each, lines[number - 1]) for each in here)
            right += arrived
            if not arrived:
                print(f"  not {path}:{number}")
    print(f"{right} of {total} lines")


def stands_at(item: Adopted, root: str, path: str, number: int) -> bool:
    """Tell of the item of a line, which may be named by the link or the file that it leads to."""
    is_here = os.path.realpath(f"{root}/{item.path}") == os.path.realpath(f"{root}/{path}")
    return (is_here and item.first <= number <= item.last) or any(path in s for s in item.sources)


def has_scope(item: Adopted, scope: str) -> bool:
    if "*" in scope:
        return item.live and item.scope.globs == (scope,)
    return item.live and item.folder.strip("/") == scope and item.scope.is_everything


def says(item: Adopted, line: str) -> bool:
    """Tell whether an item has the beginning of a line, without its mark."""
    words = line.strip().lstrip("->*+•0123456789.) ").split()
    return " ".join(words)[:45] in " ".join(f"{item.text} {item.lead}".split())


if __name__ == "__main__":
    main()
