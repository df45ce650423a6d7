"""The exchange of this database with the hub; nothing is stored before the project joined one."""

from __future__ import annotations

from ademem.core import record_json
from ademem.core.clock import datetime, stamp, timedelta
from ademem.core.json_text import loads
from ademem.core.value import Value, as_dict, replace
from ademem.store import HUB, Store, database, journal, stamps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any


PARKED, SENT, RECEIVED = "hub_parked/", "hub_sent/", "hub_received/"
"""Prefixes of the names of what the hub refused, and of documents that it has or that wait here."""
USES = "uses_elsewhere/"
"""Prefix of the names of weekly sums of uses in other stores, which outlive the hub."""
LEASE = timedelta(seconds=60)
SETTLED = timedelta(seconds=5)
"""Time in which changes are collected for one round."""
LONGEST_WAIT = timedelta(days=1)
"""Longer than any delay after a failure; one above it comes from a clock that was ahead."""


class HubState(Value):
    url: str
    project: str
    slug: str
    person: str
    role: str
    epoch: str
    position: int = 0
    """Number of the last mutation that was applied; 0 before the first snapshot."""
    mark: str = ""
    """The hub's mark of that mutation, or of the end of a snapshot; empty from an older hub."""
    put_back_at: str = ""
    """When it was last noticed that the hub lost what this store has."""
    snapshot: tuple[int, int] = (0, 0)
    """Of one that takes several rounds: its last number that was applied, and its end."""
    pulled_at: str = ""
    lifecycle: str = "idle"
    """idle | pushing | pulling | healthy | backoff | stopped"""
    failures: int = 0
    retry_at: str = ""
    push_at: str = ""
    """When the hub takes changes again, if they were too many; what others changed is pulled."""
    reason: str = ""
    owner: str = ""
    until: str = ""

    @property
    def target(self) -> str:
        return stamps.HUB + self.project


class Parked(Value):
    entity: str
    id: str
    rule: str
    why: str


class LeaseHeld(Exception):
    """Another process syncs."""


def read(store: Store) -> HubState | None:
    found = database.value(store.db, HUB)
    return HubState(**loads(found)) if found else None


def is_due(store: Store, now: datetime, pull_minutes: int) -> bool:
    """Return False before the first round and after some failures, which a person asks for."""
    state, at = read(store), stamp(now)
    if state is None or not state.pulled_at or state.lifecycle == "stopped":
        return False
    if at < state.retry_at <= stamp(now + LONGEST_WAIT):
        return False
    is_recent = stamp(now - timedelta(minutes=pull_minutes)) < state.pulled_at <= at
    may_push = state.role != "reader" and state.push_at <= at
    return not is_recent or (may_push and _waits_since(store, state) != "")


def is_changing(store: Store, now: datetime) -> bool:
    state = read(store)
    return state is not None and stamp(now - SETTLED) < _waits_since(store, state) <= stamp(now)


def _waits_since(store: Store, state: HubState) -> str:
    return min((row["created_at"] for row in journal.rows_since(store, state.target)), default="")


def write(store: Store, state: HubState) -> None:
    database.set_value(store.db, HUB, record_json.compact(as_dict(state)))


def join(store: Store, state: HubState) -> None:
    with store.transaction():
        write(store, state)
        journal.enrol(store, state.target)


def leave(store: Store) -> HubState | None:
    with store.transaction() as db:
        state = read(store)
        if state:
            journal.leave(store, state.target)
            database.delete_value(db, HUB)
            for prefix in (PARKED, SENT, RECEIVED):
                database.delete_values(db, prefix)
        return state


def take_lease(store: Store, owner: str, now: datetime) -> HubState:
    with store.transaction():
        state = read(store)
        if state is None or (state.owner not in ("", owner) and state.until > stamp(now)):
            raise LeaseHeld
        state = replace(state, owner=owner, until=stamp(now + LEASE))
        write(store, state)
        return state


def change(store: Store, by: str, now: datetime, **changes: Any) -> HubState:
    """Renew the lease, too; raises LeaseHeld if another process has it."""
    with store.transaction():
        state = read(store)
        if state is None or state.owner != by:
            raise LeaseHeld
        state = replace(state, until=stamp(now + LEASE), **changes)
        write(store, state)
        return state


def park(store: Store, entity: str, id: str, rule: str, why: str) -> None:
    value = record_json.compact({"rule": rule, "why": why})
    database.set_value(store.db, f"{PARKED}{entity}/{id}", value)


def list_parked(store: Store) -> list[Parked]:
    return [Parked(entity=entity, id=id, **why) for entity, id, why in _list(store, PARKED)]


def _list(store: Store, prefix: str) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for name, value in database.values(store.db, prefix).items():
        entity, _, id = name.partition("/")
        yield entity, id, loads(value)


def last_sent(store: Store, entity: str, id: str) -> str:
    return database.value(store.db, f"{SENT}{entity}/{id}")


def note_sent(store: Store, entity: str, id: str, digest: str) -> None:
    database.set_value(store.db, f"{SENT}{entity}/{id}", digest)


def forget_sent(store: Store) -> None:
    database.delete_values(store.db, SENT)


def add_received(store: Store, entity: str, id: str, fields: dict[str, Any], person: str) -> None:
    value = record_json.compact({"fields": fields, "person": person})
    database.set_value(store.db, f"{RECEIVED}{entity}/{id}", value)


def list_received(store: Store) -> list[tuple[str, str, tuple[dict[str, Any], str]]]:
    found = _list(store, RECEIVED)
    return [(entity, id, (each["fields"], each["person"])) for entity, id, each in found]


def drop(store: Store, prefix: str, entity: str, id: str) -> None:
    database.delete_value(store.db, f"{prefix}{entity}/{id}")


def uses(store: Store, id: str) -> dict[str, int]:
    found = database.value(store.db, USES + id)
    return loads(found) if found else {}


def keep_uses(store: Store, id: str, weeks: dict[str, int]) -> None:
    database.set_value(store.db, USES + id, record_json.compact(weeks))
