"""Fast checks for memories and procedures, for hooks, without the class Memory."""

from __future__ import annotations

from ademem.core.json_text import array
from ademem.core.value import Value
from ademem.store import CURRENT, LIVE, database

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from ademem.store import Store

HUB = "hub"
"""Name in `store_values` of the state of a project that joined a hub."""
CLAIMED = f"claimed_author is not null and {LIVE}"
"""Memories that came from elsewhere and were not accepted here."""
ARRIVED = (
    "category = 'procedure' and source_type = 'procedure'"
    " and id not in (select memory_id from memory_procedure_details)"
)
"""Procedures that came with the files of the project: memories without details."""

# Changed since it was written, never written, or given up while it stands in a file. The cross
# join begins with the few procedures.
_UNEXPORTED = f"""
select 1 from memory_procedure_details as details
cross join unified_memories as memory on memory.id = details.memory_id
where memory.project_id = :project and (
  scope = 'project' and status = 'promoted' and {CURRENT}
  and (exported_at is null or exported_at < memory.updated_at)
  or exported_at is not null and superseded_by is null
  and (status = 'archived' or deleted_at is not null))
limit 1
"""
_ARRIVED = f"""
select 1 from unified_memories
where project_id = :project and status = 'promoted' and {ARRIVED} and {CURRENT} limit 1
"""


def is_in_hub(store: Store) -> bool:
    return bool(database.value(store.db, HUB))


def any_promoted(store: Store) -> bool:
    """Return True if a search could recall something that this person made or accepted.

    Before that, what came with the files of a clone, or in a database, stops no call.
    """
    return store.is_trusted and store.has_row(
        "select 1 from unified_memories where project_id = ? and status = 'promoted'"
        f" and claimed_author is null and {CURRENT} limit 1",
        (store.project_id,),
    )


def any_confirmed(store: Store) -> bool:
    """Return True if there is a confirmed memory, also one that came with the files."""
    query = (
        f"select 1 from unified_memories where project_id = ? and status = 'promoted' and {CURRENT}"
    )
    return store.has_row(f"{query} limit 1", (store.project_id,))


def find_reviewed(store: Store, ids: Iterable[str]) -> set[str]:
    """Return those of the memories that a person wrote, confirmed or changed."""
    wanted = array(ids)
    if wanted == "[]":
        return set()
    rows = store.column(
        "select distinct memory_id from memory_revisions"
        " where memory_id in (select value from json_each(?)) and actor = 'user'"
        " and operation in ('insert', 'promote', 'edit', 'revise', 'merge', 'restore')",
        (wanted,),
    )
    return set(rows)


def any_quarantined(store: Store, id: str = "") -> bool:
    """Return True if a memory with an id or sync id of this prefix is quarantined; empty: any."""
    return store.has_row(
        "select 1 from unified_memories where project_id = :project"
        " and quarantine_reason is not null and deleted_at is null"
        " and (substr(id, 1, length(:id)) = :id or substr(sync_id, 1, length(:id)) = :id)"
        " limit 1",
        {"project": store.project_id, "id": id},
    )


def any_procedure(store: Store, *, export: bool) -> bool:
    """Return True for a procedure without details, or with *export* one whose file is outdated."""
    queries = (_UNEXPORTED, _ARRIVED) if export else (_ARRIVED,)
    project = {"project": store.project_id}
    return any(store.db.execute(query, project).fetchone() for query in queries)


class DatabaseClaims(Value):
    """Numbers of memories that claim to be of a person, in a database that was not made here."""

    user: int
    pinned: int


def find_database_claims(store: Store) -> DatabaseClaims | None:
    """Count claims of the tables themselves; None for this person's own database."""
    if store.is_trusted:
        return None
    row = store.db.execute(
        "select ifnull(sum(trust = 'user'), 0) as user, ifnull(sum(pinned), 0) as pinned"
        f" from main.unified_memories where {LIVE}"
    ).fetchone()
    return DatabaseClaims(user=row["user"], pinned=row["pinned"])
