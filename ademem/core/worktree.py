"""Detect changes of a worktree's files, branch and merges since they were last read."""

from __future__ import annotations

import os

from ademem.core import confined
from ademem.core.errors import suppress
from ademem.core.repository import branch, commit, common_dir, git_root, tip, under_way

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from ademem.core.project import Project

_REF = "\t"
"""The beginning of a line about a ref, which no file name has."""
_HEAD = f"{_REF}HEAD"


def changed(project: Project) -> bool:
    """Return True if something changed; before the first reading, if there are files.

    While git is in the middle of something the files are its own, and nothing has changed yet.
    """
    if under_way(project.root):
        return False
    try:
        noted = confined.read_text(project.root, project.readings) or ""
    except (UnicodeDecodeError, confined.Refused):
        noted = ""
    refs = [line.split(" ")[0] for line in noted.splitlines() if line.startswith(_REF)]
    return _listing(project, [ref.removeprefix(_REF) for ref in refs if ref != _HEAD]) != noted


def note(project: Project, refs: Iterable[str] = ()) -> None:
    """Record the present state as read; from now on, changes of the *refs* count, too."""
    confined.write_text(project.root, project.readings, _listing(project, refs))


def import_path(project: Project) -> str:
    """Return the file that exists while an import waits or is incomplete."""
    return os.path.join(project.run, "import")


def import_waits(project: Project) -> bool:
    return confined.is_file(project.root, import_path(project))


def is_kept(project: Project) -> bool:
    """Return True if its files were updated before."""
    return confined.exists(project.root, project.readings)


def _listing(project: Project, refs: Iterable[str]) -> str:
    """List name, time and size of each file, then HEAD and the refs."""
    found: list[tuple[str, os.stat_result]] = []
    with suppress(confined.Refused):
        found += confined.entries(project.root, project.memory)
    with suppress(confined.Refused):
        brief = confined.status(project.root, os.path.join(project.ade, "cto/core-memory.json"))
        found += [("../cto/core-memory.json", brief)] if brief else []
    lines = [f"{name} {there.st_mtime_ns} {there.st_size}" for name, there in found]
    head = [f"{_HEAD} {_on(project)}"] if lines else []
    return "".join(f"{line}\n" for line in (*lines, *head, *_tips(project, refs)))


def _on(project: Project) -> str | None:
    """Return the branch, secrets redacted, or else the commit."""
    from ademem.core.redaction import redact

    name = branch(project.root)
    return redact(name).text if name else commit(project.root)


def _tips(project: Project, refs: Iterable[str]) -> list[str]:
    top = git_root(project.root)
    shared = common_dir(top) if top else None
    return [f"{_REF}{ref} {shared and tip(shared, ref)}" for ref in refs]
