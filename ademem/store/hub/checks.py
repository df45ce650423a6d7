"""Rules that hold of a hub that works well, and how to repair what breaks one."""

from __future__ import annotations

import shutil
from datetime import timedelta
from typing import TYPE_CHECKING

from ademem.core.clock import stamp
from ademem.core.errors import AdememError
from ademem.core.registers import CLOCKS_DIFFER
from ademem.core.text import counted
from ademem.core.value import Value
from ademem.store.hub import administration, database

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import datetime
    from pathlib import Path

    from ademem.store.hub.database import Connection

DEAD_SHARE, MOST_DEAD = 0.2, 10_000
"""Share and number of dead rows from which vacuum is behind."""
FREE_SHARE = 0.1
"""Free part of the disk below which it is named."""
KEPT_BYTES = 1 << 30
"""Log that a replication slot may hold back."""
LATE = timedelta(days=90)
"""Age from which a device that has not asked counts as lost."""


class Finding(Value):
    rule: str
    problem: str
    hint: str


def role(db: Connection, _now: datetime) -> Iterator[tuple[str, str]]:
    try:
        database.check_server(db)
    except AdememError as error:
        yield str(error), error.hint


def indexes(db: Connection, _now: datetime) -> Iterator[tuple[str, str]]:
    rows = db.execute(
        "select c.relname from pg_index i join pg_class c on c.oid = i.indexrelid"
        " join pg_namespace n on n.oid = c.relnamespace"
        " where n.nspname = 'hub' and not i.indisvalid"
    )
    for row in rows.fetchall():
        yield f"the index {row['relname']} is not used", f"`reindex index hub.{row['relname']}`"


def vacuum(db: Connection, _now: datetime) -> Iterator[tuple[str, str]]:
    rows = db.execute(
        "select relname, n_dead_tup from pg_stat_user_tables where schemaname = 'hub'"
        " and n_dead_tup > %s and n_dead_tup > %s * n_live_tup",
        (MOST_DEAD, DEAD_SHARE),
    )
    for row in rows.fetchall():
        dead = f"{row['relname']} has {counted(row['n_dead_tup'], 'dead row')}"
        yield dead, f"switch autovacuum on, or `vacuum analyze hub.{row['relname']}`"


def room(folder: Path | None) -> tuple[int, int] | None:
    """Return free and all bytes of the disk of a folder; None where it cannot be seen."""
    try:
        usage = shutil.disk_usage(folder) if folder else None
    except OSError:
        usage = None
    return (usage.free, usage.total) if usage else None


def disk(db: Connection, _now: datetime) -> Iterator[tuple[str, str]]:
    """Name a disk that is nearly full; that of a database elsewhere cannot be seen."""
    free, total = room(database.data_folder(db)) or (0, 0)
    if free < FREE_SHARE * total:
        yield f"the disk of the database has {free >> 20} MB free", "make room on it"


def slots(db: Connection, _now: datetime) -> Iterator[tuple[str, str]]:
    rows = db.execute(
        "select slot_name, pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn)::bigint as kept"
        " from pg_replication_slots where not pg_is_in_recovery() and (not active"
        " or pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn) > %s)",
        (KEPT_BYTES,),
    )
    for row in rows.fetchall():
        held = f"the replication slot {row['slot_name']} holds back {(row['kept'] or 0) >> 20} MB"
        yield held, f"start its reader, or `select pg_drop_replication_slot('{row['slot_name']}')`"


def clocks(db: Connection, now: datetime) -> Iterator[tuple[str, str]]:
    """Name devices whose clock was ahead; only the owner of the tables sees any."""
    for project in administration.list_projects(db):
        ahead = stamp(now + CLOCKS_DIFFER)
        for name in administration.devices_ahead(db, project["id"], ahead):
            yield f"the clock of {name} in {project['slug']} is ahead", "set it right there"


def devices(db: Connection, now: datetime) -> Iterator[tuple[str, str]]:
    """Name devices that have not asked for long, which keep receipts open."""
    for project in administration.list_projects(db):
        for name in administration.devices_since(db, project["id"], now - LATE):
            late = f"{name} in {project['slug']} has not asked for {LATE.days} days"
            yield late, f"`ademem hub token list {project['slug']}`, then `hub token revoke`"


CHECKS: tuple[Callable[[Connection, datetime], Iterator[tuple[str, str]]], ...] = (
    role,
    indexes,
    vacuum,
    disk,
    slots,
    clocks,
    devices,
)


def check(db: Connection, now: datetime) -> list[Finding]:
    """Return what breaks a rule."""
    if not database.version(db):
        hint = "run `ademem hub migrate` as the owner of the database"
        return [Finding(rule="schema", problem="the database has no hub", hint=hint)]
    return [
        Finding(rule=rule.__name__, problem=problem, hint=hint)
        for rule in CHECKS
        for problem, hint in rule(db, now)
    ]
