"""A close look at a database before it is used: adopted, or set aside where it may not be used."""

from __future__ import annotations

import os
import sqlite3
import stat
import time
from collections.abc import Callable, Mapping
from contextlib import closing

from ademem.core import confined, repository, trust
from ademem.core.errors import UnusableStore
from ademem.core.project import Project
from ademem.core.shared_files import locked
from ademem.store import admission, database, inspection
from ademem.store.inspection import Kind

PAUSE_S = 0.02


def admit(
    project: Project,
    environment: Mapping[str, str],
    now_stamp: str,
    wait_s: float,
    noted: str,
) -> None:
    """Look closely and set aside what may not be used; one process at a time.

    *noted* is the state of the last look before; a later one by another process is enough. Raises
    NewerDatabase, sqlite3.Error, UnusableStore after *wait_s*, or Refused where a component of the
    path is a link.
    """
    if not confined.exists(project.home_root, project.home):
        return
    deadline = time.monotonic() + wait_s
    while True:
        with locked(project.home, root=project.home_root, wait=False) as is_ours:
            if is_ours:
                latest = trust.last_inspection(project.database, environment)
                if latest == noted or latest != admission.state(project):
                    _look(project, environment, now_stamp, wait_s)
                return
        if time.monotonic() > deadline:
            raise UnusableStore(f"another process is taking over {project.database}", "try again")
        time.sleep(PAUSE_S)


def _look(project: Project, environment: Mapping[str, str], now_stamp: str, wait_s: float) -> None:
    for name in admission.SCRATCH:
        seen = confined.status(project.root, os.path.join(project.ade, name))
        if seen and (
            stat.S_ISLNK(seen.st_mode) or repository.list_tracked(project.ade, [f"{name}/"])
        ):
            admission.rename_as_foreign(project.root, project.ade, (name,), seen)
    seen = confined.status(project.home_root, project.database)
    if admission.why_foreign(project):
        admission.rename_database(project, seen)
    elif seen:
        match inspection.kind_of(project.database, environment, wait_s):
            case Kind.ADE:
                from ademem.store.ade import adopt

                _replace(project, seen, lambda source, db: adopt(source, db, now_stamp), wait_s)
            case Kind.FOREIGN:
                admission.rename_database(project, seen)


def _replace(
    project: Project,
    seen: os.stat_result,
    fill: Callable[[sqlite3.Connection, sqlite3.Connection], None],
    wait_s: float,
) -> None:
    """Put what *fill* makes in its place; nothing where its rows do not fit or never end."""
    temporary = replacement = database.create_temporary(project.database)
    try:
        with (
            closing(sqlite3.connect(temporary, isolation_level=None)) as db,
            closing(
                inspection.open_read_only(project.database, wait_s, inspection.COPY_S)
            ) as source,
        ):
            db.row_factory = sqlite3.Row
            try:
                with database.Transaction(db):
                    fill(source, db)
            except (inspection.TooMuch, sqlite3.Error) as error:
                if not inspection.is_beyond_bounds(error) and not inspection.is_misfit(error):
                    raise
                replacement = ""
            else:
                db.execute("pragma journal_mode = wal")
        end = admission.ADOPTED if replacement else ""
        admission.rename_database(project, seen, replacement, end)
    finally:
        database.remove_files(temporary)
