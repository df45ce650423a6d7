"""The commits between the merge base and the work tree, and what they changed."""

from __future__ import annotations

import os
import re

from ademem.core import git
from ademem.core.repository import branch, commit, git_root
from ademem.core.value import Value
from ademem.files import branches
from ademem.files.pages import FOLDER
from ademem.store.runtime import filed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ademem.core.project import Project
    from ademem.sync.merge_base import Base

_TAKES_BACK = re.compile(r'^(?:Revert|Reapply) "|^This reverts commit ', re.M)
"""Beginnings of messages of commits that revert another."""

_NAMED = re.compile(r'"id":"([^"\\]+)"|<!-- (\S+) -->$')


class GitHistory(Value):
    root: str
    by_hand: bool = True
    """True without commits in between: all differences are edits in this work tree."""
    touched: frozenset[str] = frozenset()
    """Ids of the memories that these commits changed; none when history diverged."""
    since: str = ""
    """The range of these commits; empty when history diverged."""
    agreed: str | None = None
    """The commit of the merge base."""
    commits_of: Mapping[str, tuple[str, ...]] = {}
    """By the id of a memory, the commits that changed it."""
    authors: Mapping[str, str] = {}
    """By the id of a memory, the author of the last of these commits."""
    last_author: str = ""
    """The author of the last commit."""

    def counts(self, id: str) -> bool:
        """Return True if the difference about the memory is an edit here or of a commit.

        Another branch, when it is checked out, says other things too, and nobody did anything.
        """
        return self.by_hand or id in self.touched

    def reached(self, path: str) -> bool:
        """Return True if the file was changed here, or by one of the commits."""
        if self.by_hand:
            return True
        changed = self.since and git.text(
            self.root, "log", "-1", "--format=%H", self.since, "--", path
        )
        return bool(changed)

    def commits(self) -> set[str]:
        """Return the ids of the commits; none when history diverged."""
        return set(git.text(self.root, "rev-list", self.since).split()) if self.since else set()

    def bringing(self, path: str, id: str | None, text: str = "") -> frozenset[str] | None:
        """Return the commits that made a change; none for an uncommitted edit.

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
        """Return the commits that changed the file; none for an uncommitted edit.

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
        """Return the last commit of the file; None for one with uncommitted changes."""
        status = ("status", "--porcelain", "--ignored", "--", path)
        if git.text(self.root, *status):
            return None
        return git.text(self.root, "log", "-1", "--format=%H", "HEAD", "--", path).strip() or None

    def author_of(self, path: str) -> str:
        """Return the author of the last commit that changed the file."""
        return git.text(self.root, "log", "-1", "--format=%an", "HEAD", "--", path).strip()

    def returned(self, id: str) -> bool:
        """Return True if the memory was removed and added again in this history."""
        if self.by_hand:
            return True
        name = re.escape(id)
        there = f'"id":"{name}","sync_id":"[^"]*","category"|<!-- {name} -->'
        return id in self.touched and self._changes(there) > 2  # put in, taken out, put in

    def taken_back(self, id: str) -> bool:
        """Return True if the last commit that added or removed it reverts another commit."""
        if self.by_hand or not self.since:
            return False
        asked = ("log", "-1", "--format=%B", f"-S<!-- {id} -->", self.since, "--", FOLDER)
        return _TAKES_BACK.search(git.text(self.root, *asked)) is not None

    def buried(self, id: str) -> bool:
        """Return True if a commit in this history has a tombstone of the memory."""
        return not self.by_hand and self._changes(f'"key":"gone-{re.escape(id)}"') > 0

    def _changes(self, pattern: str) -> int:
        """Count the commits that change how often the pattern occurs."""
        asked = ("log", "--format=%H", "--pickaxe-regex", f"-S{pattern}", "HEAD", "--", FOLDER)
        return len(git.text(self.root, *asked).split())


def read_history(project: Project, base: Base) -> GitHistory:
    """Read the history since the base; without git, every difference is an edit here."""
    now = commit(project.root)
    if now is None:
        return GitHistory(root=project.root)
    if now == base.commit:
        return _history_at_same_commit(project.root, base)
    if base.commit is not None and not _is_ancestor(project.root, base.commit):
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
    """Return the paths without uncommitted changes; none when git fails."""
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
    """Return the path and the folders above it, which git lists in place of their content."""
    parts = path.split("/")
    return {"/".join(parts[:count]) for count in range(1, len(parts) + 1)}


def _history_at_same_commit(root: str, base: Base) -> GitHistory:
    """Tell an edit from a switch, a stash or a reset, which delete nothing."""
    if base.branch not in (None, filed(branch(root) or "")):
        here = (branches.read_trees(root, ["HEAD"]) or {}).get("HEAD")
        return GitHistory(root=root, by_hand=False, touched=here.ids if here else frozenset())
    changed = git.text(root, "status", "--porcelain", "--", FOLDER)
    tracked = git.output(root, "ls-files", "--", FOLDER)
    typed = tracked is not None and bool(changed or not tracked)
    return GitHistory(root=root, by_hand=typed)


def _is_ancestor(root: str, earlier: str) -> bool:
    """Return True if HEAD descends from *earlier*; False also when git fails."""
    return git.text(root, "merge-base", earlier, "HEAD").strip() == earlier
