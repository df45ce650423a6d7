"""The statements of the hub's server, each about one project, for the person of a token."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

from psycopg import AsyncConnection
from psycopg.types.json import Jsonb

from ademem.core.value import Value
from ademem.plugins.hub.store import administration

Connection = AsyncConnection[dict[str, Any]]

ROLES = ("former", *administration.ROLES)


class Caller(Value):
    state: str
    """valid | unknown | expired | revoked"""
    person: str | None
    device: str | None
    role: str | None
    """In the project of the request; None for no member."""
    expires_at: str


class Project(Value):
    slug: str
    head: int
    floor: int
    epoch: str
    live_rows: int
    node: str
    """Address of the hub that it was moved to; empty if it is here."""
    is_closed: bool


async def enter(db: Connection, token: bytes, project: str) -> Caller:
    """Begin the transaction of a token's person, on whose behalf all statements run."""
    query = "select * from hub.enter(%(token)s, which => %(project)s)"
    found = await db.execute(query, {"token": token, "project": project})
    row = await found.fetchone()
    assert row is not None
    return Caller(
        state=row["state"],
        person=row["person"] and str(row["person"]),
        device=row["device"] and str(row["device"]),
        role=row["role"],
        expires_at=row["expires_at"].isoformat() if row["expires_at"] else "",
    )


async def read_project(db: Connection, project: str) -> Project | None:
    query = (
        "select slug, head, floor, epoch, live_rows, node, closed_at is not null as is_closed"
        " from hub.projects where id = %s"
    )
    row = await (await db.execute(query, (project,))).fetchone()
    return Project(**{**row, "epoch": str(row["epoch"])}) if row else None


async def push(db: Connection, project: str, batch: list[dict[str, Any]]) -> list[str]:
    rows = await db.execute(
        "select verdict from hub.push(which => %s, batch => %s) order by place",
        (project, Jsonb(batch, dumps=partial(json.dumps, ensure_ascii=False))),
    )
    return [row["verdict"] async for row in rows]


async def pull(
    db: Connection, project: str, after: int, *, rows: int, size: int, live: bool
) -> tuple[list[str], int, bool]:
    """Return mutations after a number as JSON, the last number, and True if more may follow.

    There are so many *rows* at most, and none after the one with which they reach this *size* in
    bytes. With *live* only those that no later one contains.
    """
    only = " and m.live" if live else ""
    found = await db.execute(
        "select seq, mutation, count from (select seq, mutation, count(*) over () as count,"
        "  sum(octet_length(mutation)) over (order by seq) - octet_length(mutation) as before"
        " from (select m.seq, json_build_object("
        "   'seq', m.seq, 'entity', m.entity, 'entity_key', m.entity_key,"
        "   'fields', m.fields, 'shows_promoted', m.shows_promoted, 'replica', m.replica,"
        "   'schema', m.schema, 'role', m.role, 'person',"
        "   (select p.name from hub.people p where p.id = m.person))::text as mutation"
        f"  from hub.mutations m where m.project = %s and m.seq > %s{only}"
        "  order by m.seq limit %s) page) sized where before < %s order by seq",
        (project, after, rows, size),
    )
    page = await found.fetchall()
    count, last = (page[0]["count"], page[-1]["seq"]) if page else (0, after)
    return [row["mutation"] for row in page], last, count == rows or len(page) < count


async def mark(db: Connection, project: str, seq: int) -> str:
    """Return what no other mutation gets that is written under this number; empty for none.

    Where the database was put back to an earlier state, its numbers are given anew.
    """
    query = (
        "select md5(concat_ws(' ', mutation_id, extract(epoch from at))) as mark"
        " from hub.mutations where project = %s and seq = %s"
    )
    row = await (await db.execute(query, (project, seq))).fetchone()
    return str(row["mark"]) if row else ""


async def note_cursor(db: Connection, project: str, device: str, position: int) -> None:
    await db.execute(
        "insert into hub.cursors (project, device, seq) values (%s, %s, %s)"
        " on conflict (project, device) do update set seq = excluded.seq, seen_at = now()",
        (project, device, position),
    )


async def add_usage(db: Connection, project: str, device: str, size: int) -> tuple[int, int]:
    """Count bytes that a device sent; return those of today, of the device and of all devices."""
    rows = await db.execute(
        "insert into hub.usage as u (project, device, bytes)"
        " values (%(project)s, %(device)s, %(size)s), (%(project)s, %(all)s, %(size)s)"
        " on conflict (project, device, day) do update set bytes = u.bytes + excluded.bytes"
        " returning device::text as device, bytes",
        {"project": project, "device": device, "size": size, "all": administration.NOBODY},
    )
    found = {row["device"]: row["bytes"] async for row in rows}
    return found[device], found[administration.NOBODY]


async def list_members(db: Connection, project: str) -> list[dict[str, Any]]:
    query = (
        "select p.id::text as id, p.name, m.role"
        " from hub.members m join hub.people p on p.id = m.person"
        " where m.project = %s order by p.name"
    )
    return await (await db.execute(query, (project,))).fetchall()


async def list_devices(db: Connection, project: str) -> list[dict[str, Any]]:
    """Return nothing for a person who is not an owner."""
    query = "select * from hub.devices_of(which => %s)"
    return await (await db.execute(query, (project,))).fetchall()


async def list_audit(db: Connection, project: str, limit: int) -> list[dict[str, Any]]:
    query = (
        "select a.number, a.at, p.name as person, a.act, a.entity_key as key"
        " from hub.audit a left join lateral"
        "  (select p.name from hub.people p where p.id = a.person) p on true"
        " where a.project = %s order by a.number desc limit %s"
    )
    return await (await db.execute(query, (project, limit))).fetchall()


async def redeem(db: Connection, code: bytes, token: bytes, device: str) -> dict[str, Any] | None:
    """Return None for an invitation that is used or too old."""
    query = "select * from hub.redeem(%s, %s, %s)"
    return await (await db.execute(query, (code, token, device))).fetchone()


async def rotate(db: Connection, old: bytes, new: bytes) -> str:
    row = await (await db.execute("select hub.rotate(%s, %s) as until", (old, new))).fetchone()
    return row["until"].isoformat() if row and row["until"] else ""


async def read_figures(db: Connection) -> dict[str, float]:
    rows = await (await db.execute("select name, value from hub.figures()")).fetchall()
    query = (
        "select count(*) as count from pg_stat_activity"
        " where datname = current_database() and wait_event_type = 'Lock'"
    )
    waiting = await (await db.execute(query)).fetchone()
    found = {row["name"]: float(row["value"]) for row in rows}
    return found | {"hub_lock_waits": float(waiting["count"]) if waiting else 0}


async def schema_version(db: Connection) -> int:
    row = await (await db.execute("select max(number) as last from hub.migrations")).fetchone()
    return int(row["last"]) if row else 0
