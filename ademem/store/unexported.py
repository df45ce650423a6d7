"""Procedures that need work, and procedure files that need writing; cheap enough for hooks."""

from __future__ import annotations

from ademem.store import CURRENT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ademem.store import Store

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


def any_procedure(store: Store, *, export: bool) -> bool:
    """One that nobody took note of; with *export* also one whose file is not as it should be."""
    queries = (_UNEXPORTED, _ARRIVED) if export else (_ARRIVED,)
    project = {"project": store.project_id}
    return any(store.db.execute(query, project).fetchone() for query in queries)
