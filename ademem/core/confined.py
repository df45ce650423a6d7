"""Open files below a trusted folder without following links.

A project's `.ade/` may come from a stranger. Every component of a path below the *root* is opened
from the descriptor of the folder before it, and the open file is checked, not its name. Accepted
are regular files and folders of this user, of root, or of the root folder's owner. A file with a
second hard link is refused, as its other name may be anywhere. A refused file raises Refused and is
left alone.

A *path* is absolute and below *root*, or relative to it. Below a SharedRoot files may belong to any
user.
"""

from __future__ import annotations

import os
import stat

from ademem.core.errors import UnusableStore, suppress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import BinaryIO

KIB = 1024
MIB = 1024 * KIB

LIMITS = (
    ("config.toml", 256 * KIB),
    ("config.local.toml", 256 * KIB),
    ("memory/*.jsonl", 256 * MIB),
    ("memory/*", 16 * MIB),
    ("agents/*", MIB),
    ("skills/*", MIB),
    ("log/*", 16 * MIB),
    ("sync/*", 64 * MIB),
    ("run/agreed", 1024 * MIB),  # all files of memory, read in parts
    ("run/*", 64 * MIB),
    ("*", 4 * MIB),
)
"""Most bytes that are read at once, by the first pattern that matches; `open_file` has no limit."""

REMOVABLE = tuple(
    "run/* log/* memory/*.md memory/*.jsonl cto/*.md skills/*.md *.jsonl.gz ade.db* *.sock *.index"
    " *.new *.tmp".split()
)
"""Paths below `.ade/`, or a folder in its place, that ademem makes and may delete."""

FOLDERS = (
    *("memory", "run", "run/clear", "run/keys", "run/index", "run/loaded", "run/late", "log"),
    *("cto", "cto/daily", "agents", "skills", "sync", "sync/chunks"),
)
"""Folders below `.ade/`; `refusals` reports a file of such a name."""
FILES = (".md", ".jsonl", ".json", ".toml", ".log", ".lock", ".db")
"""Suffixes of files; `refusals` reports a folder of such a name."""
SOCKETS = "*.sock"

_FOLDER = os.O_RDONLY | os.O_DIRECTORY
_CAREFUL = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY
"""Do not follow a link, wait for a pipe, or acquire a terminal."""

_KINDS = {
    stat.S_IFLNK: "is a link",
    stat.S_IFIFO: "is a named pipe",
    stat.S_IFSOCK: "is a socket",
    stat.S_IFCHR: "is a device",
    stat.S_IFBLK: "is a device",
    stat.S_IFDIR: "is a folder, not a file",
    stat.S_IFREG: "is a file, not a folder",
}


class SharedRoot(str):
    """A folder that the person named, where other users write, too."""

    __slots__ = ()


class Refused(UnusableStore, OSError):
    hint = (
        "put a regular file or folder of your own in its place, or remove it; "
        "`ademem files check` names all that is refused"
    )

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{printable(path)} {reason}; it is left alone")
        self.path = path
        self.reason = reason


def printable(path: str) -> str:
    return path if path.isprintable() else ascii(path)[1:-1]


def read_bytes(root: str, path: str, limit: int | None = None) -> bytes | None:
    """Raises Refused above *limit* bytes."""
    with suppress(FileNotFoundError), _parent(root, path) as (folder, name):
        return _content(folder, name, limit_of(root, path) if limit is None else limit)
    return None


def read_text(root: str, path: str, limit: int | None = None) -> str | None:
    data = read_bytes(root, path, limit)
    return None if data is None else data.decode("utf-8")


def open_file(root: str, path: str) -> BinaryIO:
    """Raises FileNotFoundError or Refused."""
    return open(_open(root, path, os.O_RDONLY), "rb")


def write_text(root: str, path: str, text: str, *, mode: int = 0o666, sync: bool = True) -> bool:
    """Replace the file unless it has the text; without *sync* a power failure may empty it."""
    return write_bytes(root, path, text.encode("utf-8"), mode=mode, sync=sync)


def write_bytes(
    root: str, path: str, wanted: bytes, *, mode: int = 0o666, sync: bool = True
) -> bool:
    with _parent(root, path, make=True) as (folder, name):
        there = folder.regular_status(name)
        if there and there.st_size == len(wanted) and _content(folder, name) == wanted:
            return False
        try:
            _replace(folder, name, wanted, mode, there, sync)
        except FileNotFoundError:  # another container removed the temporary file
            _replace(folder, name, wanted, mode, there, sync)
    return True


def append_line(root: str, path: str, line: str, max_bytes: int) -> None:
    """Append a line; a file above *max_bytes* is renamed to `<name>.1` first."""
    data = (line.replace("\n", "\\n") + "\n").encode("utf-8", "replace")
    there = status(root, path)
    if there and there.st_size > max_bytes:
        from ademem.core.shared_files import locked

        with locked(path + ".lock", root=root):
            again = status(root, path)
            if again and again.st_size > max_bytes:  # another process may have got here first
                rename(root, path, os.path.basename(path) + ".1")
    handle = _open(root, path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, make=True)
    try:
        os.write(handle, data)
    finally:
        os.close(handle)


def touch(root: str, path: str) -> None:
    os.close(_open(root, path, os.O_WRONLY | os.O_CREAT, 0o600, make=True))


def set_time(root: str, path: str, ns: int) -> None:
    """Set the times of a file, in nanoseconds."""
    handle = _open(root, path, os.O_RDONLY)
    try:
        os.utime(handle, ns=(ns, ns))
    finally:
        os.close(handle)


def time_of_root(root: str) -> int:
    """Return when a name in the root folder changed last, in nanoseconds."""
    handle = os.open(root, _FOLDER)
    try:
        return os.fstat(handle).st_mtime_ns
    finally:
        os.close(handle)


def create_file(root: str, path: str, *, mode: int = 0o666) -> BinaryIO:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    return open(_open(root, path, flags, mode, make=True), "wb")


def open_lock(root: str, path: str, *, make: bool = True) -> int:
    """Raises FileNotFoundError without *make*."""
    if is_folder(root, path):
        return open_folder(root, path)
    return _open(root, path, os.O_RDWR | os.O_CREAT if make else os.O_RDONLY, 0o600, make=make)


def open_folder(root: str, path: str) -> int:
    return _walk(root, _parts(root, path)).fd


def make_folder(root: str, path: str, mode: int = 0o777) -> None:
    os.close(_walk(root, _parts(root, path), make=True, mode=mode).fd)


def names(root: str, path: str) -> list[str]:
    """Return the sorted names but those with control characters, which `refusals` reports."""
    return [name for name, _ in entries(root, path)]


def entries(root: str, path: str) -> list[tuple[str, os.stat_result]]:
    with suppress(FileNotFoundError), _walk(root, _parts(root, path)) as folder:
        listed = sorted(filter(str.isprintable, folder.names()))
        return [(name, there) for name in listed if (there := folder.status(name))]
    return []


def status(root: str, path: str) -> os.stat_result | None:
    """Return the `lstat`; raises Refused below a link."""
    with suppress(FileNotFoundError), _parent(root, path) as (folder, name):
        return folder.status(name)
    return None


def exists(root: str, path: str) -> bool:
    return status(root, path) is not None


def is_file(root: str, path: str) -> bool:
    with suppress(OSError), _parent(root, path) as (folder, name):
        return folder.regular_status(name) is not None
    return False


def is_socket(root: str, path: str) -> bool:
    with suppress(OSError):
        there = status(root, path)
        return bool(there and stat.S_ISSOCK(there.st_mode) and there.st_uid == os.geteuid())
    return False


def is_folder(root: str, path: str) -> bool:
    with suppress(OSError), _walk(root, _parts(root, path)):
        return True
    return False


def remove(root: str, path: str) -> bool:
    """Delete a file; raises Refused outside REMOVABLE, and for a link, a folder or a device."""
    inside = _inside(root, path)
    if not any(_matches(inside, pattern) for pattern in REMOVABLE):
        raise Refused(path, "is not a file that ademem makes")
    with suppress(FileNotFoundError), _parent(root, path) as (folder, name):
        there = folder.status(name)
        if there and not (stat.S_ISSOCK(there.st_mode) and _matches(inside, SOCKETS)):
            folder.check(there, name, stat.S_IFREG)
        folder.unlink(name)
        return True
    return False


def prune(root: str, path: str, before: float, *, having: str = "") -> None:
    """Delete files with *having* in their names, written *before* a time, below `run/`."""
    if not _matches(_inside(root, path), "run/*"):
        raise Refused(path, "is not a folder of marks")
    _unlink_old(root, path, before, lambda name: having in name)


def remove_left(root: str, path: str, before: float, beginning: str = "") -> None:
    """Delete temporary files that killed writers left in a folder *before* a time."""
    _unlink_old(
        root, path, before, lambda name: name.startswith(beginning) and name.endswith(".tmp")
    )


def _unlink_old(root: str, path: str, before: float, is_meant: Callable[[str], bool]) -> None:
    """Delete the regular files of these names last written before a time, in s since 1970."""
    with suppress(FileNotFoundError), _walk(root, _parts(root, path)) as folder:
        for name in filter(is_meant, folder.names()):
            there = folder.status(name)
            if there and there.st_mtime < before and stat.S_ISREG(there.st_mode):
                folder.unlink(name)


def remove_folder(root: str, path: str) -> None:
    """Delete a folder of files below `run/`; nothing of one that holds anything else."""
    if not _matches(_inside(root, path), "run/*"):
        raise Refused(path, "is not a folder of copies")
    with _parent(root, path) as (above, name):
        with above.enter(name) as folder:
            found = folder.names()
            for each in found:
                folder.regular_status(each)
            for each in found:
                folder.unlink(each)
        os.rmdir(name, dir_fd=above.fd)


def rename(root: str, path: str, name: str) -> None:
    with _parent(root, path) as (folder, old):
        folder.regular_status(old)
        folder.regular_status(name)
        folder.rename(old, name)


def check_database(path: str, root: str = "") -> None:
    """Raise Refused unless SQLite may open the database and the files beside it, if they exist."""
    root = root or os.path.dirname(os.path.dirname(path))
    with suppress(FileNotFoundError), _parent(root, path) as (folder, name):
        for suffix in ("", "-wal", "-shm", "-journal"):
            folder.regular_status(name + suffix)


def files_below(root: str, path: str) -> Iterator[str]:
    """Yield the files below the folder that are not refused, sorted by folder."""
    try:
        folder = _walk(root, _parts(root, path))
    except OSError:
        return
    with folder:
        found = [(name, folder.status(name)) for name in sorted(folder.names())]
        for name, there in found:
            if there and name.isprintable() and stat.S_ISDIR(there.st_mode):
                yield from files_below(root, folder.whole(name))
            elif there and name.isprintable():
                with suppress(Refused):
                    folder.check(there, name, stat.S_IFREG)
                    yield folder.whole(name)


def refusal(root: str, path: str) -> Refused | None:
    try:
        with _parent(root, path) as (folder, name):
            folder.regular_status(name)
    except FileNotFoundError:
        return None
    except OSError as error:
        return _as_refusal(os.path.join(root, path), error)
    return None


def refusals(
    root: str, path: str, most: int = 20_000, *, removes_stale: bool = False
) -> list[Refused]:
    """Return the refusals of the folder and of at most *most* entries below it.

    With *removes_stale* temporary files of processes that ended are deleted.
    """
    found: list[Refused] = []
    try:
        _survey(_walk(root, _parts(root, path)), root, found, most, removes_stale)
    except FileNotFoundError:
        return found
    except OSError as error:
        found.append(_as_refusal(os.path.join(root, path), error))
    return found


class _Folder:
    __slots__ = ("fd", "owner", "path")

    def __init__(self, fd: int, path: str, owner: int | None) -> None:
        self.fd = fd
        self.path = path
        self.owner = owner
        """Owner of the root folder, whose files are accepted; None accepts those of all."""

    def __enter__(self) -> _Folder:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self.fd)

    def whole(self, name: str) -> str:
        return os.path.join(self.path, name)

    def status(self, name: str) -> os.stat_result | None:
        try:
            return os.stat(name, dir_fd=self.fd, follow_symlinks=False)
        except FileNotFoundError:
            return None

    def regular_status(self, name: str) -> os.stat_result | None:
        there = self.status(name)
        if there is not None:
            self.check(there, name, stat.S_IFREG)
        return there

    def check(self, there: os.stat_result, name: str, wanted: int) -> None:
        """Raise Refused unless kind, owner and number of links are accepted."""
        kind = stat.S_IFMT(there.st_mode)
        if kind != wanted:
            raise Refused(self.whole(name), _KINDS.get(kind, "is not a file"))
        if self.owner is not None and there.st_uid not in (0, os.geteuid(), self.owner):
            raise Refused(self.whole(name), "belongs to another user")
        if wanted == stat.S_IFREG and there.st_nlink > 1:
            raise Refused(self.whole(name), "has a second name (a hard link)")

    def enter(self, name: str) -> _Folder:
        fd = self._open(name, _FOLDER | _CAREFUL, 0, stat.S_IFDIR)
        return _Folder(fd, self.whole(name), self.owner)

    def open(self, name: str, flags: int, mode: int = 0o666) -> int:
        return self._open(name, flags | _CAREFUL, mode, stat.S_IFREG)

    def _open(self, name: str, flags: int, mode: int, wanted: int) -> int:
        try:
            handle = os.open(name, flags, mode, dir_fd=self.fd)
        except FileNotFoundError:
            raise
        except OSError as error:
            there = self.status(name)
            if there and not isinstance(error, FileExistsError):
                self.check(there, name, wanted)
            if there and isinstance(error, PermissionError):
                raise _as_refusal(self.whole(name), error) from None
            error.filename = self.whole(name)
            raise
        try:
            self.check(os.fstat(handle), name, wanted)
        except BaseException:
            os.close(handle)
            raise
        return handle

    def names(self) -> list[str]:
        return os.listdir(self.fd)

    def unlink(self, name: str) -> None:
        os.unlink(name, dir_fd=self.fd)

    def rename(self, old: str, new: str) -> None:
        os.replace(old, new, src_dir_fd=self.fd, dst_dir_fd=self.fd)


class _parent:
    __slots__ = ("folder", "name")

    def __init__(self, root: str, path: str, *, make: bool = False) -> None:
        *parts, self.name = _parts(root, path)
        self.folder = _walk(root, parts, make=make)

    def __enter__(self) -> tuple[_Folder, str]:
        return self.folder, self.name

    def __exit__(self, *_: object) -> None:
        os.close(self.folder.fd)


def _parts(root: str, path: str) -> list[str]:
    """Raises ValueError for a path that leads out of *root*."""
    if os.path.isabs(path):
        inside = path.removeprefix(root.rstrip(os.sep) + os.sep)
        if inside == path:
            raise ValueError(f"{path!r} is not below {root!r}")
        path = inside
    parts = path.split(os.sep)
    if "\0" in path or not {"", os.curdir, os.pardir}.isdisjoint(parts):
        raise ValueError(f"{path!r} is not a plain path below {root!r}")
    return parts


def _walk(root: str, parts: list[str], *, make: bool = False, mode: int = 0o777) -> _Folder:
    fd = os.open(root, _FOLDER)
    folder = _Folder(fd, root, None if isinstance(root, SharedRoot) else os.stat(fd).st_uid)
    try:
        for part in parts:
            try:
                inner = folder.enter(part)
            except FileNotFoundError:
                if not make:
                    raise
                with suppress(FileExistsError):  # another process was faster
                    os.mkdir(part, mode, dir_fd=folder.fd)
                inner = folder.enter(part)
            os.close(folder.fd)
            folder = inner
    except BaseException:
        os.close(folder.fd)
        raise
    return folder


def _open(root: str, path: str, flags: int, mode: int = 0o666, *, make: bool = False) -> int:
    with _parent(root, path, make=make) as (folder, name):
        return folder.open(name, flags, mode)


def _content(folder: _Folder, name: str, limit: int | None = None) -> bytes:
    with open(folder.open(name, os.O_RDONLY), "rb") as file:
        if limit is not None:
            _check_size(os.fstat(file.fileno()).st_size, limit, folder.whole(name))
        return file.read()


def _replace(
    folder: _Folder, name: str, wanted: bytes, mode: int, there: os.stat_result | None, sync: bool
) -> None:
    temporary = f"{name}.{os.getpid()}-{os.urandom(4).hex()}.tmp"
    try:
        handle = folder.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        with open(handle, "wb") as file:
            file.write(wanted)
            file.flush()
            if sync:
                os.fsync(handle)
            if there:
                os.fchmod(handle, stat.S_IMODE(there.st_mode))
        folder.rename(temporary, name)
    except BaseException:
        if folder.status(temporary):
            folder.unlink(temporary)
        raise


def _is_stale(name: str) -> bool:
    stem, _, kind = name.rpartition(".")
    maker = stem.rpartition(".")[2].partition("-")[0]
    if kind.partition("-")[0] not in ("tmp", "new") or not (maker.isdecimal() and len(maker) < 10):
        return False
    try:
        os.kill(int(maker), 0)
    except OSError as error:  # another user's lives
        return isinstance(error, ProcessLookupError)
    return False


def _survey(
    folder: _Folder, root: str, found: list[Refused], left: int, removes_stale: bool
) -> int:
    with folder:
        for name in sorted(folder.names()):
            if left <= 0:
                break
            left -= 1
            path = folder.whole(name)
            try:
                there = folder.status(name)
                if there is None or (removes_stale and _remove_stale(folder, name, there)):
                    continue
                _check_name(name, path)
                is_folder = stat.S_ISDIR(there.st_mode) and not name.endswith(FILES)
                if is_folder or _inside(root, path) in FOLDERS:
                    folder.check(there, name, stat.S_IFDIR)
                    left = _survey(folder.enter(name), root, found, left, removes_stale)
                else:
                    _check_file(folder, name, there, root, path)
            except OSError as error:
                found.append(_as_refusal(path, error))
    return left


def _remove_stale(folder: _Folder, name: str, there: os.stat_result) -> bool:
    """Remove a temporary file whose process has ended; True if it was one."""
    is_stale = stat.S_ISREG(there.st_mode) and _is_stale(name)
    if is_stale:
        folder.unlink(name)
    return is_stale


def _check_name(name: str, path: str) -> None:
    if not name.isprintable():
        raise Refused(path, "has a name with control characters")


def _check_file(folder: _Folder, name: str, there: os.stat_result, root: str, path: str) -> None:
    inside = _inside(root, path)
    if stat.S_ISSOCK(there.st_mode) and _matches(inside, "run/" + SOCKETS):
        return
    folder.check(there, name, stat.S_IFREG)
    if there.st_size > KIB and not _matches(inside, "ade.db*"):
        _check_size(there.st_size, limit_of(root, path), path)


def _check_size(size: int, limit: int, path: str) -> None:
    if size > limit:
        raise Refused(path, f"has {size:,} bytes, more than {limit:,}")


def _as_refusal(path: str, error: OSError) -> Refused:
    if isinstance(error, Refused):
        return error
    return Refused(path, f"cannot be opened ({error.strerror})")


def limit_of(root: str, path: str) -> int:
    inside = _inside(root, path)
    return next(most for pattern, most in LIMITS if _matches(inside, pattern))


def _inside(root: str, path: str) -> str:
    """Return the path below its first folder in *root*, which is `.ade` or stands for it."""
    return "/".join(_parts(root, path)[1:])


def _matches(path: str, pattern: str) -> bool:
    """Compare with a pattern that may have one `*`."""
    head, star, tail = pattern.partition("*")
    if not star:
        return path == pattern
    return len(path) >= len(head + tail) and path.startswith(head) and path.endswith(tail)
