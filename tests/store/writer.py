"""`python -m tests.store.writer FOLDER COUNT SHARED NUMBER`: write memories, tell of each.

Of COUNT texts the first SHARED are the same for every writer. An id is printed when its
transaction is over: from then on the memory has to survive anything.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from ademem.capture import gate
from ademem.core import project
from ademem.core.memory import Draft
from ademem.core.settings import GateSettings
from ademem.store.opening import open_store
from tests.builders import NOW

if TYPE_CHECKING:
    from collections.abc import Iterator

NOUNS = ("anchor", "bridge", "cellar", "dynamo")


def written(folder: str, count: int, shared: int, name: str) -> Iterator[str]:
    """The ids of the memories, each as soon as it is there."""
    store = open_store(project.at(folder), NOW, wait_s=60)
    for turn in range(count):
        draft = Draft(content=_text("all" if turn < shared else name, turn))
        memory = gate.write(draft, store, GateSettings(), NOW).memory
        yield memory.id if memory else "refused"
    store.close()


def _text(whose: str, turn: int) -> str:
    """Texts that have no word in common, so that the gate never takes them for the same."""
    return " ".join(f"{noun}{whose}x{turn}" for noun in NOUNS)


if __name__ == "__main__":
    print("ready", flush=True)
    sys.stdin.readline()
    folder, count, shared, name = sys.argv[1:]
    for id in written(folder, int(count), int(shared), name):
        print(id, flush=True)
