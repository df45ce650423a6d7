"""`python -m tests.store.killer FOLDER KILLS`: kill writers at work, tell what they had done.

Two write at a time. A writer is killed the moment it tells of its n-th memory, when it is in
the middle of the next one; n goes round from one to five.
"""

from __future__ import annotations

import os
import signal
import sys

from tests.store.writer import written

ENDLESS = 1_000_000


def mortal(folder: str, name: str) -> tuple[int, int]:
    """A child that writes until it is killed; its process and where it tells."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        for id in written(folder, ENDLESS, 0, name):
            os.write(write, f"{id}\n".encode())
        os._exit(1)
    os.close(write)
    return child, read


def kill(child: int, told: int, after: int) -> str:
    """All that the child told, of which only the last line was meant to be its end."""
    said = b""
    while said.count(b"\n") < after:
        said += os.read(told, 4096)
    os.kill(child, signal.SIGKILL)
    while rest := os.read(told, 4096):
        said += rest
    os.close(told)
    assert os.WIFSIGNALED(os.waitpid(child, 0)[1])
    return said.decode()


if __name__ == "__main__":
    folder, kills = sys.argv[1], int(sys.argv[2])
    for id in written(folder, 1, 0, "first"):  # imports once what else each child would import
        print(id, flush=True)
    for first in range(0, kills, 2):
        pair = [(number, *mortal(folder, str(number))) for number in (first, first + 1)]
        for number, child, told in pair:
            sys.stdout.write(kill(child, told, 1 + number % 5))
