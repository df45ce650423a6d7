"""How the files in the work tree came about from those that we last agreed on."""

from __future__ import annotations

import os
import re

from ademem.mirror import trees
from ademem.mirror.pages import FOLDER
from ademem.repository import branch, commit, git_root
from ademem.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from ademem.mirror.base import Base
    from ademem.project import Project

_TAKES_BACK = re.compile(r'^(?:Revert|Reapply) "|^This reverts commit ', re.M)
"""What git, and hosts of it, write into the message of such a commit."""

_NAMED = re.compile(rb'"id":"([^"\\]+)"|<!-- (\S+) -->$')


class Lineage(Value):
    root: str
    by_hand: bool = True
    """No commit lies between: what differs was typed in this work tree."""
    touched: frozenset[str] = frozenset()
    """Ids of the memories that the commits since then changed; none when history went elsewhere."""
    since: str = ""
    """Those commits, as git names them; empty when history went elsewhere."""
    agreed: str | None = None
    """The commit that was checked out when files and store last agreed."""

    def counts(self, id: str) -> bool:
        """Whether what happened to the memory in the files was done to it, here or by a commit.

        Another branch, when it is checked out, says other things too, and nobody did anything.
        """
        return self.by_hand or id in self.touched

    def reached(self, path: str) -> bool:
        """Whether the file was changed here, or by a commit since."""
        if self.by_hand:
            return True
        changed = self.since and _git(self.root, "log", "-1", "--format=%H", self.since, "--", path)
        return bool(changed)

    def commits(self) -> set[str]:
        """Ids of the commits since then; none when history went elsewhere."""
        return (
            set(_git(self.root, "rev-list", self.since).decode().split()) if self.since else set()
        )

    def returned(self, id: str) -> bool:
        """Whether what is there again was taken out on this line of history before."""
        if self.by_hand:
            return True
        name = re.escape(id)
        there = f'"id":"{name}","sync_id":"[^"]*","category"|<!-- {name} -->'
        return id in self.touched and self._changes(there) > 2  # put in, taken out, put in

    def taken_back(self, id: str) -> bool:
        """Whether the last commit that put it in, or took it out, took another commit back."""
        if self.by_hand or not self.since:
            return False
        asked = ("log", "-1", "--format=%B", f"-S<!-- {id} -->", self.since, "--", FOLDER)
        return _TAKES_BACK.search(_git(self.root, *asked).decode(errors="replace")) is not None

    def buried(self, id: str) -> bool:
        """Whether a commit on this line of history says that the memory is gone."""
        return not self.by_hand and self._changes(f'"key":"gone-{re.escape(id)}"') > 0

    def _changes(self, pattern: str) -> int:
        """Commits after which files have the pattern more often, or less often, than before."""
        asked = ("log", "--format=%H", "--pickaxe-regex", f"-S{pattern}", "HEAD", "--", FOLDER)
        return len(_git(self.root, *asked).split())


def lineage(project: Project, base: Base) -> Lineage:
    """Without git, every difference was typed here."""
    now = commit(project.root)
    if now is None:
        return Lineage(root=project.root)
    if now == base.commit:
        return _at_the_same_commit(project.root, base)
    touched, commits = frozenset[str](), ""
    if base.commit is None or _descends(project.root, base.commit):
        commits = f"{base.commit}..HEAD" if base.commit else "HEAD"
        since = (commits, "--", FOLDER)
        patches = _git(project.root, "log", "--patch", "--no-ext-diff", "--unified=0", *since)
        lines = (line for line in patches.splitlines() if line[:1] in (b"+", b"-"))
        found = (_NAMED.search(line) for line in lines)
        touched = frozenset((name[1] or name[2]).decode() for name in found if name)
    return Lineage(
        root=project.root, by_hand=False, touched=touched, since=commits, agreed=base.commit
    )


def committed(project: Project, paths: Iterable[str]) -> list[str]:
    """Those that are as the commit that is checked out has them; none when git cannot tell."""
    listing = ("status", "--porcelain", "-z", "--no-renames", "--untracked-files=all")
    asked = ("--no-optional-locks", *listing, "--ignored=matching", "--", ".ade")
    told = trees.git(project.root, *asked)
    if told is None:
        return []
    names = [name[3:] for name in told.decode(errors="replace").split("\0")]  # behind "XY "
    root = os.path.realpath(project.root)
    below = os.path.relpath(root, git_root(root) or root)
    other = {os.path.relpath(name, below) for name in names if name}
    return [path for path in paths if other.isdisjoint(_with_folders(path))]


def _with_folders(path: str) -> set[str]:
    """The path and the folders above it, which git names in place of all that is in them."""
    parts = path.split("/")
    return {"/".join(parts[:count]) for count in range(1, len(parts) + 1)}


def _at_the_same_commit(root: str, base: Base) -> Lineage:
    """What a switch, a stash or a reset took away before it was committed, nobody deleted."""
    if base.branch not in (None, branch(root) or ""):
        here = (trees.of(root, ["HEAD"]) or {}).get("HEAD")
        return Lineage(root=root, by_hand=False, touched=here.ids if here else frozenset())
    changed = trees.git(root, "--no-optional-locks", "status", "--porcelain", "--", FOLDER)
    tracked = trees.git(root, "ls-files", "--", FOLDER)
    typed = tracked is not None and bool(changed or not tracked)
    return Lineage(root=root, by_hand=typed)


def _descends(root: str, earlier: str) -> bool:
    """Whether what is checked out was built upon *earlier*; False also when git cannot tell."""
    return _git(root, "merge-base", earlier, "HEAD").decode().strip() == earlier


def _git(root: str, *arguments: str) -> bytes:
    """What git prints; nothing when it fails."""
    ran = trees.run(root, *arguments)
    return ran.stdout if ran and not ran.returncode else b""
