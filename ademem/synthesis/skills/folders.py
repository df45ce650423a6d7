"""Find the skill files of a project, and notice when one of them changed."""

from __future__ import annotations

import os

from ademem.core import confined

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from ademem.core.project import Project

FOLDERS = ((".ade/skills", "skill"), (".claude/skills", "skill"), (".claude/commands", "command"))
"""Folders with the kind of their files."""
SKILL_FILE = "skill.md"
"""Name, in lower case, of the one file that counts in its folder."""


def root(project: Project) -> str:
    """Return the main worktree: its skills are those of all worktrees that share its database."""
    main = os.path.dirname(project.home)
    return os.path.realpath(main if os.path.basename(project.home) == ".ade" else project.root)


def have_changed(project: Project) -> bool:
    """Tell whether a file was added, removed or written since `note_scanned`."""
    try:
        seen = confined.read_text(project.home_root, _path(project)) or ""
    except (OSError, UnicodeDecodeError):
        seen = ""
    return listing(root(project)) != seen


def note_scanned(project: Project, listing: str) -> None:
    confined.write_text(project.home_root, _path(project), listing)


def listing(root: str) -> str:
    """Return one line for each file: path, modification time and size."""
    return "".join(f"{path} {_state(root, path)}\n" for path, _ in pages(root))


def pages(root: str) -> list[tuple[str, str]]:
    """Return path below *root* and kind of every file, in a fixed order; a linked folder once."""
    seen: set[str] = set()
    return [(path, kind) for folder, kind in FOLDERS for path in _below(root, folder, seen, folder)]


def real_path(root: str, path: str) -> str | None:
    """Return the path with links followed; None outside the project.

    Below `.ade/` links are not followed, and the caller opens the path without following more.
    """
    whole = os.path.join(root, path)
    if path.startswith(".ade/"):
        return whole
    real = os.path.realpath(whole)
    return real if real.startswith(os.path.join(root, "")) else None


def _below(root: str, folder: str, seen: set[str], top: str) -> Iterator[str]:
    """Yield a skill folder's SKILL.md alone, else all Markdown files below."""
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


def _state(root: str, path: str) -> str:
    real = real_path(root, path)
    try:
        found = confined.status(root, real) if real else None
    except OSError:
        found = None
    return f"{found.st_mtime_ns} {found.st_size}" if found else "gone"


def _path(project: Project) -> str:
    """Beside the database, as a scan is for all that share it."""
    return os.path.join(project.home, "run", "skills.seen")
