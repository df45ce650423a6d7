"""Repair a database in place or rebuild it, and import databases that were set aside."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, suppress
from datetime import datetime

from ademem.capture.gate import write
from ademem.core import clock, confined, trust
from ademem.core.json_text import loads
from ademem.core.memory import Category, Draft, Importance, Origin, Trust
from ademem.core.project import Project
from ademem.core.text import counted
from ademem.store import admission, inspection, salvage
from ademem.store.ade import text, word
from ademem.store.database import (
    NewerDatabase,
)
from ademem.store.runtime import Runtime, find_order, open_runtime
from ademem.sync import mirror, tracked_files

WAIT_S = 5.0
"""Longest wait for another process."""
LISTED = "knowledge.jsonl"


def recover(project: Project, environment: Mapping[str, str], now: datetime) -> list[str]:
    """Repair the database and return a line for each step; a sound one is not changed.

    A damaged file is kept beside the new one. Raises sqlite3.Error where another process has locked
    the database, NewerDatabase or Refused.
    """
    corrected, damage = _admit(project, environment, now)
    if not os.path.exists(project.database):
        return _rebuild(project, environment, now, None)
    damage = damage or salvage.find_damage(project.database)
    if not damage:
        try:
            return corrected + _repair(project, environment, now)
        except sqlite3.DatabaseError as error:
            salvage.raise_locked(error)
            damage = str(error)
    kept = f"{project.database}.damaged-{clock.stamp(now).replace(':', '')}"
    for suffix in ("", "-wal", "-shm"):
        if os.path.exists(project.database + suffix):
            os.replace(project.database + suffix, kept + suffix)
    return [
        f"kept the damaged database ({damage}) as {kept}",
        *_rebuild(project, environment, now, kept),
    ]


def _admit(
    project: Project, environment: Mapping[str, str], now: datetime
) -> tuple[list[str], str]:
    """Run the checks of every opening, before the database is read without limits.

    Return corrections, and the damage that prevented the checks.
    """
    noted = trust.last_inspection(project.database, environment)  # which does: look again
    try:
        admission.admit(project, environment, clock.stamp(now), WAIT_S, find_order, noted)
    except NewerDatabase:
        corrected = salvage.correct_version(project.database)
        if not corrected:
            raise
        return corrected, ""
    except sqlite3.Error as error:
        salvage.raise_locked(error)
        return [], str(error)
    return salvage.correct_version(project.database), ""


def _repair(project: Project, environment: Mapping[str, str], now: datetime) -> list[str]:
    runtime = open_runtime(project, environment, now)
    try:
        done = salvage.mend(runtime.store, runtime.now)
        if _missing(runtime):
            tracked_files.forget_base(project)
            done += _take_from_files(runtime)
        return done
    finally:
        runtime.close()


def _rebuild(
    project: Project, environment: Mapping[str, str], now: datetime, damaged: str | None
) -> list[str]:
    """Build a new database from readable rows and the files."""
    runtime = open_runtime(project, environment, now)
    try:
        done = []
        if damaged:
            copied = salvage.salvage(runtime.store, damaged)
            done.append(f"copied {counted(copied, 'row')} that could still be read")
            done += salvage.mend(runtime.store, runtime.now)
        return done + _take_from_files(runtime)
    finally:
        runtime.close()


def _take_from_files(runtime: Runtime) -> list[str]:
    taken = mirror.refresh(
        runtime.project,
        runtime.store,
        runtime.settings,
        runtime.now,
        environment=runtime.environment,
    ).taken
    said = [f"took {counted(taken.count, 'memory')} from the files"]
    return said + [f"not taken: {problem.path}: {problem.message}" for problem in taken.refused]


def _missing(runtime: Runtime) -> bool:
    """Tell whether the files have a memory that the database has no trace of."""
    path = os.path.join(runtime.project.memory, LISTED)
    listed = []
    with suppress(UnicodeDecodeError, confined.Refused):
        for line in (confined.read_text(runtime.project.root, path) or "").splitlines():
            with suppress(ValueError, RecursionError, AttributeError):
                listed.append(loads(line).get("id"))
    known = salvage.traces(runtime.store)
    return any(isinstance(id, str) and id not in known for id in listed)


TABLES = ("unified_memories", "memories")
"""Tables of memories, ours or ADE's; the first existing one is read."""
DONE = ".imported"
"""Suffix of a database whose rows were imported."""


def import_foreign(project: Project, environment: Mapping[str, str], now: datetime) -> list[str]:
    """Import memories of each database that was set aside; return a line for each.

    Text, title, category, importance and tags of a row pass the gate as an import.
    """
    done = []
    runtime = open_runtime(project, environment, now)
    try:
        for path in admission.foreign(project):
            name = os.path.basename(path)
            if not confined.is_file(project.home_root, path):
                done.append(f"left {name} alone, which is no regular file")
                continue
            try:
                drafts = list(_drafts(path, name))
            except (sqlite3.Error, inspection.TooMuch) as error:
                done.append(f"left {name} alone, which cannot be read ({error})")
                continue
            with runtime.store.transaction():
                written = [
                    write(each, runtime.store, runtime.settings.gate, now) for each in drafts
                ]
            held = [each for each in written if each.memory and each.memory.quarantine_reason]
            taken = counted(sum(each.accepted for each in written), "memory")
            confined.rename(project.home_root, path, name + DONE)
            done.append(f"imported {taken} from {name}, {len(held)} of them held back for review")
    finally:
        runtime.close()
    return done


def _drafts(path: str, name: str) -> Iterator[Draft]:
    with closing(inspection.open_read_only(path, 1.0, inspection.COPY_S)) as db:
        tables = inspection.plain_tables(db)
        table = next((each for each in TABLES if each in tables), None)
        if table is None:
            return
        columns = tables[table]
        origin = Origin(trust=Trust.IMPORT, source_type="import", source_id=name)
        for values in inspection.read_rows(db, table, columns):
            row = dict(zip(map(str.lower, columns), values, strict=True))
            content = text(row.get("content"))
            is_past = row.get("status") == "archived" or row.get("deleted_at")
            if content and not is_past and row.get("scope") in (None, "project"):
                yield Draft(
                    content=content,
                    title=text(row.get("title")),
                    category=word(Category, row.get("category"), Category.FACT),
                    importance=word(Importance, row.get("importance"), Importance.MEDIUM),
                    tags=tuple((text(row.get("tags")) or "").split()),
                    origin=origin,
                )
