"""The hub's database: its schema and migrations, and the rules that hold of one that works well."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
from psycopg.rows import dict_row

from ademem.core.clock import stamp
from ademem.core.errors import AdememError, UnusableStore
from ademem.core.registers import CLOCKS_DIFFER
from ademem.core.text import counted
from ademem.core.value import Value
from ademem.plugins.hub.store import administration

MIGRATIONS = Path(__file__).parent / "migrations"
FIRST_SERVER = 150_000
"""The oldest PostgreSQL that is supported, as its `server_version_num`."""
_LOCK = 0x41444548
DEAD_SHARE, MOST_DEAD = 0.2, 10_000
FREE_SHARE = 0.1
MOST_SLOT_BYTES = 1 << 30
LATE = timedelta(days=90)

Connection = psycopg.Connection[dict[str, Any]]


class WrongRole(AdememError):
    hint = (
        "serve as a role that owns nothing:"
        " `create role NAME login password '…' in role ademem_hub_server`"
    )

    def __init__(self, role: str, why: str) -> None:
        super().__init__(f"the database would not hold {role} to a person's projects: {why}")


def connect(dsn: str) -> Connection:
    """Connect to a database, by default to that of the variables PGHOST, PGDATABASE and so on."""
    try:
        return psycopg.connect(dsn, row_factory=dict_row, autocommit=True)
    except (psycopg.OperationalError, psycopg.ProgrammingError) as error:
        reason = str(error).strip().partition("\n")[0]
        raise UnusableStore(
            f"the hub's database cannot be reached: {reason}",
            "ADEMEM_HUB_DSN names it, as `postgresql://USER@HOST/DATABASE`",
        ) from error


def version(db: Connection) -> int:
    found = db.execute("select to_regclass('hub.migrations') as there").fetchone()
    if not found or found["there"] is None:
        return 0
    row = db.execute("select max(number) as last from hub.migrations").fetchone()
    return int(row["last"] or 0) if row else 0


def migrate(db: Connection, to: int | None = None) -> list[str]:
    """Bring the schema up to date, or *to* a number; a server of the one before may go on."""
    done = []
    with db.transaction():
        db.execute("select pg_advisory_xact_lock(%s)", (_LOCK,))
        last = version(db)
        for path in sorted(MIGRATIONS.glob("*.sql")):
            number = int(path.name[:4])
            if last < number <= (to or number):
                db.execute(path.read_text(encoding="utf-8"))
                db.execute(
                    "create table if not exists hub.migrations (number int primary key,"
                    " at timestamptz not null default now())"
                )
                db.execute("grant select on hub.migrations to ademem_hub_server")
                db.execute("insert into hub.migrations (number) values (%s)", (number,))
                done.append(path.stem)
    return done


def newest() -> int:
    return max(int(path.name[:4]) for path in MIGRATIONS.glob("*.sql"))


def is_served(version: int) -> bool:
    """Return True for this schema, the one before and the next: a migration stops no server."""
    return abs(version - newest()) <= 1


def check_server(db: Connection) -> None:
    if db.info.server_version < FIRST_SERVER:
        raise UnusableStore("the hub needs PostgreSQL 15 or newer", "upgrade the server")
    row = db.execute(
        "select current_user as name, r.rolsuper or r.rolbypassrls as passes,"
        " exists (select from pg_class c join pg_namespace n on n.oid = c.relnamespace"
        "  where n.nspname = 'hub' and pg_has_role(current_user, c.relowner, 'member')) as owns"
        " from pg_roles r where r.rolname = current_user"
    ).fetchone()
    assert row is not None
    if row["passes"]:
        raise WrongRole(row["name"], "it is a superuser or has BYPASSRLS")
    if row["owns"]:
        raise WrongRole(row["name"], "it owns the tables, or is a member of the role that does")
    open_tables = db.execute(
        "select c.relname from pg_class c join pg_namespace n on n.oid = c.relnamespace"
        " where n.nspname = 'hub' and c.relkind in ('r', 'p') and c.relname <> 'migrations'"
        " and not c.relrowsecurity order by 1"
    ).fetchall()
    if open_tables:
        names = ", ".join(each["relname"] for each in open_tables)
        raise WrongRole(row["name"], f"row-level security is off for {names}")
    if not is_served(version(db)):
        raise UnusableStore(
            f"the hub's schema is {version(db)}, and this ademem serves {newest()}",
            "run `ademem hub migrate` as the owner of the database",
        )


def data_folder(db: Connection) -> Path | None:
    if not (db.info.host.startswith("/") or db.info.host in ("localhost", "127.0.0.1", "::1")):
        return None
    try:
        row = db.execute("show data_directory").fetchone()
    except psycopg.errors.InsufficientPrivilege:
        return None
    return Path(row["data_directory"]) if row else None


class Finding(Value):
    rule: str
    problem: str
    hint: str


def role(db: Connection, _now: datetime) -> Iterator[tuple[str, str]]:
    try:
        check_server(db)
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
    try:
        usage = shutil.disk_usage(folder) if folder else None
    except OSError:
        usage = None
    return (usage.free, usage.total) if usage else None


def disk(db: Connection, _now: datetime) -> Iterator[tuple[str, str]]:
    free, total = room(data_folder(db)) or (0, 0)
    if free < FREE_SHARE * total:
        yield f"the disk of the database has {free >> 20} MB free", "make room on it"


def slots(db: Connection, _now: datetime) -> Iterator[tuple[str, str]]:
    rows = db.execute(
        "select slot_name, pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn)::bigint as kept"
        " from pg_replication_slots where not pg_is_in_recovery() and (not active"
        " or pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn) > %s)",
        (MOST_SLOT_BYTES,),
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
    if not version(db):
        hint = "run `ademem hub migrate` as the owner of the database"
        return [Finding(rule="schema", problem="the database has no hub", hint=hint)]
    return [
        Finding(rule=rule.__name__, problem=problem, hint=hint)
        for rule in CHECKS
        for problem, hint in rule(db, now)
    ]
