"""What it takes to bring back what was before: memories as changes left them, and acts.

Acts changed no memory; earlier briefs are kept beside them. A hard deletion and a scrub forget
both, as they have texts that nothing else finds.
"""

from __future__ import annotations

from ademem.core.json_text import array, loads, numbers
from ademem.core.value import Value
from ademem.store import BROWSED, LIVE, database, memories

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Sequence
    from typing import Any

    from ademem.core.memory import Memory
    from ademem.store import Store


TABLE = "memory_revisions"


class Revision(Value):
    seq: int
    memory_id: str
    revision: int
    event_id: str
    operation: str
    actor: str
    session_id: str | None
    reason: str | None
    snapshot: dict[str, Any]
    """The row after the change, without its access bookkeeping."""
    created_at: str

    @property
    def compared(self) -> dict[str, Any]:
        """The fields without `revision_count`, to compare two revisions."""
        return self.fields() | {"revision_count": 0}

    def memory(self) -> Memory:
        return memories.from_snapshot(self.snapshot)

    def fields(self) -> dict[str, Any]:
        """The fields of the memory that history keeps, by name."""
        memory = self.memory()
        return {name: getattr(memory, name) for name in memories.KEPT}


def newest_events(store: Store, limit: int, before: str = "") -> list[str]:
    return store.column(
        "select event_id from memory_revisions group by event_id having :before = '' or max(seq) <"
        " (select max(seq) from memory_revisions where event_id = :before)"
        " order by max(seq) desc limit :limit",
        {"before": before, "limit": limit},
    )


UNDOES = "takes back "
"""Beginning of the reason of an undo, before the event."""


def undone_since(store: Store, event: str) -> dict[str, str]:
    """Return the last undo of each event that was taken back after *event*, by event."""
    rows = store.db.execute(
        "select event_id, reason from memory_revisions where operation = 'undo' and seq >"
        " (select min(seq) from memory_revisions where event_id = ?) order by seq",
        (event,),
    )
    last = {row["reason"].removeprefix(UNDOES): row["event_id"] for row in rows if row["reason"]}

    def is_undone(id: str) -> bool:
        done = False
        while id in last:
            id, done = last[id], not done
        return done

    return {id: by for id, by in last.items() if is_undone(id)}


def has_event(store: Store, event: str) -> bool:
    return store.has_row("select 1 from memory_revisions where event_id = ? limit 1", (event,))


def of_events(store: Store, events: Sequence[str]) -> list[Revision]:
    rows = store.db.execute(
        "select revision.* from memory_revisions as revision"
        " join (select event_id, max(seq) as end from memory_revisions"
        "   where event_id in (select value from json_each(?)) group by event_id) as event"
        " using (event_id) order by event.end, revision.seq",
        (array(events),),
    )
    return database.read_rows(rows, _from_row, TABLE, _key)


_FIELDS = (
    *("created_at", "status", "deleted_at", "superseded_by", "quarantine_reason", "source_type"),
    *("scope", "scope_owner_id"),
)
_THEN = f"""
select created_at || ' ' || printf('%012d', seq) || ' ' || memory_id from (
  select seq, memory_id, {", ".join(f"json_extract(row, '$.{name}') as {name}" for name in _FIELDS)}
  from (
    select seq, memory_id, case when json_valid(snapshot) then snapshot else '{{}}' end as row
    from memory_revisions where seq in (
      select max(seq) from memory_revisions where created_at <= :moment group by memory_id)))
where {LIVE} and quarantine_reason is null and {BROWSED}
  and (scope = 'project' or scope_owner_id is case scope when 'mission' then :mission end)
"""


def list_then(store: Store, moment: str, mission: str | None) -> list[str]:
    """Return the keys of the revisions that memories of a list had at the moment, in no order.

    They sort by the time of the memory. Of those of agents and missions they are of the person
    and of this mission.
    """
    return store.column(_THEN, {"moment": moment, "mission": mission})


def read_then(store: Store, keys: Iterable[str]) -> list[Memory]:
    """Return memories as the revisions of these keys left them, in no order."""
    rows = store.db.execute(
        "select * from memory_revisions where seq in (select value from json_each(?))",
        (numbers(int(key.split()[1]) for key in keys),),
    )
    return database.read_rows(
        rows, lambda row: memories.from_snapshot(loads(row["snapshot"])), TABLE, _key
    )


def last(store: Store, memory_id: str) -> Revision:
    query = "select * from memory_revisions where memory_id = ? order by revision desc limit 1"
    row = store.db.execute(query, (memory_id,)).fetchone()
    return _from_row(row)


def before(store: Store, revision: Revision) -> Revision | None:
    row = store.db.execute(
        "select * from memory_revisions where memory_id = ? and revision < ?"
        " order by revision desc limit 1",
        (revision.memory_id, revision.revision),
    ).fetchone()
    return row and _from_row(row)


def operation_of(store: Store, memory_id: str, revision: int) -> tuple[str, str] | None:
    row = store.db.execute(
        "select operation, created_at from memory_revisions where memory_id = ? and revision = ?",
        (memory_id, revision),
    ).fetchone()
    return (row[0], row[1]) if row else None


def has_reason(store: Store, memory_id: str, beginning: str) -> bool:
    query = "select 1 from memory_revisions where memory_id = ? and instr(reason, ?) = 1 limit 1"
    return store.has_row(query, (memory_id, beginning))


def _from_row(row: sqlite3.Row) -> Revision:
    values = dict(row)
    revision = Revision(**values | {"snapshot": loads(values["snapshot"])})
    revision.memory()  # raises for what no memory can have been
    return revision


def _key(row: sqlite3.Row) -> str:
    return f"{row['memory_id']} {row['revision']}"


ACTS, BRIEFS = "acts/", "brief/"
"""Beginnings of the names in `store_values`, which go on with the project."""
MOST_ACTS, MOST_BRIEFS = 50, 20


def list_acts(store: Store) -> list[dict[str, Any]]:
    """Return the acts, oldest first."""
    return _read_list(store, f"{ACTS}{store.project_id}")


def put_acts(store: Store, acts: Sequence[dict[str, Any]]) -> None:
    """Replace the acts; the last MOST_ACTS stay."""
    _write_list(store, f"{ACTS}{store.project_id}", acts[-MOST_ACTS:])


def list_briefs(store: Store, agent: str = "") -> list[dict[str, Any]]:
    """Return the briefs before the present one, oldest first."""
    return _read_list(store, f"{BRIEFS}{store.project_id}/{agent}")


def add_brief(store: Store, agent: str, row: dict[str, Any]) -> None:
    """Add a brief that is replaced; the last MOST_BRIEFS stay."""
    rows = [*list_briefs(store, agent), row]
    _write_list(store, f"{BRIEFS}{store.project_id}/{agent}", rows[-MOST_BRIEFS:])


def forget_acts(store: Store) -> None:
    for prefix in (ACTS, BRIEFS):
        database.delete_values(store.db, prefix)


def _read_list(store: Store, name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = loads(database.value(store.db, name) or "[]")
    return found


def _write_list(store: Store, name: str, rows: Sequence[dict[str, Any]]) -> None:
    import json  # which a hook that reads revisions does not need

    database.set_value(store.db, name, json.dumps(rows, ensure_ascii=False))
