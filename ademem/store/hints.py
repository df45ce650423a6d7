"""Rows of `memory_sites`: paths and commands at which memories are shown."""

from __future__ import annotations

from ademem.core.json_text import array, numbers
from ademem.core.value import Value
from ademem.store import BROWSED, CURRENT

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable

    from ademem.core.memory import Memory
    from ademem.store import Store

SHOWABLE = f"status = 'promoted' and {CURRENT} and {BROWSED}"

# Read from the keys: a few probes of the primary key, whatever the number of memories.
_SITES = f"""
select memory.*, site.kind as site_kind, site.pattern as site_pattern, site.state as site_state
from json_each(:keys) as key
cross join memory_sites as site on site.kind in (:kind, :other) and site.key = key.value
cross join unified_memories as memory on memory.seq = site.memory_seq
where (site.kind <> 'path' or :path glob site.pattern)
and memory.project_id = :project
and {SHOWABLE}
and (scope = 'project' or scope = 'agent' and scope_owner_id is :agent)
"""


class Site(Value):
    kind: str
    key: str
    pattern: str
    state: str | None = None


def find(store: Store, keys: Iterable[str], agent: str, path: str = "") -> list[sqlite3.Row]:
    """Return memories at a path, or without one at the commands of programs."""
    kind, other = ("path", "anchor") if path else ("command", "command")
    values = {"keys": array(keys), "kind": kind, "other": other, "path": path, "agent": agent}
    return store.db.execute(_SITES, values | {"project": store.project_id}).fetchall()


def has_sites(store: Store, kind: str) -> bool:
    query = "select 1 from memory_sites where kind = ? limit 1"
    return store.has_row(query, (kind,))


def list_changed(store: Store) -> list[Memory]:
    from ademem.store import memories  # with the model of a memory, which few calls need

    due = "seq in (select memory_seq from memory_sites where kind = 'due')"
    return memories.find(store, f"{due} and {SHOWABLE}")


def clear_due(store: Store) -> None:
    store.db.execute("delete from memory_sites where kind = 'due'")


def put(store: Store, seq: int, sites: Iterable[Site]) -> None:
    store.db.executemany(
        "insert or ignore into memory_sites (memory_seq, kind, key, pattern, state)"
        " values (?, ?, ?, ?, ?)",
        [(seq, site.kind, site.key, site.pattern, site.state) for site in sites],
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


def set_anchor_state(store: Store, seq: int, anchor: str, state: str) -> None:
    store.db.execute(
        "update memory_sites set state = ?"
        " where kind = 'anchor' and memory_seq = ? and pattern = ?",
        (state, seq, anchor),
    )


def list_misplaced(store: Store) -> list[int]:
    query = (
        "select distinct memory_seq from memory_sites"
        " where kind = 'anchor' and state in ('changed', 'gone') order by memory_seq"
    )
    return store.column(query)


def find_misplaced(store: Store, seqs: Iterable[int]) -> set[int]:
    query = (
        "select memory_seq from memory_sites"
        " where memory_seq in (select value from json_each(?)) and state in ('changed', 'gone')"
    )
    return set(store.column(query, (numbers(seqs),)))
