"""Rows of `memory_skill_index`: skill files and their memories."""

from __future__ import annotations

from ademem.core.clock import parse, stamp
from ademem.core.value import Value, as_dict
from ademem.store import database

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime

    from ademem.store import Store

USER, EXPORTED = "user", "exported"
"""Author of the file: a person, or ademem from a procedure."""
_MOMENTS = ("last_modified_at", "archived_at", "created_at", "updated_at")


class IndexedSkill(Value):
    id: str
    path: str
    kind: str
    source: str
    memory_id: str | None = None
    content_hash: str
    last_modified_at: datetime | None = None
    archived_at: datetime | None = None
    """Time of its removal."""
    created_at: datetime
    updated_at: datetime


def all_of(store: Store) -> list[IndexedSkill]:
    rows = store.db.execute(
        f"select {', '.join(IndexedSkill._fields)} from memory_skill_index where project_id = ?"
        " order by archived_at is not null, path",
        (store.project_id,),
    )
    return database.read_rows(
        map(dict, rows), _from_row, "memory_skill_index", lambda row: row["id"]
    )


def put(store: Store, entry: IndexedSkill) -> None:
    row = as_dict(entry) | {"project_id": store.project_id}
    row |= {name: stamp(row[name]) if row[name] else None for name in _MOMENTS}
    store.db.execute(
        "insert into memory_skill_index (id, project_id, path, kind, source, memory_id,"
        " content_hash, last_modified_at, archived_at, created_at, updated_at)"
        " values (:id, :project_id, :path, :kind, :source, :memory_id,"
        " :content_hash, :last_modified_at, :archived_at, :created_at, :updated_at)"
        " on conflict (project_id, path) do update set kind = :kind, source = :source,"
        " memory_id = :memory_id, content_hash = :content_hash,"
        " last_modified_at = :last_modified_at, archived_at = :archived_at,"
        " updated_at = :updated_at",
        row,
    )


def remove(store: Store, path: str) -> None:
    query = "delete from memory_skill_index where project_id = ? and path = ?"
    store.db.execute(query, (store.project_id, path))


def _from_row(row: dict[str, object]) -> IndexedSkill:
    moments = {name: parse(str(row[name])) if row[name] else None for name in _MOMENTS}
    return IndexedSkill(**(row | moments))  # type: ignore[arg-type]
