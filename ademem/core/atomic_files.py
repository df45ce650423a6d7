"""Files that are either the old one or the new one, never half of one."""

from __future__ import annotations

import os


def read_text(path: str) -> str | None:
    """The file's text; None when there is no such file."""
    try:
        with open(path, encoding="utf-8", newline="") as file:
            return file.read()
    except FileNotFoundError:
        return None


def write_atomic(path: str, text: str, *, mode: int = 0o666) -> bool:
    """Replace the file a link leads to unless it says *text* already; tells whether it was written.

    A file keeps its mode; *mode* is for a new one.
    """
    return write_bytes(path, text.encode("utf-8"), mode=mode)


def write_bytes(path: str, wanted: bytes, *, mode: int = 0o666) -> bool:
    """`write_atomic` of what is no text."""
    target = os.path.realpath(path)
    if _bytes(target) == wanted:
        return False
    os.makedirs(os.path.dirname(target), exist_ok=True)
    aside = f"{target}.{os.getpid()}-{os.urandom(4).hex()}.tmp"
    try:
        with open(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
            file.write(wanted)
            file.flush()
            os.fsync(file.fileno())
        if os.path.exists(target):
            os.chmod(aside, os.stat(target).st_mode & 0o7777)
        os.replace(aside, target)
    except BaseException:
        remove(aside)
        raise
    return True


def remove(path: str) -> bool:
    """Delete the file; tells whether there was one."""
    try:
        os.unlink(path)
    except FileNotFoundError:
        return False
    return True


def _bytes(path: str) -> bytes | None:
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None
