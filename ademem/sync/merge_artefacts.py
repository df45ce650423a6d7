"""Find entries that git combined from several when it merged pages without our driver."""

from __future__ import annotations

from ademem.core import git
from ademem.core.value import Value
from ademem.files.pages import FOLDER
from ademem.files.snapshot import snapshot

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from ademem.files.markdown import Entry
    from ademem.files.snapshot import Placed, Said, Snapshot
    from ademem.sync.git_history import GitHistory

MOST_COMMITS = 200
"""Commits that are searched for the sides of a merge."""
_WHOLE = "1000000"
"""Context lines of a patch: the whole page."""


class Sides(Value):
    """The versions of one memory in commits."""

    joined: dict[Said, Placed] = {}
    """Versions that only the result of a merge has."""
    merged: dict[Said, Placed] = {}
    """Versions of a side of a merge."""
    elsewhere: dict[Said, Placed] = {}
    """Versions of commits on other branches, or before history was rewritten."""


class MergeArtefacts:
    """Splits combined entries; reads git's history when an entry looks like one."""

    def __init__(self, history: GitHistory, before: Snapshot, now: Snapshot) -> None:
        self._history = history
        self._before, self._now = before, now
        self._sides: dict[str, Sides] | None = None
        self._around: frozenset[str] | None = None

    def apart(self, item: Placed) -> tuple[Placed, ...]:
        """Return the versions that git combined into the entry, or the entry itself.

        Git makes up no line: what has a line that no version has was written. An entry may lose
        lines by hand, so that without a merge it counts as joined only with lines of two.
        """
        id, said = str(item.entry.id), item.said
        sides, lines = self._of(id), _lines(item.entry)
        by_merge = said in sides.joined
        if said in self._told(id) or (said in sides.merged and not by_merge):
            return (item,)
        others = [(one, _lines(one.entry)) for one in self._versions(id) if one.said != said]
        within_one = any(lines <= has for _, has in others)
        if not lines <= self._lines_around() or (within_one and not by_merge):
            return (item,)
        if by_merge:
            return tuple(one for name, one in sides.merged.items() if name not in sides.joined)
        return tuple(one for one, has in others if has <= lines) or (item,)

    def _versions(self, id: str) -> tuple[Placed, ...]:
        sides, told = self._of(id), self._told(id)
        found = sides.elsewhere | sides.merged | told
        return tuple(one for said, one in found.items() if said in told or said not in sides.joined)

    def _told(self, id: str) -> dict[Said, Placed]:
        """Return the versions of the base and of the lines."""
        lines = (self._now.lines.get(id), self._now.lost.get(id))
        items = (*self._before.placed.get(id, ()), *(line.item for line in lines if line))
        return {item.said: item for item in items if item}

    def _of(self, id: str) -> Sides:
        if self._sides is None:
            self._sides = _read_sides(self._history)
        return self._sides.get(id, Sides())

    def _lines_around(self) -> frozenset[str]:
        """Return the lines of all versions on the pages: git may combine two memories."""
        if self._around is None:
            known = (one for id in self._now.placed for one in self._versions(id))
            self._around = frozenset(line for one in known for line in _lines(one.entry))
        return self._around


def _lines(item: Entry) -> frozenset[str]:
    title = f"**{item.title}**" if item.title else ""
    tags, path = f"- tags: {' '.join(item.tags)}", f"- path: {item.path}"
    details = (tags if item.tags else "", path if item.path else "")
    lines = (line.strip() for line in (title, *item.content.split("\n"), *details))
    return frozenset(filter(None, lines))


def _read_sides(history: GitHistory) -> dict[str, Sides]:
    """Group versions by the id of the memory.

    On the line of history that was pulled a commit says what was meant, so it is no side of
    anything; elsewhere, and where history was written anew, it is.
    """
    found: dict[str, Sides] = {}
    sides: dict[tuple[str, str], dict[object, Placed]] = {}
    left: dict[tuple[str, str], int] = {}
    ours = history.commits()
    for commit, parents, path, before, after in _list_changes(history):
        if len(parents) < 2:
            if commit not in ours:
                _note("elsewhere", _items(path, after), found)
            continue
        merge = (commit, path)
        sides[merge] = sides.get(merge, {}) | _items(path, before)
        left[merge] = left.get(merge, len(parents)) - 1
        if not left[merge]:  # else it is as one of the sides has it
            _note("merged", sides[merge], found)
            made = _items(path, after).items()
            _note("joined", {name: one for name, one in made if name not in sides[merge]}, found)
    return found


def _items(path: str, text: str) -> dict[object, Placed]:
    placed = snapshot({path: text}).placed
    return {(id, item.said): item for id, items in placed.items() for item in items}


def _note(what: str, items: dict[object, Placed], found: dict[str, Sides]) -> None:
    for item in items.values():
        sides = found.setdefault(str(item.entry.id), Sides(joined={}, merged={}, elsewhere={}))
        getattr(sides, what)[item.said] = item


def _list_changes(history: GitHistory) -> Iterator[tuple[str, list[str], str, str, str]]:
    """Yield commits with their parents and each changed page, before and after."""
    shown = ("-m", "--patch", "--no-renames", "--relative", f"--unified={_WHOLE}")
    most = ("--full-history", f"--max-count={MOST_COMMITS}", "--ignore-missing")
    refs = ("HEAD", "--branches", "--remotes")
    older = ("--reflog", "--not", history.agreed) if history.agreed else ()
    asked = (*shown, *most, "--format=%x00%H %P", *refs, *older, "--", f"{FOLDER}*.md")
    for commit in git.text(history.root, "log", *asked).split("\0")[1:]:
        names, _, patch = commit.partition("\n")
        id, *parents = names.split()
        yield from ((id, parents, *page) for page in _pages(patch))


def _pages(patch: str) -> Iterator[tuple[str, str, str]]:
    """Yield path and both texts of each page in a patch that shows whole files."""
    for part in f"\n{patch}".split("\ndiff --git ")[1:]:
        head, _, body = part.partition("\n@@ ")
        names = [line[6:] for line in head.split("\n") if line.startswith(("--- a/", "+++ b/"))]
        lines = body.split("\n")[1:]
        if names:
            before = "\n".join(line[1:] for line in lines if line[:1] in (" ", "-"))
            after = "\n".join(line[1:] for line in lines if line[:1] in (" ", "+"))
            yield names[-1], before, after
