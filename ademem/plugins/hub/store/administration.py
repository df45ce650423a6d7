"""Administration of the hub by the owner of its database; each statement is about one project."""

from __future__ import annotations

import hashlib
import secrets
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from ademem.core.errors import NotFound, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from ademem.plugins.hub.store.database import Connection

    Row = dict[str, Any]

TOKEN = "adh_"
ROLES = ("reader", "writer", "reviewer", "owner")
INVITE_HOURS = 24
BACKUP_DAYS = 30
NOBODY = "00000000-0000-0000-0000-000000000000"
"""Person and device of what the operator wrote, and of what a purged person did."""


def new_secret(kind: str) -> str:
    return kind + secrets.token_hex(32)


def digest(secret: str) -> bytes:
    return hashlib.sha256(secret.encode()).digest()


def project_id(db: Connection, slug: str) -> str:
    row = db.execute("select id from hub.projects where slug = %s", (slug,)).fetchone()
    if row is None:
        raise NotFound(f"the hub has no project {slug!r}", "`ademem hub project list` shows them")
    return str(row["id"])


def note(db: Connection, project: str, act: str, key: str = "") -> None:
    db.execute("select hub.note(which => %s, act => %s, key => %s)", (project, act, key))


def add_project(db: Connection, slug: str) -> Row:
    with db.transaction():
        row = db.execute(
            "insert into hub.projects (slug) values (%s) on conflict do nothing returning id, slug",
            (slug,),
        ).fetchone()
        if row is None:
            raise UsageError(f"there is a project {slug} already", "give another name")
        note(db, str(row["id"]), "add project")
    return {"id": str(row["id"]), "slug": row["slug"]}


def list_projects(db: Connection) -> list[Row]:
    return db.execute(
        "select p.slug, p.id::text as id, p.head, p.floor, p.live_rows as memories,"
        " p.closed_at is not null as is_closed,"
        " (select count(*) from hub.members m where m.project = p.id and m.role <> 'former')"
        " as members from hub.projects p order by p.slug"
    ).fetchall()


def close_project(db: Connection, slug: str) -> None:
    """Take no more mutations of a project; its members may still read."""
    with db.transaction():
        project = project_id(db, slug)
        db.execute("update hub.projects set closed_at = now() where id = %s", (project,))
        note(db, project, "close project")


def list_members(db: Connection, slug: str) -> list[Row]:
    return db.execute(
        "select p.name, m.role from hub.members m join hub.people p on p.id = m.person"
        " where m.project = %s order by p.name",
        (project_id(db, slug),),
    ).fetchall()


def set_role(db: Connection, slug: str, name: str, role: str) -> None:
    """Give a member another role; `former` has no rights, and keeps the name beside its texts."""
    with db.transaction():
        project = project_id(db, slug)
        row = db.execute(
            "update hub.members m set role = %s from hub.people p"
            " where m.project = %s and p.id = m.person and p.name = %s returning m.person",
            (role, project, name),
        ).fetchone()
        if row is None:
            raise NotFound(f"{name} is not a member of {slug}", f"`ademem hub member list {slug}`")
        note(db, project, f"role {role}", str(row["person"]))


def invite(db: Connection, slug: str, name: str, role: str, *, existing: bool = False) -> str:
    """Return a code that makes one device of this person a member, once and within a day.

    The device gets all projects of the person. Raises UsageError for the name of a person of other
    projects, unless the *existing* person is meant.
    """
    code = new_secret("adi_")
    of_another = (
        "select from hub.members m join hub.people p on p.id = m.person"
        " where m.project <> %(project)s and p.name = %(name)s"
        " union all select from hub.invites"
        " where project <> %(project)s and person = %(name)s and expires_at > now() limit 1"
    )
    with db.transaction():
        project = project_id(db, slug)
        named = {"project": project, "name": name}
        if not existing and db.execute(of_another, named).fetchone() is not None:
            raise UsageError(
                f"{name} is the name of a person of another project, which the code would open too",
                "`--existing` invites that person; for another one give another name",
            )
        db.execute(
            "insert into hub.invites (hash, project, person, role, expires_at)"
            " values (%s, %s, %s, %s, now() + make_interval(hours => %s))",
            (digest(code), project, name, role, INVITE_HOURS),
        )
        note(db, project, "invite")
    return code


def list_tokens(db: Connection, slug: str) -> list[Row]:
    return db.execute(
        "select left(encode(t.hash, 'hex'), 12) as id, p.name as person, d.name as device,"
        " t.expires_at, t.revoked_at, c.seq as position, c.seen_at"
        " from hub.members m join hub.tokens t on t.person = m.person"
        " join hub.people p on p.id = m.person join hub.devices d on d.id = t.device"
        " left join hub.cursors c on c.project = m.project and c.device = t.device"
        " where m.project = %s order by p.name, d.name, t.created_at",
        (project_id(db, slug),),
    ).fetchall()


def revoke_token(db: Connection, slug: str, id: str) -> int:
    with db.transaction():
        project = project_id(db, slug)
        done = db.execute(
            "update hub.tokens t set revoked_at = now() from hub.members m"
            " where m.project = %s and m.person = t.person and t.revoked_at is null"
            " and starts_with(encode(t.hash, 'hex'), %s)",
            (project, id),
        ).rowcount
        note(db, project, "revoke token", id)
    return done


def devices_ahead(db: Connection, project: str, stamp: str) -> list[str]:
    rows = db.execute(
        "select distinct p.name || ' on ' || d.name as name from hub.mutations m"
        " join hub.devices d on d.id = m.device join hub.people p on p.id = d.person"
        " where m.project = %s and m.stamp > %s order by 1",
        (project, stamp),
    )
    return [row["name"] for row in rows]


def devices_since(db: Connection, project: str, at: datetime) -> list[str]:
    rows = db.execute(
        "select distinct p.name || ' on ' || d.name as name from hub.cursors c"
        " join hub.devices d on d.id = c.device join hub.people p on p.id = d.person"
        " join hub.tokens t on t.device = d.id and t.revoked_at is null and t.expires_at > now()"
        " where c.project = %s and c.seen_at < %s order by 1",
        (project, at),
    )
    return [row["name"] for row in rows]


def list_audit(db: Connection, slug: str, limit: int) -> list[Row]:
    return db.execute(
        "select a.number, a.at, p.name as person, d.name as device, a.act, a.entity_key as key"
        " from hub.audit a left join hub.people p on p.id = a.person"
        " left join hub.devices d on d.id = a.device"
        " where a.project = %s order by a.number desc limit %s",
        (project_id(db, slug), limit),
    ).fetchall()


def broken_audit(db: Connection, slug: str) -> list[int]:
    project = project_id(db, slug)
    rows = db.execute(
        "select number from (select a.*,"
        "  row_number() over (order by number) as place,"
        "  coalesce(lag(hash) over (order by number), '') as before"
        "  from hub.audit a where a.project = %s) a"
        " where number <> place or previous <> before or hash <> hub.audit_hash("
        "  previous, number, at, person, device, act, entity_key)"
        " union select p.acts from hub.projects p where p.id = %s and p.acts <>"
        "  (select coalesce(max(a.number), 0) from hub.audit a where a.project = p.id)"
        " order by number",
        (project, project),
    )
    return [row["number"] for row in rows]


def receipts(db: Connection, slug: str, key: str) -> Row:
    project = project_id(db, slug)
    row = db.execute(
        "select max(r.seq) as seq, bool_or(gone) as gone, max(m.at) as at from hub.rows r"
        " join hub.mutations m on m.project = r.project and m.seq = r.seq"
        " where r.project = %s and r.entity_key = %s",
        (project, key),
    ).fetchone()
    if row is None or row["seq"] is None:
        raise _no_entity(key)
    cleaned = db.execute(
        "select min(at) as at from hub.audit where project = %s and act = 'vacuum' and at > %s",
        (project, row["at"]),
    ).fetchone()
    devices = db.execute(
        "select d.name as device, p.name as person, c.seq >= %s as has_received, c.seen_at"
        " from hub.cursors c join hub.devices d on d.id = c.device"
        " join hub.people p on p.id = d.person where c.project = %s order by p.name, d.name",
        (row["seq"], project),
    ).fetchall()
    return {
        "id": key,
        "number": row["seq"],
        "is_deleted": row["gone"],
        "deleted_at": row["at"] if row["gone"] else None,
        "vacuumed_at": cleaned["at"] if cleaned and row["gone"] else None,
        "backups_until": row["at"] + timedelta(days=BACKUP_DAYS) if row["gone"] else None,
        "devices": devices,
    }


def list_memories_of(db: Connection, slug: str, name: str) -> list[Row]:
    return db.execute(
        "select r.entity_key as id, m.fields from hub.rows r"
        " join hub.mutations m on m.project = r.project and m.seq = r.seq"
        " where r.project = %s and r.author = %s and r.entity = 'memory' and not r.gone"
        " order by r.entity_key",
        (project_id(db, slug), person_id(db, name)),
    ).fetchall()


def person_id(db: Connection, name: str) -> str:
    row = db.execute("select id from hub.people where name = %s", (name,)).fetchone()
    if row is None:
        raise NotFound(f"the hub knows no {name!r}", "`ademem hub member list` shows them")
    return str(row["id"])


def sync_ids(db: Connection, slug: str, ids: Iterable[str]) -> dict[str, str]:
    """Return the ids by which relations name memories, without those that are deleted for good."""
    project, found = project_id(db, slug), {}
    for id in ids:
        row = db.execute(
            "select r.gone, coalesce(m.fields ->> 'sync_id', r.entity_key) as sync_id"
            " from hub.rows r left join hub.mutations m on m.project = r.project and m.seq = r.seq"
            " where r.project = %s and r.entity = 'memory' and r.entity_key = %s",
            (project, id),
        ).fetchone()
        if row is None:
            raise _no_entity(id)
        if not row["gone"]:
            found[id] = row["sync_id"]
    return found


def append(db: Connection, project: str, mutations: Iterable[Row]) -> None:
    from psycopg.types.json import Jsonb  # clients make their tokens here without psycopg

    found = db.execute("select head from hub.projects where id = %s for update", (project,))
    head = int((found.fetchone() or {})["head"])
    for seq, one in enumerate(mutations, head + 1):
        db.execute(
            "insert into hub.mutations (project, seq, mutation_id, entity, entity_key, op, stamp,"
            " heard, fields, shows_promoted, replica, schema, person, role, device)"
            " values (%(project)s, %(seq)s, %(mutation_id)s, %(entity)s, %(entity_key)s, %(op)s,"
            " %(stamp)s, %(heard)s, %(fields)s, %(shows_promoted)s, %(replica)s, %(schema)s,"
            " %(nobody)s, 'owner', %(nobody)s)",
            one | {"seq": seq, "heard": head, "fields": Jsonb(one["fields"]), "nobody": NOBODY},
        )
        note(db, project, "delete", one["entity_key"])
    db.execute("select hub.settle(which => %s, start => %s)", (project, head))


def forget_person(db: Connection, project: str, person: str) -> None:
    """Take a person's name, rights and devices out; their acts stay under an id without a name."""
    values = {"project": project, "person": person, "nobody": NOBODY}
    note(db, project, "purge person", person)
    for statement in _FORGET_PERSON:
        db.execute(statement, values)


_LAST = "not exists (select from hub.members where person = %(person)s and project <> %(project)s)"
_FORGET_PERSON = (
    "update hub.mutations set person = %(nobody)s, device = %(nobody)s"
    " where project = %(project)s and person = %(person)s",
    "update hub.mutations set author = %(nobody)s"
    " where project = %(project)s and author = %(person)s",
    "update hub.rows set author = %(nobody)s where project = %(project)s and author = %(person)s",
    "delete from hub.cursors where project = %(project)s"
    " and device in (select id from hub.devices where person = %(person)s)",
    "delete from hub.usage where project = %(project)s"
    " and device in (select id from hub.devices where person = %(person)s)",
    "delete from hub.invites where project = %(project)s"
    " and person = (select name from hub.people where id = %(person)s)",
    f"delete from hub.tokens where person = %(person)s and {_LAST}",
    "delete from hub.members where project = %(project)s and person = %(person)s",
    f"delete from hub.devices where person = %(person)s and {_LAST}",
    f"delete from hub.people where id = %(person)s and {_LAST}",
)


def vacuum(db: Connection, slug: str) -> None:
    """Rewrite the tables with texts and names, so that no byte of a deleted one is left in them."""
    for table in ("mutations", "people", "devices", "invites"):
        db.execute(f"vacuum (full, analyze) hub.{table}")
    note(db, project_id(db, slug), "vacuum")


def _no_entity(id: str) -> NotFound:
    return NotFound(f"the hub has nothing of the id {id!r}", "give the whole id")


def digest_project(db: Connection, project: str) -> str:
    db.execute("set timezone to 'UTC'")
    row = db.execute(_DIGEST, {"project": project}).fetchone()
    return str(row["digest"]) if row else ""


_DIGEST = "select encode(sha256(convert_to(concat({}), 'UTF8')), 'hex') as digest".format(
    ", '/', ".join(
        f"(select string_agg(md5(t::text), '' order by {order}) from hub.{table} t"
        " where t.project = %(project)s)"
        for table, order in {
            "mutations": "t.seq",
            "rows": "t.entity, t.entity_key",
            "members": "t.person",
            "audit": "t.number",
        }.items()
    )
)


def begin_epoch(db: Connection, slug: str) -> None:
    project = project_id(db, slug)
    db.execute("update hub.projects set epoch = gen_random_uuid() where id = %s", (project,))
    note(db, project, "restore")


def compact(db: Connection, slug: str, days: int) -> int:
    """Delete older mutations that later ones contain, and usage of earlier days; count them."""
    with db.transaction():
        project = project_id(db, slug)
        db.execute("select from hub.projects where id = %s for update", (project,))
        row = db.execute(
            "select coalesce(max(seq), 0) as last from hub.mutations"
            " where project = %s and at < now() - make_interval(days => %s)",
            (project, days),
        ).fetchone()
        last = row["last"] if row else 0
        done = db.execute(
            "delete from hub.mutations where project = %s and seq <= %s and not live",
            (project, last),
        ).rowcount
        db.execute(
            "update hub.projects set floor = greatest(floor, %s) where id = %s", (last, project)
        )
        db.execute("delete from hub.usage where project = %s and day < current_date", (project,))
        note(db, project, "compact", str(last))
    return done
