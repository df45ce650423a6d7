"""Read the complete lines of a transcript of the client, which may be anything by now."""

from __future__ import annotations

import os
import stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import BinaryIO

LINE_BYTES = 4_000_000
"""Longest line that is read; a picture is longer."""


def read_lines(
    path: str, *, tail: int = 0, on_long: Callable[[], None] | None = None
) -> Iterator[bytes]:
    """Yield complete lines, one at a time, where *tail* is given of the last bytes.

    *on_long* is called for each line that is skipped as too long. Raises OSError, also for what is
    no regular file.
    """
    # a device would never end, and a pipe would block
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError(f"{path} is not a regular file")
    with open(handle, "rb") as file:
        if tail and os.fstat(file.fileno()).st_size > tail:
            file.seek(-tail, os.SEEK_END)
            _skip_line(file)
        while line := file.readline(LINE_BYTES):
            if line.endswith(b"\n"):
                yield line
            elif len(line) < LINE_BYTES:  # half a line: it is still being written
                return
            else:
                _skip_line(file)
                if on_long:
                    on_long()


def _skip_line(file: BinaryIO) -> None:
    while rest := file.readline(LINE_BYTES):
        if rest.endswith(b"\n"):
            return
