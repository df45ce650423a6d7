"""Whether the files under `.ade/memory/` changed since they were last read, by their dates."""

from __future__ import annotations

import os

from ademem import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ademem.project import Project


def changed(project: Project) -> bool:
    """True before the first reading, unless there is nothing to read."""
    return _listing(project) != (files.read_text(_path(project)) or "")


def note(project: Project) -> None:
    """What is there now has been read."""
    files.write_atomic(_path(project), _listing(project))


def _listing(project: Project) -> str:
    """A line a file: its name, when it was written, how long it is."""
    try:
        entries = sorted(os.scandir(project.memory), key=lambda entry: entry.name)
    except FileNotFoundError:
        return ""
    return "".join(f"{entry.name} {_dated(entry)}\n" for entry in entries)


def _dated(entry: os.DirEntry[str]) -> str:
    try:
        found = entry.stat()
    except FileNotFoundError:
        return "gone"
    return f"{found.st_mtime_ns} {found.st_size}"


def _path(project: Project) -> str:
    return os.path.join(project.run, "files.seen")
