"""Enrol a folder as a project: its files, git's merge driver, and trust in its database."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from shlex import quote

from ademem.core import caller, confined, git, registry, trust
from ademem.core.errors import AdememError
from ademem.core.project import Project
from ademem.core.repository import git_root
from ademem.files import ignore
from ademem.store import Store, inspection
from ademem.store.database import read_secret

MERGED = "memory/*.md merge=ademem\nmemory/*.jsonl merge=ademem\ncto/MEMORY.md merge=ademem\n"
"""Files that git merges with our driver, or as text without it."""
ATTRIBUTES = "* text=auto eol=lf\n" + MERGED
"""With the line ends that ademem writes, whatever `core.autocrlf` says."""

DRIVER = "merge.ademem.driver"


class HomeFolder(AdememError):
    hint = "`cd` into the project, or name the folder: `ademem init --project ~`"


def check_home(root: str) -> None:
    """Raise HomeFolder for the person's home, which is no project."""
    if os.path.realpath(root) == os.path.realpath(os.path.expanduser("~")):
        raise HomeFolder(f"{root} is your home folder")


def enrol(project: Project, program: str) -> list[str]:
    """Create what is missing, and return what was done."""
    done = []
    for name, write in ((".gitignore", ignore), (".gitattributes", _set_merge_driver)):
        try:
            if write(project):
                done.append(f"wrote {os.path.join(project.ade, name)}")
        except confined.Refused as refused:
            done.append(str(refused))
    return done + set_driver(project, program)


def set_driver(project: Project, program: str) -> list[str]:
    """Let git merge the files of memory with ours, in this clone; return what was done."""
    driver = f"{quote(program)} merge-file %O %A %B %P"
    if not git_root(project.root) or _git(project, "--get", DRIVER) == driver:
        return []
    _git(project, "merge.ademem.name", "memory of a project, merged by entry and field")
    _git(project, DRIVER, driver)
    return ["git merges the files of memory with `ademem merge-file`"]


def lacks_driver(project: Project) -> bool:
    """Return True for a clone in which git merges the files of memory as text."""
    return bool(git_root(project.root)) and not _git(project, "--get", DRIVER)


def _set_merge_driver(project: Project) -> bool:
    path = os.path.join(project.ade, ".gitattributes")
    is_missing = not confined.exists(project.root, path)
    return is_missing and confined.write_text(project.root, path, ATTRIBUTES)


def trust_database(project: Project, store: Store, environment: Mapping[str, str]) -> bool:
    """Register the database as the person's; return False when it is known already."""
    if trust.is_registered(store.secret, environment):
        return False
    trust.register_store(store.secret, environment)
    store.accept()
    return True


def register_typed(project: Project, store: Store, environment: Mapping[str, str]) -> None:
    """Register the database that a person finds by a command in a terminal of theirs."""
    if not trust.is_registered(store.secret, environment) and caller.typed_by_person(environment):
        trust_database(project, store, environment)


def forget(project: Project, environment: Mapping[str, str]) -> None:
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
    return git.text(project.root, "config", "--local", *arguments).strip()
