"""How the files in the work tree came about from those that we last agreed on."""

from __future__ import annotations

import os
import re

from ademem.core import git
from ademem.core.repository import branch, commit, git_root
from ademem.core.value import Value
from ademem.files import staging
from ademem.files.pages import FOLDER
from ademem.store.runtime import filed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ademem.core.project import Project
    from ademem.sync.base import Base

_TAKES_BACK = re.compile(r'^(?:Revert|Reapply) "|^This reverts commit ', re.M)
"""What git, and hosts of it, write into the message of such a commit."""

_NAMED = re.compile(r'"id":"([^"\\]+)"|<!-- (\S+) -->$')


class GitHistory(Value):
    root: str
    by_hand: bool = True
    """No commit lies between: what differs was typed in this work tree."""
    touched: frozenset[str] = frozenset()
    """Ids of the memories that the commits since then changed; none when history went elsewhere."""
    since: str = ""
    """Those commits, as git names them; empty when history went elsewhere."""
    agreed: str | None = None
    """The commit that was checked out when files and store last agreed."""
    commits_of: Mapping[str, tuple[str, ...]] = {}
    """By the id of a memory, the commits since then that changed it."""
    authors: Mapping[str, str] = {}
    """By the id of a memory, the name that the last of these commits gives its author."""
    last_author: str = ""
    """The name that the last commit since then gives its author."""

    def counts(self, id: str) -> bool:
        """Whether what happened to the memory in the files was done to it, here or by a commit.

        Another branch, when it is checked out, says other things too, and nobody did anything.
        """
        return self.by_hand or id in self.touched

    def reached(self, path: str) -> bool:
        """Whether the file was changed here, or by a commit since."""
        if self.by_hand:
            return True
        changed = self.since and git.text(
            self.root, "log", "-1", "--format=%H", self.since, "--", path
        )
        return bool(changed)

    def commits(self) -> set[str]:
        """Ids of the commits since then; none when history went elsewhere."""
        return set(git.text(self.root, "rev-list", self.since).split()) if self.since else set()

    def bringing(self, path: str, id: str | None, text: str = "") -> frozenset[str] | None:
        """The commits that brought what is new; none for an edit that nobody committed yet.

        None where history went elsewhere and nothing tells. Of an item without *id*, its *text*
        is looked for in the file.
        """
        if self.by_hand:
            return frozenset()
        if not self.since or self.agreed is None:
            return None
        if id is not None:
            return frozenset(self.commits_of.get(id, ()))
        there = git.text(self.root, "show", f"HEAD:./{path}")
        if " ".join(text.split()) not in " ".join(there.split()):
            return frozenset()
        line = max(text.split("\n"), key=len).strip()
        found = git.text(self.root, "log", "--format=%H", f"-S{line}", self.since, "--", path)
        return frozenset(found.split()) or None

    def bringing_file(self, path: str) -> frozenset[str] | None:
        """The commits that changed the file; none for a change that nobody committed yet.

        None where history went elsewhere and nothing tells.
        """
        if self.agreed is None and self.by_hand:  # without git
            return frozenset()
        if self.since:
            found = git.text(self.root, "log", "--format=%H", self.since, "--", path)
            if found:
                return frozenset(found.split())
        status = ("status", "--porcelain", "--ignored", "--", path)
        return frozenset() if git.text(self.root, *status) else None

    def last_commit_of(self, path: str) -> str | None:
        """The commit that the file is of; None for one that no commit has as it is."""
        status = ("status", "--porcelain", "--ignored", "--", path)
        if git.text(self.root, *status):
            return None
        return git.text(self.root, "log", "-1", "--format=%H", "HEAD", "--", path).strip() or None

    def author_of(self, path: str) -> str:
        """Whoever git names as the author of the last commit that changed the file."""
        return git.text(self.root, "log", "-1", "--format=%an", "HEAD", "--", path).strip()

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
        return _TAKES_BACK.search(git.text(self.root, *asked)) is not None

    def buried(self, id: str) -> bool:
        """Whether a commit on this line of history says that the memory is gone."""
        return not self.by_hand and self._changes(f'"key":"gone-{re.escape(id)}"') > 0

    def _changes(self, pattern: str) -> int:
        """Commits after which files have the pattern more often, or less often, than before."""
        asked = ("log", "--format=%H", "--pickaxe-regex", f"-S{pattern}", "HEAD", "--", FOLDER)
        return len(git.text(self.root, *asked).split())


def read_history(project: Project, base: Base) -> GitHistory:
    """Without git, every difference was typed here."""
    now = commit(project.root)
    if now is None:
        return GitHistory(root=project.root)
    if now == base.commit:
        return _history_at_same_commit(project.root, base)
    if base.commit is not None and not _descends(project.root, base.commit):
        return GitHistory(root=project.root, by_hand=False, agreed=base.commit)
    commits = f"{base.commit}..HEAD" if base.commit else "HEAD"
    shown = ("--patch", "--unified=0", "--format=%x00%H%x00%an")
    patches = git.text(project.root, "log", *shown, commits, "--", FOLDER)
    commits_of: dict[str, tuple[str, ...]] = {}
    authors: dict[str, str] = {}
    last_author = sha = author = ""
    for line in patches.split("\n"):
        if line[:1] == "\0":  # no line of a patch begins so
            sha, author = line[1:].split("\0", 1)
            last_author = last_author or author
        elif line[:1] in ("+", "-") and (name := _NAMED.search(line)):
            id = name[1] or name[2]
            if commits_of.get(id, ())[-1:] != (sha,):
                commits_of[id] = (*commits_of.get(id, ()), sha)
            authors.setdefault(id, author)
    return GitHistory(
        root=project.root,
        by_hand=False,
        touched=frozenset(commits_of),
        since=commits,
        agreed=base.commit,
        commits_of=commits_of,
        authors=authors,
        last_author=last_author,
    )


def list_committed(project: Project, paths: Iterable[str]) -> list[str]:
    """Those that are as the commit that is checked out has them; none when git cannot tell."""
    listing = ("status", "--porcelain", "-z", "--no-renames", "--untracked-files=all")
    asked = (*listing, "--ignored=matching", "--", ".ade")
    told = git.output(project.root, *asked)
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


def _history_at_same_commit(root: str, base: Base) -> GitHistory:
    """What a switch, a stash or a reset took away before it was committed, nobody deleted."""
    if base.branch not in (None, filed(branch(root) or "")):
        here = (staging.read_trees(root, ["HEAD"]) or {}).get("HEAD")
        return GitHistory(root=root, by_hand=False, touched=here.ids if here else frozenset())
    changed = git.text(root, "status", "--porcelain", "--", FOLDER)
    tracked = git.output(root, "ls-files", "--", FOLDER)
    typed = tracked is not None and bool(changed or not tracked)
    return GitHistory(root=root, by_hand=typed)


def _descends(root: str, earlier: str) -> bool:
    """Whether what is checked out was built upon *earlier*; False also when git cannot tell."""
    return git.text(root, "merge-base", earlier, "HEAD").strip() == earlier
