"""The projects of this machine: list, search, merge and forget them."""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from datetime import datetime
from itertools import combinations
from typing import Any

from ademem.core import project, who
from ademem.core.actor import NOT_ASKED, Who
from ademem.core.errors import AdememError, NotFound, UsageError
from ademem.core.value import Value, as_dict
from ademem.files import enrolment
from ademem.files.enrolment import RegisteredProject
from ademem.operations.files import import_files, refresh_files
from ademem.store import backups, statistics, transfers, transitions
from ademem.store.backup_files import Kind
from ademem.store.database import DryRun
from ademem.store.runtime import Runtime, open_runtime
from ademem.store.transitions import CannotDo

NEAR = 2
"""Most letters in which the names of one project differ."""


class NoSuchProject(NotFound):
    hint = "`ademem projects list` shows them"
    rule = "project"


class Merged(Value):
    source: str
    into: str
    counts: dict[str, int]
    """Rows that are new there, by table."""
    backup: str
    """The database as it was before it was emptied; empty for a trial."""


def list_projects(environment: Mapping[str, str], now: datetime) -> list[dict[str, Any]]:
    rows = []
    for registered in enrolment.list_projects(environment):
        row: dict[str, Any] = as_dict(registered)
        try:
            with _open(registered, environment, now) as opened:
                row["memories"] = statistics.count_promoted(opened.store)
        except (AdememError, sqlite3.Error, OSError):
            row["memories"] = None
        rows.append(row)
    return rows


def forget_project(name: str, environment: Mapping[str, str]) -> RegisteredProject:
    """Leave its memory where it is."""
    registered = find_registered(name, environment)
    enrolment.forget_use(registered.root, environment)
    return registered


def find_registered(name: str, environment: Mapping[str, str]) -> RegisteredProject:
    """Find a project by name or folder."""
    wanted, folder = enrolment.normalize_name(name), os.path.realpath(name)
    projects = enrolment.list_projects(environment)
    found = [each for each in projects if folder == each.root]
    found = found or [each for each in projects if each.name == wanted]
    if not found:
        raise NoSuchProject(f"no project is named {name!r}")
    if len(found) > 1:
        roots = ", ".join(each.root for each in found)
        raise UsageError(f"several projects are named {name!r}", f"name the folder: {roots}")
    return found[0]


@contextmanager
def open_others(runtime: Runtime) -> Iterator[dict[str, Runtime]]:
    """Open the other projects by name, to be read alone; those that cannot be are left out."""
    with ExitStack() as opened:
        others: dict[str, Runtime] = {}
        for registered in enrolment.list_projects(runtime.environment):
            if project.at(registered.root).database == runtime.project.database:
                continue
            try:
                other = opened.enter_context(
                    _open(registered, runtime.environment, runtime.clock())
                )
            except (AdememError, sqlite3.Error, OSError):
                continue
            other.store.make_read_only()
            others[registered.root if registered.name in others else registered.name] = other
        yield others


def find_groups(environment: Mapping[str, str]) -> list[tuple[RegisteredProject, ...]]:
    """Return groups of projects that may be one, the last used first in each."""
    projects = enrolment.list_projects(environment)
    group_of = list(range(len(projects)))  # for each project the place of the first of its group
    for (a, one), (b, other) in combinations(enumerate(projects), 2):
        if _is_variant(one, other) or _is_near(one.name, other.name):
            kept, joined = sorted((group_of[a], group_of[b]))
            group_of = [kept if group == joined else group for group in group_of]
    groups = [
        tuple(each for each, group in zip(projects, group_of, strict=True) if group == number)
        for number in range(len(projects))
    ]
    return [group for group in groups if len(group) > 1]


def merge_projects(
    sources: Sequence[str],
    into: str,
    environment: Mapping[str, str],
    now: datetime,
    *,
    force: bool = False,
    dry_run: bool = False,
    by: Who = NOT_ASKED,
) -> list[Merged]:
    """Move all memory of projects into another one; raises CannotDo for other than variants.

    *force* merges any, for a person. Each emptied database is kept as a backup. Edits of the files
    of both are imported before; raises BeingWritten where one of them was emptied a moment ago.
    """
    target = find_registered(into, environment)
    chosen = [find_registered(name, environment) for name in sources]
    for each in chosen:
        if each.root == target.root:
            raise UsageError(f"{into!r} is the project to merge into", "name another")
        if not _is_variant(each, target):
            if not force:
                why = f"{each.name} and {target.name} are not spellings or clones of one project"
                raise CannotDo(why, "a person merges them with --force")
            who.require_person(by, "to merge two different projects")
    return [_merge(each, target, environment, now, dry_run=dry_run) for each in chosen]


def _merge(
    source: RegisteredProject,
    target: RegisteredProject,
    environment: Mapping[str, str],
    now: datetime,
    *,
    dry_run: bool,
) -> Merged:
    with _open(source, environment, now) as old, _open(target, environment, now) as new:
        if old.project.database == new.project.database:
            raise CannotDo("both are worktrees of one repository", "they share one memory")
        if dry_run:
            with suppress(DryRun), new.store.transaction():
                counts = transfers.merge_all(old.store, new.store, now)
                raise DryRun
            return Merged(source=source.name, into=target.name, counts=counts, backup="")
        for each in (old, new):
            import_files(each)  # edits that wait, before their memories move; may raise
        saved = backups.make(old.project, environment, Kind.REPLACED, now)
        counts = transfers.merge_all(old.store, new.store, now)
        transfers.empty(old.store)
        transitions.scrub(old.store)
        refresh_files(old)
        refresh_files(new)
    enrolment.forget_use(source.root, environment)
    return Merged(source=source.name, into=target.name, counts=counts, backup=saved.path)


def _open(registered: RegisteredProject, environment: Mapping[str, str], now: datetime) -> Runtime:
    return open_runtime(project.at(registered.root), environment, now)


def _is_variant(one: RegisteredProject, other: RegisteredProject) -> bool:
    if one.remote and one.remote == other.remote:
        return True
    name, its = (re.sub("[-_ ]", "", each.name) for each in (one, other))
    return name == its


def _is_near(one: str, other: str, most: int = NEAR) -> bool:
    """Tell whether *most* letters, inserted, deleted or replaced, make the names equal."""
    if not (one and other):
        return len(one) + len(other) <= most
    if one[0] == other[0]:
        return _is_near(one[1:], other[1:], most)
    rests = ((one[1:], other), (one, other[1:]), (one[1:], other[1:]))
    return most > 0 and any(_is_near(mine, its, most - 1) for mine, its in rests)
