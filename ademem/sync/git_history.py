"""The commits between the merge base and the work tree, and items that git combined in merges."""

from __future__ import annotations

import os
import re

from ademem.core import git
from ademem.core.repository import branch, commit, git_root
from ademem.core.text import number
from ademem.core.value import Value, replace
from ademem.files import FOLDER, knowledge
from ademem.files.branches import read_trees
from ademem.files.snapshot import is_imported, snapshot
from ademem.files.texts import Texts, clean_line
from ademem.store.runtime import filed
from ademem.sync.tracked_files import fingerprint, load_fingerprints, present_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from ademem.core.project import Project
    from ademem.files.markdown import ListItem
    from ademem.files.snapshot import PlacedItem, Snapshot, Values
    from ademem.sync.tracked_files import MergeBase

MOST_COMMITS = 200
"""Commits that are searched for the sides of a merge."""

_REVERTS = '^(Revert|Reapply) "|^This reverts commit '
"""Beginnings of lines in messages of commits that revert another."""
_ITEM_MARKUP = re.compile(r"^\s*[-*+] +(?:\[[ xX]\] +)?|<!-- \S+ -->$")
_ID = re.compile(r'"id":"([^"\\]+)"|<!-- (\S+) -->$')
_ENTRY_FIELDS = {"1": 8, "2": 9, "u": 10}
"""Blanks before the path in an entry of git's status, by its kind."""
_WHOLE = "1000000"
"""Context lines of a patch: the whole page."""


class GitHistory(Value):
    root: str
    by_hand: bool = True
    """True without commits in between: all differences are edits in this work tree."""
    removed: frozenset[int] = frozenset()
    """The numbers of lines that these commits removed."""
    written: Mapping[int, Mapping[str, int]] = {}
    """By the number of a line of a page, without its markup, how often each commit added it."""
    since: str = ""
    """The range of these commits; empty when history diverged."""
    agreed: str | None = None
    """The commit of the merge base."""
    commits_of: Mapping[str, tuple[str, ...]] = {}
    """By the id of a memory, the commits that changed it; none when history diverged."""
    balances: Mapping[str, Mapping[str, int]] = {}
    """By the id of a memory, the items and lines that each commit added, newest first."""
    authors: Mapping[str, str] = {}
    """By the id of a memory, the author of the last of these commits."""
    last_author: str = ""
    """The author of the last commit."""
    outdated: frozenset[str] = frozenset()
    """Files that git set back to an old rendering."""

    def has_change(self, id: str) -> bool:
        """Return True if the difference about the memory is an edit here or of a commit.

        The checkout of another branch makes differences, too, and is no edit.
        """
        return self.by_hand or id in self.commits_of

    def has_left(self, lines: Iterable[str]) -> bool:
        """Return True if one of these lines was removed or changed here, or by a commit."""
        return self.by_hand or any(number(line) in self.removed for line in lines)

    def has_file_change(self, path: str) -> bool:
        """Return True if the file was changed here, or by one of the commits."""
        return self.by_hand or bool(self.since and self._log("-1", "%H", self.since, path))

    def commits(self) -> set[str]:
        """Return the ids of the commits; none when history diverged."""
        return set(git.text(self.root, "rev-list", self.since).split()) if self.since else set()

    def commits_with(self, path: str, id: str | None, text: str = "") -> frozenset[str] | None:
        """Return the commits that made a change; none for an uncommitted edit.

        None where history diverged and they are unknown. Of an item without *id*, its *text* is
        looked for in the file.
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
        return self._writers(text) or None

    def commits_of_file(self, path: str) -> frozenset[str] | None:
        """Return the commits that changed the file; none for an uncommitted edit.

        None where history diverged and they are unknown.
        """
        if self.agreed is None and self.by_hand:  # without git
            return frozenset()
        if self.since and (found := self._log("", "%H", self.since, path)):
            return frozenset(found.split())
        return frozenset() if self._is_uncommitted(path) else None

    def last_commit_of(self, path: str) -> str | None:
        """Return the last commit of the file; None for one with uncommitted changes."""
        if self._is_uncommitted(path):
            return None
        return self._log("-1", "%H", "HEAD", path).strip() or None

    def author_of(self, path: str) -> str:
        return self._log("-1", "%an", "HEAD", path).strip()

    def has_returned(self, id: str) -> bool:
        """Return True if the memory was removed and added again, by hand or in this history."""
        signs = self._signs(id)
        if signs == [True] and self.agreed:  # it was removed before the merge base, if at all
            signs = _read_patches(self.root, "HEAD")._signs(id)
        return self.by_hand or (signs[:1] == [True] and False in signs)

    def is_reverted(self, id: str) -> bool:
        """Return True if the last commit that added or removed the memory reverts another."""
        last = next((sha for sha, count in self.balances.get(id, {}).items() if count), "")
        asked = ("log", "--format=%H", "--extended-regexp", f"--grep={_REVERTS}", self.since)
        return bool(last and self.since) and last in git.text(self.root, *asked).split()

    def has_written(self, text: str) -> bool:
        """Return True if one of these commits wrote the text into a page."""
        return bool(self._writers(text))

    def _writers(self, text: str) -> frozenset[str]:
        counts = self.written.get(_line_number(max(text.split("\n"), key=len)), {})
        return frozenset(sha for sha, count in counts.items() if count > 0)

    def _signs(self, id: str) -> list[bool]:
        """Return True for each commit, newest first, that added the memory, False for removals."""
        return [count > 0 for count in self.balances.get(id, {}).values() if count]

    def _log(self, option: str, format: str, commits: str, path: str) -> str:
        options = (option, f"--format={format}") if option else (f"--format={format}",)
        return git.text(self.root, "log", *options, commits, "--", path)

    def _is_uncommitted(self, path: str) -> bool:
        return bool(git.text(self.root, "status", "--porcelain", "--ignored", "--", path))


def read_history(project: Project, base: MergeBase) -> GitHistory:
    """Read the history since the base; without git, every difference is an edit here."""
    root, now = project.root, commit(project.root)
    if now is None:
        return GitHistory(root=root)
    found, is_edited = _find_outdated(project, base, now)
    outdated = frozenset(found)
    if now == base.commit:
        if base.branch not in (None, filed(branch(root) or "")):
            here = (read_trees(root, ["HEAD"]) or {}).get("HEAD")
            return GitHistory(
                root=root,
                by_hand=False,
                commits_of=dict.fromkeys(here.ids if here else (), ()),
                outdated=outdated,
            )
        return GitHistory(root=root, by_hand=is_edited, outdated=outdated)
    earlier = base.commit
    if earlier is not None and git.text(root, "merge-base", earlier, "HEAD").strip() != earlier:
        return GitHistory(root=root, by_hand=False, agreed=earlier, outdated=outdated)
    commits = f"{earlier}..HEAD" if earlier else "HEAD"
    return replace(_read_patches(root, commits), agreed=earlier, outdated=outdated)


def _read_patches(root: str, commits: str) -> GitHistory:
    shown = ("--patch", "--unified=0", "--format=%x00%H%x00%an")
    patches = git.text(root, "log", *shown, commits, "--", FOLDER)
    commits_of: dict[str, tuple[str, ...]] = {}
    balances: dict[str, dict[str, int]] = {}
    removed: set[int] = set()
    written: dict[int, dict[str, int]] = {}
    authors: dict[str, str] = {}
    last_author = sha = author = ""
    for line in patches.split("\n"):
        if line[:1] == "\0":  # no line of a patch begins so
            sha, author = line[1:].split("\0", 1)
            last_author = last_author or author
            continue
        sign = line[:1]
        if sign not in ("+", "-"):
            continue
        if name := _ID.search(line):
            id = name[1] or name[2]
            if commits_of.get(id, ())[-1:] != (sha,):
                commits_of[id] = (*commits_of.get(id, ()), sha)
            authors.setdefault(id, author)
            if f'"{knowledge.TOMBSTONE}"' not in line:
                balance = balances.setdefault(id, {})
                balance[sha] = balance.get(sha, 0) + (1 if sign == "+" else -1)
            if sign == "-":
                removed.add(number(clean_line(line[1:])))
        if line[1:2] != "{":
            counts = written.setdefault(_line_number(line[1:]), {})
            counts[sha] = counts.get(sha, 0) + (1 if sign == "+" else -1)
    return GitHistory(
        root=root,
        by_hand=False,
        removed=frozenset(removed),
        written=written,
        since=commits,
        commits_of=commits_of,
        balances=balances,
        authors=authors,
        last_author=last_author,
    )


def _line_number(line: str) -> int:
    """Return the number of a line of text, the same in an item of a page."""
    return number(_ITEM_MARKUP.sub("", line).strip())


def _find_outdated(project: Project, base: MergeBase, head: str) -> tuple[set[str], bool]:
    """Return the files that git set back to an old rendering, and True if others were edited.

    To the text of *head* by a stash, a reset or a restore since the base; to that of an earlier
    commit by a checkout, which stages it.
    """
    root, fingerprints = project.root, load_fingerprints(project)
    states = _list_uncommitted(project)
    outdated: set[str] = set()
    if states is None:
        return outdated, False
    present, is_edited = present_text(project), False
    for path in filter(is_imported, present):
        if base.texts.digests.get(path) == present.digests[path]:
            continue
        staged = states.of(path)
        if staged is None:
            is_rendering = fingerprint(path, present[path]) in fingerprints.get(path, ())
            if is_rendering and base.commit == head:
                outdated.add(path)
        elif staged and _is_in_history(root, path, staged):
            outdated.add(path)
        else:
            is_edited = True
    return outdated, is_edited


def is_committed_text(project: Project, path: str, text: str) -> bool:
    """Return True if the file had this text in a commit that HEAD descends from."""
    try:
        # From the standard input: git would follow a link, and read a device without end.
        hashed = git.run(project.root, "hash-object", "--stdin", stdin=text.encode())
    except OSError:
        return False
    object = hashed.output.decode().strip()
    return bool(object) and _is_in_history(project.root, path, object)


def _is_in_history(root: str, path: str, object: str) -> bool:
    asked = ("-1", "--format=%H", f"--find-object={object}", "HEAD", "--", path)
    return bool(git.text(root, "log", *asked))


class _Uncommitted(Value):
    """The state of files and folders with changes since HEAD."""

    staged: Mapping[str, str] = {}
    """By their path, the object of the index where it has what the file has; else empty."""

    def of(self, path: str) -> str | None:
        """Return the entry of the path or of a folder above it; None for a file as in HEAD."""
        parts = path.split("/")  # git lists a folder in place of its content
        above = ("/".join(parts[: end + 1]) for end in range(len(parts)))
        return next((self.staged[name] for name in above if name in self.staged), None)


def _list_uncommitted(project: Project) -> _Uncommitted | None:
    """Read git's status; None when git fails."""
    listing = ("status", "--porcelain=v2", "-z", "--no-renames", "--untracked-files=all")
    printed = git.output(project.root, *listing, "--ignored=matching", "--", ".ade")
    if printed is None:
        return None
    root = os.path.realpath(project.root)
    below = os.path.relpath(root, git_root(root) or root)
    staged = {}
    for entry in filter(None, printed.decode(errors="replace").split("\0")):
        kind, *fields = entry.split(" ", _ENTRY_FIELDS.get(entry[0], 1))
        as_staged = kind == "1" and fields[0][1] == "."
        staged[os.path.relpath(fields[-1], below)] = fields[6] if as_staged else ""
    return _Uncommitted(staged=staged)


def list_committed(project: Project, paths: Iterable[str]) -> list[str]:
    """Return the paths without uncommitted changes; none when git fails."""
    states = _list_uncommitted(project)
    return [path for path in paths if states and states.of(path) is None]


class Versions(Value):
    """The versions of one memory in commits."""

    combined: dict[Values, PlacedItem] = {}
    """Versions that only the result of a merge has."""
    merged: dict[Values, PlacedItem] = {}
    """Versions of a side of a merge."""
    elsewhere: dict[Values, PlacedItem] = {}
    """Versions of commits on other branches, or before history was rewritten."""


class MergeArtefacts:
    """Splits items that git combined from several when it merged pages without our driver.

    Reads git's history when an item looks like one.
    """

    def __init__(self, history: GitHistory, before: Snapshot, now: Snapshot) -> None:
        self._history = history
        self._before, self._now = before, now
        self._by_id: dict[str, Versions] | None = None
        self._all_lines: frozenset[str] | None = None

    def split(self, placed: PlacedItem) -> tuple[PlacedItem, ...]:
        """Return the versions that git combined into the item, or the item itself.

        Git makes up no line: an item with a line that no version has was written by hand. An item
        may lose lines by hand, so that without a merge it counts as combined only with lines of
        two.
        """
        id, values = str(placed.item.id), placed.values
        versions, lines = self._of(id), _lines(placed.item)
        by_merge = values in versions.combined
        if values in self._current(id) or (values in versions.merged and not by_merge):
            return (placed,)
        others = [(one, _lines(one.item)) for one in self._sources(id) if one.values != values]
        if self._all_lines is None:  # of all versions: git may combine two memories
            known = (one for id in self._now.placed for one in self._sources(id))
            self._all_lines = frozenset(line for one in known for line in _lines(one.item))
        within_one = any(lines <= has for _, has in others)
        if not lines <= self._all_lines or (within_one and not by_merge):
            return (placed,)
        if by_merge:
            return tuple(
                one for key, one in versions.merged.items() if key not in versions.combined
            )
        return tuple(one for one, has in others if has <= lines) or (placed,)

    def _sources(self, id: str) -> tuple[PlacedItem, ...]:
        versions, current = self._of(id), self._current(id)
        found = versions.elsewhere | versions.merged | current
        return tuple(
            one for key, one in found.items() if key in current or key not in versions.combined
        )

    def _current(self, id: str) -> dict[Values, PlacedItem]:
        """Return the versions of the base and of the lines."""
        lines = self._now.lines.get(id)
        items = (*self._before.placed.get(id, ()), *(lines.placed if lines else ()))
        return {item.values: item for item in items}

    def _of(self, id: str) -> Versions:
        if self._by_id is None:
            self._by_id = _read_versions(self._history)
        return self._by_id.get(id, Versions())


def _lines(item: ListItem) -> frozenset[str]:
    title = f"**{item.title}**" if item.title else ""
    tags = f"- tags: {' '.join(item.tags)}" if item.tags else ""
    path = f"- path: {item.path}" if item.path else ""
    lines = (line.strip() for line in (title, *item.content.split("\n"), tags, path))
    return frozenset(filter(None, lines))


def _read_versions(history: GitHistory) -> dict[str, Versions]:
    """Group versions by the id of the memory.

    A commit of the history that was pulled is an intended change, and no side of a merge;
    elsewhere, and where history was rewritten, it is one.
    """
    found: dict[str, Versions] = {}

    def note(kind: str, items: Iterable[PlacedItem]) -> None:
        for item in items:
            empty = Versions(combined={}, merged={}, elsewhere={})
            getattr(found.setdefault(str(item.item.id), empty), kind)[item.values] = item

    sides: dict[tuple[str, str], dict[object, PlacedItem]] = {}
    left: dict[tuple[str, str], int] = {}
    ours = history.commits()
    for sha, parents, path, before, after in _list_changes(history):
        if len(parents) < 2:
            if sha not in ours:
                note("elsewhere", _items(path, after).values())
            continue
        merge = (sha, path)
        sides[merge] = sides.get(merge, {}) | _items(path, before)
        left[merge] = left.get(merge, len(parents)) - 1
        if not left[merge]:  # else it is equal to one of the sides
            note("merged", sides[merge].values())
            made = _items(path, after).items()
            note("combined", [one for name, one in made if name not in sides[merge]])
    return found


def _items(path: str, text: str) -> dict[object, PlacedItem]:
    placed = snapshot(Texts.of({path: text})).placed
    return {(id, item.values): item for id, items in placed.items() for item in items}


def _list_changes(history: GitHistory) -> Iterator[tuple[str, list[str], str, str, str]]:
    shown = ("-m", "--patch", "--no-renames", "--relative", f"--unified={_WHOLE}")
    most = ("--full-history", f"--max-count={MOST_COMMITS}", "--ignore-missing")
    refs = ("HEAD", "--branches", "--remotes")
    older = ("--reflog", "--not", history.agreed) if history.agreed else ()
    asked = (*shown, *most, "--format=%x00%H %P", *refs, *older, "--", f"{FOLDER}*.md")
    for printed in git.text(history.root, "log", *asked).split("\0")[1:]:
        names, _, patch = printed.partition("\n")
        sha, *parents = names.split()
        for part in f"\n{patch}".split("\ndiff --git ")[1:]:
            head, _, body = part.partition("\n@@ ")
            paths = [line[6:] for line in head.split("\n") if line.startswith(("--- a/", "+++ b/"))]
            lines = body.split("\n")[1:]
            if paths:
                before = "\n".join(line[1:] for line in lines if line[:1] in (" ", "-"))
                after = "\n".join(line[1:] for line in lines if line[:1] in (" ", "+"))
                yield sha, parents, paths[-1], before, after
