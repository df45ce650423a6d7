"""One memory in full: its uses, neighbours, anchors, sites and lines in files, and edits of it."""

from __future__ import annotations

import os

from ademem.api.searching import find_similar
from ademem.core import confined
from ademem.core.errors import UsageError
from ademem.core.memory import Draft, Origin, Status
from ademem.core.value import Value, replace
from ademem.store import logs, memories
from ademem.store.filters import UNARCHIVED, Filters, visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ademem.capture.gate import RuleEffect
    from ademem.core.memory import Memory
    from ademem.store.hints import Site
    from ademem.store.logs import Use
    from ademem.store.runtime import Runtime
    from ademem.synthesis.anchor_verification import Excerpt

FILE_BYTES = 64_000_000
"""Largest file in which lines of a memory are looked for."""
USES = 50


class Line(Value):
    path: str
    number: int
    text: str


class Similar(Value):
    by_words: tuple[Memory, ...]
    by_meaning: tuple[tuple[Memory, float], ...] | None
    """With the cosines, nearest first; None without a vector."""


def list_uses(runtime: Runtime, id: str) -> list[Use]:
    runtime = runtime.holding(id)
    return logs.list_uses(runtime.store, memories.get(runtime.store, id).id, USES)


def compare(runtime: Runtime, id: str, limit: int = 3) -> Similar:
    """Find the unarchived memories nearest to one, by words and by the stored vectors."""
    from ademem.search.embedding import model_id
    from ademem.store import embeddings

    runtime = runtime.holding(id)
    store, memory = runtime.store, memories.get(runtime.store, id)
    by_words = tuple(find_similar(runtime, memory, limit))
    model = model_id(runtime.settings.embed)
    size = embeddings.dimensions(store, model)
    if not size or not embeddings.blobs(store, model, [memory.id]):
        return Similar(by_words=by_words, by_meaning=None)
    from ademem.search import dense

    cosines = dense.Cosines.of_row(memory.seq, dense.load_vectors(store, model, size))
    filters = Filters(statuses=UNARCHIVED, here=runtime.branch)
    nearest = [seq for seq in cosines.nearest(FIRST_LOOK * limit) if seq != memory.seq]
    found = visible(nearest, store, filters, UNARCHIVED, limit)
    _, plain = cosines.compare([each.seq for each in found])
    return Similar(by_words=by_words, by_meaning=tuple((each, plain[each.seq]) for each in found))


FIRST_LOOK = 10
"""Nearest rows that are looked at for each one that is shown; some are hidden."""


def compare_anchors(runtime: Runtime, id: str) -> list[Excerpt]:
    """Return each place that a memory is anchored to, its state, and its lines then and now."""
    memory = memories.get(runtime.holding(id).store, id)
    if not memory.anchors:
        return []
    from ademem.synthesis import anchor_verification

    tree = anchor_verification.WorkingTree(runtime.project.root)
    checked = anchor_verification.check_memory(memory, tree)
    return [anchor_verification.excerpt(each, tree) for each in checked]


def renew_anchor(runtime: Runtime, id: str, anchor: str, *, revision: int | None = None) -> Memory:
    """Move an anchor to the code of today; without such code the anchor is removed."""
    from ademem.api.curation import edit
    from ademem.synthesis import anchor_verification

    memory = memories.get(runtime.holding(id).store, id)
    tree = anchor_verification.WorkingTree(runtime.project.root)
    for found in anchor_verification.check_memory(memory, tree):
        if found.anchor == anchor:
            text = memory.whole_text
            anchors = anchor_verification.anchor_anew(found, text, runtime.project.root)
            return edit(runtime, id, revision=revision, anchors=anchors)
    raise UsageError(f"{memory.id} has no such anchor", "load the page again")


def list_sites(runtime: Runtime, id: str) -> list[Site]:
    """Return the files and commands at which a memory comes up; none of one that may not."""
    from ademem.search.hints import find_sites

    memory = memories.get(runtime.holding(id).store, id)
    is_showable = memory.live and memory.status is Status.PROMOTED
    if not is_showable or memory.quarantine_reason or memory.superseded_by:
        return []
    return list(dict.fromkeys(find_sites(memory)))


def find_lines(runtime: Runtime, id: str) -> list[Line]:
    from ademem.files import FOLDER

    memory = memories.get(runtime.holding(id).store, id)
    root, folder = runtime.project.root, FOLDER.rstrip("/")
    found = []
    for name in sorted(confined.names(root, os.path.join(root, folder))):
        path = f"{folder}/{name}"
        try:
            text = confined.read_text(root, os.path.join(root, path), FILE_BYTES) or ""
        except (OSError, UnicodeDecodeError):
            continue
        if memory.id in text or memory.sync_id in text:
            found += [
                Line(path=path, number=number, text=line)
                for number, line in enumerate(text.splitlines(), 1)
                if memory.id in line or memory.sync_id in line
            ]
    return found


def preview_edit(runtime: Runtime, id: str, **changes: Any) -> list[RuleEffect]:
    """Return the verdict of each rule of the gate on a memory with these changes; writes nothing.

    The memory itself is no duplicate of its own text.
    """
    from ademem.api.curation import get_speaker
    from ademem.capture.gate import writing

    runtime = runtime.holding(id)
    memory = memories.get(runtime.store, id)
    edited = replace(memory, **changes)
    draft = Draft(
        content=edited.content,
        title=edited.title,
        category=edited.category,
        scope=edited.scope,
        owner=edited.scope_owner_id,
        importance=edited.importance,
        topic_key=edited.topic_key,
        tags=edited.tags,
        path=edited.file_scope_pattern,
        anchors=edited.anchors,
        knowledge_key=edited.knowledge_key,
        promoted=memory.status == "promoted",
        origin=Origin(trust=get_speaker(runtime), source_type=memory.source_type),
    )
    settings, now = runtime.settings.gate, runtime.clock()
    return writing.explain(draft, runtime.store, settings, now, apart_from=memory.id)
