"""One process at a time."""

from __future__ import annotations

import os
from contextlib import contextmanager

from ademem.core import confined

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def locked(path: str, *, root: str = "", wait: bool = True) -> Iterator[bool]:
    """Hold an exclusive lock on a folder or a file (made if missing); yields whether it was had.

    With a *root* the path is reached as `confined` reaches it. Whoever holds the lock may remove
    it: who waited for it takes a new one.
    """
    handle, ours = _taken(path, root, wait)
    while ours and not _is(path, root, handle):
        os.close(handle)
        handle, ours = _taken(path, root, wait)
    try:
        yield ours
    finally:
        os.close(handle)


def is_held(path: str, *, root: str = "") -> bool:
    """Whether somebody is seen to hold the lock; makes nothing, and lets others ask, too."""
    import fcntl

    try:
        handle = _existing(path, root)
    except OSError:  # not there, or not ours to look at
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(handle)
    return False


def _taken(path: str, root: str, wait: bool) -> tuple[int, bool]:
    """What is there now, open, and whether it is locked."""
    import fcntl

    handle = confined.open_lock(root, path) if root else _open(path)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        return handle, False
    except BaseException:
        os.close(handle)
        raise
    return handle, True


def _open(path: str) -> int:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    kind = os.O_RDONLY if os.path.isdir(path) else os.O_RDWR | os.O_CREAT
    return os.open(path, kind, 0o600)


def _existing(path: str, root: str) -> int:
    return confined.open_lock(root, path, make=False) if root else os.open(path, os.O_RDONLY)


def _is(path: str, root: str, handle: int) -> bool:
    try:
        there = confined.status(root, path) if root else os.stat(path)
    except FileNotFoundError:
        return False
    return there is not None and os.path.samestat(there, os.fstat(handle))
