"""One process at a time."""

from __future__ import annotations

import os
from contextlib import contextmanager

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def locked(path: str, *, wait: bool = True) -> Iterator[bool]:
    """Hold an exclusive lock on a folder or a file (made if missing); yields whether it was had."""
    import fcntl

    os.makedirs(os.path.dirname(path), exist_ok=True)
    kind = os.O_RDONLY if os.path.isdir(path) else os.O_RDWR | os.O_CREAT
    handle = os.open(path, kind, 0o600)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            ours = True
        except BlockingIOError:
            ours = False
        yield ours
    finally:
        os.close(handle)
