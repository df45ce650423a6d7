"""Enrol a folder as a project: its files, git's merge driver, and trust in its database."""

from __future__ import annotations

import os

from ademem.core import confined, trust
from ademem.core.errors import AdememError
from ademem.core.repository import git_root

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from ademem.core.project import Project
    from ademem.store import Store

IGNORED = "ade.db*\nrun/\nlog/\nconfig.local.toml\ncto/CURRENT.md\ncto/daily/\nagents/\n"
"""Files in `.ade/` that git ignores."""

MERGED = "memory/*.md merge=ademem\nmemory/*.jsonl merge=ademem\ncto/MEMORY.md merge=ademem\n"
"""Files that git merges with our driver, or as text without it."""

DRIVER = "merge.ademem.driver"


class HomeFolder(AdememError):
    hint = "`cd` into the project, or name the folder: `ademem init --project ~`"


def check_home(root: str) -> None:
    """Raise HomeFolder for the person's home, which is no project."""
    if os.path.realpath(root) == os.path.realpath(os.path.expanduser("~")):
        raise HomeFolder(f"{root} is your home folder")


def enrol(project: Project, program: str) -> list[str]:
    """Create what is missing, and return what was done."""
    from shlex import quote  # it loads `re`, and hooks load this module

    done = []
    for name, write in ((".gitignore", ignore), (".gitattributes", _set_merge_driver)):
        try:
            if write(project):
                done.append(f"wrote {os.path.join(project.ade, name)}")
        except confined.Refused as refused:
            done.append(str(refused))
    driver = f"{quote(program)} merge-file %O %A %B %P"
    if git_root(project.root) and _git(project, "--get", DRIVER) != driver:
        _git(project, "merge.ademem.name", "memory of a project, merged by entry and field")
        _git(project, DRIVER, driver)
        done.append("git merges the files of memory with `ademem merge-file`")
    return done


def ignore(project: Project) -> bool:
    """Have git ignore the files of one machine; return True when a line was missing.

    A line before the last exception (`!…`) counts as missing, as the exception may undo it.
    """
    folders = {project.ade: project.root, project.home: project.home_root}
    added = [
        _add_lines(root, os.path.join(folder, ".gitignore"))
        for folder, root in folders.items()
        if os.path.basename(folder) == ".ade"
    ]
    return any(added)


def _add_lines(root: str, path: str) -> bool:
    text = confined.read_text(root, path) or ""
    lines = [line.strip() for line in text.splitlines()]
    last = max((at for at, line in enumerate(lines) if line.startswith("!")), default=-1)
    there = {line.removeprefix("/") for line in lines[last + 1 :]}
    missing = [line for line in IGNORED.splitlines() if line not in there]
    if not missing:
        return False
    end = "\n" if text and not text.endswith("\n") else ""
    added = "".join(f"{line}\n" for line in missing)
    return confined.write_text(root, path, f"{text}{end}{added}")


def _set_merge_driver(project: Project) -> bool:
    path = os.path.join(project.ade, ".gitattributes")
    is_missing = not confined.exists(project.root, path)
    return is_missing and confined.write_text(project.root, path, MERGED)


def trust_database(project: Project, store: Store, environment: Mapping[str, str]) -> bool:
    """Register the database as the person's; return False when it is known already."""
    if trust.is_registered(store.secret, environment):
        return False
    trust.register_store(store.secret, environment)
    store.accept()
    return True


def register_typed(project: Project, store: Store, environment: Mapping[str, str]) -> None:
    """Register the database that a person finds by a command in a terminal of theirs."""
    from ademem.core import caller  # hooks load this module, and no person types them

    if not trust.is_registered(store.secret, environment) and caller.typed_by_person(environment):
        trust_database(project, store, environment)


def forget(project: Project, environment: Mapping[str, str]) -> None:
    import sqlite3
    from contextlib import closing

    from ademem.core import registry
    from ademem.store import inspection
    from ademem.store.database import read_secret

    registry.forget(project.main, environment)
    try:
        with closing(inspection.open_read_only(project.database, 1.0, inspection.LOOK_S)) as db:
            trust.forget_store(read_secret(db), environment)
    except sqlite3.Error:  # none there, or damaged
        pass
    trust.forget_database(project.database, environment)
    trust.forget(project.main, environment)


def leave(project: Project) -> None:
    if git_root(project.root):
        _git(project, "--remove-section", "merge.ademem")


def _git(project: Project, *arguments: str) -> str:
    from ademem.core import git  # hooks load this module, and need no process

    return git.text(project.root, "config", "--local", *arguments).strip()
