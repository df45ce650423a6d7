"""Install the slash commands for Claude Code, and hide local files of ours from git."""

from __future__ import annotations

import os
from contextlib import suppress

from ademem.core import shared_files
from ademem.core.repository import common_dir, git_root

FOLDER = "commands/ademem"
"""Folder below `.claude` of a project, or below the user's configuration."""
MARK = "ademem's hook"
"""Words of each of our files; a file without them is another's."""
HIDDEN = (".claude/settings.local.json", f".claude/{FOLDER}/")


def install(claude: str, hooks: str, *, dry_run: bool = False) -> list[str]:
    """Write the commands below the folder *claude*; return those that were missing or outdated."""
    source, done = os.path.join(hooks, "commands"), []
    for name in sorted(os.listdir(source)):
        path = os.path.join(claude, FOLDER, name)
        text, there = shared_files.read_text(os.path.join(source, name)) or "", _text(path)
        if there != text and (there is None or MARK in there):
            done.append(_command_of(name))
            if not dry_run:
                shared_files.write_atomic(path, text)
    return done


def uninstall(claude: str, *, dry_run: bool = False) -> list[str]:
    """Remove our commands, and folders that this leaves empty; return the commands."""
    folder = os.path.join(claude, FOLDER)
    names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
    ours = [name for name in names if MARK in (_text(os.path.join(folder, name)) or "")]
    if ours and not dry_run:
        for name in ours:
            shared_files.remove(os.path.join(folder, name))
        with suppress(OSError):  # it holds files of others
            os.rmdir(folder)
            os.rmdir(os.path.dirname(folder))
    return [_command_of(name) for name in ours]


def _command_of(name: str) -> str:
    return f"/ademem:{name.removesuffix('.md')}"


def hide(project: str) -> bool:
    """Have git ignore the files of one person, without an edit of a tracked file."""
    path, block = _exclusion(project)
    text = shared_files.read_text(path) or "" if path else block
    return block not in text and shared_files.write_atomic(path, block + text)


def unhide(project: str) -> None:
    """Undo `hide`, byte for byte."""
    path, block = _exclusion(project)
    text = shared_files.read_text(path) if path else None
    if text and block in text:
        rest = text.replace(block, "", 1)
        shared_files.write_atomic(path, rest) if rest else shared_files.remove(path)


def _exclusion(project: str) -> tuple[str, str]:
    """Return git's own list of ignored files, empty without git, and our lines in it."""
    top = git_root(project)
    shared = common_dir(top) if top else None
    if top is None or shared is None:
        return "", ""
    inside = os.path.relpath(os.path.realpath(project), os.path.realpath(top))
    prefix = "" if inside == os.curdir else f"{inside.replace(os.sep, '/')}/"
    lines = "".join(f"/{prefix}{name}\n" for name in HIDDEN)
    return os.path.join(shared, "info", "exclude"), f"# files of ademem for one person\n{lines}"


def _text(path: str) -> str | None:
    """Return the text of a file; empty where it is no text."""
    try:
        return shared_files.read_text(path)
    except (UnicodeDecodeError, OSError):
        return ""
