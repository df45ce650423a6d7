"""`python -m tests.worker.warm.nobody SOCKET`: ask as another user, tell what that raised.

First as a client does, then without looking who is at the other end. Without the privilege to be
another user it only believes to be one, which the server cannot know.
"""

from __future__ import annotations

import _socket as sockets
import os
import sys
import time
from contextlib import closing

from ademem.worker import warm

NOBODY = 65534


def unwary(path: str) -> bytes:
    with closing(sockets.socket(sockets.AF_UNIX, sockets.SOCK_STREAM)) as asking:
        asking.connect(path)
        asking.sendall(b"{}")
        asking.shutdown(sockets.SHUT_WR)
        return warm.receive(asking, warm.REPLY_BYTES, time.monotonic() + 60)


if __name__ == "__main__":
    if os.geteuid() == 0:
        os.setuid(NOBODY)
    else:
        os.geteuid = lambda: NOBODY
    for ask in (lambda path: warm.exchange(path, b"{}", 60), unwary):
        try:
            print("answered" if ask(sys.argv[1]) else "hung up")
        except warm.Stranger:
            print("Stranger")
        except ConnectionError:
            print("hung up")
