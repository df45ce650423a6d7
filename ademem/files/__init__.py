"""Files below `.ade/`: rendered from memories and parsed; their paths in the project."""

from __future__ import annotations

import os

from ademem.core import confined

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ademem.core.project import Project

FOLDER = ".ade/memory/"
INDEX = FOLDER + "MEMORY.md"
SHEET = FOLDER + "candidates.md"
KNOWLEDGE = FOLDER + "knowledge.jsonl"
ARCHIVE = FOLDER + "knowledge.archive.jsonl"
LINE_FILES = (ARCHIVE, KNOWLEDGE)
"""Oldest first: of two lines about one memory that are equally new, the later counts."""
BRIEF = ".ade/cto/core-memory.json"
BRIEF_PAGE = ".ade/cto/MEMORY.md"

IGNORED = "ade.db*\nrun/\nlog/\nconfig.local.toml\ncto/CURRENT.md\ncto/daily/\nagents/\n"


def ignore(project: Project) -> bool:
    """Have git ignore the files of one machine; return True when `.ade/.gitignore` lacked a line.

    `.git/info/exclude` gets them, too: on a branch that has no `.ade/.gitignore` yet, `git add`
    would take the database. A link, or a file that names another folder, is not followed.
    """
    is_changed, lines = False, IGNORED.splitlines()
    for folder, root in {project.ade: project.root, project.home: project.home_root}.items():
        if os.path.basename(folder) == ".ade":
            is_changed |= _add_lines(root, os.path.join(folder, ".gitignore"), lines)
    if confined.is_folder(project.root, ".git"):
        _add_lines(project.root, ".git/info/exclude", [f"/.ade/{line}" for line in lines])
    return is_changed


def _add_lines(root: str, path: str, wanted: list[str]) -> bool:
    text = confined.read_text(root, path) or ""
    missing = _find_missing(text, wanted)
    if not missing:
        return False
    end = "\n" if text and not text.endswith("\n") else ""
    added = "".join(f"{line}\n" for line in missing)
    return confined.write_text(root, path, f"{text}{end}{added}")


def _find_missing(text: str, wanted: list[str]) -> list[str]:
    """A line before the last exception (`!…`) counts as missing, as the exception may undo it."""
    lines = [line.strip() for line in text.splitlines()]
    last = max((at for at, line in enumerate(lines) if line.startswith("!")), default=-1)
    there = {line.removeprefix("/") for line in lines[last + 1 :]}
    return [line for line in wanted if line.removeprefix("/") not in there]
