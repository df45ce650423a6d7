"""Files that several processes use: replaced atomically, and locked."""

from __future__ import annotations

import os

from ademem.core import confined
from ademem.core.errors import suppress


def read_text(path: str) -> str | None:
    with suppress(FileNotFoundError), open(path, encoding="utf-8", newline="") as file:
        return file.read()
    return None


def write_atomic(path: str, text: str, *, mode: int = 0o666, sync: bool = True) -> bool:
    """Return False if the target has the text already; *mode* is for a new file."""
    return write_bytes(path, text.encode("utf-8"), mode=mode, sync=sync)


def write_bytes(path: str, wanted: bytes, *, mode: int = 0o666, sync: bool = True) -> bool:
    target = os.path.realpath(path)
    with suppress(FileNotFoundError), open(target, "rb") as file:
        if file.read() == wanted:
            return False
    os.makedirs(os.path.dirname(target), exist_ok=True)
    temporary = f"{target}.{os.getpid()}-{os.urandom(4).hex()}.tmp"
    try:
        with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
            file.write(wanted)
            file.flush()
            if sync:
                os.fsync(file.fileno())
        if os.path.exists(target):
            os.chmod(temporary, os.stat(target).st_mode & 0o7777)
        os.replace(temporary, target)
    except BaseException:
        remove(temporary)
        raise
    return True


def remove(path: str) -> bool:
    with suppress(FileNotFoundError):
        os.unlink(path)
        return True
    return False


class locked:
    """Exclusive lock of a folder or a file, which is made; a `with` gets True if it has the lock.

    With *root* the path is opened by `confined`. A holder may remove the file: the next one locks
    a new file.
    """

    def __init__(self, path: str, *, root: str = "", wait: bool = True) -> None:
        self._path, self._root, self._wait = path, root, wait

    def __enter__(self) -> bool:
        import fcntl

        while True:
            if self._root:
                self._handle = confined.open_lock(self._root, self._path)
            else:
                os.makedirs(os.path.dirname(self._path), exist_ok=True)
                kind = os.O_RDONLY if os.path.isdir(self._path) else os.O_RDWR | os.O_CREAT
                self._handle = os.open(self._path, kind, 0o600)
            try:
                fcntl.flock(self._handle, fcntl.LOCK_EX | (0 if self._wait else fcntl.LOCK_NB))
            except BlockingIOError:
                return False
            except BaseException:
                os.close(self._handle)
                raise
            with suppress(FileNotFoundError):
                there = (
                    confined.status(self._root, self._path) if self._root else os.stat(self._path)
                )
                if there and os.path.samestat(there, os.fstat(self._handle)):
                    return True
            os.close(self._handle)

    def __exit__(self, *_error: object) -> None:
        os.close(self._handle)


def is_held(path: str, *, root: str = "") -> bool:
    """Return True if another process holds the lock; makes no file."""
    import fcntl

    try:
        handle = confined.open_lock(root, path, make=False) if root else os.open(path, os.O_RDONLY)
    except OSError:  # missing, or of another user
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(handle)
    return False
