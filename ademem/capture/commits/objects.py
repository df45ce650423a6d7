"""Git's own objects, read where they lie: no process is started for them."""

from __future__ import annotations

import os
import zlib

from ademem.core.repository import common_dir, git_root
from ademem.core.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO, Self

COMMIT, OFFSET_DELTA, REFERENCE_DELTA = 1, 6, 7
"""Types in a pack that matter here."""
PACK_INDEX = b"\xfftOc\x00\x00\x00\x02"
"""How the index of a pack begins; older ones are not read."""
FANOUT = 8
"""Where in it the 256 counts stand."""
CHUNK = 4096
DEEPEST = 200
"""Deltas upon deltas that are followed."""


class TooMuch(Exception):
    """More objects are needed than may be read."""


class Damaged(Exception):
    """Not what git writes, or not in a form that is read here."""


class Objects:
    """The objects of one repository, at most so many of them."""

    def __init__(self, common: str, most: int | None = None) -> None:
        self._left = most
        self._folders = list(_stores(os.path.join(common, "objects")))
        self._packs: list[_Pack] | None = None
        self.shallow = frozenset(_lines(os.path.join(common, "shallow")))
        """Commits whose parents are not there on purpose."""

    @classmethod
    def at(cls, root: str, most: int | None = None) -> Self | None:
        """Those of the repository around a folder; None without git."""
        top = git_root(root)
        common = common_dir(top) if top else None
        return cls(common, most) if common else None

    def read(self, id: str) -> bytes | None:
        """What the object holds; None when it is not there. Raises TooMuch or Damaged."""
        if self._left is not None:
            if self._left <= 0:
                raise TooMuch(id)
            self._left -= 1
        try:
            return self._loose(id) or self._packed(id)
        except (zlib.error, ValueError, IndexError, OSError) as error:
            raise Damaged(f"{id}: {error}") from error

    def _loose(self, id: str) -> bytes | None:
        for folder in self._folders:
            try:
                with open(os.path.join(folder, id[:2], id[2:]), "rb") as file:
                    return zlib.decompress(file.read()).partition(b"\0")[2]
            except FileNotFoundError:
                continue
        return None

    def _packed(self, id: str) -> bytes | None:
        if self._packs is None:
            self._packs = [pack for folder in self._folders for pack in _packs(folder)]
        for pack in self._packs:
            offset = pack.offset(id)
            if offset is not None:
                return self._at(pack, offset, DEEPEST)
        return None

    def _at(self, pack: _Pack, offset: int, depth: int) -> bytes:
        """The object at an offset of a pack, its deltas applied."""
        kind, start, size = pack.header(offset)
        if kind not in (OFFSET_DELTA, REFERENCE_DELTA):
            return pack.inflated(start, size)
        if not depth:
            raise ValueError("deltas without end")
        if kind == OFFSET_DELTA:
            back, start = pack.distance(start)
            base: bytes | None = self._at(pack, offset - back, depth - 1)
        else:
            name = pack.bytes_at(start, pack.width)
            start += pack.width
            base = self.read(name.hex())
        if base is None:
            raise ValueError("what a delta builds upon is missing")
        return patched(base, pack.inflated(start, size))


class _Pack(Value):
    """A pack and its index."""

    path: str
    """Of both, without the ending."""
    width: int
    """Bytes of an object's name."""

    def offset(self, id: str) -> int | None:
        """Where the object begins; None: it is in another pack."""
        name = bytes.fromhex(id)
        if len(name) != self.width:
            return None
        with open(self.path + ".idx", "rb") as index:
            low = _number(index, FANOUT + 4 * (name[0] - 1), 4) if name[0] else 0
            high = _number(index, FANOUT + 4 * name[0], 4)
            names = FANOUT + 1024
            row = _bytes(index, names + self.width * low, self.width * (high - low))
            at = 0
            while (at := row.find(name, at)) >= 0 and at % self.width:
                at += 1
            if at < 0:
                return None
            count, number = _number(index, FANOUT + 1020, 4), low + at // self.width
            offsets = names + (self.width + 4) * count
            offset = _number(index, offsets + 4 * number, 4)
            if offset < 1 << 31:
                return offset
            return _number(index, offsets + 4 * count + 8 * (offset - (1 << 31)), 8)

    def header(self, offset: int) -> tuple[int, int, int]:
        """Type, where the rest begins, and how long the object is when it is inflated."""
        raw = self.bytes_at(offset, 16)
        kind, size, shift, used = raw[0] >> 4 & 7, raw[0] & 15, 4, 1
        while raw[used - 1] & 128:
            size |= (raw[used] & 127) << shift
            shift += 7
            used += 1
        return kind, offset + used, size

    def distance(self, start: int) -> tuple[int, int]:
        """How far back the base of a delta is, and where the delta begins."""
        raw = self.bytes_at(start, 16)
        back, used = raw[0] & 127, 1
        while raw[used - 1] & 128:
            back = ((back + 1) << 7) | (raw[used] & 127)
            used += 1
        return back, start + used

    def inflated(self, start: int, size: int) -> bytes:
        inflating, found = zlib.decompressobj(), bytearray()
        with open(self.path + ".pack", "rb") as data:
            data.seek(start)
            while len(found) < size and (chunk := data.read(CHUNK)):
                found += inflating.decompress(chunk)
        if len(found) != size:
            raise ValueError("an object of another length than it says")
        return bytes(found)

    def bytes_at(self, start: int, length: int) -> bytes:
        with open(self.path + ".pack", "rb") as data:
            return _bytes(data, start, length)


def patched(base: bytes, delta: bytes) -> bytes:
    """What a delta makes of its base: pieces of it, and new ones."""
    _, at = _length(delta, 0)
    size, at = _length(delta, at)
    found = bytearray()
    while at < len(delta):
        command = delta[at]
        at += 1
        if command & 128:
            start = length = 0
            for bit in range(7):
                if command >> bit & 1:
                    if bit < 4:
                        start |= delta[at] << 8 * bit
                    else:
                        length |= delta[at] << 8 * (bit - 4)
                    at += 1
            length = length or 0x10000
            found += base[start : start + length]
        elif command:
            found += delta[at : at + command]
            at += command
        else:
            raise ValueError("an unknown command in a delta")
    if len(found) != size:
        raise ValueError("a delta of another length than it says")
    return bytes(found)


def _length(data: bytes, at: int) -> tuple[int, int]:
    size = shift = 0
    while True:
        byte = data[at]
        at += 1
        size |= (byte & 127) << shift
        shift += 7
        if not byte & 128:
            return size, at


def _packs(folder: str) -> Iterator[_Pack]:
    """The packs of a folder, the newest first."""
    packs = os.path.join(folder, "pack")
    try:
        names = [name[:-4] for name in os.listdir(packs) if name.endswith(".idx")]
        paths = [os.path.join(packs, name) for name in names]
        paths.sort(key=lambda path: os.path.getmtime(path + ".idx"), reverse=True)
    except FileNotFoundError:
        return
    for path in paths:
        with open(path + ".idx", "rb") as index:
            if index.read(len(PACK_INDEX)) != PACK_INDEX:
                raise Damaged(f"{path}.idx is of a kind that is not read here")
            yield _Pack(path=path, width=_width(index))


def _width(index: BinaryIO) -> int:
    """Bytes of a name, by the length of the index: its end is two of them."""
    count = _number(index, FANOUT + 1020, 4)
    size = os.fstat(index.fileno()).st_size
    for width in (20, 32):
        rest = size - FANOUT - 1024 - count * (width + 8) - 2 * width
        if rest >= 0 and not rest % 8 and rest <= 8 * count:
            return width
    raise Damaged("an index of no known width")


def _number(file: BinaryIO, start: int, length: int) -> int:
    return int.from_bytes(_bytes(file, start, length), "big")


def _bytes(file: BinaryIO, start: int, length: int) -> bytes:
    file.seek(start)
    return file.read(length)


def _stores(folder: str) -> Iterator[str]:
    """The folder, and those of other repositories that it borrows from."""
    yield folder
    for line in _lines(os.path.join(folder, "info", "alternates")):
        if line and not line.startswith("#"):
            yield from _stores(os.path.join(folder, line))


def _lines(path: str) -> list[str]:
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            return file.read().split("\n")
    except FileNotFoundError:
        return []
