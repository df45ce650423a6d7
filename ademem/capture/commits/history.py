"""Commits as values: which are new to somebody who saw some, and what files they changed."""

from __future__ import annotations

from heapq import heappop, heappush

from ademem.capture.commits.objects import Damaged
from ademem.core.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ademem.capture.commits.objects import Objects

NEW, SEEN = 1, 2
"""From where a commit is reached: what is checked out, what was seen before."""
FOLDER = b"40000"
"""How a tree marks another tree."""


class Commit(Value):
    id: str
    tree: str
    parents: tuple[str, ...]
    author: str
    authored: int
    """Seconds since 1970, as is *committed*."""
    committed: int
    subject: str

    @property
    def same(self) -> tuple[str, int, str]:
        """What a commit keeps when it is rebased or picked elsewhere."""
        return self.author, self.authored, self.subject


class News(Value):
    """What is new in a history, the newest first, and whether what was seen is still part of it."""

    commits: tuple[Commit, ...] = ()
    rewritten: bool = False
    dropped: tuple[tuple[str, str], ...] = ()
    """What was seen and is not part of it any more, each with its like in the new one."""


def news(
    objects: Objects, head: str, seen: Iterable[str], *, last: str = "", since: int = 0
) -> News:
    """Commits reached from *head* and from none of *seen*, nor the like of one that was dropped.

    *last* is the one of *seen* that *head* should have been built upon. Where it is gone for good,
    commits from before *since* count as seen. Raises TooMuch or Damaged.
    """
    known = read(objects, last) if last else None
    gone = bool(last) and known is None
    found, flags = _painted(objects, head, seen, known, since if gone else 0)
    dropped = [found[id] for id, flag in flags.items() if flag == SEEN and id in found]
    fresh = [found[id] for id, flag in flags.items() if flag == NEW and id in found]
    known_before = {commit.same for commit in dropped}
    like = {commit.same: commit.id for commit in fresh}
    return News(
        commits=tuple(commit for commit in fresh if commit.same not in known_before),
        rewritten=bool(last) and not flags.get(last, 0) & NEW,
        dropped=tuple((commit.id, like.get(commit.same, "")) for commit in dropped),
    )


def recent(objects: Objects, head: str, most: int) -> list[Commit]:
    """The newest commits reached from *head*."""
    found: list[Commit] = []
    queue: list[tuple[int, str, Commit]] = []
    known: set[str] = set()
    _queue(objects, queue, known, head)
    while queue and len(found) < most:
        commit = heappop(queue)[2]
        found.append(commit)
        for parent in commit.parents:
            _queue(objects, queue, known, parent)
    return found


def changed(objects: Objects, commit: Commit) -> list[str]:
    """Paths of the files that a commit changed; of a merge none, for others changed them."""
    if len(commit.parents) > 1:
        return []
    before = read(objects, commit.parents[0]) if commit.parents else None
    paths = differing(objects, before.tree if before else None, commit.tree)
    return [path.decode("utf-8", "replace") for path in paths]


def differing(
    objects: Objects, old: str | None, new: str | None, at: bytes = b""
) -> Iterator[bytes]:
    """Paths of the files in which two trees differ, in order."""
    before, after = _entries(objects, old), _entries(objects, new)
    for name in sorted(before.keys() | after.keys()):
        was, now = before.get(name), after.get(name)
        if was == now:
            continue
        left, right = (each[1] if each and each[0] == FOLDER else None for each in (was, now))
        if left or right:
            yield from differing(objects, left, right, at + name + b"/")
        if any(each and each[0] != FOLDER for each in (was, now)):
            yield at + name


def read(objects: Objects, id: str) -> Commit | None:
    """None when it is not there. Raises TooMuch or Damaged."""
    raw = objects.read(id)
    if raw is None:
        return None
    head, _, message = raw.partition(b"\n\n")
    lines = [line.partition(b" ")[::2] for line in head.split(b"\n")]
    fields = dict(reversed(lines))
    try:
        author, authored = _person(fields[b"author"])
        return Commit(
            id=id,
            tree=fields[b"tree"].decode(),
            parents=()
            if id in objects.shallow
            else tuple(value.decode() for name, value in lines if name == b"parent"),
            author=author,
            authored=authored,
            committed=_person(fields[b"committer"])[1],
            subject=message.strip().partition(b"\n")[0].decode("utf-8", "replace"),
        )
    except (KeyError, ValueError) as error:
        raise Damaged(f"{id} is no commit: {error}") from error


def _painted(
    objects: Objects, head: str, seen: Iterable[str], last: Commit | None, since: int
) -> tuple[dict[str, Commit], dict[str, int]]:
    """The commits that were walked over, by date, and from where each is reached.

    It goes on until all that is left was seen, and *last* was met or is too young to be met.
    """
    flags: dict[str, int] = {}
    found: dict[str, Commit] = {}
    known: set[str] = set()
    queue: list[tuple[int, str, Commit]] = []

    def paint(id: str, flag: int) -> None:
        spots = [id]
        while spots:
            id = spots.pop()
            before = flags.get(id, 0)
            if before | flag == before:
                continue
            flags[id] = before | flag
            if id in found:  # walked over before its colour got there: clocks differ
                spots += found[id].parents
            else:
                _queue(objects, queue, known, id)

    paint(head, NEW)
    for id in seen:
        paint(id, SEEN)
    while any(flags[id] == NEW or _may_meet(last, each, flags) for _, id, each in queue):
        commit = heappop(queue)[2]
        if commit.committed < since:
            continue
        found[commit.id] = commit
        for parent in commit.parents:
            paint(parent, flags[commit.id])
    return found, flags


def _queue(
    objects: Objects, queue: list[tuple[int, str, Commit]], known: set[str], id: str
) -> None:
    """Let a commit wait for its turn, the newest first; one that is not there ends its line."""
    if id in known:
        return
    known.add(id)
    commit = read(objects, id)
    if commit:
        heappush(queue, (-commit.committed, id, commit))


def _may_meet(last: Commit | None, commit: Commit, flags: dict[str, int]) -> bool:
    """Whether the way from what is checked out to *last* may still lead over the commit."""
    if last is None or flags[last.id] & NEW or not flags[commit.id] & NEW:
        return False
    return commit.committed >= last.committed


def _entries(objects: Objects, tree: str | None) -> dict[bytes, tuple[bytes, str]]:
    """Mode and id of what is in a tree, by name."""
    raw = objects.read(tree) if tree else None
    width = len(tree) // 2 if tree else 0
    found, at = {}, 0
    while raw and at < len(raw):
        end = raw.index(b"\0", at)
        mode, _, name = raw[at:end].partition(b" ")
        at = end + 1 + width
        found[name] = (mode, raw[end + 1 : at].hex())
    return found


def _person(value: bytes) -> tuple[str, int]:
    """Name and moment out of `Ada <a@b> 1700000000 +0100`."""
    name, _, rest = value.partition(b" <")
    return name.decode("utf-8", "replace"), int(rest.rpartition(b"> ")[2].split()[0])
