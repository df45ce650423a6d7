"""Rows of `memory_bindings`: where memories apply, by keys that calls have, too."""

from __future__ import annotations

from ademem.core.json_text import array
from ademem.core.value import Value
from ademem.store import BROWSED, CURRENT, LIVE, SURE, Store, database

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable

    from ademem.core.memory import Memory

SHOWABLE = (
    "(status = 'promoted' or status = 'candidate' and stage = 'supported')"
    f" and {CURRENT} and {BROWSED}"
)
"""What may be said at a call: what is confirmed, and what is supported as a note."""

STRENGTHS = ("given", "read", "named", "learned", "worded", "guessed")
"""The surest first: a person's flag, an agent's choice, the text, its session, a word, words."""
KINDS = tuple("path dir glob suffix runs program family act literal code anchor".split())
BROAD = "broad"
"""State of a place that an agent chose and that meets too much to deny calls."""
SESSION = "session"
"""Source of a binding that the memory itself does not tell; it outlives edits of the memory."""
MOST = 8
"""Bindings of a memory."""

_FILES = "'path', 'dir', 'glob', 'anchor', 'suffix'"
"""Kinds of places at which words that an edit shares with a memory bring it up."""
NAMES = ("kind", "key", "pattern", "op", "holds", "strength", "reach", "weight", "state")
_BOUND = ", ".join(f"binding.{name} as bound_{name}" for name in NAMES)
_TOLD = f"""memory.project_id = :project and {SHOWABLE}
and (scope = 'project' or scope = 'agent' and scope_owner_id is :agent)"""
_ROWS = f"""select memory.*, {_BOUND}
from memory_bindings as binding
cross join unified_memories as memory on memory.seq = binding.memory_seq"""
_IN_FOLDER = """(binding.kind in ('path', 'anchor', 'dir', 'runs')
  and (:first = '/' or binding.key >= :first and binding.key < :last)
  or binding.kind = 'glob'
  and (:first = '/' or substr(binding.pattern, 1, length(:first)) = :first))"""
"""SQL for a place below a folder; `_folder` has its values."""
AT_KEYS = f"""
select memory.*, {_BOUND}
from json_each(:keys) as wanted
cross join memory_bindings as binding
  on binding.kind = substr(wanted.value, 1, instr(wanted.value, ' ') - 1)
  and binding.key = substr(wanted.value, instr(wanted.value, ' ') + 1)
cross join unified_memories as memory on memory.seq = binding.memory_seq
where {_TOLD}
"""
BELOW = f"{_ROWS} where {_IN_FOLDER} and binding.kind <> 'runs' and {_TOLD}"
CHOSEN = f"""
{_ROWS} where binding.kind = 'program' and {_TOLD}
union all
{_ROWS.replace("as binding", "as binding indexed by idx_memory_bindings_chosen")}
where binding.strength in ('given', 'read')
and binding.kind in ('path', 'dir', 'glob', 'anchor', 'runs') and {_TOLD}
"""


class Binding(Value):
    kind: str
    """path | dir | glob | suffix | runs | program | family | act | literal | code | anchor | due"""
    key: str
    pattern: str = ""
    op: str = "any"
    """any | edit | create: what a call has to do there."""
    holds: str = ""
    """Text that a call has to write or type there."""
    strength: str = "named"
    source: str = "text"
    """flag | text | session | tree | moved"""
    reach: float = 0.0
    """Share of the tracked files that it meets; of a literal, of the files that hold it."""
    weight: float = 1.0
    state: str | None = None
    """fresh | moved | changed | gone, as last checked; broad: an agent chose too much to deny."""

    @property
    def place(self) -> str:
        """What a call has to meet, as the outcome of a denial is stored with."""
        return " ".join((self.kind, self.key, self.pattern, self.op, self.holds)).strip()


def from_row(row: sqlite3.Row) -> Binding:
    """Read the binding of a row that has a memory's columns, too."""
    return Binding(**{name: row[f"bound_{name}"] for name in NAMES})


def at_keys(store: Store, keys: Iterable[tuple[str, str]], agent: str) -> list[sqlite3.Row]:
    """Return memories that may be shown with one of their bindings, a row for each binding."""
    values = {
        "keys": array(sorted(map(" ".join, keys))),
        "agent": agent,
        "project": store.project_id,
    }
    return store.db.execute(AT_KEYS, values).fetchall()


def below(store: Store, folder: str, agent: str) -> list[sqlite3.Row]:
    """Return memories as `at_keys` does that are bound to places in a folder, named with a slash.

    A slash alone is the whole project.
    """
    values = {"agent": agent, "project": store.project_id} | _folder(folder)
    return store.db.execute(BELOW, values).fetchall()


def _folder(folder: str) -> dict[str, str]:
    """Return the bounds of what lies in a folder, which is named with a slash behind it."""
    return {"first": folder, "last": folder[:-1] + chr(ord("/") + 1)}


def chosen(store: Store, agent: str) -> list[sqlite3.Row]:
    """Return memories as `at_keys` does whose place was chosen, or which name a command."""
    return store.db.execute(CHOSEN, {"agent": agent, "project": store.project_id}).fetchall()


def find_below(store: Store, folder: str, most: int) -> list[str]:
    """Return ids of memories with a sure place in a folder below the project's root."""
    return store.column(
        "select distinct memory.id from memory_bindings as binding"
        " join unified_memories as memory on memory.seq = binding.memory_seq"
        " where (binding.kind in ('path', 'dir', 'anchor', 'runs') and binding.key = :folder"
        f" or {_IN_FOLDER})"
        f" and binding.strength in ({SURE}) and {SHOWABLE} order by memory.seq desc limit :most",
        {"folder": folder, "most": most} | _folder(f"{folder}/"),
    )


def find_placed(store: Store, ids: Iterable[str]) -> set[str]:
    """Return those of these memories that have a sure place in a folder below the root."""
    return set(
        store.column(
            "select distinct memory.id from memory_bindings as binding"
            " join unified_memories as memory on memory.seq = binding.memory_seq"
            " where binding.kind in ('path', 'dir', 'anchor', 'runs', 'glob')"
            " and instr(binding.key || binding.pattern, '/')"
            f" and binding.strength in ({SURE})"
            " and memory.id in (select value from json_each(?))",
            (array(ids),),
        )
    )


def find_bound(store: Store, pairs: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return those pairs of a live memory and a place that it is bound to."""
    found = []
    for id, place in pairs:
        rows = store.db.execute(
            f"select {', '.join(f'binding.{name}' for name in NAMES)} from memory_bindings as"
            " binding join unified_memories as memory on memory.seq = binding.memory_seq"
            f" where memory.id = ? and {LIVE}",
            (id,),
        )
        if any(Binding(**dict(row)).place == place for row in rows):
            found.append((id, place))
    return found


def list_sure_kinds(store: Store) -> set[str]:
    """Return the kinds of places that somebody chose or a text names."""
    return {
        kind
        for kind in KINDS
        if store.has_row(
            "select 1 from memory_bindings where kind = ?"
            " and strength in ('given', 'read', 'named') limit 1",
            (kind,),
        )
    }


def list_literals(store: Store) -> list[str]:
    return store.column("select distinct key from memory_bindings where kind = 'literal'", ())


def has_bindings(store: Store, kind: str) -> bool:
    query = "select 1 from memory_bindings where kind = ? limit 1"
    return store.has_row(query, (kind,))


def has_anchors(store: Store) -> bool:
    """Tell whether a memory is bound to code, or may be when it is read again."""
    return store.has_row(
        "select 1 from memory_bindings where kind = 'anchor' union all"
        " select 1 from memory_bindings join unified_memories on seq = memory_seq"
        " where kind = 'due' and anchors <> '[]' limit 1"
    )


def is_shown_due(store: Store) -> bool:
    """Tell whether a memory that may be shown is to be read again, or one that is gone."""
    return store.has_row(
        "select 1 from memory_bindings as binding"
        " left join unified_memories as memory on memory.seq = binding.memory_seq"
        f" where binding.kind = 'due' and (memory.seq is null or {SHOWABLE}) limit 1"
    )


def is_listed_due(store: Store) -> bool:
    """Tell whether a memory is due that the lists have or had; new candidates are in none."""
    return store.has_row(
        "select 1 from memory_bindings as binding"
        " left join unified_memories as memory on memory.seq = binding.memory_seq"
        " where binding.kind = 'due' and not ifnull(memory.status = 'candidate'"
        " and memory.stage in ('candidate', 'heard') and memory.revision_count = 1, 0) limit 1"
    )


def list_due(store: Store) -> list[int]:
    """Return the row numbers of memories that are to be read again, those that are shown first."""
    return store.column(
        "select due.memory_seq from memory_bindings as due"
        " left join unified_memories as memory on memory.seq = due.memory_seq"
        " where due.kind = 'due' order by memory.status = 'promoted' desc, due.memory_seq desc"
    )


def read_due(store: Store, rows: Iterable[int]) -> list[Memory]:
    """Read the memories of these rows that are still due and live."""
    from ademem.store import memories  # with the model of a memory, which few calls need

    due = "seq in (select memory_seq from memory_bindings where kind = 'due')"
    live = "deleted_at is null and status <> 'archived' and superseded_by is null"
    asked = "seq in (select value from json_each(:rows))"
    query = memories.Query(f"{asked} and {due} and {live}", by_key=True)
    return query(store, rows=array(rows))


def clear_due(store: Store, rows: Iterable[int]) -> None:
    store.db.execute(
        "delete from memory_bindings where kind = 'due'"
        " and memory_seq in (select value from json_each(?))",
        (array(rows),),
    )


def has_gone(store: Store) -> bool:
    """Tell whether a memory is bound to a place that is not there."""
    kinds = "('path', 'dir', 'glob', 'runs')"
    query = f"select 1 from memory_bindings where state = 'gone' and kind in {kinds} limit 1"
    return store.has_row(query, ())


def list_gone(store: Store) -> list[tuple[str, Binding]]:
    """Return ids of memories that may be shown with their sure places that are not there."""
    rows = store.db.execute(
        f"select memory.id, {_BOUND} from memory_bindings as binding"
        " join unified_memories as memory on memory.seq = binding.memory_seq"
        " where binding.state = 'gone' and binding.kind in ('path', 'dir', 'glob', 'runs')"
        f" and binding.strength in ({SURE}) and {SHOWABLE} order by memory.seq, binding.key"
    )
    return [(row["id"], from_row(row)) for row in rows]


def mark_due(store: Store, paths: Iterable[str] | None) -> None:
    """Let memories be read again that are bound to these paths or to none that is there; or all."""
    insert = "insert or ignore into memory_bindings (memory_seq, kind, key)"
    if paths is None:
        all_ = "select seq, 'due', '' from unified_memories where deleted_at is null"
        store.db.execute(f"{insert} {all_}")
        return
    store.db.execute(
        f"{insert} select distinct memory_seq, 'due', '' from memory_bindings"
        " where kind in ('path', 'dir', 'glob', 'runs')"
        " and (state = 'gone' or key in (select value from json_each(?)))",
        (array(sorted(paths)),),
    )


def list_of(store: Store, memory: Memory) -> list[Binding]:
    """Return where a memory applies, the surest first."""
    return _map(store, (memory,)).get(memory.id, [])


def map_sure(store: Store, found: Iterable[Memory]) -> dict[str, list[Binding]]:
    """Map ids of memories to the places that somebody chose, or that text or session tell."""
    return _map(store, found, f"and strength in ({SURE})")


def _map(store: Store, found: Iterable[Memory], where: str = "") -> dict[str, list[Binding]]:
    ids = {memory.seq: memory.id for memory in found}
    rows = store.db.execute(
        f"select memory_seq, {', '.join(NAMES)}, source from memory_bindings"
        f" where kind <> 'due' and memory_seq in (select value from json_each(?)) {where}",
        (array(ids),),
    )
    places: dict[str, list[Binding]] = {}
    for row in rows:
        values = dict(row)
        places.setdefault(ids[values.pop("memory_seq")], []).append(Binding(**values))
    for at in places.values():
        at.sort(key=lambda each: (STRENGTHS.index(each.strength), -each.weight, each.key))
    return places


_IS_TOLD = "anchors like '%\"@when %'"
_CHOSEN = "select memory_seq from memory_bindings where strength in ('given', 'read')"
_UNCHOSEN = (
    f"{CURRENT} and {BROWSED} and status <> 'archived'"
    f" and (seq not in ({_CHOSEN}) and anchors not like '%\"@ none\"%'"
    f" or not {_IS_TOLD})"
    " and category not in ('episode', 'procedure', 'digest', 'handoff')"
)


def list_unchosen(store: Store, most: int) -> list[Memory]:
    """Return memories that may be shown without a chosen place or an occasion.

    Those without an occasion are first, as a place is not needed by each; then the newest.
    """
    from ademem.store import memories

    return memories.find(store, _UNCHOSEN, f"order by {_IS_TOLD}, seq desc limit {most}")


def count_unchosen(store: Store) -> int:
    query = f"select count(*) from unified_memories where project_id = ? and {_UNCHOSEN}"
    return store.number(query, (store.project_id,))


def count_changes(store: Store) -> int:
    """Return a count that grows with every change of places, of memories or of adopted items.

    Places that go with a change of their memory are counted when they are derived anew.
    """
    return int(database.value(store.db, "place_changes") or 0)


def note_change(store: Store) -> None:
    store.db.execute(
        "insert into store_values values ('place_changes', 1)"
        " on conflict do update set value = value + 1"
    )


def put(store: Store, memory: Memory, bindings: Iterable[Binding]) -> None:
    note_change(store)
    store.db.executemany(
        "insert into memory_bindings (memory_seq, kind, key, pattern, op, holds,"
        " strength, source, reach, weight, state) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
        " on conflict do nothing",
        [
            (
                *(memory.seq, each.kind, each.key, each.pattern, each.op, each.holds),
                *(each.strength, each.source, each.reach, each.weight, each.state),
            )
            for each in bindings
        ],
    )


def drop(store: Store, memory: Memory) -> None:
    note_change(store)
    store.db.execute("delete from memory_bindings where memory_seq = ?", (memory.seq,))


def list_first_said(store: Store) -> list[sqlite3.Row]:
    """Return the id, the text and the time of each memory that may be shown, and if it is bound.

    The time is that at which it was made, or a person first said it, a stamp; a memory is bound
    that is confirmed and has a sure place.
    """
    return store.db.execute(
        "select memory.id, ifnull(title || ': ', '') || content as text,"
        " min(memory.created_at, ifnull((select min(at) from evidence"
        "  where memory_id = memory.id and kind = 'said'), memory.created_at)) as first_said,"
        " status = 'promoted' and exists (select 1 from memory_bindings"
        f"  where memory_seq = memory.seq and kind <> 'due' and strength in ({SURE})) as is_bound"
        f" from unified_memories as memory where {SHOWABLE} and scope = 'project' order by seq"
    ).fetchall()


def list_all(store: Store, hidden: Iterable[str] = (), *, most: int = -1) -> list[Binding]:
    """Return the bindings of all memories that may be shown, but of those that are *hidden*."""
    rows = store.tuples(
        "select distinct binding.kind, binding.key, binding.pattern"
        " from memory_bindings as binding"
        " cross join unified_memories as memory on memory.seq = binding.memory_seq"
        f" where binding.kind <> 'due' and {SHOWABLE}"
        " and binding.strength not in ('worded', 'guessed')"
        " and memory.id not in (select value from json_each(?))"
        # The order of the rows, so that no more of them are read than are asked for.
        " order by binding.kind, binding.key limit ?",
        (array(sorted(hidden)), most),
    )
    return [Binding(kind=kind, key=key, pattern=pattern) for kind, key, pattern in sorted(rows)]


def list_showable(store: Store) -> list[sqlite3.Row]:
    """Return what `at_keys` does for all keys, and for memories of every agent."""
    return store.db.execute(
        f"{_ROWS} where binding.kind <> 'due' and memory.project_id = ? and {SHOWABLE}"
        " and scope in ('project', 'agent') order by memory.seq",
        (store.project_id,),
    ).fetchall()


def list_weak(
    store: Store, hidden: Iterable[str] = (), *, most: int = -1
) -> list[tuple[Binding, str]]:
    """Return places that words suggest, as `list_all` does, each with its memory's text."""
    rows = store.db.execute(
        "select binding.kind, binding.key, binding.pattern,"
        " ifnull(memory.title || ': ', '') || memory.content"
        " from memory_bindings as binding"
        " join unified_memories as memory on memory.seq = binding.memory_seq"
        f" where binding.kind in ({_FILES}) and {SHOWABLE}"
        " and binding.strength in ('worded', 'guessed')"
        " and memory.id not in (select value from json_each(?))"
        " order by binding.kind, binding.key, binding.pattern limit ?",
        (array(sorted(hidden)), most),
    )
    return [(Binding(kind=row[0], key=row[1], pattern=row[2]), row[3]) for row in rows]


def set_anchor_state(store: Store, memory: Memory, anchor: str, state: str) -> None:
    store.db.execute(
        "update memory_bindings set state = ?"
        " where kind = 'anchor' and memory_seq = ? and pattern = ?",
        (state, memory.seq, anchor),
    )


def list_misplaced(store: Store) -> list[Memory]:
    from ademem.store import memories  # with the model of a memory, which few calls need

    states = "kind = 'anchor' and state in ('changed', 'gone')"
    where = f"seq in (select memory_seq from memory_bindings where {states})"
    return memories.find(store, where, "order by seq")


def find_misplaced(store: Store, seqs: Iterable[int]) -> set[int]:
    query = (
        "select memory_seq from memory_bindings where kind = 'anchor'"
        " and memory_seq in (select value from json_each(?)) and state in ('changed', 'gone')"
    )
    return set(store.column(query, (array(seqs),)))
