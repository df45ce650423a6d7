"""Copies of the hub: a dump with a manifest of heads and digests, and the move of a project.

A project moves to the database of another hub while it is written to: what changed since the last
pass is copied until little does. The rest follows under the lock of the project's row, in which
no client can push; clients are then sent to the other hub.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from ademem.core import process
from ademem.core.errors import AdememError, Conflict, NotFound, UnusableStore, UsageError
from ademem.core.value import Value
from ademem.plugins.hub.store import administration, database
from ademem.plugins.hub.store.database import Connection

DUMP, MANIFEST = "hub.dump", "manifest.json"
_NAME = "hub-%Y%m%dT%H%M%SZ"
_ROLE = """
do $$ begin
  if not exists (select from pg_roles where rolname = 'ademem_hub_server') then
    create role ademem_hub_server nologin;
  end if;
end $$
"""
ARRIVING = "arriving"
"""Node of a project that has not wholly arrived yet."""
FEW = 500
PASSES = 20
_LARGE = {
    "mutations": "project, seq",
    "rows": "project, entity, entity_key",
    "audit": "project, number",
}
"""Tables that are copied before the pause, and their keys."""
_CHANGED = "where project = %(project)s and age(t.xmin) <= age(%(since)s::xid)"
_REST = {"members": "project, person", "cursors": "project, device"}
_PEOPLE = {"people": ("id", "id"), "devices": ("id", "person"), "tokens": ("hash", "person")}
_MEMBERS = "in (select person from hub.members where project = %(project)s)"


class Move(Value):
    project: str
    head: int
    digest: str
    pause_s: float


def move(source_dsn: str, slug: str, target_dsn: str, url: str) -> Move:
    with (
        closing(database.connect(source_dsn)) as source,
        closing(database.connect(target_dsn)) as target,
    ):
        for db in (source, target):
            if database.version(db) != database.newest():
                raise UnusableStore("both hubs need this schema", "`ademem hub migrate`")
        project = administration.project_id(source, slug)
        node = _node(source, project)
        if node == url and _node(target, project) == ARRIVING:  # the last one was cut off here
            return _open(source, target, target_dsn, project, time.monotonic())
        if node:
            raise UsageError(f"{slug} is at {node}", "move it from there")
        _make_empty_project(source, target, project, slug)
        since = "0"
        for _ in range(PASSES):
            since, count = _copy_changed(source, target, project, since)
            if count < FEW:
                break
        with source.transaction(), target.transaction():
            source.execute("select from hub.projects where id = %s for update", (project,))
            start = time.monotonic()
            administration.note(source, project, "move", url)
            _copy_changed(source, target, project, since)
            _copy(source, target, project, "projects", "id", "where id = %(project)s")
            for table, (key, person) in _PEOPLE.items():
                _copy(source, target, project, table, key, f"where {person} {_MEMBERS}")
            for table, key in _REST.items():
                _copy(source, target, project, table, key, "where project = %(project)s")
            target.execute("update hub.projects set node = %s where id = %s", (ARRIVING, project))
            source.execute("update hub.projects set node = %s where id = %s", (url, project))
        return _open(source, target, target_dsn, project, start)


def _open(
    source: Connection, target: Connection, target_dsn: str, project: str, start: float
) -> Move:
    """Serve the project in the target; once the copy is found equal, forget it in the source."""
    with closing(database.connect(target_dsn)) as opening, target.transaction():
        target.execute("set transaction isolation level repeatable read")
        target.execute("select 1")  # from here on this transaction does not see what is pushed
        opening.execute("update hub.projects set node = '' where id = %s", (project,))
        pause = time.monotonic() - start
        arrived = administration.digest_project(target, project)
    digest = administration.digest_project(source, project)
    if digest != arrived:
        raise Conflict("the copy differs from what was moved", "its rows are still in both")
    row = source.execute("select slug, head from hub.projects where id = %s", (project,)).fetchone()
    assert row is not None
    with source.transaction():
        for table in ("mutations", "rows", "cursors", "usage", "invites"):
            source.execute(f"delete from hub.{table} where project = %s", (project,))
    administration.vacuum(source, row["slug"])
    return Move(project=row["slug"], head=row["head"], digest=digest, pause_s=pause)


def _node(db: Connection, project: str) -> str:
    row = db.execute("select node from hub.projects where id = %s", (project,)).fetchone()
    return str(row["node"]) if row else ""


def _make_empty_project(source: Connection, target: Connection, project: str, slug: str) -> None:
    """Make an empty project in the target; raises UsageError where another one is in its way."""
    found = target.execute(
        "select id::text as id, node from hub.projects where id = %s or slug = %s", (project, slug)
    ).fetchall()
    if any(row["id"] != project or not row["node"] for row in found):
        raise UsageError(f"the other hub has a project {slug}", "move to a hub without it")
    members = source.execute(
        "select p.id::text as id, p.name from hub.members m join hub.people p on p.id = m.person"
        " where m.project = %s",
        (project,),
    )
    for row in members.fetchall():
        query = "select from hub.people where name = %s and id <> %s"
        if target.execute(query, (row["name"], row["id"])).rowcount:
            raise UsageError(f"the other hub has another {row['name']}", "rename one of them")
    with target.transaction():
        for table in (*_LARGE, *_REST):
            target.execute(f"delete from hub.{table} where project = %s", (project,))
        target.execute(
            "insert into hub.projects (id, slug, node) values (%s, %s, %s) on conflict (id)"
            " do update set node = excluded.node",
            (project, slug, ARRIVING),
        )


def _copy_changed(
    source: Connection, target: Connection, project: str, since: str
) -> tuple[str, int]:
    """Copy rows that transactions from *since* on wrote; return from which the next copy has to."""
    query = "select pg_snapshot_xmin(pg_current_snapshot())::xid::text as next"
    row = source.execute(query).fetchone()
    assert row is not None
    count = sum(
        _copy(source, target, project, table, key, _CHANGED, since) for table, key in _LARGE.items()
    )
    return row["next"], count


def _copy(
    source: Connection,
    target: Connection,
    project: str,
    table: str,
    key: str,
    where: str,
    since: str = "",
) -> int:
    found = source.execute(
        "select string_agg(quote_ident(column_name), ', ' order by ordinal_position) as names"
        " from information_schema.columns where table_schema = 'hub' and table_name = %s",
        (table,),
    ).fetchone()
    assert found is not None
    names = found["names"]
    changed = ", ".join(f"{name} = excluded.{name}" for name in names.split(", "))
    with target.transaction():
        target.execute(f"create temp table arriving (like hub.{table}) on commit drop")
        reading = f"copy (select {names} from hub.{table} t {where}) to stdout (format binary)"
        writing = f"copy arriving ({names}) from stdin (format binary)"
        with (
            source.cursor().copy(reading, {"project": project, "since": since}) as out,
            target.cursor().copy(writing) as into,
        ):
            for block in out:
                into.write(block)
        count = target.execute(
            f"insert into hub.{table} ({names}) select {names} from arriving"
            f" on conflict ({key}) do update set {changed}"
        ).rowcount
        target.execute("drop table arriving")
    return count


def back_up(dsn: str, folder: Path, now: datetime) -> tuple[Path, list[str]]:
    made = folder / now.strftime(_NAME)
    part = made.with_suffix(".part")
    try:
        part.mkdir(mode=0o700, parents=True)
    except OSError as error:
        raise UsageError(
            f"{part} cannot be made: {error.strerror}", "name another folder"
        ) from None
    with closing(database.connect(dsn)) as db, db.transaction():
        db.execute("set transaction isolation level repeatable read, read only")
        manifest = {"schema": database.version(db), "projects": describe(db)}
        row = db.execute("select pg_export_snapshot() as name").fetchone() or {}
        options = (f"--snapshot={row['name']}", "--schema=hub", f"--file={part / DUMP}")
        _run(db, "pg_dump", "--format=custom", *options)
    (part / MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")
    part.rename(made)
    last = (now - timedelta(days=administration.BACKUP_DAYS)).strftime(_NAME)
    expired = [each for each in folder.glob("hub-*Z") if each.name < last]
    for each in expired:
        shutil.rmtree(each)
    return made, sorted(each.name for each in expired)


def restore(dsn: str, folder: Path) -> dict[str, dict[str, Any]]:
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise NotFound(f"{folder} is not a backup of a hub", "name a folder hub-…Z") from error
    with closing(database.connect(dsn)) as db:
        if database.version(db):
            raise UsageError("this database has a hub already", "restore into an empty one")
        db.execute(_ROLE)
        options = ("--single-transaction", "--exit-on-error", "--no-owner")
        _run(db, "pg_restore", *options, f"--dbname={db.info.dbname}", str(folder / DUMP))
        found, meant = describe(db), manifest["projects"]
        if different := [slug for slug in {**found, **meant} if found.get(slug) != meant.get(slug)]:
            raise AdememError(
                f"what was restored differs from the manifest in {', '.join(different)}",
                "do not serve it; `drop schema hub cascade`, then restore another backup",
            )
        with db.transaction():
            for slug in found:
                administration.begin_epoch(db, slug)
    return found


def describe(db: Connection) -> dict[str, dict[str, Any]]:
    return {
        row["slug"]: {"head": row["head"], "digest": administration.digest_project(db, row["id"])}
        for row in administration.list_projects(db)
    }


def _run(db: Connection, program: str, *options: str) -> None:
    """Run a program of PostgreSQL on this connection's database, its password in no argument."""
    parameters = {
        option.envvar.decode(): option.val.decode()
        for option in db.pgconn.info
        if option.envvar and option.val
    }
    try:
        done = process.run(
            (program, *options), timeout_s=None, environment={**os.environ, **parameters}
        )
    except OSError as error:
        raise UnusableStore(
            f"{program} cannot be started: {error.strerror}", "install PostgreSQL's client programs"
        ) from error
    if done.code:
        raise UnusableStore(f"{program} failed: {done.last_error}", "repair that and run it again")
