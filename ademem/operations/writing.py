"""Write memories through the gate."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

from ademem.capture import gate, provenance, stating
from ademem.capture.gate import RuleEffect, Written
from ademem.capture.gate.writing import Candidate
from ademem.capture.stating import Stated
from ademem.core import client
from ademem.core.clock import datetime
from ademem.core.errors import Conflict, NoSuchMemory, UsageError, suppress
from ademem.core.memory import (
    TYPES,
    Category,
    Draft,
    Memory,
    Origin,
    Scope,
    Trust,
    are_about_one_place,
)
from ademem.core.redaction import redact
from ademem.core.text import fold, jaccard, sha256_hex, words
from ademem.core.value import as_dict, replace
from ademem.files import enrolment
from ademem.search.common_words import rare_words
from ademem.store import ledger, memories, memory_queries, missions, relations
from ademem.store.maintenance import ADEMEM
from ademem.store.runtime import Runtime, is_personal

NOTHING = Stated()
NEAREST = 3
SHARED = 2
"""Telling words that two memories share at least if their relation is stored."""
_noted: set[str] = set()
"""Projects whose use this process has recorded."""


def write(
    runtime: Runtime, draft: Draft | str, stated: Stated = NOTHING, *, operation_id: str = ""
) -> Written:
    """Write a draft through the gate, with what is stated of it; a text is a fact from an agent.

    The answer names the memories that are nearest to a new text: what they are to each other is for
    the writer to judge. The same *operation_id* again writes nothing and returns the first answer;
    it raises Conflict for another draft, and NoSuchMemory where that memory is gone.
    """
    draft = draft if isinstance(draft, Draft) else Draft(content=draft)
    asked = as_dict(replace(draft, origin=Origin()))  # the same from another session or process
    payload = sha256_hex(repr((asked, as_dict(stated)))) if operation_id else ""
    draft, now = complete_draft(runtime, draft), runtime.clock()
    _note_use(runtime, now)
    if is_personal(draft):
        runtime = runtime.open_personal(create=True) or runtime
    with runtime.store.transaction():
        if operation_id and (known := _find_answer(runtime, payload, operation_id)):
            return known
        written = stating.write(draft, stated, runtime.store, runtime.settings.gate, now)
        _keep_answer(runtime, payload, operation_id, written)
    if written.memory:
        written = _complete_answer(runtime, written.memory, written)
    _keep_answer(runtime, payload, operation_id, written)
    return written


def _note_use(runtime: Runtime, now: datetime) -> None:
    if runtime.project.root not in _noted:
        _noted.add(runtime.project.root)
        with suppress(OSError):  # the text is worth more than the list of projects
            name = runtime.settings.project.name
            enrolment.note_use(runtime.project, name, runtime.environment, now)


def _complete_answer(runtime: Runtime, memory: Memory, written: Written) -> Written:
    """Name the mission that a memory belongs to, and the memories that are nearest to it."""
    if note := _note_on_mission(runtime, memory):
        written = replace(written, notes=(*written.notes, note))
    if written.rule == stating.REPEATS:
        return written
    nearest = tuple(find_nearest(runtime, memory))
    written = replace(written, nearest=nearest)
    surfaced = runtime.settings.relations
    if not surfaced.surface or written.deduped:
        return written
    proposed = _propose(runtime, memory, nearest[: surfaced.candidates])
    return replace(written, candidates=proposed)


def find_nearest(runtime: Runtime, memory: Memory) -> list[Memory]:
    """Return the live memories that are nearest to one, best first; no score decides.

    By meaning with a loaded model, which is started where it is of use, else by characters.
    """
    from ademem import worker
    from ademem.search import statement_search
    from ademem.search.embedding import embedded_texts
    from ademem.store.filters import UNARCHIVED, Filters, visible
    from ademem.worker import warm

    if memory.quarantine_reason:
        return []
    runtime = runtime.holding(memory.id)
    texts = embedded_texts(memory)
    ranked = warm.rank_nearest(runtime, texts, budget_s=warm.SEARCH_S)
    if ranked is None:
        worker.start_server(runtime)
        ranked = statement_search.by_characters(texts, runtime.store, is_stored=True)
    filters = Filters(statuses=UNARCHIVED, owner=memory.scope_owner_id, heard=False)
    found = visible(ranked, runtime.store, filters, UNARCHIVED, NEAREST + 1)
    return [other for other in found if other.id != memory.id][:NEAREST]


def _propose(runtime: Runtime, memory: Memory, nearest: Iterable[Memory]) -> tuple[Candidate, ...]:
    """Return memories near to one that was written, each with a relation that waits.

    A pair that shares fewer than two words that few memories have is named to the writer, and not
    stored: what is near by meaning alone, a review proposes from the vectors.
    """
    store, now = runtime.store, runtime.clock()
    mine, candidates = words(memory.whole_text), []
    telling = _find_telling(memory.whole_text, runtime)
    with store.transaction():
        for other in nearest:
            if not are_about_one_place(memory, other):
                continue
            if len(telling & rare_words(other.whole_text)) < SHARED:
                continue
            score = round(jaccard(mine, words(other.whole_text)), 3)
            relations.add(
                *(store, other, memory, relations.RELATED),
                score=score,
                reason="both are about one subject",
                actor=ADEMEM,
                now=now,
            )
            pair = relations.find(store, other, memory)
            if pair and pair[1] == "pending":
                id = relations.id_of(other, memory)
                candidates.append(Candidate(memory=other, judgment_id=id, score=score))
    return tuple(candidates)


def _find_telling(text: str, runtime: Runtime) -> set[str]:
    from ademem.search.lexical import find_telling
    from ademem.store.full_text import Index

    quoted = {f'"{word}"': word for word in rare_words(text)}
    return {
        quoted[each] for each in find_telling(dict.fromkeys(quoted, Index.WORDS), runtime.store)
    }


def _note_on_mission(runtime: Runtime, memory: Memory) -> str:
    id = memory.scope_owner_id
    if memory.scope is not Scope.MISSION or id is None:
        return ""
    mission = missions.get(runtime.store, id)
    if mission is None:
        return f"no mission {id} was started; `ademem mission list` shows those that were"
    if mission.ended_at is None:
        return ""
    copies = f"`ademem mission promote {memory.id}` copies this to the project"
    return f"the mission {id} has ended ({mission.status}); {copies}"


_ANSWER = (
    "accepted",
    "durability",
    "rule",
    "reason",
    "deduped",
    "merged_into_id",
    "notes",
    "unanswered",
)


def _keep_answer(runtime: Runtime, payload: str, operation_id: str, written: Written) -> None:
    if not operation_id:
        return
    stored = {
        "draft": payload,
        "answer": {name: getattr(written, name) for name in _ANSWER},
        "candidates": [(it.memory.id, it.judgment_id, it.score) for it in written.candidates],
        "nearest": [each.id for each in written.nearest],
    }
    id = written.memory.id if written.memory else None
    ledger.add_answer(runtime.store, operation_id, id, stored, runtime.clock())


def _find_answer(runtime: Runtime, payload: str, operation_id: str) -> Written | None:
    found = ledger.find_answer(runtime.store, operation_id)
    if found is None:
        return None
    id, stored = found
    if stored["draft"] != payload:
        why = f"the operation {operation_id!r} wrote another text"
        raise Conflict(why, "give each write its own operation_id", id or "")
    memory = memories.get(runtime.store, id) if id else None
    if memory and memory.deleted_at:
        raise NoSuchMemory(memory.id)
    answer = stored["answer"] | {"notes": tuple(stored["answer"]["notes"])}
    candidates = []
    for other, judgment_id, score in stored["candidates"]:
        with suppress(NoSuchMemory):
            alike = memories.get(runtime.store, other)
            candidates.append(Candidate(memory=alike, judgment_id=judgment_id, score=score))
    nearest = tuple(memory_queries.by_ids(runtime.store, stored["nearest"]))
    return Written(**answer, memory=memory, candidates=tuple(candidates), nearest=nearest)


def categorize(category: str | None, type: str | None) -> str:
    """Choose the category, else that of a known type such as `bugfix`, else fact."""
    is_known = type in TYPES or type in frozenset(Category)
    return category or (type if type and is_known else Category.FACT)


def explain(runtime: Runtime, draft: Draft | str) -> list[RuleEffect]:
    return gate.explain(
        complete_draft(runtime, draft), runtime.store, runtime.settings.gate, runtime.clock()
    )


def learn(
    runtime: Runtime,
    text: str,
    *,
    type: str = "learned",
    bead: str | None = None,
    tags: Iterable[str] = (),
    key: str | None = None,
    stated: Stated = NOTHING,
) -> Written:
    """Write a lesson, as `bd comment … LEARNED:` does."""
    from ademem.capture.learned import CATEGORY, Lesson, draft_of, source_of

    prefix = type.upper() if type.upper() in CATEGORY else "LEARNED"
    if prefix != type.upper() and type not in TYPES:
        names = (*(name.lower() for name in CATEGORY), *TYPES)
        raise UsageError(f"no type {type!r}", ", ".join(dict.fromkeys(names)))
    lesson = Lesson(content=text, prefix=prefix, bead=bead, key=key, tags=tuple(tags))
    draft = draft_of(lesson, origin(runtime, source_of(os.getcwd())))
    if type in TYPES:
        draft = replace(draft, category=type)
    return write(runtime, place_draft(runtime, draft), stated)


def origin(runtime: Runtime, source_type: str = "") -> Origin:
    """Name the person, or in a client's shell the agent, as the source."""
    trust = provenance.trust_of_caller(runtime)
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
    """Set the scope, by default the mission of this process."""
    if scope is None:
        store = runtime.store if start_mission else None
        return missions.assign_mission(draft, runtime.environment, store, runtime.clock())
    if Scope.is_mission(scope):
        owner = owner or client.mission_of(runtime.environment)
        if not owner:
            raise UsageError("which mission?", f"name its id as the owner, or in {client.MISSION}")
    return replace(draft, scope=scope, owner=owner)


def complete_draft(runtime: Runtime, draft: Draft | str) -> Draft:
    """Add session and branch; resolve anchors and keys."""
    if isinstance(draft, str):
        draft = Draft(content=draft)
    origin = replace(
        draft.origin,
        session_id=draft.origin.session_id or client.session_of(runtime.environment) or None,
        branch=draft.origin.branch or runtime.branch,
    )
    anchors = draft.anchors
    if anchors:
        from ademem.synthesis import anchoring

        root = runtime.project.root
        anchors = anchoring.resolve_anchors(anchors, root, os.getcwd(), draft.whole_text)
    topic_key = draft.topic_key and normalize_key(draft.topic_key)
    return replace(draft, origin=origin, anchors=anchors, topic_key=topic_key)


KEY_CHARS, SEGMENT_CHARS = 120, 100
SUGGESTED_WORDS = 8

FAMILIES = {
    "architecture": ("architecture", "design", "module", "layer", "component", "schema"),
    "bug": ("bug", "bugfix", "fix", "gotcha", "crash", "error", "fails", "failure", "regression"),
    "decision": ("decision", "decided", "chose", "choose", "policy", "instead"),
    "pattern": ("pattern", "convention", "procedure", "style", "always", "never"),
    "config": ("config", "configuration", "setting", "environment", "variable", "flag", "port"),
    "discovery": ("discovery", "discovered", "found", "fact", "turns"),
    "learning": ("learning", "learned", "lesson", "preference"),
    "session": ("session", "session_summary", "handoff", "episode", "digest"),
}
"""Types and words of each family; the first one with a word of the text is chosen."""
OTHER = "topic"


def normalize_key(key: str) -> str | None:
    """Return the key in its form, or None for nothing; secrets go first, while they are known."""
    segments = [_segment(part) for part in redact(key).text.split("/")]
    return "/".join(filter(None, segments))[:KEY_CHARS].rstrip("/-") or None


def suggest_topic_key(type: str | None, title: str | None, content: str) -> str:
    """Return a key by type and text, under which later texts on a subject replace this one."""
    about = title or " ".join(content.split()[:SUGGESTED_WORDS])
    segment = _segment(about) or sha256_hex(about)[:8]
    for given in ({(type or "").strip().lower()}, words(about)):
        for family, named in FAMILIES.items():
            if not given.isdisjoint(named):
                return f"{family}/{segment}"
    return f"{OTHER}/{segment}"


def _segment(text: str) -> str:
    return re.sub(r"[^\w]+|_+", "-", fold(text))[:SEGMENT_CHARS].strip("-")
