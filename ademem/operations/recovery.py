"""Back up, restore, repair and rebuild a database, and import databases that were set aside."""

from __future__ import annotations

import errno
import os
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, suppress
from datetime import datetime

from ademem import worker
from ademem.capture.gate import write
from ademem.core import clock, confined, trust
from ademem.core.json_text import loads
from ademem.core.memory import Category, Draft, Importance, Origin, Trust
from ademem.core.project import Project, was_read, worktrees
from ademem.core.shared_files import locked
from ademem.core.text import counted
from ademem.core.value import Value, replace
from ademem.store import admission, adoption, agreements, backup_files, backups, inspection, repair
from ademem.store.ade import text, word
from ademem.store.database import MigrationFailed, NewerDatabase, remove_files
from ademem.store.opening import forget_readings
from ademem.store.runtime import Runtime, open_runtime, personal_project
from ademem.sync import mirror, tracked_files
from ademem.sync.importer import lock_path


class Restored(Value):
    backup: str
    replaced: str
    """Path of the database that was there before; empty for none."""
    schema: int
    memories: int
    done: tuple[str, ...] = ()


def back_up(project: Project, environment: Mapping[str, str], now: datetime) -> backup_files.Backup:
    if not os.path.exists(project.database) or admission.why_foreign(project):
        raise backups.NoBackup(f"there is no database at {project.database}")
    return backups.make(project, environment, backup_files.Kind.TYPED, now)


def restore_backup(
    project: Project,
    environment: Mapping[str, str],
    named: str,
    now: datetime,
    *,
    force: bool = False,
    dry_run: bool = False,
) -> Restored:
    """Replace the database by a backup, then import what the files know beyond it.

    The person's own memories, which are in no files, are those of the project `personal_project`.
    What is replaced is kept, and *force* accepts the backup of another project. Raises NoBackup,
    BadBackup, DamagedBackup, NewerDatabase, or InUse.
    """
    path = backups.find(project, environment, named)
    with locked(worker.lock(project), root=project.home_root), ExitStack() as stack:
        candidate = backups.take_in(project, environment, path, now)
        stack.callback(remove_files, candidate.path)
        if not (force or candidate.project in (project.name, backups.project_id(project))):
            why = f"{path} is the memory of another project, {candidate.project}"
            raise backups.BadBackup(why, "--force restores it here all the same")
        replaced = ""
        if not dry_run:
            for each in (project, *filter(was_read, worktrees(project))):
                stack.enter_context(locked(lock_path(each), root=each.root))
            forget_readings(project)
            replaced = backups.put_in_place(candidate, project, environment, now)
    restored = Restored(
        backup=path, replaced=replaced, schema=candidate.schema, memories=candidate.memories
    )
    if dry_run or project == personal_project(environment):
        return restored
    with open_runtime(project, environment, now) as runtime:
        return replace(restored, done=tuple(_take_from_files(runtime)))


WAIT_S = 5.0
LISTED = "knowledge.jsonl"


def recover(project: Project, environment: Mapping[str, str], now: datetime) -> list[str]:
    """Repair the database and return a line for each step; a sound one is not changed.

    A damaged file is kept beside the new one, and put back where that cannot be made. Raises
    sqlite3.Error where another process has locked the database or the disk is full, OSError, as for
    a file of another user, NewerDatabase or Refused.
    """
    file = project.database
    if os.path.isfile(file) and not os.access(file, os.R_OK | os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), file)
    corrected, damage = _admit(project, environment, now)
    if not os.path.exists(project.database):
        return _rebuild(project, environment, now, None)
    damage = damage or repair.find_damage(project.database)
    if not damage:
        try:
            return corrected + _repair(project, environment, now)
        except MigrationFailed as error:
            repair.raise_locked(error.cause)
            damage = str(error)
        except sqlite3.DatabaseError as error:
            repair.raise_locked(error)
            damage = str(error)
    damaged = backups.rename_damaged(project, now)
    try:
        rebuilt = _rebuild(project, environment, now, damaged)
    except (sqlite3.Error, OSError):
        if damaged:
            backups.rename_back(project, damaged)
        raise
    return [f"kept the damaged database ({damage}) as {damaged}", *rebuilt]


def _admit(
    project: Project, environment: Mapping[str, str], now: datetime
) -> tuple[list[str], str]:
    """Check as every opening does; return corrections, and the damage that prevented the checks."""
    noted = trust.last_inspection(project.database, environment)  # so that it is inspected again
    try:
        adoption.admit(project, environment, clock.stamp(now), WAIT_S, noted)
    except NewerDatabase:
        corrected = repair.correct_version(project.database)
        if not corrected:
            raise
        return corrected, ""
    except sqlite3.Error as error:
        repair.raise_locked(error)
        return [], str(error)
    return repair.correct_version(project.database), ""


def _repair(project: Project, environment: Mapping[str, str], now: datetime) -> list[str]:
    with open_runtime(project, environment, now) as runtime:
        done = repair.mend(runtime.store, now)
        path, listed = os.path.join(project.memory, LISTED), []
        with suppress(UnicodeDecodeError, confined.Refused):
            for line in (confined.read_text(project.root, path) or "").splitlines():
                with suppress(ValueError, RecursionError, AttributeError):
                    listed.append(loads(line).get("id"))
        traces = repair.traces(runtime.store)
        is_older = agreements.has_unread_files(project, runtime.store)  # what it wrote last is lost
        if any(isinstance(id, str) and id not in traces for id in listed):
            tracked_files.forget_base(project)
            is_older = True
        if is_older:
            done += _take_from_files(runtime)
        return done


def _rebuild(
    project: Project, environment: Mapping[str, str], now: datetime, damaged: str | None
) -> list[str]:
    with open_runtime(project, environment, now) as runtime:
        done = []
        if damaged:
            copied = repair.salvage(runtime.store, damaged)
            done.append(f"copied {counted(copied, 'row')} that could still be read")
            done += repair.mend(runtime.store, now)
        return done + _take_from_files(runtime)


def _take_from_files(runtime: Runtime) -> list[str]:
    done = mirror.refresh(runtime)
    taken = done.taken
    lines = [f"took {counted(taken.count, 'memory')} from the files"]
    lines += [f"copied the files as they were to {done.copied}"] if done.copied else []
    return lines + [f"not taken: {problem.path}: {problem.message}" for problem in taken.refused]


TABLES = ("unified_memories", "memories")
"""Tables of memories, ours or ADE's; the first existing one is read."""
DONE = ".imported"


def import_foreign(project: Project, environment: Mapping[str, str], now: datetime) -> list[str]:
    """Import databases that were set aside; return a line for each."""
    done = []
    with open_runtime(project, environment, now) as runtime:
        for path in admission.list_foreign(project):
            name = os.path.basename(path)
            if not confined.is_file(project.home_root, path):
                done.append(f"left {name} alone, which is not a regular file")
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
