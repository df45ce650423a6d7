"""Changes that programs may make: never of what a person said, and few pins."""

from __future__ import annotations

from typing import Any

from ademem.api import curation, writing
from ademem.core.memory import Draft, Memory, Origin, Status, Trust
from ademem.core.redaction import redact
from ademem.core.text import clean, preview
from ademem.core.value import Value, replace
from ademem.guard.injection import instruction_in
from ademem.store import memories, memory_queries, relations, transitions
from ademem.store.runtime import Runtime
from ademem.store.transitions import CannotDo

PINS = 5
"""Most memories that are pinned by agents."""
REASON_CHARS = 500
OF_DRAFT = ("content", "title", "category", "importance", "tags")
"""Fields that the candidate for a change has of the memory."""


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
    """Edit a memory; of one that a person said, write the new text as a candidate beside it.

    Raises what `edit` raises, and CannotDo where a person has to change it.
    """
    runtime = runtime.holding(id)
    memory = memories.get(runtime.store, id)
    if memory.trust is not Trust.USER:
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
        raise _of_a_person(memory, "edit")
    title = changes.get("title", memory.title)
    curation.require_length(changes["content"], title, runtime.settings.gate)
    fields = {name: getattr(memory, name) for name in OF_DRAFT} | changes
    draft = Draft(
        **{name: fields[name] for name in OF_DRAFT},
        path=fields.get("file_scope_pattern", memory.file_scope_pattern),
        anchors=fields.get("anchors", memory.anchors),
        scope=memory.scope,
        owner=memory.scope_owner_id,
        origin=origin,
    )
    written = writing.write(runtime, draft)
    if written.memory is None or written.deduped:
        why = f"{memory.id} was said by a person, and says nearly the same"
        raise CannotDo(why, f"a person: `ademem edit {memory.id}`")
    relations.add(
        runtime.store,
        memory,
        written.memory,
        relations.SUPERSEDES,
        score=1.0,
        reason="an agent proposes it as the new text",
        actor=origin.trust,
        now=runtime.clock(),
    )
    return Updated(memory=written.memory, changed=(), proposed_for=memory.id)


def remove_by_agent(runtime: Runtime, id: str, *, delete: bool = False, reason: str = "") -> Memory:
    """Archive or delete a memory; raises CannotDo for one that a person said.

    A reason that reads as an instruction is left out of the history.
    """
    runtime = runtime.holding(id)
    memory = memories.get(runtime.store, id)
    if memory.trust is Trust.USER:
        raise _of_a_person(memory, "delete" if delete else "archive")
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
    if not pinned and memory.trust is Trust.USER:
        raise _of_a_person(memory, "pin --off")
    if pinned and memory.status is not Status.PROMOTED:
        raise CannotDo(f"{memory.id} is not confirmed", f"a person: `ademem promote {memory.id}`")
    with runtime.store.transaction():
        if pinned and memory_queries.count_pinned_by_agents(runtime.store) >= PINS:
            raise CannotDo(f"agents have pinned {PINS} memories", "unpin one of them first")
        return curation.pin(runtime, id, pinned=pinned)


def _of_a_person(memory: Memory, verb: str) -> CannotDo:
    return CannotDo(f"{memory.id} was said by a person", f"a person: `ademem {verb} {memory.id}`")
