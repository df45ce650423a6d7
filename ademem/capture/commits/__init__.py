"""What people commit while nobody listens, and what was committed last."""

from __future__ import annotations

from collections import Counter

from ademem.core.clock import UTC, datetime, parse, stamp
from ademem.core.repository import branch, commit
from ademem.store import commits as table
from ademem.store.commits import Latest, Made

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from ademem.capture.commits.history import Commit
    from ademem.capture.commits.objects import Objects
    from ademem.core.project import Project
    from ademem.store import Store
    from ademem.store.commits import Cursor

HOOK_OBJECTS = 80
"""Objects of git that a hook may read; where these are not enough, the worker looks."""
WORKER_OBJECTS = 20_000
"""The same for the worker; a longer history counts as seen."""
KEPT = 200
"""Commits of one look that are kept, the newest; of the others there is git."""
LATEST = 10
FILES = 100
"""Paths kept of one commit."""
TOP = "."
"""What the files are in that are in no folder."""


def look(project: Project, store: Store, now: datetime, most: int = HOOK_OBJECTS) -> bool:
    """Note what people committed here since the last look.

    False when that takes reading more objects than *most*, or they cannot be read: then nothing is
    noted. The first look takes all there is as seen.
    """
    head = commit(project.root)
    if head is None:
        return True
    here = branch(project.root) or ""
    cursor = table.cursor(store, project.root, here)
    if cursor and cursor.sha == head:
        return True
    known = table.cursors(store, project.root)
    if not known:
        table.move(store, project.root, here, head, now)
        return True
    return _look(project, store, now, most, head, here, cursor, known)


def _look(
    project: Project,
    store: Store,
    now: datetime,
    most: int,
    head: str,
    here: str,
    cursor: Cursor | None,
    known: list[Cursor],
) -> bool:
    from ademem.capture.commits import history
    from ademem.capture.commits.objects import Damaged, Objects, TooMuch

    objects = Objects.at(project.root, most)
    if objects is None:
        return True
    last = cursor.sha if cursor and here else ""  # a detached HEAD goes where it likes
    seen = dict.fromkeys([*([last] if last else []), *(each.sha for each in known)])
    since = int(parse(cursor.seen_at).timestamp()) if cursor else 0
    try:
        news = history.news(objects, head, seen, last=last, since=since)
        found = _made(objects, store, news.commits)
    except (TooMuch, Damaged):
        return False
    with store.transaction():
        if table.cursor(store, project.root, here) == cursor:  # nobody else looked meanwhile
            if news.rewritten:
                table.rewritten(store, project.root, here, news.dropped)
            table.by_people(store, project.root, here, reversed(found), now)
            lost = last if news.rewritten else None
            table.move(store, project.root, here, head, now, lost)
    return True


def catch_up(project: Project, store: Store, now: datetime) -> None:
    """What the worker does: look however long it takes, and list the last commits."""
    if not look(project, store, now, WORKER_OBJECTS):
        head = commit(project.root)
        if head:
            table.move(store, project.root, branch(project.root) or "", head, now)
    _list_latest(project, store, now)
    table.prune(store, now)


def is_behind(project: Project, store: Store) -> bool:
    """Whether the worker has something to look at here."""
    head = commit(project.root)
    if head is None:
        return False
    cursor = table.cursor(store, project.root, branch(project.root) or "")
    latest = table.latest(store, project.root)
    return not (cursor and latest and cursor.sha == latest.sha == head)


def report(project: Project, store: Store, now: datetime) -> dict[str, Any]:
    """What a session would be told now, and up to where history was looked at."""
    catch_up(project, store, now)
    cursor = table.cursor(store, project.root, branch(project.root) or "")
    made = table.untold(store, project.root)
    return {
        "head": cursor.sha if cursor else None,
        "branch": branch(project.root),
        "looked_at": cursor.seen_at if cursor else None,
        "rewritten_from": cursor.lost_sha if cursor else None,
        "count": len(made),
        "commits": [
            {
                "sha": each.sha,
                "at": each.committed_at,
                "author": each.author,
                "subject": each.subject,
                "files": list(each.files),
            }
            for each in made
        ],
        "folders": dict(folders(path for each in made for path in each.files)),
    }


def folders(files: Iterable[str]) -> list[tuple[str, int]]:
    """The first folders of paths and how many of these are in each, the fullest first.

    What memory itself writes is left out.
    """
    tops = [path.partition("/")[0] if "/" in path else TOP for path in set(files)]
    counts = Counter(top for top in tops if top != ".ade")
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def _made(objects: Objects, store: Store, commits: Iterable[Commit]) -> list[Made]:
    """The commits that no session made, as they may be told."""
    from ademem.capture.commits import history

    kept = list(commits)[:KEPT]
    ours = table.of_sessions(store, [commit.id for commit in kept])
    return [
        Made(
            sha=commit.id,
            author=_safe(commit.author),
            subject=_safe(commit.subject),
            committed_at=_moment(commit.committed),
            files=tuple(map(_safe, history.changed(objects, commit)[:FILES])),
        )
        for commit in kept
        if commit.id not in ours
    ]


def _list_latest(project: Project, store: Store, now: datetime) -> None:
    """Where the objects cannot be read, the list is empty."""
    head = commit(project.root)
    if head:
        table.put_latest(store, project.root, _latest(project.root, head), now)


def _latest(root: str, head: str) -> Latest:
    from ademem.capture.commits import history
    from ademem.capture.commits.objects import Damaged, Objects, TooMuch

    objects = Objects.at(root, WORKER_OBJECTS)
    try:
        commits = history.recent(objects, head, LATEST) if objects else []
        paths = {path for each in commits if objects for path in history.changed(objects, each)}
    except (TooMuch, Damaged):
        return Latest(sha=head)
    listed = tuple((c.id, _moment(c.committed)[:10], _safe(c.subject)) for c in commits)
    return Latest(sha=head, commits=listed, files=tuple(map(_safe, sorted(paths)[:FILES])))


def _safe(text: str) -> str:
    """What a commit says, without secrets; without its words when they are an order to a model."""
    from ademem.core.redaction import redact
    from ademem.core.text import clean, preview
    from ademem.guard.injection import instruction_in

    said = preview(clean(redact(text).text), 200)
    return f"(withheld: it {shape})" if (shape := instruction_in(said)) else said


def _moment(seconds: int) -> str:
    return stamp(datetime.fromtimestamp(max(0, min(seconds, 2**38)), UTC))
