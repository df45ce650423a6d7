"""Values and stores as tests need them: say only what the test is about."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from ademem.core import project as project_
from ademem.core.memory import Category, Importance, Memory, Scope, Status, Tier, Trust, stage_of
from ademem.core.settings import Settings
from ademem.core.text import dedupe_key, sha256_hex
from ademem.core.value import replace
from ademem.store import Store, memories, stamps
from ademem.store.memories import Change
from ademem.store.opening import open_store
from ademem.store.runtime import Runtime
from ademem.sync import rendering
from ademem.sync.rendering import PageMemory

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator
    from pathlib import Path

    from ademem.core.project import Project
    from ademem.core.registers import Record

NOW = datetime(2026, 1, 31, 12, 0, tzinfo=UTC)


def memory(content: str = "WAL needs shared memory", **changes: Any) -> Memory:
    """A promoted project fact; ids and dedupe key follow from text, scope and owner."""
    made = replace(_FACT, content=content, **changes)
    given = {
        "id": sha256_hex(made.content, made.scope, made.scope_owner_id or "")[:16],
        "sync_id": sha256_hex("sync", made.content, made.scope, made.scope_owner_id or "")[:32],
        "dedupe_key": dedupe_key(made.content, made.topic_key),
        "stage": stage_of(Status(made.status), made.stage),
    }
    return replace(made, **(given | changes))


def record_of(row: Memory) -> Record:
    """Its record, as of a row from before there were stamps."""
    found = stamps.record_of_row(memories.row_of(row) | {"stamps": "{}"})
    assert found
    return found


class Lines(list[Memory]):
    """The lines of memories that are in no store."""

    def read(self) -> Iterator[tuple[str, PageMemory | None, Record]]:
        for memory in self:
            page = PageMemory.of(memory, True, b"") if rendering.is_on_page(memory) else None
            yield memory.id, page, record_of(memory)

    def others(self, gone: Iterable[str], alive: Collection[str]) -> list[Record]:
        return []


def project(root: Path) -> Project:
    """An enrolled project in this folder."""
    (root / ".ade").mkdir(parents=True, exist_ok=True)
    return project_.at(str(root))


def open_project(root: Path) -> Store:
    """A real store of an enrolled project in this folder."""
    return open_store(project(root), NOW)


def insert(store: Store, *given: Memory) -> tuple[Memory, ...]:
    """Put rows into the store as they are, past the gate."""
    change = Change(operation="insert", actor="user", at=NOW)
    with store.transaction():
        return tuple(
            memories.insert(store, replace(memory, project_id=store.project_id), change)
            for memory in given
        )


_FACT = Memory(
    seq=0,
    id="",
    sync_id="",
    project_id="project",
    scope=Scope.PROJECT,
    scope_owner_id=None,
    tier=Tier.ACTIVE,
    category=Category.FACT,
    title=None,
    content="",
    importance=Importance.MEDIUM,
    confidence=0.8,
    observation_count=1,
    status=Status.PROMOTED,
    trust=Trust.AGENT,
    source_type="agent",
    source_id=None,
    source_session_id=None,
    source_pack_key=None,
    source_run_id=None,
    source_branch=None,
    file_scope_pattern=None,
    anchors=(),
    agent_id=None,
    pinned=False,
    tags=(),
    topic_key=None,
    knowledge_key=None,
    bead=None,
    revision_count=1,
    access_score=0.0,
    composite_score=0.0,
    access_count=0,
    write_gate_reason=None,
    quarantine_reason=None,
    superseded_by=None,
    dedupe_key="",
    created_at=NOW,
    updated_at=NOW,
    last_accessed_at=NOW,
    promoted_at=NOW,
    review_after=None,
    deleted_at=None,
)


def opened(project: Project, store: Store, settings: Settings | None = None, now: datetime = NOW):
    """An open project of somebody who has no agreements."""
    return Runtime(project, settings or Settings(), store, {}, now)
