"""What git's own files tell of the repository around a folder; no process is started for it."""

from __future__ import annotations

import os
import stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

DEFAULT_BRANCHES = ("main", "master")
"""Names of the default branch where neither the settings nor a remote say which it is."""

MOST = 65_536
"""Bytes that are read of one of git's small files."""

_REBASED = ("rebase-merge/head-name", "rebase-apply/head-name")
_UNDER_WAY = (
    "MERGE_HEAD",
    "CHERRY_PICK_HEAD",
    "REVERT_HEAD",
    "BISECT_START",
    "rebase-merge",
    "rebase-apply",
)
"""What git has in its folder while the files are its own."""


def git_root(where: str) -> str | None:
    """The innermost folder at or above *where* that git calls a work tree."""
    return above(where, ".git", os.path.exists)


def common_dir(top: str) -> str | None:
    """What all worktrees of a repository share, seen from one of them; None outside git."""
    folder = git_dir(top)
    try:
        named = _beginning(os.path.join(folder, "commondir")).strip()
    except OSError:
        return folder if os.path.isdir(folder) else None
    return os.path.realpath(os.path.join(folder, named))


def branch(root: str) -> str | None:
    """The checked-out branch, read from git's own files; None when detached or without git.

    While git rebases or bisects a branch, it is that one.
    """
    top = git_root(root)
    if top is None:
        return None
    folder = git_dir(top)
    head = first_line(os.path.join(folder, "HEAD"))
    if not head.startswith("ref: "):
        return _worked_on(folder, top)
    return _readable(head.removeprefix("ref: "))


def default_branch(root: str, configured: str = "") -> str | None:
    """As *configured*, else as origin says, else `main` or `master`; None where there is none."""
    top = git_root(root)
    shared = common_dir(top) if top else None
    if shared is None:
        return None
    if ".." in configured:  # no name that git allows, and a way out of its folder
        return None
    pointer = first_line(os.path.join(shared, "refs", "remotes", "origin", "HEAD"))
    named = configured or pointer.removeprefix("ref: refs/remotes/origin/")
    return next(
        (
            name
            for name in ([named] if named else DEFAULT_BRANCHES)
            if tip(shared, f"refs/heads/{name}") or tip(shared, f"refs/remotes/origin/{name}")
        ),
        None,
    )


def staging(root: str, configured: str = "") -> str | None:
    """The branch that what is learned here waits on until it is merged.

    None where it is everybody's at once: on the default branch, where there is none, when detached,
    and without git.
    """
    on = branch(root)
    default = default_branch(root, configured) if on else None
    return on if default and on != default else None


def under_way(root: str) -> bool:
    """Whether git is in the middle of a merge, a rebase or the like, and the files are its own."""
    top = git_root(root)
    if top is None:
        return False
    folder = git_dir(top)
    return any(os.path.exists(os.path.join(folder, name)) for name in _UNDER_WAY)


def tip(common: str, ref: str) -> str | None:
    """The commit that a ref of the repository names; None: there is no such ref."""
    packed = os.path.join(common, "packed-refs")
    return first_line(os.path.join(common, ref)) or _packed(packed, ref)


def commit(root: str) -> str | None:
    """The id of the commit checked out, read from git's own files; None before the first."""
    top = git_root(root)
    shared = common_dir(top) if top else None
    if top is None or shared is None:
        return None
    head = first_line(os.path.join(git_dir(top), "HEAD"))
    if not head.startswith("ref: "):
        return head or None
    return tip(shared, head.removeprefix("ref: "))


def git_dir(top: str) -> str:
    """Git's folder of this worktree: `.git`, or what a file of that name points to."""
    marker = os.path.join(top, ".git")
    try:
        named = _beginning(marker).partition("gitdir:")[2].strip()
    except OSError:
        return marker
    return os.path.realpath(os.path.join(top, named)) if named else marker


def above(where: str, name: str, there: Callable[[str], bool]) -> str | None:
    """The innermost folder at or above *where* in which something of that *name* is *there*."""
    folder = os.path.realpath(where)
    while not there(os.path.join(folder, name)):
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent
    return folder


def first_line(path: str) -> str:
    """Without its end; empty when there is no such file."""
    try:
        return _beginning(path).partition("\n")[0].strip()
    except OSError:
        return ""


def config_value(folder: str, key: str) -> str:
    """The last value that git's own settings in *folder* give a key of `[core]`; else empty."""
    try:
        lines = _beginning(os.path.join(folder, "config")).splitlines()
    except OSError:
        return ""
    entries = [line.partition("=") for line in lines]
    found = [value for name, _, value in entries if name.strip().lower() == key]
    return found[-1].strip().strip('"') if found else ""


def _beginning(path: str) -> str:
    """The first MOST bytes of a regular file, as text; raises OSError.

    An unpacked archive may have a pipe or a device in git's place: no hook waits for it.
    """
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise IsADirectoryError(path)
        return os.read(handle, MOST).decode("utf-8", "replace")
    finally:
        os.close(handle)


def _worked_on(folder: str, top: str) -> str | None:
    """The branch that HEAD was detached from for as long as a rebase or a bisection takes."""
    for name in _REBASED:
        ref = first_line(os.path.join(folder, name))
        if ref:
            return _readable(ref)
    bisected = first_line(os.path.join(folder, "BISECT_START"))
    shared = common_dir(top)
    if bisected and shared and tip(shared, f"refs/heads/{bisected}"):
        return _readable(f"refs/heads/{bisected}")
    return None


def _readable(ref: str) -> str | None:
    """The branch's name; None for a ref of another kind, or spelled in bytes that are no text."""
    name = ref.removeprefix("refs/heads/")
    return None if name in (ref, ".invalid") or "\ufffd" in name else name


def _packed(path: str, ref: str) -> str | None:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return next((line[:-1].split()[0] for line in file if line.endswith(f" {ref}\n")), None)
    except OSError:
        return None
