"""`python -m tests.search.index.mortal FOLDER FEW STEP`: be killed at every step of writing files.

A child changes a memory, writes the files, and dies at its n-th call of a function, ours or C's;
n grows by STEP until a child lives to the end. After each death one line tells whether the index
can be used, and it is an error if it then says anything but what the database says.
"""

from __future__ import annotations

import os
import signal
import sys
from contextlib import closing
from pathlib import Path

import numpy as np

from ademem.search.index import building
from ademem.store import Store
from tests.builders import open_project
from tests.search.index.world import World


def die_at(last: int) -> None:
    left = last

    def count(frame, event, argument):
        nonlocal left
        if event in ("call", "c_call") and "ademem" in frame.f_code.co_filename:
            left -= 1
            if left < 0:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.setprofile(count)


def writer(folder: Path, last: int) -> None:
    with closing(open_project(folder)) as store:
        world = World(store)
        world.edit("m0", f"number {last}")
        world.embed("m0")
        die_at(last)
        world.build()
        sys.setprofile(None)


def text_of(store: Store) -> str:
    (content,) = store.db.execute("select content from unified_memories where id = 'm0'").fetchone()
    return str(content)


def told(folder: Path) -> str:
    """Whether the index can be used; when it can, it has to be right."""
    with closing(open_project(folder)) as store:
        world = World(store)
        index = world.open()
        if index is None:
            return "without"
        wanted = world.vector()
        assert len(index.held("number").rows) == len(world.sessions()) == index.live
        assert len(index.held(text_of(store).split()[-1]).rows) >= 1
        rows = np.flatnonzero(index.cosines(wanted) > -np.inf)
        assert set(index.seqs(rows).tolist()) == set(world.cosines(wanted))
        return "with"


if __name__ == "__main__":
    folder, building.FEW, step = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    building.SMALL_PART = 0
    for last in range(0, 1_000_000, step):
        child = os.fork()
        if child == 0:
            writer(folder, last)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        print(os.WTERMSIG(status), told(folder), flush=True)
        if status == 0:
            break
