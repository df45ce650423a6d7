"""Types prompts into an interactive client: `python typing_person.py FOLDER CLIENT PROMPT ...`.

Each prompt is typed once the one before was answered: FOLDER/answered-N is there. Where
FOLDER/leaves is there, the person leaves by `/exit`; else the client is killed.
"""

from __future__ import annotations

import fcntl
import os
import pty
import select
import shlex
import struct
import sys
import termios
import time
from pathlib import Path

STARTS_IN_S, ENDS_IN_S, LEAVES_IN_S = 40.0, 900.0, 30.0


def drain(screen: int, seconds: float) -> bytes:
    """Read what the client draws for so long: it waits for who does not read."""
    shown, end = b"", time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        if select.select([screen], [], [], left)[0]:
            try:
                shown += os.read(screen, 65_536)
            except OSError:
                break
    return shown


def main(folder: Path, client: list[str], prompts: list[str]) -> None:
    pid, screen = pty.fork()
    if pid == 0:
        os.execvp(client[0], client)
    fcntl.ioctl(screen, termios.TIOCSWINSZ, struct.pack("HHHH", 70, 150, 0, 0))
    shown, end = b"", time.monotonic() + STARTS_IN_S
    while "❯".encode() not in shown and time.monotonic() < end:
        shown += drain(screen, 0.3)
    shown += drain(screen, 1.5)
    for number, prompt in enumerate(prompts, 1):
        os.write(screen, prompt.encode())
        shown += drain(screen, 0.8)
        os.write(screen, b"\r")
        end = time.monotonic() + ENDS_IN_S
        while not (folder / f"answered-{number}").exists() and time.monotonic() < end:
            shown += drain(screen, 0.2)
        shown += drain(screen, 1.0)
    if (folder / "leaves").exists():
        os.write(screen, b"/exit")
        shown += drain(screen, 1.0)
        os.write(screen, b"\r")
        end = time.monotonic() + LEAVES_IN_S
        while os.waitpid(pid, os.WNOHANG) == (0, 0):
            shown += drain(screen, 0.2)
            if time.monotonic() > end:
                os.kill(pid, 9)
    else:
        os.kill(pid, 9)
        os.waitpid(pid, 0)
    (folder / "screen").write_bytes(shown)


if __name__ == "__main__":
    main(Path(sys.argv[1]), shlex.split(sys.argv[2]), sys.argv[3:])
