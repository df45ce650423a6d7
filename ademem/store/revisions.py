"""What it takes to bring back what was before: memories as changes left them, and acts.

Acts changed no memory; earlier briefs are kept beside them. A hard deletion and a scrub forget
both, as they have texts that nothing else finds.
"""

from __future__ import annotations

from ademem.core.json_text import array, loads
from ademem.core.memory import MAIN_AGENT
from ademem.core.value import Value
from ademem.store import BROWSED, LIVE, UNPLACED, Store, database, memories

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Sequence
    from typing import Any, TypeAlias

    from ademem.core.memory import Memory

    Place: TypeAlias = tuple[str, int, str]
    """Time, row number and id of a memory, by which a list of a past moment is sorted."""


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
    created_at: str

    @property
    def compared(self) -> dict[str, Any]:
        return self.fields() | {"revision_count": 0}

    def memory(self) -> Memory:
        return memories.from_snapshot(self.snapshot)

    def fields(self) -> dict[str, Any]:
        memory = self.memory()
        return {name: getattr(memory, name) for name in memories.KEPT}


def last_number(store: Store) -> int:
    """Return the number of the last change of a memory; 0 if there is none."""
    return store.number("select ifnull(max(seq), 0) from memory_revisions")


def newest_events(store: Store, limit: int, before: str = "") -> list[str]:
    return store.column(
        "select event_id from memory_revisions group by event_id having :before = '' or max(seq) <"
        " (select max(seq) from memory_revisions where event_id = :before)"
        " order by max(seq) desc limit :limit",
        {"before": before, "limit": limit},
    )


UNDOES = "takes back "


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


def last_event_of_person(store: Store) -> str:
    """Return the last act of a person that is no undo and was not taken back; or an empty text."""
    events = store.column(
        "select event_id from memory_revisions where actor = 'user' and operation <> 'undo'"
        " group by event_id order by max(seq) desc"
    )
    return next((event for event in events if event not in undone_since(store, event)), "")


_OF_EVENTS = """
select {columns} from memory_revisions as revision
join (
  select event_id, max(seq) as end from memory_revisions
  where event_id in (select value from json_each(?)) group by event_id) as event
using (event_id)
order by event.end, revision.seq
"""


def of_events(store: Store, events: Sequence[str]) -> list[Revision]:
    rows = store.db.execute(_OF_EVENTS.format(columns="revision.*"), (array(events),))
    return database.read_rows(rows, _from_row)


def list_changes(store: Store, events: Sequence[str]) -> list[tuple[str, int, str, str]]:
    columns = "revision.event_id, seq, memory_id, operation"
    return store.tuples(_OF_EVENTS.format(columns=columns), (array(events),))


def by_seqs(store: Store, seqs: Iterable[int]) -> list[Revision]:
    query = "select * from memory_revisions where seq in (select value from json_each(?))"
    rows = store.db.execute(query, (array(seqs),))
    return database.read_rows(rows, _from_row)


def read_after(store: Store, number: int, limit: int) -> tuple[int, list[Revision]]:
    """Return at most *limit* changes after the one with this number, and that of their last."""
    query = "select * from memory_revisions where seq > ? order by seq limit ?"
    rows = store.db.execute(query, (number, limit)).fetchall()
    return rows[-1]["seq"] if rows else number, database.read_rows(rows, _from_row)


_FIELDS = (
    *("status", "deleted_at", "superseded_by", "quarantine_reason", "source_type"),
    *("scope", "scope_owner_id"),
)
# Walks an index by the time of the memories, newest first, up to the limit.
_THEN = f"""
select created_at, seq, id, revision from (
  select memory.created_at, memory.seq, memory.id, past.seq as revision,
    {", ".join(f"json_extract(past.snapshot, '$.{name}') as {name}" for name in _FIELDS)}
  from unified_memories as memory
  cross join memory_revisions as past on past.seq = (
    select max(seq) from memory_revisions
    where memory_id = memory.id and created_at <= :moment)
  where memory.project_id = :project and memory.created_at <= :moment
    and (:at = '' or (memory.created_at, memory.seq, memory.id) < (:at, :seq, :id))
    and json_valid(past.snapshot) and memory.quarantine_reason is not '{UNPLACED}')
where {LIVE} and quarantine_reason is null and {BROWSED}
  and (scope = 'project' or scope = 'agent' and scope_owner_id = '{MAIN_AGENT}'
    or scope_owner_id is case scope when 'mission' then :mission end)
order by created_at desc, seq desc
limit :limit
"""


def find_place(store: Store, id: str) -> Place | None:
    query = "select created_at, seq, id from unified_memories where id = ?"
    row = store.db.execute(query, (id,)).fetchone()
    return row and tuple(row)


def list_then(
    store: Store, moment: str, mission: str | None, limit: int, after: Place | None = None
) -> list[tuple[str, int, str, int]]:
    """Return places and revisions of then, newest first, of the person and of this mission."""
    names = ("project", "moment", "mission", "limit", "at", "seq", "id")
    values = (store.project_id, moment, mission, limit, *(after or ("", 0, "")))
    return store.tuples(_THEN, dict(zip(names, values, strict=True)))


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


def is_undo(store: Store, memory_id: str, revision: int, at: str) -> bool:
    query = (
        "select operation, created_at from memory_revisions where memory_id = ? and revision = ?"
    )
    return store.tuples(query, (memory_id, revision)) == [("undo", at)]


def has_reason(store: Store, memory_id: str, beginning: str) -> bool:
    query = "select 1 from memory_revisions where memory_id = ? and instr(reason, ?) = 1 limit 1"
    return store.has_row(query, (memory_id, beginning))


def _from_row(row: sqlite3.Row) -> Revision:
    values = dict(row)
    revision = Revision(**values | {"snapshot": loads(values["snapshot"])})
    revision.memory()  # raises for what no memory can have been
    return revision


ACTS, BRIEFS = "acts/", "brief/"
"""Beginnings of the names in `store_values`, which go on with the project."""
MOST_ACTS, MOST_BRIEFS = 50, 20


def list_acts(store: Store) -> list[dict[str, Any]]:
    return database.read_list(store.db, f"{ACTS}{store.project_id}")


def put_acts(store: Store, acts: Sequence[dict[str, Any]]) -> None:
    database.write_list(store.db, f"{ACTS}{store.project_id}", acts[-MOST_ACTS:])


def list_briefs(store: Store, agent: str = "") -> list[dict[str, Any]]:
    return database.read_list(store.db, f"{BRIEFS}{store.project_id}/{agent}")


def add_brief(store: Store, agent: str, row: dict[str, Any]) -> None:
    rows = [*list_briefs(store, agent), row]
    database.write_list(store.db, f"{BRIEFS}{store.project_id}/{agent}", rows[-MOST_BRIEFS:])


def forget_acts(store: Store) -> None:
    for prefix in (ACTS, BRIEFS):
        database.delete_values(store.db, prefix)
