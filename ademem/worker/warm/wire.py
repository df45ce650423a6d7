"""Frames on a private Unix socket: four bytes of length, then so many of JSON."""

from __future__ import annotations

import _socket as sockets  # `socket` around it would cost a hook more than the question
import os
import sys
import time
from contextlib import closing

REQUEST_BYTES = 1 << 18
REPLY_BYTES = 1 << 20
"""Longest frames that are read."""
HEAD_BYTES = 4


class BadFrame(ValueError):
    """What came is no frame, or one beyond the bound."""


class Stranger(OSError):
    """The other end belongs to another user, or the system does not tell to whom."""


def exchange(path: str, request: bytes, budget_s: float) -> bytes:
    """One question, one answer, all within the budget; raises OSError or BadFrame."""
    deadline = time.monotonic() + budget_s
    with closing(sockets.socket(sockets.AF_UNIX, sockets.SOCK_STREAM)) as asking:
        asking.settimeout(budget_s)
        asking.connect(path)
        check_peer(asking)
        send(asking, request, deadline)
        return receive(asking, REPLY_BYTES, deadline)


def send(to: sockets.socket, body: bytes, deadline: float) -> None:
    to.settimeout(_left(deadline))
    to.sendall(len(body).to_bytes(HEAD_BYTES, "big") + body)


def receive(speaker: sockets.socket, most: int, deadline: float) -> bytes:
    """One frame; raises BadFrame, or OSError when it is not there by the deadline."""
    length = int.from_bytes(_exactly(speaker, HEAD_BYTES, deadline), "big")
    if length > most:
        raise BadFrame(f"a frame of {length} bytes, where {most} are allowed")
    return _exactly(speaker, length, deadline)


def check_peer(connected: sockets.socket) -> None:
    """Whoever is at the other end is the user we are; raises Stranger."""
    if _peer(connected) != os.geteuid():
        raise Stranger("the other end of the socket is somebody else's")


def _exactly(speaker: sockets.socket, count: int, deadline: float) -> bytes:
    parts = []
    while count:
        speaker.settimeout(_left(deadline))
        part = speaker.recv(min(count, 1 << 16))
        if not part:
            raise BadFrame("the other side went away")
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


def _left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError("no answer in time")
    return left


def _peer(connected: sockets.socket) -> int:
    """User id of the other end: `struct ucred` on Linux, `struct xucred` on macOS and BSD."""
    if sys.platform == "linux":
        found = connected.getsockopt(sockets.SOL_SOCKET, sockets.SO_PEERCRED, 12)
    else:
        sol_local, local_peercred = 0, 1
        found = connected.getsockopt(sol_local, local_peercred, 76)
    return int.from_bytes(found[4:8], sys.byteorder)
