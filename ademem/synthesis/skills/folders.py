"""Where the skill files lie, and whether one of them changed since they were read, by its date."""

from __future__ import annotations

import os

from ademem.core import confined

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from ademem.core.project import Project

FOLDERS = ((".ade/skills", "skill"), (".claude/skills", "skill"), (".claude/commands", "command"))
"""Each with the kind of what it holds."""
SKILL_FILE = "skill.md"
"""Makes its folder one skill: the other pages in it belong to it. In lower case."""


def root(project: Project) -> str:
    """The main worktree, whose skills are those of all: they share its database."""
    main = os.path.dirname(project.home)
    return os.path.realpath(main if os.path.basename(project.home) == ".ade" else project.root)


def changed(project: Project) -> bool:
    """Whether a file came, went or was written since `note`."""
    try:
        seen = confined.read_text(project.home_root, _path(project)) or ""
    except (OSError, UnicodeDecodeError):
        seen = ""
    return listing(root(project)) != seen


def note(project: Project, read: str) -> None:
    """The files of this listing have been read."""
    confined.write_text(project.home_root, _path(project), read)


def listing(root: str) -> str:
    """A line a file: its path, when it was written, how long it is."""
    return "".join(f"{path} {_dated(root, path)}\n" for path, _ in pages(root))


def pages(root: str) -> list[tuple[str, str]]:
    """Path below *root* and kind of every skill file, in a fixed order; a linked folder once."""
    seen: set[str] = set()
    return [(path, kind) for folder, kind in FOLDERS for path in _below(root, folder, seen, folder)]


def real_path(root: str, path: str) -> str | None:
    """Where a page or folder is when links are followed; None outside the project.

    Below `.ade/` no link is followed. What is found there is opened without following more.
    """
    whole = os.path.join(root, path)
    if path.startswith(".ade/"):
        return whole
    real = os.path.realpath(whole)
    return real if real.startswith(os.path.join(root, "")) else None


def _below(root: str, folder: str, seen: set[str], top: str) -> Iterator[str]:
    """Pages of a folder that is a skill are not looked at, nor folders out of the project."""
    real = real_path(root, folder)
    if real is None or real in seen:
        return
    seen.add(real)
    try:
        names = [name for name in confined.names(root, real) if not name.startswith(".")]
    except OSError:
        return
    own = [name for name in names if name.lower() == SKILL_FILE] if folder != top else []
    for name in own or names:
        path = f"{folder}/{name}"
        if name.lower().endswith(".md"):
            yield path
        elif (inner := real_path(root, path)) and confined.is_folder(root, inner):
            yield from _below(root, path, seen, top)


def _dated(root: str, path: str) -> str:
    real = real_path(root, path)
    try:
        found = confined.status(root, real) if real else None
    except OSError:
        found = None
    return f"{found.st_mtime_ns} {found.st_size}" if found else "gone"


def _path(project: Project) -> str:
    """Beside the database: who looks at the same files need not read them again."""
    return os.path.join(project.home, "run", "skills.seen")
