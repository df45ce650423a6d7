"""Changes that agents may make: never of what a person said or confirmed, and few pins."""

from __future__ import annotations

from typing import Any

from ademem.api import curation, writing
from ademem.capture import gate
from ademem.core.memory import Memory, Origin, Status
from ademem.core.redaction import redact
from ademem.core.text import clean, preview
from ademem.core.value import Value, replace
from ademem.guard.injection import instruction_in
from ademem.store import memories, memory_queries, transitions
from ademem.store.runtime import Runtime
from ademem.store.transitions import CannotDo, OfPerson

PINS = 5
"""Most memories that are pinned by agents."""
REASON_CHARS = 500


class Updated(Value):
    """A changed memory, or the candidate for a change that a person has to make."""

    memory: Memory
    changed: tuple[str, ...]
    proposed_for: str = ""
    """Id of the unchanged memory, where the other is a candidate."""


def update_by_agent(
    runtime: Runtime,
    id: str,
    origin: Origin,
    *,
    revision: int | None = None,
    find: str | None = None,
    replacement: str | None = None,
    **changes: Any,
) -> Updated:
    """Edit a memory; beside one that a person said or confirmed, write the text as a candidate.

    Raises what `edit` raises, and CannotDo where a person has to change it.
    """
    runtime = runtime.holding(id)
    memory = memories.get(runtime.store, id)
    if not memories.is_of_person(runtime.store, memory):
        edited = curation.edit(
            runtime, id, revision=revision, find=find, replacement=replacement, **changes
        )
        before, after = memory.__dict__, edited.__dict__
        given = {*changes, *(["content"] if find is not None else [])}
        changed = sorted(name for name in given if before[name] != after[name])
        return Updated(memory=edited, changed=tuple(changed))
    curation.require_revision(memory, revision)
    if find is not None or replacement is not None:
        changes["content"] = curation.replace_part(memory, find, replacement, changes)
    if "content" not in changes:
        raise OfPerson(memory, "edit")
    title, settings = changes.get("title", memory.title), runtime.settings.gate
    curation.require_length(changes["content"], title, settings)
    draft = writing.complete_draft(runtime, gate.draft_change(memory, changes, origin))
    written = gate.propose(memory, draft, runtime.store, settings, runtime.clock())
    if written.memory is None or not written.accepted:
        why = f"{memory.id} was said or confirmed by a person, and says nearly the same"
        raise CannotDo(why, f"a person: `ademem edit {memory.id}`")
    return Updated(memory=written.memory, changed=(), proposed_for=memory.id)


def remove_by_agent(runtime: Runtime, id: str, *, delete: bool = False, reason: str = "") -> Memory:
    """Archive or delete a memory; raises CannotDo for one that a person said or confirmed.

    A reason that reads as an instruction is left out of the history.
    """
    runtime = runtime.holding(id)
    memory = memories.get(runtime.store, id)
    if memories.is_of_person(runtime.store, memory):
        raise OfPerson(memory, "delete" if delete else "archive")
    reason = "" if instruction_in(reason) else preview(clean(redact(reason).text), REASON_CHARS)
    done = replace(curation.act(runtime), reason=reason)
    remove = transitions.delete if delete else transitions.archive
    with runtime.store.transaction():
        return remove(memory.id, done)


def pin_by_agent(runtime: Runtime, id: str, *, pinned: bool = True) -> Memory:
    """Pin or unpin a memory; raises CannotDo for an unconfirmed one, and above PINS."""
    runtime = runtime.holding(id)
    memory = memories.get(runtime.store, id)
    if memory.pinned is pinned:
        return memory
    if not pinned and memories.is_of_person(runtime.store, memory):
        raise OfPerson(memory, "pin --off")
    if pinned and memory.status is not Status.PROMOTED:
        raise CannotDo(f"{memory.id} is not confirmed", f"a person: `ademem promote {memory.id}`")
    with runtime.store.transaction():
        if pinned and memory_queries.count_pinned_by_agents(runtime.store) >= PINS:
            raise CannotDo(f"agents have pinned {PINS} memories", "unpin one of them first")
        return curation.pin(runtime, id, pinned=pinned)
