"""Documents that travel beside memories: how procedures fare, the project brief, weekly uses.

What has to be sent is a query: what differs from what this store sent or received last. What
arrives waits until the memory that it is about is here.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator

from ademem.core import record_json
from ademem.core.clock import parse, stamp
from ademem.core.memory import Category
from ademem.core.text import sha256_hex
from ademem.files import project_brief
from ademem.plugins.hub import hub_state, mutations
from ademem.plugins.hub.mutations import Fields
from ademem.store import Store, logs, memories, procedures, replication
from ademem.store.memories import Change
from ademem.store.procedures import Details

Read = Callable[[Store, str], Iterator[Fields]]
Apply = Callable[[Store, Fields, str, Change], bool | None]


BRIEF = "brief"
_INVALID = (
    *(ArithmeticError, AttributeError, LookupError, TypeError, ValueError),
    *(project_brief.BadCore, sqlite3.IntegrityError, sqlite3.ProgrammingError),
)
AFTER = "after"
"""Field with the digest of what was sent before, so that an earlier state is sent again."""


def due(store: Store, target: str, *, with_uses: bool) -> dict[tuple[str, str], Fields]:
    found = {}
    for entity, (read, _) in KINDS.items():
        for fields in read(store, target) if entity != USES or with_uses else ():
            before = hub_state.last_sent(store, entity, fields["id"])
            if record_json.is_id(fields["id"]) and _digest(fields) != before:
                chain = {} if entity == CORE else {AFTER: before}
                found[entity, fields["id"]] = fields | chain
    return found


def note_sent(store: Store, entity: str, fields: Fields) -> None:
    hub_state.note_sent(store, entity, fields["id"], _digest(fields))


def _digest(fields: Fields) -> str:
    sent = {name: value for name, value in fields.items() if name != AFTER}
    return sha256_hex(mutations.to_bytes(sent).decode())[:32]


def apply_received(store: Store, change: Change) -> int:
    changed = 0
    for entity, key, (fields, person) in hub_state.list_received(store):
        try:
            with store.savepoint():
                done = KINDS[entity][1](store, fields, person, change)
        except _INVALID:
            done = False
        if done is not None:
            hub_state.drop(store, hub_state.RECEIVED, entity, key)
            changed += done
    return changed


def _read_procedures(store: Store, target: str) -> Iterator[Fields]:
    for details in procedures.all_of(store):
        if replication.read(store, details.memory_id, target):
            learned, outcomes = procedures.own_outcomes(store, details)
            yield {
                "id": f"{details.memory_id}-{_origin(store)}",
                "learned": learned,
                "outcomes": outcomes,
                "updated_at": stamp(details.updated_at),
            }


def _apply_procedure(store: Store, fields: Fields, _person: str, change: Change) -> bool | None:
    """Count outcomes elsewhere; the job `procedures` reads the steps from the memory."""
    id = _memory_of(fields)
    if (row := memories.raw_row(store.db, id)) is None:
        return None
    if row["category"] != Category.PROCEDURE:
        return False
    if procedures.get(store, id) is None:
        at = parse(fields["updated_at"])
        steps = {"trigger": "this work comes up", "procedure_markdown": row["content"]}
        procedures.put(store, Details(memory_id=id, **steps, created_at=at, updated_at=at))
    return procedures.merge_outcomes(store, id, fields["learned"], fields["outcomes"], change.at)


def _read_brief(store: Store, _target: str) -> Iterator[Fields]:
    if document := project_brief.load(store):
        found = project_brief.as_json(document)
        yield {"id": BRIEF, "updated_at": found["updatedAt"]} | found


def _apply_brief(store: Store, fields: Fields, person: str, change: Change) -> bool:
    changed = project_brief.receive(store, fields, person, change.at)
    if fields in _read_brief(store, ""):
        note_sent(store, CORE, fields)
    return changed


def _read_uses(store: Store, target: str) -> Iterator[Fields]:
    for id, weeks in logs.weekly_uses(store).items():
        if replication.read(store, id, target):
            last = f"{max(weeks)}T00:00:00.000Z"
            yield {"id": f"{id}-{_origin(store)}", "weeks": weeks, "updated_at": last}


def _apply_uses(store: Store, fields: Fields, _person: str, change: Change) -> bool | None:
    """Count what is new of the uses elsewhere; of each week the greater sum counts."""
    id, weeks = _memory_of(fields), fields["weeks"]
    if memories.raw_row(store.db, id) is None:
        return None
    known = hub_state.uses(store, fields["id"])
    joined = {week: max(known.get(week, 0), int(weeks.get(week, 0))) for week in known | weeks}
    more = sum(joined.values()) - sum(known.values())
    if more <= 0 or fields["id"] == f"{id}-{_origin(store)}":
        return False
    hub_state.keep_uses(store, fields["id"], joined)
    last = parse(f"{max(joined)}T00:00:00.000Z")
    logs.add_uses(store, id, more, stamp(min(last, change.at)))
    return True


def _origin(store: Store) -> str:
    """Return a name of this database that, unlike the replica's, stays where it is moved."""
    return sha256_hex("hub", store.secret)[:8]


def _memory_of(fields: Fields) -> str:
    return str(fields["id"].rpartition("-")[0])


PROCEDURE, CORE, USES = mutations.DOCUMENTS
KINDS: dict[str, tuple[Read, Apply]] = {
    PROCEDURE: (_read_procedures, _apply_procedure),
    CORE: (_read_brief, _apply_brief),
    USES: (_read_uses, _apply_uses),
}
"""What reads the documents that a target may have, and what applies one of a person.

The latter returns None where the memory is not here.
"""
