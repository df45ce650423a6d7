"""Commands of the hub: its server, and who may what."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from ademem.core import who
from ademem.core.clock import now
from ademem.core.errors import NotFound, UsageError
from ademem.core.text import counted
from ademem.core.value import as_dict
from ademem.doors.cli import show
from ademem.doors.cli.commands import command, on_project, open_project
from ademem.doors.cli.extras import needs
from ademem.doors.cli.options import argument, flag, option
from ademem.doors.cli.parameters import DryRun, Limit, Project
from ademem.plugins.hub import client
from ademem.plugins.hub.store import administration
from ademem.store.runtime import Runtime

CERTIFICATE_DAYS = 14
Dsn = Annotated[
    str,
    option("--dsn URL", "Of the database; default: ADEMEM_HUB_DSN.", variable="ADEMEM_HUB_DSN"),
]
Slug = Annotated[str, argument("PROJECT", "Name of a project of the hub.")]
Person = Annotated[str, argument("PERSON", "Name of a person.")]
Role = Annotated[str, argument("ROLE", "reader, writer, reviewer or owner.")]


@contextmanager
def _open_database(dsn: Dsn = "") -> Iterator[Any]:
    with needs("hub", "the hub"):
        from ademem.plugins.hub.store import database

    with closing(database.connect(dsn)) as db:
        yield db


on_hub = partial(command, on=_open_database)


@on_project("hub join")
def join(
    memories: Runtime,
    url: str = argument("URL", "Of the hub, as https://HOST:PORT."),
    code: str = argument("CODE", "Of the invitation."),
) -> None:
    """Share this project's memories through a hub.

    Nothing leaves yet: `ademem sync --dry-run` shows the bytes that will.
    """
    who.require_person(memories.by, "`ademem hub join`")
    state = client.join(memories, url, code)
    values = {"project": state.slug, "person": state.person, "role": state.role}
    line = f"joined {state.slug} as {state.person}, {state.role}"
    hint = "`ademem sync --dry-run` shows what would leave, `ademem sync` sends it"
    show.report(values, [line, hint])


@on_project("hub leave")
def leave(memories: Runtime) -> None:
    """Leave the hub; the memories stay."""
    who.require_person(memories.by, "`ademem hub leave`")
    state = client.leave(memories)
    if state is None:
        raise NotFound("this project is in no hub", "`ademem hub join URL CODE`")
    show.report({"left": state.slug}, [f"left {state.slug}; what came from it stays"])


@command("hub page", has_json=False)
def open_page(project: Project = None) -> None:
    """Show an owner the page of this project at the hub, at an address that opens once."""
    if not sys.stderr.isatty() or not who.of_process().is_person:
        raise UsageError("the address has a code, which only a terminal shows", "run it in one")
    with open_project(project) as memories:
        show.echo(f"{client.open_page(memories)}\n(opens once within a minute)", err=True)


@command("hub serve")
def serve(
    bind: str = option("--bind HOST:PORT", "Where to listen.", "127.0.0.1:7440"),
    certificate: str | None = option("--tls-cert FILE", "Its certificate."),
    key: str | None = option("--tls-key FILE", "The certificate's key."),
    proxied: bool = flag("--proxied", "A proxy before it has the certificate."),
    dsn: Dsn = "",
) -> None:
    """Serve the hub until a signal.

    Requests that are under way then get 10 seconds to end.
    """
    with needs("hub", "the hub"):
        from ademem.plugins.hub import server

    server.serve(
        *(dsn, bind, lambda url: show.echo(f"serving {url}; Ctrl-C ends it", err=True)),
        certificate=certificate,
        key=key,
        proxied=proxied,
    )
    show.report({"served": bind}, ())


@on_hub("hub migrate")
def migrate(db: Any) -> None:
    """Bring the database of the hub up to date, as its owner."""
    with needs("hub", "the hub"):
        from ademem.plugins.hub.store import database

    done = database.migrate(db)
    lines = [f"ran {name}" for name in done] or ["the schema is up to date"]
    show.report({"migrations": done}, lines)


@on_hub("hub check")
def check(
    db: Any,
    url: str = option("--url URL", "Of the hub, to look at its certificate.", ""),
) -> None:
    """Check role, indexes, vacuum, disk, slots and clocks. Exit code 1 if one is wrong.

    As the owner of the database it sees devices too; only the role that serves passes.
    """
    with needs("hub", "the hub"):
        from ademem.plugins.hub.store import database
    from ademem.plugins.hub import transport

    found = database.check(db, now())
    days = transport.certificate_days(url) if url else None
    if days is not None and days < CERTIFICATE_DAYS:
        problem = f"the certificate of {url} ends in {counted(days, 'day')}"
        found.append(database.Finding(rule="certificate", problem=problem, hint="renew it"))
    lines = [text for one in found for text in (one.problem, f"  {one.hint}")]
    lines = lines or ["the hub may be served over this connection"]
    values = {"problems": [as_dict(one) for one in found], "certificate_days": days}
    show.report(values, lines, fails=bool(found))


@on_hub("hub project add")
def add_project(db: Any, slug: Slug) -> None:
    """Make a project; its people come by invitation."""
    made = administration.add_project(db, slug)
    line = f"made {slug}; `ademem hub invite {slug} PERSON owner` invites its owner"
    show.report(made, [line])


@on_hub("hub project list")
def list_projects(db: Any) -> None:
    """List the projects."""
    found = administration.list_projects(db)
    show.listing(
        *("projects", found),
        lines=lambda row: [
            f"{row['slug']}  {counted(row['memories'], 'record')},"
            f" {counted(row['members'], 'member')}{'  closed' if row['is_closed'] else ''}"
        ],
        none="no project yet: `ademem hub project add NAME` makes one",
    )


@on_hub("hub project close")
def close_project(db: Any, slug: Slug) -> None:
    """Refuse further changes of a project."""
    administration.close_project(db, slug)
    show.report({"closed": slug}, [f"closed {slug}"])


@on_hub("hub invite")
def invite(
    db: Any,
    slug: Slug,
    person: Person,
    role: Role = "writer",
    existing: bool = flag("--existing", "The person of this name in other projects is meant."),
) -> None:
    """Print a code with which one device joins within 24 hours.

    The device sees every project of the person.
    """
    _check_role(role)
    code = administration.invite(db, slug, person, role, existing=existing)
    line = f"{person} runs, in the project: ademem hub join URL {code}"
    show.report({"code": code, "person": person, "role": role}, [line])


@on_hub("hub member list")
def list_members(db: Any, slug: Slug) -> None:
    """List the people of a project and their roles."""
    found = administration.list_members(db, slug)
    show.listing(
        *("members", found),
        lines=lambda row: [f"{row['name']}  {row['role']}"],
        none=f"no member yet: `ademem hub invite {slug} PERSON`",
    )


@on_hub("hub member role")
def set_role(db: Any, slug: Slug, person: Person, role: Role) -> None:
    """Give a member another role."""
    _check_role(role)
    administration.set_role(db, slug, person, role)
    show.report({"person": person, "role": role}, [f"{person} is {role}"])


@on_hub("hub member remove")
def remove_member(db: Any, slug: Slug, person: Person) -> None:
    """Revoke all rights of a person; their texts stay."""
    administration.set_role(db, slug, person, "former")
    show.report({"removed": person}, [f"{person} has no rights in {slug}"])


def _check_role(role: str) -> None:
    if role not in administration.ROLES:
        raise UsageError(f"no role {role!r}", ", ".join(administration.ROLES))


@on_hub("hub token list")
def list_tokens(db: Any, slug: Slug) -> None:
    """List tokens, and what each device has received."""
    found = administration.list_tokens(db, slug)
    show.listing(
        *("tokens", found),
        lines=lambda row: [
            f"{row['id']}  {row['person']} on {row['device']}  "
            + ("revoked" if row["revoked_at"] else f"until {row['expires_at']:%Y-%m-%d}")
            + f"  received {row['position'] or 0}"
        ],
        none="no device has joined",
    )


@on_hub("hub token revoke")
def revoke_token(db: Any, slug: Slug, id: str = argument("TOKEN", "Beginning of its id.")) -> None:
    """End a token at once."""
    count = administration.revoke_token(db, slug, id)
    show.report({"revoked": count}, [f"revoked {counted(count, 'token')}"], fails=not count)


@on_hub("hub audit")
def audit(
    db: Any,
    slug: Slug,
    verify: bool = flag("--verify", "Name rows that are missing or were changed."),
    limit: Limit = 20,
) -> None:
    """Show who did what. Exit code 1 if --verify finds something."""
    if verify:
        broken = administration.broken_audit(db, slug)
        named = ", ".join(map(str, broken))
        line = f"missing or changed at {named}" if broken else "every row is as it was written"
        return show.report({"broken": broken}, [line], fails=bool(broken))
    found = administration.list_audit(db, slug, limit)
    return show.listing(
        *("acts", found),
        lines=lambda row: [
            f"{row['number']}  {row['at']:%Y-%m-%d %H:%M}  {row['person'] or 'the hub itself'}"
            f"  {row['act']} {row['key']}".rstrip()
        ],
        none="nothing was done yet",
    )


@on_hub("hub receipts")
def receipts(db: Any, slug: Slug, id: str = argument("ID", "Of a memory, in full.")) -> None:
    """Name devices that have received a deletion. Exit code 1: not all."""
    found = administration.receipts(db, slug, id)
    lines = ["not deleted"]
    if found["is_deleted"]:
        tables = f"freed space may hold it until `ademem hub purge PROJECT {found['id']}`"
        if cleaned := found["vacuumed_at"]:
            tables = f"no byte of it since {cleaned:%Y-%m-%d %H:%M}"
        lines = [
            f"deleted for good on {found['deleted_at']:%Y-%m-%d %H:%M}",
            f"tables of the hub: {tables}; its write-ahead log until PostgreSQL recycles it",
            f"backups from before may hold it until {found['backups_until']:%Y-%m-%d}",
            "what was committed to git stays there",
        ]
    lines += [
        f"{one['person']} on {one['device']} has {'' if one['has_received'] else 'not '}received it"
        for one in found["devices"]
    ]
    show.report(found, lines, fails=not all(one["has_received"] for one in found["devices"]))


@command("hub purge")
def purge(
    slug: Slug,
    ids: list[str] | None = argument("[ID]...", "Of memories, in full.", None),
    person: str = option("--person NAME", "All that is this person's.", ""),
    keep_texts: bool = flag("--keep-texts", "Take only the name off."),
    dry_run: DryRun = False,
    dsn: Dsn = "",
) -> None:
    """Delete memories, or a person, in hub and clones for good.

    --dry-run --json exports what a person wrote.
    """
    if bool(ids) == bool(person) or (keep_texts and not person):
        raise UsageError("give ids, or --person", "--keep-texts is of --person")
    with _open_database(dsn) as db:
        from ademem.plugins.hub import mutations

        if dry_run:
            there, records = _find_purged(db, slug, ids or [], person)
            names = [] if keep_texts else there
            return show.report({"would_delete": names, "records": records}, names)
        if person:
            done = mutations.purge_person(db, slug, person, now(), keep_texts=keep_texts)
        else:
            done = mutations.purge(db, slug, ids or [], now())
    lines = [
        f"deleted {counted(len(done), 'memory')} for good; what was committed to git stays there",
        f"`ademem hub receipts {slug} ID` names the devices that have not received it",
    ]
    return show.report({"deleted": done, "person": person or None}, lines)


def _find_purged(
    db: Any, slug: str, ids: list[str], person: str
) -> tuple[list[str], list[dict[str, Any]]]:
    """Return the ids of what would be deleted, and the records of a person."""
    records = administration.list_memories_of(db, slug, person) if person else []
    wanted = ids or (row["id"] for row in records)
    return list(administration.sync_ids(db, slug, wanted)), records


@command("hub backup")
def backup(folder: Path = argument("DIR", "Where backups are kept."), dsn: Dsn = "") -> None:
    """Back up the hub; delete its backups older than 30 days."""
    with needs("hub", "the hub"):
        from ademem.plugins.hub.store import copies

    made, expired = copies.back_up(dsn, folder, now())
    lines = [f"wrote {made}", *(f"deleted {name}, which is too old" for name in expired)]
    show.report({"backup": str(made), "deleted": expired}, lines)


@command("hub restore")
def restore(folder: Path = argument("DIR", "A folder hub-…Z."), dsn: Dsn = "") -> None:
    """Restore a backup of the hub into an empty database.

    Each clone then sends again what the backup lacks.
    """
    with needs("hub", "the hub"):
        from ademem.plugins.hub.store import copies

    found = copies.restore(dsn, folder)
    lines = [f"restored {slug} up to {project['head']}" for slug, project in found.items()]
    show.report({"projects": found}, lines)


@command("hub move")
def move(
    slug: Slug,
    url: str = argument("URL", "Of the other hub, for clients."),
    to: str = option("--to URL", "Of its database.", ...),
    dsn: Dsn = "",
) -> None:
    """Move a project to another hub while it is written to.

    Its clients follow by themselves; invitations that are not used yet end.
    """
    with needs("hub", "the hub"):
        from ademem.plugins.hub.store import copies
    from ademem.plugins.hub.transport import check_url

    done = copies.move(dsn, slug, to, check_url(url))
    line = f"moved {slug} up to {done.head}; no push was possible for {done.pause_s:.1f} s"
    show.report(as_dict(done), [line])


@on_hub("hub compact")
def compact(
    db: Any, slug: Slug, days: int = option("--days", "Age from which.", 90, min=1)
) -> None:
    """Delete old changes that later ones contain."""
    count = administration.compact(db, slug, days)
    show.report({"deleted": count}, [f"deleted {counted(count, 'change')}"])
