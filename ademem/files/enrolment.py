"""The projects of this machine: enrolling a folder, trust in its database, and the list of them.

Enrolling makes the files and sets git's merge driver. The list, `projects.json` in the folder of
the user's data, has the projects that were used.
"""

from __future__ import annotations

import os
import re

from ademem.core import confined, git, shared_files, trust
from ademem.core.clock import parse, stamp
from ademem.core.errors import AdememError, suppress
from ademem.core.json_text import loads
from ademem.core.project import Project, enclosing
from ademem.core.repository import bare_repository, git_root, list_worktrees
from ademem.core.value import Value, as_dict
from ademem.files import ignore
from ademem.store import Store
from ademem.store.database import DatabaseError, read_secret
from ademem.store.runtime import Runtime

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

MERGED = "memory/*.md merge=ademem\nmemory/*.jsonl merge=ademem\ncto/MEMORY.md merge=ademem\n"
ATTRIBUTES = "* text=auto eol=lf\n" + MERGED
"""With the line ends that ademem writes, whatever `core.autocrlf` says."""

DRIVER = "merge.ademem.driver"

FRESH_HOURS = 24
"""Hours within which a use is not noted again."""


class HomeFolder(AdememError):
    hint = "`cd` into the project, or name the folder: `ademem init --project ~`"


class IsBare(AdememError):
    """The folder is in a bare repository, whose worktrees share one database that is in it."""

    def __init__(self, repository: str) -> None:
        from shlex import quote

        there = list_worktrees(repository)
        hint = f"`cd {quote(there[0])}` first" if there else "`git worktree add FOLDER` makes one"
        super().__init__(f"{repository} is a bare repository: enrol a worktree of it", hint)


def choose_root(where: str) -> str:
    """Return the enrolled folder at or above *where*, else that of its repository, else itself.

    A repository that is the home folder is left to what is in it.
    """
    root = enclosing(where)
    return where if root == os.path.realpath(os.path.expanduser("~")) else root


def check_home(root: str) -> None:
    if os.path.realpath(root) == os.path.realpath(os.path.expanduser("~")):
        raise HomeFolder(f"{root} is your home folder")


def enrol(project: Project, program: str) -> list[str]:
    bare = bare_repository(project.root)
    if bare and not confined.exists(project.root, project.ade):
        raise IsBare(bare)
    done = []
    for name, write in ((".gitignore", ignore), (".gitattributes", _write_attributes)):
        try:
            if write(project):
                done.append(f"wrote {os.path.join(project.ade, name)}")
        except confined.Refused as refused:
            done.append(str(refused))
    return done + (set_driver(project, program) if program else [])


def set_driver(project: Project, program: str) -> list[str]:
    from shlex import quote

    driver = f"{quote(program)} merge-file %O %A %B %P"
    if not git_root(project.root) or _git(project, "--get", DRIVER) == driver:
        return []
    _git(project, "merge.ademem.name", "memory of a project, merged by entry and field")
    _git(project, DRIVER, driver)
    return ["git merges the files of memory with `ademem merge-file`"]


def lacks_driver(project: Project) -> bool:
    return bool(git_root(project.root)) and not _git(project, "--get", DRIVER)


def _write_attributes(project: Project) -> bool:
    path = os.path.join(project.ade, ".gitattributes")
    is_missing = not confined.exists(project.root, path)
    return is_missing and confined.write_text(project.root, path, ATTRIBUTES)


def trust_database(store: Store, environment: Mapping[str, str]) -> bool:
    if trust.is_registered(store.secret, environment):
        return False
    trust.register_store(store.secret, environment)
    store.accept()
    return True


def register_typed(runtime: Runtime) -> None:
    if runtime.by.is_person:
        trust_database(runtime.store, runtime.environment)


def forget(project: Project, environment: Mapping[str, str]) -> None:
    from contextlib import closing  # which a use of the project does not need

    from ademem.store import inspection

    forget_use(project.main, environment)
    with (
        suppress(DatabaseError),  # none there, or damaged
        closing(inspection.open_read_only(project.database, 1.0, inspection.LOOK_S)) as db,
    ):
        trust.forget_store(read_secret(db), environment)
    trust.forget_database(project.database, environment)
    trust.forget(project.main, environment)


def leave(project: Project) -> None:
    if git_root(project.root):
        _git(project, "--remove-section", "merge.ademem")


def _git(project: Project, *arguments: str) -> str:
    return git.text(project.root, "config", "--local", *arguments).strip()


class RegisteredProject(Value):
    root: str
    name: str
    remote: str
    """Address of git's `origin`, without credentials; empty without one."""
    last_used: str


def normalize_name(name: str) -> str:
    return re.sub(r"([-_])[-_]+", r"\1", "-".join(name.strip().lower().split()))


def name_of(project: Project, configured: str, remote: str) -> str:
    last = remote.rstrip("/").removesuffix(".git").rpartition("/")[2].rpartition(":")[2]
    return normalize_name(configured or last or project.name)


def strip_credentials(address: str) -> str:
    """Leave out user and password; `git@` of ssh is not a secret."""
    return re.sub(r"(?<=://)[^/@]*@", "", address.strip())


def list_projects(environment: Mapping[str, str]) -> list[RegisteredProject]:
    """Return the projects whose folders are still there, the last used first."""
    try:
        rows = loads(shared_files.read_text(_path(environment)) or "[]")
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
    root = project.main if os.path.isdir(os.path.join(project.main, ".ade")) else project.root
    for registered in list_projects(environment):
        if registered.root == root:
            with suppress(ValueError):
                age = now - parse(registered.last_used)
                if abs(age.total_seconds()) < FRESH_HOURS * 3600:
                    return
    in_git = git_root(root) or bare_repository(root)
    remote = strip_credentials(git.text(root, "remote", "get-url", "origin")) if in_git else ""
    name = name_of(project, configured, remote)
    noted = RegisteredProject(root=root, name=name, remote=remote, last_used=stamp(now))
    with shared_files.locked(f"{_path(environment)}.lock"):
        _write([noted, *(k for k in list_projects(environment) if k.root != root)], environment)


def forget_use(root: str, environment: Mapping[str, str]) -> None:
    path = _path(environment)
    if shared_files.read_text(path) is None:
        return
    with shared_files.locked(f"{path}.lock"):
        if left := [each for each in list_projects(environment) if each.root != root]:
            _write(left, environment)
        else:
            shared_files.remove(path)
    if not left:
        shared_files.remove(f"{path}.lock")


def _path(environment: Mapping[str, str]) -> str:
    return os.path.join(trust.data_folder(environment), "projects.json")


def _write(projects: list[RegisteredProject], environment: Mapping[str, str]) -> None:
    import json

    text = json.dumps([as_dict(each) for each in projects], indent=2) + "\n"
    shared_files.write_atomic(_path(environment), text, mode=0o600)
