"""Write memories through the gate."""

from __future__ import annotations

import os
from collections.abc import Iterable

from ademem.capture import gate, provenance
from ademem.capture.gate import RuleEffect, Written
from ademem.core import client
from ademem.core.errors import UsageError
from ademem.core.memory import Draft, Origin, Scope, Trust
from ademem.core.value import replace
from ademem.store import missions
from ademem.store.runtime import Runtime


def write(runtime: Runtime, draft: Draft | str) -> Written:
    """Write a draft through the gate; a plain text is a fact from an agent.

    A new text is compared with its neighbours; a note names what it says otherwise.
    """
    now = runtime.clock()
    written = gate.write(complete_draft(runtime, draft), runtime.store, runtime.settings.gate, now)
    if written.memory is None or written.deduped:
        return written
    from ademem.capture.gate import relating  # which reading commands need not load

    pairs = relating.relate_written(written.memory, runtime.store, now)
    notes = (relating.note(pair, written.memory) for pair in pairs)
    return replace(written, notes=(*written.notes, *notes))


def explain(runtime: Runtime, draft: Draft | str) -> list[RuleEffect]:
    """Return the verdict of each rule of the gate; writes nothing."""
    return gate.explain(
        complete_draft(runtime, draft), runtime.store, runtime.settings.gate, runtime.clock()
    )


def learn(
    runtime: Runtime,
    text: str,
    *,
    prefix: str = "LEARNED",
    bead: str | None = None,
    tags: Iterable[str] = (),
    key: str | None = None,
    cwd: str | None = None,
) -> Written:
    """Write a lesson, as `bd comment … LEARNED:` does."""
    from ademem.capture.learned import Lesson, draft_of, source_of

    lesson = Lesson(content=text, prefix=prefix, bead=bead, key=key, tags=tuple(tags))
    source = source_of(cwd or os.getcwd())
    return write(runtime, place_draft(runtime, draft_of(lesson, origin(runtime, source))))


def origin(runtime: Runtime, source_type: str = "") -> Origin:
    """Return the person as the source, or in a client's shell the agent."""
    trust = provenance.trust_of_caller(runtime.environment, runtime.store)
    speaker = Trust.USER if trust is Trust.USER else Trust.AGENT
    return Origin(
        trust=trust,
        source_type=source_type or speaker.value,
        session_id=client.session_of(runtime.environment) or None,
    )


def place_draft(
    runtime: Runtime,
    draft: Draft,
    scope: str | None = None,
    owner: str | None = None,
    *,
    start_mission: bool = True,
) -> Draft:
    """Set the given scope, or else the mission that this process works for.

    *start_mission* starts a missing mission. Raises UsageError for a mission without an id.
    """
    if scope is None:
        if not start_mission:
            return missions.place_in_mission(draft, runtime.environment)
        return missions.assign_mission(draft, runtime.environment, runtime.store, runtime.clock())
    if Scope.is_mission(scope):
        owner = owner or client.mission_of(runtime.environment)
        if not owner:
            raise UsageError("which mission?", f"--owner ID, or {client.MISSION}")
    return replace(draft, scope=scope, owner=owner)


def complete_draft(runtime: Runtime, draft: Draft | str) -> Draft:
    """Add session and branch, and resolve anchors; raises NoSuchPlace or NoSuchCommand."""
    from ademem.synthesis import anchor_verification

    if isinstance(draft, str):
        draft = Draft(content=draft)
    origin = replace(
        draft.origin,
        session_id=draft.origin.session_id or client.session_of(runtime.environment) or None,
        branch=draft.origin.branch or runtime.branch,
    )
    text = anchor_verification.text_of(draft)
    anchors = anchor_verification.resolve_anchors(
        draft.anchors, runtime.project.root, os.getcwd(), text
    )
    return replace(draft, origin=origin, anchors=anchors)
