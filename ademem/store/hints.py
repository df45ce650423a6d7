"""Rows of `memory_sites`: paths and commands at which memories are shown."""

from __future__ import annotations

from ademem.core.json_text import array
from ademem.core.value import Value
from ademem.store import BROWSED, CURRENT, Store

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable

    from ademem.core.memory import Memory

SHOWABLE = f"status = 'promoted' and {CURRENT} and {BROWSED}"

ANY_PATH = "*"
"""Key of a path pattern, which is compared with each path."""

_FOUND = f"""
select memory.*, site.kind as site_kind, site.pattern as site_pattern, site.state as site_state
from memory_sites as site
cross join unified_memories as memory on memory.seq = site.memory_seq
where memory.project_id = :project
and {SHOWABLE}
and (scope = 'project' or scope = 'agent' and scope_owner_id is :agent)
"""
AT_PATH = f"""{_FOUND} and (site.kind = 'anchor' and site.key = :path
  or site.kind = 'path' and :path glob site.pattern)"""
AT_PROGRAMS = f"""{_FOUND} and site.kind = 'command'
and site.key in (select value from json_each(:programs))"""


class Site(Value):
    kind: str
    key: str
    pattern: str
    state: str | None = None


def at_path(store: Store, path: str, agent: str) -> list[sqlite3.Row]:
    values = {"path": path, "agent": agent, "project": store.project_id}
    return store.db.execute(AT_PATH, values).fetchall()


def at_programs(store: Store, programs: Iterable[str], agent: str) -> list[sqlite3.Row]:
    values = {"programs": array(programs), "agent": agent, "project": store.project_id}
    return store.db.execute(AT_PROGRAMS, values).fetchall()


def has_sites(store: Store, kind: str) -> bool:
    query = "select 1 from memory_sites where kind = ? limit 1"
    return store.has_row(query, (kind,))


def list_changed(store: Store) -> list[Memory]:
    from ademem.store import memories  # with the model of a memory, which few calls need

    due = "seq in (select memory_seq from memory_sites where kind = 'due')"
    return memories.find(store, f"{due} and {SHOWABLE}")


def clear_due(store: Store) -> None:
    store.db.execute("delete from memory_sites where kind = 'due'")


def put(store: Store, memory: Memory, sites: Iterable[Site]) -> None:
    store.db.executemany(
        "insert or ignore into memory_sites (memory_seq, kind, key, pattern, state)"
        " values (?, ?, ?, ?, ?)",
        [(memory.seq, site.kind, site.key, site.pattern, site.state) for site in sites],
    )


def list_all(store: Store, hidden: Iterable[str] = ()) -> list[Site]:
    rows = store.db.execute(
        "select distinct site.kind, site.key, site.pattern from memory_sites as site"
        " join unified_memories as memory on memory.seq = site.memory_seq"
        f" where {SHOWABLE} and memory.id not in (select value from json_each(?))"
        " order by site.kind, site.key, site.pattern",
        (array(sorted(hidden)),),
    )
    return [Site(kind=row[0], key=row[1], pattern=row[2]) for row in rows]


def set_anchor_state(store: Store, memory: Memory, anchor: str, state: str) -> None:
    store.db.execute(
        "update memory_sites set state = ?"
        " where kind = 'anchor' and memory_seq = ? and pattern = ?",
        (state, memory.seq, anchor),
    )


def list_misplaced(store: Store) -> list[Memory]:
    from ademem.store import memories  # with the model of a memory, which few calls need

    states = "kind = 'anchor' and state in ('changed', 'gone')"
    where = f"seq in (select memory_seq from memory_sites where {states})"
    return memories.find(store, where, "order by seq")


def find_misplaced(store: Store, seqs: Iterable[int]) -> set[int]:
    query = (
        "select memory_seq from memory_sites"
        " where memory_seq in (select value from json_each(?)) and state in ('changed', 'gone')"
    )
    return set(store.column(query, (array(seqs),)))
