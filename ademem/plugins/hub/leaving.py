"""What leaves for the hub, in which form, and what stays.

Memories of an agent, a mission or a person and quarantined ones are in no journal of a shared
target; texts of prompts, sessions and logs are no memories at all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ademem.core import record_json
from ademem.core.memory import Status, claimed_name
from ademem.core.value import Value
from ademem.plugins.hub import mutations
from ademem.plugins.hub.hub_state import HubState, Parked
from ademem.plugins.hub.mutations import Fields, Refusal
from ademem.store import Store, memories, relations, replication


class Sender(Value):
    store: Store
    state: HubState
    replica: str
    incomplete: frozenset[str]
    """Ids of which something arrived that could not be applied."""
    protocol: int = mutations.PROTOCOL
    documents: dict[tuple[str, str], Fields] = {}


def shareable(mutation: Fields, sender: Sender) -> Fields | Refusal:
    entity, id = mutation["entity"], mutation["entity_key"]
    if entity == "memory":
        content = _read_memory(id, sender)
    elif entity == "relation":
        content = {"fields": relations.read_shared(sender.store, id)}
    else:
        content = {"fields": sender.documents.get((entity, id))}
    fields = content["fields"]
    described = mutations.describe(entity, fields) if fields else None
    if described is None:
        return Refusal(rule="shareable", why="others may not have it any more")
    return mutation | described | {"shows_promoted": False} | content


def _read_memory(id: str, sender: Sender) -> Fields:
    """Return the fields of a memory, with its status and author; no fields if it is not shared."""
    record = replication.read(sender.store, id, sender.state.target)
    content: Fields = {"fields": record and record_json.to_json(record)}
    if (row := memories.raw_row(sender.store.db, id)) is None:
        return content
    content["shows_promoted"] = row["status"] == Status.PROMOTED
    if content["fields"] and row["source_branch"]:
        content["fields"][mutations.BRANCH] = row["source_branch"]
    author = claimed_name(row["claimed_author"] or "")
    if author and sender.protocol >= mutations.WITH_DOCUMENTS:
        content[mutations.AUTHOR] = author
    return content


def sign(mutation: Fields, sender: Sender) -> Fields | Refusal:
    if not sender.state.person:
        return Refusal(rule="person", why="it names no person")
    is_whole = mutation["entity_key"] not in sender.incomplete
    return mutation | {
        "project": sender.state.project,
        "by": sender.state.person,
        "replica": sender.replica,
        "heard": sender.state.position if is_whole else 0,
        "schema": mutations.SCHEMA,
        "mutation_id": mutations.content_id(mutation),
    }


LEAVING: tuple[Callable[[Fields, Sender], Fields | Refusal | None], ...] = (
    shareable,
    mutations.redaction,
    mutations.bounds,
    sign,
)
"""What each record passes before it leaves, in this order; None leaves it as it is."""


def prepare(entity: str, id: str, sender: Sender) -> Fields | Parked:
    mutation: Fields = {"entity": entity, "entity_key": id}
    for step in LEAVING:
        outcome = step(mutation, sender)
        if isinstance(outcome, Refusal):
            return Parked(entity=entity, id=id, rule=outcome.rule, why=outcome.why)
        mutation = outcome or mutation
    return mutation


def waiting(sender: Sender) -> list[tuple[str, str]]:
    """Return entity and id of what the hub does not have, in the order of the journal."""
    entries = replication.outgoing(sender.store, sender.state.target)
    records = [
        (one["entity"], str(one["registers"].get("id") or one["registers"].get("sync_id")))
        for one in entries
    ]
    return [*records, *sender.documents]


def batches(prepared: Iterator[Fields]) -> Iterator[list[Fields]]:
    batch: list[Fields] = []
    size = 0
    for one in prepared:
        length = len(mutations.to_bytes(one)) + 1
        if batch and (len(batch) == mutations.BATCH or size + length > mutations.BODY_BYTES - 100):
            yield batch
            batch, size = [], 0
        batch.append(one)
        size += length
    if batch:
        yield batch


def body(batch: list[Fields]) -> bytes:
    return b'{"mutations":[' + b",".join(map(mutations.to_bytes, batch)) + b"]}"
