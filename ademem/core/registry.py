"""The projects of this machine: `projects.json` in the folder of the user's data."""

from __future__ import annotations

import json
import os
import re

from ademem.core import git, shared_files
from ademem.core.clock import parse, stamp
from ademem.core.errors import suppress
from ademem.core.trust import data_folder
from ademem.core.value import Value, as_dict

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from ademem.core.project import Project

FRESH_HOURS = 24
"""Hours within which a use is not noted again."""


class RegisteredProject(Value):
    root: str
    name: str
    remote: str
    """Address of git's `origin`, without credentials; empty without one."""
    last_used: str


def normalize_name(name: str) -> str:
    """Return a name in lower case, with doubled hyphens and underscores collapsed."""
    return re.sub(r"([-_])[-_]+", r"\1", "-".join(name.strip().lower().split()))


def name_of(project: Project, configured: str, remote: str) -> str:
    """Return the configured name, else the last part of the remote, else the folder's."""
    last = remote.rstrip("/").removesuffix(".git").rpartition("/")[2].rpartition(":")[2]
    return normalize_name(configured or last or project.name)


def strip_credentials(address: str) -> str:
    """Return an address without user and password; `git@` of ssh is no secret."""
    return re.sub(r"(?<=://)[^/@]*@", "", address.strip())


def list_projects(environment: Mapping[str, str]) -> list[RegisteredProject]:
    """Return the projects whose folders are still there, the last used first."""
    try:
        rows = json.loads(shared_files.read_text(_path(environment)) or "[]")
    except ValueError:
        return []
    found = []
    for row in rows if isinstance(rows, list) else []:
        try:
            fields = {name: str(row[name]) for name in RegisteredProject._fields}
        except (KeyError, TypeError):  # of another program or version
            continue
        if os.path.isdir(os.path.join(fields["root"], ".ade")):
            found.append(RegisteredProject(**fields))
    return sorted(found, key=lambda each: each.last_used, reverse=True)


def note_use(
    project: Project, configured: str, environment: Mapping[str, str], now: datetime
) -> None:
    """Record a use of a project, unless one of the last day is recorded."""
    root = project.main if os.path.isdir(os.path.join(project.main, ".ade")) else project.root
    for registered in list_projects(environment):
        if registered.root == root:
            with suppress(ValueError):
                age = now - parse(registered.last_used)
                if abs(age.total_seconds()) < FRESH_HOURS * 3600:
                    return
    remote = strip_credentials(git.text(root, "remote", "get-url", "origin"))
    name = name_of(project, configured, remote)
    noted = RegisteredProject(root=root, name=name, remote=remote, last_used=stamp(now))
    with shared_files.locked(f"{_path(environment)}.lock"):
        _write([noted, *(k for k in list_projects(environment) if k.root != root)], environment)


def forget(root: str, environment: Mapping[str, str]) -> None:
    """Take a project out of the list; the last one takes the list with it."""
    path = _path(environment)
    if shared_files.read_text(path) is None:
        return
    with shared_files.locked(f"{path}.lock"):
        left = [each for each in list_projects(environment) if each.root != root]
        if left:
            _write(left, environment)
        else:
            shared_files.remove(path)
    if not left:
        shared_files.remove(f"{path}.lock")


def _path(environment: Mapping[str, str]) -> str:
    return os.path.join(data_folder(environment), "projects.json")


def _write(projects: list[RegisteredProject], environment: Mapping[str, str]) -> None:
    text = json.dumps([as_dict(each) for each in projects], indent=2) + "\n"
    shared_files.write_atomic(_path(environment), text, mode=0o600)
