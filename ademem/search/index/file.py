"""A file of named arrays that is whole or not there at all."""

from __future__ import annotations

import json
import mmap
import os
import struct
import sys
import zlib
from contextlib import contextmanager
from math import prod

import numpy as np

from ademem.core import confined

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any, BinaryIO

    from numpy.typing import NDArray

    Arrays = Mapping[str, NDArray[Any]]

FORMAT = b"ademem03"
"""Another layout or meaning of the arrays gets another name."""
_TAIL = struct.Struct("<II8s")
"""Length and checksum of the contents, and the format: the last bytes of a file."""
_ALIGNED = 64
_READ = 1 << 22


class Damaged(Exception):
    """Not a file of ours, not whole, or of another machine."""


@contextmanager
def new(path: str) -> Iterator[Writer]:
    """A file that gets its name, and its contents to the disk, when all was written well."""
    root, aside = root_of(path), f"{path}.new"
    try:
        with confined.create_file(root, aside) as handle:
            writer = Writer(handle)
            yield writer
            writer.finish()
            handle.flush()
            os.fsync(handle.fileno())
        confined.rename(root, aside, os.path.basename(path))
        _sync_folder(root, os.path.dirname(path))
    except BaseException:
        confined.remove(root, aside)
        raise


def root_of(path: str) -> str:
    """The folder from which `<home>/run/index/<name>` is reached without following links."""
    return path.rsplit(os.sep, 4)[0]


class Writer:
    """Writes arrays one after the other."""

    def __init__(self, handle: BinaryIO) -> None:
        self._file = handle
        self._contents: dict[str, Any] = {}

    def add(self, name: str, array: NDArray[Any]) -> None:
        self.stream(name, array.dtype, array.shape, (array,))

    def stream(
        self,
        name: str,
        kind: np.dtype[Any],
        shape: tuple[int, ...],
        parts: Iterable[NDArray[Any]],
    ) -> None:
        """Add an array that comes in parts; raises ValueError unless they make up *shape*."""
        start = self._file.seek(-(-self._file.tell() // _ALIGNED) * _ALIGNED)
        checksum = 0
        for part in parts:
            data = np.ascontiguousarray(part, kind).reshape(-1).view(np.uint8).data
            checksum = zlib.crc32(data, checksum)
            self._file.write(data)
        if self._file.tell() != start + prod(shape) * kind.itemsize:
            raise ValueError(f"{name}: {self._file.tell() - start} bytes are not {shape} {kind}")
        self._contents[name] = [kind.str, shape, start, checksum]

    def finish(self) -> None:
        contents = json.dumps(self._contents | {"end": self._file.tell(), "order": sys.byteorder})
        data = contents.encode()
        self._file.write(data + _TAIL.pack(len(data), zlib.crc32(data), FORMAT))


def read(path: str) -> Arrays:
    """The arrays of a file, mapped into memory and read-only; raises Damaged or OSError."""
    with confined.open_file(root_of(path), path) as file:
        if os.fstat(file.fileno()).st_size < _TAIL.size:
            raise Damaged(path)
        data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    contents = _contents(data, path)
    return {
        name: np.frombuffer(data, kind, prod(shape), start).reshape(shape)
        for name, (kind, shape, start, _) in contents.items()
    }


def is_whole(path: str) -> bool:
    """Read everything: whether each byte of the arrays is the one that was written."""
    try:
        with (
            confined.open_file(root_of(path), path) as file,
            mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data,
        ):
            return all(
                _checksum(data, start, prod(shape) * np.dtype(kind).itemsize) == checksum
                for kind, shape, start, checksum in _contents(data, path).values()
            )
    except (Damaged, OSError, ValueError):  # ValueError: an empty file cannot be mapped
        return False


def _checksum(data: mmap.mmap, start: int, size: int) -> int:
    found = 0
    for at in range(start, start + size, _READ):
        found = zlib.crc32(data[at : min(at + _READ, start + size)], found)
    return found


def _contents(data: mmap.mmap, path: str) -> dict[str, Any]:
    length, checksum, form = _TAIL.unpack(data[-_TAIL.size :])
    end = len(data) - _TAIL.size - length
    if form != FORMAT or end < 0 or zlib.crc32(data[end : end + length]) != checksum:
        raise Damaged(path)
    contents: dict[str, Any] = json.loads(data[end : end + length])
    if contents.pop("end") != end or contents.pop("order") != sys.byteorder:
        raise Damaged(path)
    return contents


def _sync_folder(root: str, path: str) -> None:
    """So that the file is there after a loss of power when the database says so."""
    handle = confined.open_folder(root, path)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
