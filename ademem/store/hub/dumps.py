"""Backups of the hub: a dump by PostgreSQL's own means, and a manifest of heads and digests."""

from __future__ import annotations

import json
import os
import shutil
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ademem.core import process
from ademem.core.errors import AdememError, NotFound, UnusableStore, UsageError
from ademem.store.hub import administration, database

if TYPE_CHECKING:
    from datetime import datetime

    from ademem.store.hub.database import Connection

DUMP, MANIFEST = "hub.dump", "manifest.json"
_NAME = "hub-%Y%m%dT%H%M%SZ"
_ROLE = """
do $$ begin
  if not exists (select from pg_roles where rolname = 'ademem_hub_server') then
    create role ademem_hub_server nologin;
  end if;
end $$
"""


class DifferentRestore(AdememError):
    def __init__(self, slugs: list[str]) -> None:
        super().__init__(
            f"what was restored differs from the manifest in {', '.join(slugs)}",
            "do not serve it; `drop schema hub cascade`, then restore another backup",
        )


def back_up(dsn: str, folder: Path, now: datetime) -> tuple[Path, list[str]]:
    """Write a backup below *folder* and delete those that expired; return both."""
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
    """Restore a backup into an empty database; each project begins a new epoch.

    Raises DifferentRestore if its heads and digests are not those of the manifest.
    """
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise NotFound(f"{folder} is no backup of a hub", "name a folder hub-…Z") from error
    with closing(database.connect(dsn)) as db:
        if database.version(db):
            raise UsageError("this database has a hub already", "restore into an empty one")
        db.execute(_ROLE)
        options = ("--single-transaction", "--exit-on-error", "--no-owner")
        _run(db, "pg_restore", *options, f"--dbname={db.info.dbname}", str(folder / DUMP))
        found, meant = describe(db), manifest["projects"]
        if different := [slug for slug in {**found, **meant} if found.get(slug) != meant.get(slug)]:
            raise DifferentRestore(different)
        with db.transaction():
            for slug in found:
                administration.begin_epoch(db, slug)
    return found


def describe(db: Connection) -> dict[str, dict[str, Any]]:
    """Return head and digest of each project."""
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
