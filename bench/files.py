"""What the files of a large memory cost, as ratios to reading and writing the same bytes.

    python bench/files.py [--memories N] [--rounds N]

Every time is the best of some rounds, taken in turn with the yardstick: all files of the mirror
read and written anew, each with an fsync, as the mirror does. `import` makes a new store of the
files; `merge` is both formats merged with a change of one memory in twenty on either side.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from ademem.core import project, shared_files
from ademem.core.credential_nouns import find_nouns
from ademem.core.memory import Category
from ademem.core.settings import Settings
from ademem.store.opening import open_store
from ademem.store.runtime import Runtime
from ademem.sync import checks, mirror
from ademem.sync.merging import merge_versions
from tests import builders

if TYPE_CHECKING:
    from collections.abc import Callable

    from ademem.core.project import Project
    from ademem.store import Store

NOW = datetime(2026, 1, 31, 12, 0, tzinfo=UTC)
LISTED = (Path(__file__).parent / "words.txt").read_text(encoding="utf-8").split()
WORDS = [word for word in LISTED if not find_nouns(word)]
"""Without names of credentials, as a word of chance behind one looks like a secret."""
CATEGORIES = list(Category)[:6]
CHANGED = 20
"""Every which memory a side of the merge has edited."""


def main() -> None:
    asked = argparse.ArgumentParser()
    asked.add_argument("--memories", type=int, default=5000)
    asked.add_argument("--rounds", type=int, default=3)
    options = asked.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        measure(Path(folder), options.memories, options.rounds)


def measure(folder: Path, count: int, rounds: int) -> None:
    place = enrolled(folder / "first")
    with closing(open_store(place, NOW)) as store:
        fill(store, count)
        first = refresh(place, store)
        paths = sorted(Path(place.memory).iterdir())
        texts = {path.name: path.read_text(encoding="utf-8") for path in paths}
        idle = refresh(place, store)
        print(f"{count} memories, {first.bytes} bytes in {len(first.written)} files")
        print(f"an idle render wrote {idle.bytes} bytes in {len(idle.written)} files")
        works: dict[str, Callable[[int], object]] = {
            "read and write": lambda number: copied(texts, folder / f"copy-{number}"),
            "idle render": lambda _: refresh(place, store),
            "check": lambda _: checks.check(place, store, Settings().mirror),
            "render": lambda _: rendered(place, store),
            "import": lambda number: imported(texts, folder / f"import-{number}"),
            "merge": lambda _: merge(texts),
        }
        best = dict.fromkeys(works, float("inf"))
        for number in range(rounds):
            for name, work in works.items():
                began = time.perf_counter()
                work(number)
                best[name] = min(best[name], time.perf_counter() - began)
    for name, seconds in best.items():
        print(f"{name:16} {seconds / best['read and write']:8.1f}")


def enrolled(root: Path) -> Project:
    (root / ".ade").mkdir(parents=True)
    return project.at(str(root))


def fill(store: Store, count: int) -> None:
    rows = []
    for number in range(count):
        words = (WORDS[number * step % len(WORDS)] for step in range(1, 16))
        row = builders.memory(
            f"{number} {' '.join(words)}",
            category=CATEGORIES[number % len(CATEGORIES)],
            tags=(WORDS[number % 40],),
            created_at=NOW + timedelta(seconds=number),
            updated_at=NOW + timedelta(seconds=number),
        )
        rows.append(row)
    builders.insert(store, *rows)


def refresh(place: Project, store: Store) -> mirror.Refreshed:
    return mirror.refresh(Runtime(place, Settings(), store, {}, NOW + timedelta(days=1)))


def rendered(place: Project, store: Store) -> None:
    for path in Path(place.memory).iterdir():
        path.unlink()
    refresh(place, store)


def copied(texts: dict[str, str], folder: Path) -> None:
    for name, text in texts.items():
        path = os.path.join(folder, name)
        shared_files.write_atomic(path, text)
        shared_files.read_text(path)


def imported(texts: dict[str, str], root: Path) -> None:
    place = enrolled(root)
    for name, text in texts.items():
        shared_files.write_atomic(os.path.join(place.memory, name), text)
    with closing(open_store(place, NOW)) as store:
        refresh(place, store)


def merge(texts: dict[str, str]) -> None:
    for name, text in texts.items():
        blocks = text.split("\n") if name.endswith(".jsonl") else text.split("\n\n")
        glue = "\n" if name.endswith(".jsonl") else "\n\n"
        sides = [
            glue.join(
                block.replace(WORDS[1], f"{WORDS[1]} {side}") if at % CHANGED == side else block
                for at, block in enumerate(blocks)
            )
            for side in (1, 2)
        ]
        merge_versions(name, text, *sides)


if __name__ == "__main__":
    main()
