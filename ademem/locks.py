"""One process at a time."""

from __future__ import annotations

import os
from contextlib import contextmanager

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def locked(path: str, *, wait: bool = True) -> Iterator[bool]:
    """Hold an exclusive lock on a folder or a file (made if missing); yields whether it was had.

    Whoever holds it may remove it: who waited for it takes a new one.
    """
    handle, ours = _taken(path, wait)
    while ours and not _is(path, handle):
        os.close(handle)
        handle, ours = _taken(path, wait)
    try:
        yield ours
    finally:
        os.close(handle)


def is_held(path: str) -> bool:
    """Whether somebody is seen to hold the lock; makes nothing, and lets others ask, too."""
    import fcntl

    try:
        handle = os.open(path, os.O_RDONLY)
    except OSError:  # not there, or not ours to look at
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(handle)
    return False


def _taken(path: str, wait: bool) -> tuple[int, bool]:
    """What is there now, open, and whether it is locked."""
    import fcntl

    os.makedirs(os.path.dirname(path), exist_ok=True)
    kind = os.O_RDONLY if os.path.isdir(path) else os.O_RDWR | os.O_CREAT
    handle = os.open(path, kind, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        return handle, False
    except BaseException:
        os.close(handle)
        raise
    return handle, True


def _is(path: str, handle: int) -> bool:
    try:
        return os.path.samestat(os.stat(path), os.fstat(handle))
    except FileNotFoundError:
        return False
