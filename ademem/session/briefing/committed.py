"""Sections about commits: those of people outside of sessions, and the last ones."""

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
"""Most authors that are named."""
FOLDERS = 8
"""Most folders that are named; `ademem status commits` has all."""


def by_people(reader: Reader) -> list[Entry]:
    """List commits that no session made or was shown."""
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
    """List the last commits before those, and the folders of their files."""
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
    """Name the folders of the files, those with most files first."""
    found = folders(files)
    named = [f"{folder} ({counted(count, 'file')})" for folder, count in found]
    return [line(f"Files under {', '.join(named[:FOLDERS])}")] if named else []
