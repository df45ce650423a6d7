"""What git says that a session should know: what people did without it, and what came last."""

from __future__ import annotations

from ademem.capture.commits import folders
from ademem.core.text import counted, unique
from ademem.session.briefing.reader import line
from ademem.store import commits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from ademem.session.briefing.reader import Entry, Reader
    from ademem.store.commits import Made

SHORT = 7
"""Digits of a commit's name."""
AUTHORS = 5
"""People who are named."""
FOLDERS = 8
"""Folders that are named; of the others there is `ademem status commits`."""


def by_people(reader: Reader) -> list[Entry]:
    """Commits that no session made and none was told of; again when the session has lost sight."""
    made = _news(reader)
    cursor = commits.cursor(reader.store, reader.root, reader.branch or "")
    lost = cursor.lost_sha if cursor else None
    if not made and not lost:
        return []
    said = counted(len(made), "commit")
    authors = unique(each.author for each in made)
    if authors:
        left = len(authors) - AUTHORS
        others = f" and {counted(left, 'other')}" if left > 0 else ""
        said += f" by {', '.join(authors[:AUTHORS])}{others}"
    if lost:
        said += f"; history was rewritten, {lost[:SHORT]} is no longer part of it"
    told = [
        f"- {each.sha[:SHORT]} {each.committed_at[:10]} {each.author}: {each.subject}"
        for each in made[: reader.level]
    ]
    more = len(made) - len(told)
    return [
        line(said),
        *_places(path for each in made for path in each.files),
        *map(line, told),
        *([line(f"and {more} more: `ademem status commits`")] if more else []),
    ]


def latest(reader: Reader) -> list[Entry]:
    """The last commits before those that are news, and where they changed files."""
    found = commits.latest(reader.store, reader.root)
    if found is None or not found.commits:
        return []
    news = {made.sha for made in _news(reader)}
    known = [each for each in found.commits if each[0] not in news][: reader.level]
    told = [f"- {sha[:SHORT]} {day} {subject}" for sha, day, subject in known]
    return [*map(line, told), *_places(found.files)] if told else []


def _news(reader: Reader) -> list[Made]:
    session = "" if reader.seen else reader.session
    return commits.untold(reader.store, reader.root, session)


def _places(files: Iterable[str]) -> list[Entry]:
    """One line: the folders of the files, the fullest first."""
    found = folders(files)
    named = [f"{folder} ({counted(count, 'file')})" for folder, count in found]
    return [line(f"Files under {', '.join(named[:FOLDERS])}")] if named else []
