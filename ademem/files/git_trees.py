"""What the trees of a repository say of memories: questions that only git can answer."""

from __future__ import annotations

import re
import subprocess
from contextlib import contextmanager

from ademem.core.repository import common_dir, default_branch, git_root, tip
from ademem.core.value import Value
from ademem.files.pages import FOLDER, SHEET

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ademem.files.deadline import Deadline

TIMEOUT_S = 10
_deadline: Deadline | None = None
"""Of the hook that this process is."""

_MARKS = r'(^| )<!-- [^ ]+ -->[[:space:]]*$|"id":"[^"\]+"|"key":"[^"\]+"|^# '
"""An entry, a line, and what every page begins with; git prints these and no more."""
_MARK = re.compile(r'<!-- (\S+) -->|"id":"([^"]+)"|"key":"([^"]+)"')
_RENAMED = re.compile(r"Branch: renamed refs/heads/(\S+) to refs/heads/(\S+)")


class Tree(Value):
    """The memories that the files of one commit tell of."""

    has_files: bool = False
    ids: frozenset[str] = frozenset()
    keys: frozenset[str] = frozenset()
    """Of lines, ours and others'."""

    def tells_of(self, id: str | None, key: str | None) -> bool:
        return id in self.ids or key in self.keys


def of(root: str, refs: Iterable[str]) -> dict[str, Tree] | None:
    """The trees of these refs, but for what is only offered; None when git cannot tell."""
    asked = tuple(refs)
    found: dict[str, tuple[set[str], set[str]]] = {}
    files = (FOLDER, f":(exclude){SHEET}")
    said = git(root, "grep", "-aoE", "-e", _MARKS, *asked, "--", *files) if asked else b""
    if said is None:
        return None
    for line in said.decode("utf-8", "replace").splitlines():
        ref, _, rest = line.partition(":")
        ids, keys = found.setdefault(ref, (set(), set()))
        mark = _MARK.search(rest)
        if mark and mark[3]:
            keys.add(mark[3])
        elif mark:
            ids.add(mark[1] or mark[2])
    return {
        ref: Tree(
            has_files=ref in found,
            ids=frozenset(found.get(ref, ((), ()))[0]),
            keys=frozenset(found.get(ref, ((), ()))[1]),
        )
        for ref in asked
    }


def default_refs(root: str, configured: str) -> list[str]:
    """The default branch as it is here, and as origin had it last: those that there are."""
    name, top = default_branch(root, configured), git_root(root)
    shared = common_dir(top) if top else None
    refs = (f"refs/heads/{name}", f"refs/remotes/origin/{name}")
    return [ref for ref in refs if shared and name and tip(shared, ref)]


def branches(root: str) -> dict[str, str] | None:
    """A ref by the name of each branch, ours or a remote's; "" for one that has no commit yet.

    None when git cannot tell.
    """
    listed = git(root, "for-each-ref", "--format=%(refname)", "refs/remotes", "refs/heads")
    checked_out = git(root, "worktree", "list", "--porcelain")
    if listed is None or checked_out is None:
        return None
    found: dict[str, str] = {}
    for ref in _text(listed).split():  # ours come first
        _, kind, name = ref.split("/", 2)
        found.setdefault(name if kind == "heads" else name.partition("/")[2], ref)
    found.pop("HEAD", None)  # what a remote calls its default branch
    heads = re.findall(r"^branch refs/heads/(\S+)$", _text(checked_out), re.M)
    return dict.fromkeys(heads, "") | found


def renamed(root: str) -> dict[str, str]:
    """New names of branches by their old ones, as git's own log of each branch has them."""
    said = git(root, "log", "-g", "--branches", "--format=%gs", "--grep-reflog=Branch: renamed ")
    return dict(_RENAMED.findall(_text(said or b"")))


def _text(said: bytes) -> str:
    return said.decode("utf-8", "replace")


def has_commit(root: str, commit: str) -> bool:
    """Whether the repository has the commit; False also where git cannot tell."""
    ran = run(root, "cat-file", "-e", f"{commit}^{{commit}}")
    return ran is not None and ran.returncode == 0


@contextmanager
def limited(deadline: Deadline) -> Iterator[None]:
    """Let no question to git outlast the deadline: it raises TooLate then."""
    global _deadline
    _deadline = deadline
    try:
        yield
    finally:
        _deadline = None


def git(root: str, *arguments: str) -> bytes | None:
    """What git prints, nothing where it found nothing; None when it failed or is not there."""
    ran = run(root, *arguments)
    return ran.stdout if ran and ran.returncode in (0, 1) else None


def run(root: str, *arguments: str) -> subprocess.CompletedProcess[bytes] | None:
    """None when git is not there, or did not end in time."""
    if _deadline:
        _deadline.check()
    try:
        return subprocess.run(
            ["git", "-C", root, *arguments],
            capture_output=True,
            timeout=min(TIMEOUT_S, _deadline.left_s) if _deadline else TIMEOUT_S,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.SubprocessError):
        if _deadline:
            _deadline.check()
        return None
