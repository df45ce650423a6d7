"""What the trees of a repository say of memories: questions that only git can answer."""

from __future__ import annotations

import re

from ademem.core import git
from ademem.core.repository import common_dir, default_branch, git_root, tip
from ademem.core.value import Value
from ademem.files.pages import FOLDER, SHEET

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

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
    if not asked:
        return {}
    found: dict[str, tuple[set[str], set[str]]] = {}
    files = (FOLDER, f":(exclude){SHEET}")
    options = ("-aoE", "--no-color", "-e", _MARKS)
    nothing = 1  # grep's exit status where it found nothing
    said = git.output(root, "grep", *options, *asked, "--", *files, codes=(0, nothing))
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
    listed = git.output(root, "for-each-ref", "--format=%(refname)", "refs/remotes", "refs/heads")
    checked_out = git.output(root, "worktree", "list", "--porcelain")
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
    options = ("-g", "--branches", "--format=%gs", "--grep-reflog=Branch: renamed ")
    return dict(_RENAMED.findall(git.text(root, "log", *options)))


def _text(said: bytes) -> str:
    return said.decode("utf-8", "replace")


def has_commit(root: str, commit: str) -> bool:
    """Whether the repository has the commit; False also where git cannot tell."""
    return git.output(root, "cat-file", "-e", f"{commit}^{{commit}}") is not None
