"""Read the small files of git around a folder, without starting git."""

from __future__ import annotations

import os
import stat

from ademem.core import regex
from ademem.core.errors import suppress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

MOST_BYTES = 65_536
LOG_BYTES = 256_000
"""The end of git's log of HEAD that is read."""

NO_OBJECT = "0" * 40
"""Id of no object, where a commit adds a file or removes it."""

_DIGITS = frozenset("0123456789abcdef")
_PULLS = ("pull", "merge ")
_UNDER_WAY = tuple(
    "MERGE_HEAD CHERRY_PICK_HEAD REVERT_HEAD BISECT_START rebase-merge rebase-apply".split()
)


def git_root(where: str) -> str | None:
    return above(where, ".git", os.path.exists)


def common_dir(top: str) -> str | None:
    folder = git_dir(top)
    if named := first_line(os.path.join(folder, "commondir")):
        return os.path.realpath(os.path.join(folder, named))
    return folder if os.path.isdir(folder) else None


def branch(root: str) -> str | None:
    """Return also a branch that git rebases or bisects; None if detached or without git."""
    top = git_root(root)
    if top is None:
        return None
    folder = git_dir(top)
    head = first_line(os.path.join(folder, "HEAD"))
    if not head.startswith("ref: "):
        for name in ("rebase-merge/head-name", "rebase-apply/head-name"):
            ref = first_line(os.path.join(folder, name))
            if ref:
                return _readable(ref)
        bisected = first_line(os.path.join(folder, "BISECT_START"))
        shared = common_dir(top)
        if bisected and shared and tip(shared, f"refs/heads/{bisected}"):
            return _readable(f"refs/heads/{bisected}")
        return None
    return _readable(head.removeprefix("ref: "))


def default_branch(root: str, configured: str = "") -> str | None:
    top = git_root(root)
    shared = common_dir(top) if top else None
    if shared is None or ".." in configured:  # no name that git allows: it leads out of its folder
        return None
    pointer = first_line(os.path.join(shared, "refs", "remotes", "origin", "HEAD"))
    named = configured or pointer.removeprefix("ref: refs/remotes/origin/")
    for name in (named,) if named else ("main", "master"):
        if tip(shared, f"refs/heads/{name}") or tip(shared, f"refs/remotes/origin/{name}"):
            return name
    return None


def staging(root: str, configured: str = "") -> str | None:
    """Return the branch of new memories until it is merged; None on the default one or without."""
    on = branch(root)
    default = default_branch(root, configured) if on else None
    return on if default and on != default else None


def under_way(root: str) -> bool:
    top = git_root(root)
    if top is None:
        return False
    folder = git_dir(top)
    return any(os.path.exists(os.path.join(folder, name)) for name in _UNDER_WAY)


def index_state(where: str) -> str:
    top = git_root(where)
    if top is None:
        return ""
    try:
        found = os.stat(os.path.join(git_dir(top), "index"))
    except OSError:
        return ""
    return f"{found.st_ino} {found.st_size} {found.st_mtime_ns}"


def list_tracked(folder: str, names: Iterable[str], *, as_written: bool = True) -> list[str]:
    """Return those of the *names* in *folder* that git tracks and that exist.

    With *as_written* the file is the one that git checked out or added: the index records its
    inode, which a replaced file has not. A name with a slash at its end is a folder. Case counts as
    on the file system. Git is started only for an index of another version.
    """
    top = git_root(folder)
    if top is None:
        return []
    inside = os.path.relpath(os.path.realpath(folder), top).replace(os.sep, "/")
    wanted = {f"{inside}/{name}".removeprefix("./"): name for name in names}
    found = {
        wanted[wish]: True
        for path, inode, written in _index_entries(top, wanted)
        for wish in wanted
        if _is_same(top, path, wish, (inode, written), as_written)
    }
    return list(found)


def _index_entries(top: str, paths: Iterable[str]) -> Iterable[tuple[str, int, int]]:
    """Return path, inode and time of writing of files in the index; none without one."""
    try:
        data, is_split = _open_index(git_dir(top))
    except OSError:
        return ()
    if is_split or data[4:8] not in (b"\0\0\0\2", b"\0\0\0\3"):
        return _ask_git(top, paths)
    return (entry for path in paths for entry in _read_index(data, path))


def _open_index(own: str) -> tuple[bytes, bool]:
    """Return the bytes of the index and whether another file has a part of it."""
    with open(os.path.join(own, "index"), "rb") as file:
        data = file.read()
    return data, any(name.startswith("sharedindex.") for name in os.listdir(own))


def _ask_git(top: str, paths: Iterable[str]) -> Iterator[tuple[str, int, int]]:
    """Yield path, inode and time of writing of tracked files."""
    from ademem.core import git

    asked = [f":(top,icase,literal){path.rstrip('/')}" for path in paths]
    listed = os.fsdecode(git.output(top, "ls-files", "--debug", "--", *asked) or b"")
    shape = r"^(\S.*)\n(?:\s+.*\n)*?\s+mtime: (\d+):.*\n\s+dev:.*\bino: (\d+)"
    for path, written, inode in regex.findall(shape, listed, regex.MULTILINE):
        yield path, int(inode), int(written)


def tip(common: str, ref: str, links: int = 5) -> str | None:
    """Return the commit of a ref, through at most *links* symbolic refs; None without one."""
    found = first_line(os.path.join(common, ref))
    if not found:
        with (
            suppress(OSError),
            open(os.path.join(common, "packed-refs"), encoding="utf-8", errors="replace") as file,
        ):
            lines = (line for line in file if line.endswith(f" {ref}\n"))
            found = next(lines, "").partition(" ")[0]
    if found.startswith("ref: "):
        return tip(common, found.removeprefix("ref: "), links - 1) if links else None
    return found if is_commit_id(found) else None


def blob_id(text: str) -> str:
    """Return the id that git gives to the text as an object, by SHA-1; empty without OpenSSL."""
    try:
        from _hashlib import openssl_sha1  # `hashlib` loads all other digests with it
    except ImportError:
        return ""
    data = text.encode("utf-8", "surrogatepass")
    return openssl_sha1(b"blob %d\0%b" % (len(data), data), usedforsecurity=False).hexdigest()


def is_commit_id(text: str) -> bool:
    return len(text) in (40, 64) and set(text) <= _DIGITS


def commit(root: str) -> str | None:
    top = git_root(root)
    shared = common_dir(top) if top else None
    if top is None or shared is None:
        return None
    head = first_line(os.path.join(git_dir(top), "HEAD"))
    if not head.startswith("ref: "):
        return head if is_commit_id(head) else None
    return tip(shared, head.removeprefix("ref: "))


def list_moves(root: str, most: int = LOG_BYTES) -> list[tuple[str, str, str, str]] | None:
    """Return the movements of HEAD, the newest last: the commits before and after, who, and how.

    *who* is name, address, second since 1970 and time zone. Of git's log the last *most* bytes are
    read; None where git keeps none.
    """
    if (top := git_root(root)) is None:
        return []
    try:
        with open(os.path.join(git_dir(top), "logs", "HEAD"), "rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - most))
            log = file.read()
    except FileNotFoundError:
        return None
    except OSError:
        return []
    lines = (line.partition("\t") for line in log.decode("utf-8", "replace").split("\n"))
    entries = ((*head.split(" ", 2), how) for head, _, how in lines)
    return [entry for entry in entries if len(entry) == 4]


def went_forward(root: str, before: str, now: str) -> bool:
    """Tell whether git's log of HEAD says that it came from one commit to the other forwards."""
    return _was_led(
        root,
        before,
        now,
        lambda how: (
            how.startswith("commit: ")
            or (how.startswith(_PULLS) and how.endswith(": Fast-forward"))
        ),
    )


def was_amended(root: str, before: str, now: str) -> bool:
    """Tell whether git's log of HEAD says that only commits made here led from one to the other."""
    return _was_led(root, before, now, lambda how: how.startswith(("commit: ", "commit (amend): ")))


def _was_led(root: str, before: str, now: str, is_step: Callable[[str], bool]) -> bool:
    for old, new, _, how in reversed(list_moves(root) or ()):
        if new != now or not is_step(how):
            return False
        if old == before:
            return True
        now = old
    return False


def git_dir(top: str) -> str:
    marker = os.path.join(top, ".git")
    named = first_line(marker).partition("gitdir:")[2].strip()
    return os.path.realpath(os.path.join(top, named)) if named else marker


def bare_repository(where: str) -> str:
    """Return the bare repository of a folder outside of its worktrees; empty for none."""
    top = git_root(where)
    if top is None:
        return above(where, "HEAD", _is_head_of_repository) or ""
    folder = git_dir(top)
    is_bare = folder == common_dir(top) and config_value(folder, "bare") == "true"
    return folder if is_bare and not os.path.isdir(os.path.join(top, ".git")) else ""


def list_worktrees(repository: str) -> list[str]:
    linked = os.path.join(repository, "worktrees")
    names = sorted(os.listdir(linked)) if os.path.isdir(linked) else []
    tops = [os.path.dirname(first_line(os.path.join(linked, name, "gitdir"))) for name in names]
    return [top for top in tops if os.path.isdir(top)]


def _is_head_of_repository(path: str) -> bool:
    folder = os.path.dirname(path)
    beside = (os.path.join(folder, name) for name in ("objects", "refs"))
    return os.path.isfile(path) and all(map(os.path.isdir, beside))


def above(where: str, name: str, there: Callable[[str], bool]) -> str | None:
    folder = os.path.realpath(where)
    while not there(f"{folder.rstrip('/')}/{name}"):
        if folder == "/":
            return None
        folder = folder.rpartition("/")[0] or "/"
    return folder


def first_line(path: str) -> str:
    return _beginning(path).partition("\n")[0].strip()


def config_value(folder: str, key: str) -> str:
    lines = _beginning(os.path.join(folder, "config")).splitlines()
    entries = [line.partition("=") for line in lines]
    found = [value for name, _, value in entries if name.strip().lower() == key]
    return found[-1].strip().strip('"') if found else ""


def _beginning(path: str) -> str:
    """Read at most MOST_BYTES; a pipe or device of that name, as archives have, blocks no hook."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except OSError:
        return ""
    try:
        is_file = stat.S_ISREG(os.fstat(handle).st_mode)
        return os.read(handle, MOST_BYTES).decode("utf-8", "replace") if is_file else ""
    finally:
        os.close(handle)


def _readable(ref: str) -> str | None:
    """Return the branch's name; None for a ref of another kind, or one that is not UTF-8."""
    name = ref.removeprefix("refs/heads/")
    return None if name in (ref, ".invalid") or "\ufffd" in name else name


def _read_index(data: bytes, path: str) -> Iterator[tuple[str, int, int]]:
    """Yield path, inode and time (s) of entries of an index (version 2, 3) at or below the path."""
    wanted = os.fsencode(path).lower()
    low = data.lower()
    at = low.find(wanted)
    while at >= 0:
        end = data.find(b"\0", at)
        name = data[at:end]
        for id_bytes in (20, 32):
            for extended in (0, 2):  # version 3 has two more bytes of flags where they are needed
                start = at - extended - 2 - id_bytes - 40
                flags = data[start + 40 + id_bytes : start + 42 + id_bytes]
                kind = data[start + 26 : start + 28]  # of the mode: a file or a link
                length = int.from_bytes(flags, "big") & 0xFFF
                is_entry = start >= 12 and (start - 12) % 8 == 0 and kind[:1] in (b"\x81", b"\xa1")
                if is_entry and length == min(len(name), 0xFFF):
                    inode = int.from_bytes(data[start + 20 : start + 24], "big")
                    written = int.from_bytes(data[start + 8 : start + 12], "big")
                    yield os.fsdecode(name), inode, written
        at = low.find(wanted, at + 1)


def _is_same(top: str, path: str, wish: str, entry: tuple[int, int], as_written: bool) -> bool:
    """Compare with the index, which has 32 bits of an inode, or none of another program."""
    inode, written = entry
    low, wanted = path.lower(), wish.lower()
    if not (low.startswith(wanted) if wish.endswith("/") else low == wanted):
        return False
    spelled = wish + path[len(wish) :]
    try:
        ours, theirs = (os.lstat(os.path.join(top, name)) for name in (spelled, path))
    except OSError:
        return False
    if not os.path.samestat(ours, theirs) or not as_written:
        return os.path.samestat(ours, theirs)
    return inode == ours.st_ino & 0xFFFFFFFF if inode else written == int(ours.st_mtime)
