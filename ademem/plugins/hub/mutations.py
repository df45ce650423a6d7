"""Mutations as they travel between a store and the hub, and the checks of both sides.

A mutation has the whole record of a memory or a relation, so that joining it is all that a reader
does, and the position up to which its writer had received others, so that the hub knows which of
them it contains without reading them. Its id is made of its content: what comes twice is one
mutation. The operator of the hub deletes by mutations, too, of which every clone hears.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from ademem.core import record_json, registers
from ademem.core.clock import stamp
from ademem.core.errors import suppress
from ademem.core.redaction import redact
from ademem.core.registers import REMOVED
from ademem.core.text import sha256_hex
from ademem.core.value import Value
from ademem.plugins.hub.store import administration
from ademem.store import relations
from ademem.store.runtime import redact_branch
from ademem.sync.provenance import safe_name

if TYPE_CHECKING:  # clients of the hub have no driver of its database
    from ademem.plugins.hub.store.database import Connection

Fields = dict[str, Any]


PROTOCOL = 2
"""Version of the requests; a server also answers the one before."""
WITH_DOCUMENTS = 2
"""Version from which a server takes documents, and names of authors."""
SCHEMA = 1
"""Version of the fields; a reader keeps those of a newer one as they are."""
BATCH = 200
BODY_BYTES = 1_000_000
MUTATION_BYTES = 250_000
BRANCH_CHARS = 200
PERSON = "person"
"""Entity of the mutation that takes a name off; only the operator of the hub sends it."""
BRANCH = "branch"
"""Field of a memory that waits on a branch of git where it was written."""
DOCUMENTS = {
    "procedure": {"id", "learned", "outcomes", "updated_at", "after"},
    "core": {
        *("id", "updated_at", "version", "updatedAt", "projectSummary", "criticalConventions"),
        *("userPreferences", "activeFocus", "notes"),
    },
    "uses": {"id", "weeks", "updated_at", "after"},
}
"""Entities beside memories and relations, and the fields that they have; none is of a session."""
PAGE, PAGE_BYTES = 500, 4_000_000
"""Mutations of one answer to a pull, and their bytes without those of the last one."""

_KEYS: dict[str, type] = dict.fromkeys(
    ("mutation_id", "project", "entity", "entity_key", "op", "stamp", "by", "replica"), str
) | {"heard": int, "fields": dict, "shows_promoted": bool, "schema": int}
AUTHOR = "author"
"""Key with the name of who wrote the memory, if its sender had it by git; in no digest."""
_PLACES = re.compile(r"^(?:[/~\\]|[A-Za-z]:[/\\])")
_HOMES = re.compile(r"(?:/home/|/Users/|[A-Za-z]:\\Users\\)\w|/root/")


class Refusal(Value):
    rule: str
    why: str


def content_id(mutation: Fields) -> str:
    """Return a UUID of version 8 that is the digest of the content."""
    content = [mutation["entity"], mutation["fields"], mutation["shows_promoted"]]
    text = json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    found = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
    return f"{found[:8]}-{found[8:12]}-8{found[13:16]}-8{found[17:20]}-{found[20:32]}"


def to_bytes(value: object) -> bytes:
    options: Fields = {"ensure_ascii": False, "allow_nan": False, "sort_keys": True}
    return json.dumps(value, **options, separators=(",", ":")).encode()


def digest_body(body: bytes) -> str:
    """Return the header `Content-Digest` of an answer, as RFC 9530 defines it."""
    return f"sha-256=:{base64.b64encode(hashlib.sha256(body).digest()).decode()}:"


def well_formed(mutation: Any, project: str) -> Refusal | None:
    for holds, why in _FORM:
        if not holds(mutation):
            return Refusal(rule="malformed", why=why)
    if mutation["project"] != project:
        return Refusal(rule="project", why="it is of another project than the request")
    return None


def _has_keys(mutation: Any) -> bool:
    return isinstance(mutation, dict) and mutation.keys() - {AUTHOR} == _KEYS.keys()


def _has_types(mutation: Fields) -> bool:
    return all(type(value) is _KEYS.get(name, str) for name, value in mutation.items())


def _is_storable(mutation: Fields) -> bool:
    is_text = False
    with suppress(ValueError, RecursionError):
        to_bytes(mutation)
        is_text = not any("\0" in text for text in record_json.texts_in(mutation))
    return is_text and 0 <= mutation["heard"] < 1 << 62 and 0 < mutation["schema"] < 1 << 31


def _is_record(mutation: Fields) -> bool:
    shown = describe(mutation["entity"], mutation["fields"])
    return shown is not None and all(mutation[name] == value for name, value in shown.items())


def _is_named_by_content(mutation: Fields) -> bool:
    return bool(mutation["mutation_id"] == content_id(mutation))


_FORM: tuple[tuple[Callable[[Any], bool], str], ...] = (
    (_has_keys, "it does not have the keys of a mutation"),
    (_has_types, "a value of it has another type"),
    (_is_storable, "it has what no database stores"),
    (_is_record, "its fields are no such record"),
    (_is_named_by_content, "its id is not made of its content"),
)
"""Each may rely on those before it."""


def bounds(mutation: Any, _: object) -> Refusal | None:
    if len(to_bytes(mutation)) > MUTATION_BYTES:
        return Refusal(rule="size", why=f"it has more than {MUTATION_BYTES:,} bytes")
    fields = mutation["fields"]
    anchors = fields.get("anchors")
    places = [fields.get("path"), *(anchors if isinstance(anchors, list) else ())]
    if any(isinstance(place, str) and _PLACES.match(place) for place in places):
        return Refusal(rule="path", why="it is about a path outside the project")
    if any(map(_HOMES.search, record_json.texts_in(fields))):
        return Refusal(rule="path", why="it names a person's home folder")
    return None


def redaction(mutation: Any, _: object) -> Refusal | None:
    if any(redact(text).found for text in record_json.texts_in(mutation["fields"])):
        return Refusal(rule="secret", why="it has a secret")
    return None


ACCEPTED: tuple[Callable[[Any, str], Refusal | None], ...] = (well_formed, bounds, redaction)
"""What the server asks of a mutation, in this order."""


def refuse(mutation: Any, project: str) -> Refusal | None:
    return next(filter(None, (rule(mutation, project) for rule in ACCEPTED)), None)


def branch_of(fields: Fields) -> str | None:
    name = fields.get(BRANCH)
    if not isinstance(name, str):
        return None
    return "-".join(redact_branch(name).split())[:BRANCH_CHARS] or None


def describe(entity: object, fields: Fields) -> Fields | None:
    """Return key, operation and stamp of a record; None if it is none."""
    if entity == "memory":
        return _describe_memory(fields)
    if entity == "relation" and fields.keys() == set(relations.SHARED):
        return _describe_write(fields["sync_id"], fields["updated_at"])
    if isinstance(entity, str) and fields.keys() == DOCUMENTS.get(entity):
        at = registers.as_time(fields["updated_at"])
        return _describe_write(fields["id"], registers.old_stamp(at) if at else None)
    return None


def _describe_memory(fields: Fields) -> Fields | None:
    record = record_json.from_json(fields)
    if record is None or not record.last_stamp:
        return None
    if record.life != REMOVED:
        return {"entity_key": record.id, "op": "upsert", "stamp": record.last_stamp}
    if "content" in fields or record.texts:
        return None
    return {"entity_key": record.id, "op": "delete", "stamp": record.last_stamp}


def _describe_write(id: object, at: object) -> Fields | None:
    if not record_json.is_id(id) or not isinstance(at, str):
        return None
    return {"entity_key": id, "op": "upsert", "stamp": at}


def purge(db: Connection, slug: str, ids: Sequence[str], now: datetime) -> list[str]:
    """Delete memories for good, and rewrite the tables; return the ids that were still there."""
    with db.transaction():
        project, found = administration.project_id(db, slug), administration.sync_ids(db, slug, ids)
        administration.append(db, project, _removals(project, found, now))
    administration.vacuum(db, slug)
    return list(found)


def purge_person(
    db: Connection, slug: str, name: str, now: datetime, *, keep_texts: bool
) -> list[str]:
    """Return the deleted ids; a person's words in memories of others stay without the name."""
    with db.transaction():
        project, person = administration.project_id(db, slug), administration.person_id(db, name)
        rows = [] if keep_texts else administration.list_memories_of(db, slug, name)
        found = administration.sync_ids(db, slug, (row["id"] for row in rows))
        digest, at = sha256_hex(safe_name(name)), registers.old_stamp(stamp(now))
        fields = {"id": digest, "updated_at": at}
        described = {"entity_key": digest, "op": "delete", "stamp": at, "fields": fields}
        taken_off = _of_operator(project, PERSON, described)
        administration.append(db, project, [*_removals(project, found, now), taken_off])
        administration.forget_person(db, project, person)
    administration.vacuum(db, slug)
    return list(found)


def _removals(project: str, found: dict[str, str], now: datetime) -> Iterator[Fields]:
    for id, sync_id in found.items():
        gone = registers.make_tombstone(id, sync_id, registers.old_stamp(stamp(now)))
        fields = record_json.to_json(gone)
        described = {**(describe("memory", fields) or {}), "fields": fields}
        yield _of_operator(project, "memory", described)


def _of_operator(project: str, entity: str, described: Fields) -> Fields:
    made = described | {"project": project, "entity": entity, "shows_promoted": False}
    made |= {"replica": registers.OLD_REPLICA, "schema": SCHEMA}
    return made | {"mutation_id": content_id(made)}
