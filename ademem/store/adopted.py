"""Rows of `adopted`: items of instruction files, where they apply, and a person's marks on them."""

from __future__ import annotations

from ademem.core.client import reads_agents
from ademem.core.clock import stamp
from ademem.core.json_text import array
from ademem.core.value import Value
from ademem.store import Store
from ademem.store.bindings import Binding, note_change

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime
    from typing import Any

    from ademem.core.memory import Memory
    from ademem.store.runtime import Runtime

TAKEN, YES, STATE = "adopt/taken", "adopt/yes", "adopt/state"
"""Names of values of the store: that files are adopted, that lines may stop calls, and what each
worktree was when its files were last read."""

SOURCE = "instructions"
"""Source type of an item that is shown as a memory is."""
_CATEGORIES = {"rule": "convention", "decision": "decision", "gotcha": "gotcha"}

ADDED_AT_ONCE = 250
"""Rows of one statement, with a parameter for each value; one by one, the word index takes twice
as long."""
COLUMNS = (
    "id path first last heads lead text kind folder globs excluded like_gitignore load places"
    " sources missing merged live"
).split()

_LIVE = """adopted.root = :root and adopted.live
and adopted.id not in (select id from adopt_mark where ignored)"""
_SAYABLE = """adopted.kind <> 'status' and adopted.merged
and (adopted.load in ('none', 'alone') or :stops)"""
"""SQL for what a call may be told: of what Claude Code loads only what may stop it.

Whether a file of the kind `alone` is loaded depends on the client; who shows an item decides."""
_BOUND = (
    "binding.kind as bound_kind, binding.key as bound_key, binding.pattern as bound_pattern,"
    " 'any' as bound_op, '' as bound_holds, 'named' as bound_strength, 0.0 as bound_reach,"
    " 1.0 as bound_weight, null as bound_state, binding.is_scope"
)
_AT_KEYS = f"""
select adopted.*, {_BOUND}
from json_each(:keys) as wanted
cross join adopted_bindings as binding
  on binding.kind = substr(wanted.value, 1, instr(wanted.value, ' ') - 1)
  and binding.key = substr(wanted.value, instr(wanted.value, ' ') + 1)
cross join adopted on adopted.seq = binding.item_seq
where {_SAYABLE} and {_LIVE}
"""
_BELOW = f"""
select adopted.*, {_BOUND}
from adopted_bindings as binding
cross join adopted on adopted.seq = binding.item_seq
where {_SAYABLE} and {_LIVE} and not binding.is_scope
and (binding.kind in ('path', 'dir', 'runs')
  and (:first = '/' or binding.key >= :first and binding.key < :last)
  or binding.kind = 'glob'
  and (:first = '/' or substr(binding.pattern, 1, length(:first)) = :first))
"""
_FOUND = f"""
select adopted.*, -bm25(adopted_fts, 4, 2, 1) as score
from adopted_fts join adopted on adopted.seq = adopted_fts.rowid
where adopted_fts match :match and {_LIVE}
order by bm25(adopted_fts, 4, 2, 1), adopted.seq limit :most
"""


class Mark(Value):
    id: str
    path: str
    head: str = ""
    text: str
    stop: bool = False
    bound: tuple[str, ...] = ()
    ignored: bool = False
    at: str


class FileRow(Value):
    path: str
    digest: str
    stamp: str
    items: int = 0


def is_taken(store: Store) -> bool:
    """Tell whether instruction files are adopted in this clone."""
    return bool(_value(store, TAKEN))


def may_stop(store: Store) -> bool:
    """Tell whether a person said in this clone that lines of the files may stop calls."""
    return store.is_trusted and _value(store, YES) == "yes"


def has_answer(store: Store) -> bool:
    return bool(_value(store, YES))


def take(store: Store, now: datetime) -> None:
    if not is_taken(store):
        _set(store, TAKEN, stamp(now))


def answer(store: Store, *, yes: bool) -> None:
    _set(store, YES, "yes" if yes else "no")


def state(store: Store, root: str) -> str:
    return _value(store, f"{STATE}{root}")


def note_state(store: Store, root: str, text: str) -> None:
    _set(store, f"{STATE}{root}", text)


def _value(store: Store, name: str) -> str:
    return str(store.first("select value from store_values where name = ?", (name,), ""))


def _set(store: Store, name: str, value: str) -> None:
    store.db.execute(
        "insert into store_values values (?, ?) on conflict do update set value = excluded.value",
        (name, value),
    )


def list_files(store: Store, root: str) -> dict[str, FileRow]:
    rows = store.db.execute(
        "select path, digest, stamp, items from adopted_files where root = ? order by path",
        (root,),
    )
    return {row["path"]: FileRow(**dict(row)) for row in rows}


def list_items(store: Store, root: str) -> list[sqlite3.Row]:
    return store.db.execute(
        "select * from adopted where root = ? order by path, first", (root,)
    ).fetchall()


def get(store: Store, root: str, id: str) -> sqlite3.Row | None:
    """Return the item of an id or of its unique beginning; None without one."""
    rows = store.db.execute(
        "select * from adopted where root = ? and substr(id, 1, length(?)) = ? limit 2",
        (root, id, id),
    ).fetchall()
    return rows[0] if len(rows) == 1 else None


def replace_all(
    store: Store,
    root: str,
    items: Iterable[Mapping[str, Any]],
    bindings: Mapping[str, Iterable[tuple[Binding, bool]]],
    files: Iterable[FileRow],
) -> dict[str, int]:
    """Bring the rows of a worktree in step with *items*, and write what differs alone.

    *bindings* maps ids to places, each with True for one of the file's globs. Returns counts.
    """
    note_change(store)
    columns = ", ".join(COLUMNS)
    query = f"select seq, {columns} from adopted where root = ?"
    known = {row["id"]: row for row in store.db.execute(query, (root,))}
    wanted = {item["id"]: item for item in items}
    bound = _list_bound(store, root)
    gone = [row["seq"] for id, row in known.items() if id not in wanted]
    store.db.executemany("delete from adopted where seq = ?", [(seq,) for seq in gone])
    added = _add(store, root, [item for id, item in wanted.items() if id not in known])
    _bind(store, {seq: bindings.get(id, ()) for id, seq in added.items()})
    counts = {"removed": len(gone), "added": len(added), "changed": 0}
    for id, row in known.items():
        if id not in wanted:
            continue
        counts["changed"] += _change(store, root, row, wanted[id])
        places = list(bindings.get(id, ()))
        if _columns_of(places) != bound.get(row["seq"], set()):
            store.db.execute("delete from adopted_bindings where item_seq = ?", (row["seq"],))
            _bind(store, {row["seq"]: places})
    store.db.execute("delete from adopted_files where root = ?", (root,))
    store.db.executemany(
        "insert into adopted_files (root, path, digest, stamp, items) values (?, ?, ?, ?, ?)",
        [(root, each.path, each.digest, each.stamp, each.items) for each in files],
    )
    return counts


def _list_bound(store: Store, root: str) -> dict[int, set[tuple[str, str, str, int]]]:
    """Map items to the places that they have, each with 1 for one of the file's globs."""
    bound: dict[int, set[tuple[str, str, str, int]]] = {}
    for seq, *place in store.tuples(
        "select item_seq, binding.kind, key, pattern, is_scope from adopted_bindings as binding"
        " join adopted on adopted.seq = item_seq where root = ?",
        (root,),
    ):
        bound.setdefault(seq, set()).add(tuple(place))
    return bound


def _columns_of(places: Iterable[tuple[Binding, bool]]) -> set[tuple[str, str, str, int]]:
    """Return places as `_list_bound` has them."""
    return {(each.kind, each.key, each.pattern, int(is_scope)) for each, is_scope in places}


def _add(store: Store, root: str, items: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """Add items and return their numbers by id."""
    first = store.number("select coalesce(max(seq), 0) + 1 from adopted")
    added = {item["id"]: seq for seq, item in enumerate(items, first)}
    rows = [(added[item["id"]], root, *map(item.get, COLUMNS)) for item in items]
    columns = f"seq, root, {', '.join(COLUMNS)}"
    marks = f"({', '.join('?' * (len(COLUMNS) + 2))})"
    for at in range(0, len(rows), ADDED_AT_ONCE):
        some = rows[at : at + ADDED_AT_ONCE]
        query = f"insert into adopted ({columns}) values {', '.join([marks] * len(some))}"
        store.db.execute(query, [value for row in some for value in row])
    return added


def _change(store: Store, root: str, row: sqlite3.Row, item: Mapping[str, Any]) -> bool:
    """Write an item that differs; tell whether more of it did than where it stands."""
    differing = {name for name in COLUMNS if row[name] != item[name]}
    if differing:
        changes = ", ".join(f"{name} = :{name}" for name in COLUMNS if name != "id")
        store.db.execute(
            f"update adopted set {changes} where root = :root and id = :id",
            {"root": root, **item},
        )
    return not differing <= set(_MOVING)


_MOVING = ("first", "last", "sources")
"""Columns that change with the lines around an item."""


def _bind(store: Store, places: Mapping[int, Iterable[tuple[Binding, bool]]]) -> None:
    store.db.executemany(
        "insert or ignore into adopted_bindings (item_seq, kind, key, pattern, is_scope)"
        " values (?, ?, ?, ?, ?)",
        [
            (seq, each.kind, each.key, each.pattern, int(is_scope))
            for seq, bindings in places.items()
            for each, is_scope in bindings
        ],
    )


def set_author_times(store: Store, root: str, times: Mapping[str, str]) -> None:
    store.db.executemany(
        "update adopted set author_time = ? where root = ? and path = ?",
        [(at, root, path) for path, at in times.items()],
    )


def list_undated(store: Store, root: str) -> list[str]:
    return store.column(
        "select distinct path from adopted where root = ? and author_time is null", (root,)
    )


def forget_roots(store: Store, but: Iterable[str]) -> None:
    """Delete the rows of worktrees that are not there any more."""
    for table in ("adopted", "adopted_files"):
        store.db.execute(
            f"delete from {table} where root not in (select value from json_each(?))",
            (array(but),),
        )


def forget(store: Store) -> None:
    """Delete all that adoption stored."""
    for table in ("adopted", "adopted_files", "adopt_mark"):
        store.db.execute(f"delete from {table}")
    store.db.execute("delete from store_values where name glob 'adopt/*'")


def list_roots(store: Store) -> list[str]:
    return store.column("select distinct root from adopted_files")


def at_keys(store: Store, root: str, keys: Iterable[tuple[str, str]]) -> list[sqlite3.Row]:
    """Return live items of a worktree with one of their places, a row for each place."""
    values = {
        "keys": array(sorted(map(" ".join, keys))),
        "root": root,
        "stops": may_stop(store),
    }
    return store.db.execute(_AT_KEYS, values).fetchall()


def below(store: Store, root: str, folder: str) -> list[sqlite3.Row]:
    """Return items as `at_keys` does that name places in a folder, which ends with a slash."""
    last = folder[:-1] + chr(ord("/") + 1)
    values = {"root": root, "first": folder, "last": last, "stops": may_stop(store)}
    return store.db.execute(_BELOW, values).fetchall()


def list_bindings(store: Store, root: str, hidden: Iterable[str] = ()) -> list[Binding]:
    """Return the places of what may be said at a call, but for those that are *hidden*.

    With a hidden item all of its file is hidden that its globs alone bring up.
    """
    rows = store.db.execute(
        "select distinct binding.kind, binding.key, binding.pattern"
        " from adopted_bindings as binding join adopted on adopted.seq = binding.item_seq"
        f" where {_SAYABLE} and {_LIVE}"
        " and adopted.id not in (select value from json_each(:hidden))"
        " and not (binding.is_scope and adopted.path in (select other.path from adopted as other"
        "  where other.root = :root and other.id in (select value from json_each(:hidden))))"
        " order by 1, 2, 3",
        {"root": root, "hidden": array(sorted(hidden)), "stops": may_stop(store)},
    )
    return [Binding(kind=row[0], key=row[1], pattern=row[2]) for row in rows]


def find(store: Store, root: str, match: str, most: int) -> list[sqlite3.Row]:
    """Return the items that match an expression of the word index, best first, with a score."""
    return store.db.execute(_FOUND, {"match": match, "root": root, "most": most}).fetchall()


def by_ids(store: Store, root: str, ids: Iterable[str]) -> list[sqlite3.Row]:
    """Return the items with these ids in their order."""
    return store.db.execute(
        "select adopted.* from json_each(?) as wanted"
        " join adopted on adopted.root = ? and adopted.id = wanted.value order by wanted.key",
        (array(ids), root),
    ).fetchall()


def find_holders(store: Store, terms: Iterable[str], seqs: Iterable[int]) -> dict[str, set[int]]:
    """Map terms to those of the items that have each."""
    query = (
        "select rowid from adopted_fts where adopted_fts match ?"
        " and rowid in (select value from json_each(?))"
    )
    wanted = array(seqs)
    return {term: set(store.column(query, (term, wanted))) for term in terms}


def count_words(store: Store, terms: Iterable[str]) -> dict[str, int]:
    terms = list(terms)
    rows = store.db.execute(
        "select (select count(*) from adopted_fts where adopted_fts match term.value)"
        " from json_each(?) as term",
        (array(terms),),
    )
    return dict(zip(terms, (row[0] for row in rows), strict=True))


def count_items(store: Store) -> int:
    return store.number("select count(*) from adopted")


def count_of(store: Store, root: str) -> int:
    """Count the items of one worktree."""
    return store.number("select count(*) from adopted where root = ?", (root,))


def find_paths(store: Store, root: str, ids: Iterable[str]) -> set[str]:
    """Return the files of the items with these ids."""
    query = "select path from adopted where root = ? and id in (select value from json_each(?))"
    return set(store.column(query, (root, array(ids))))


def find_said(store: Store, root: str, ids: Iterable[str]) -> set[str]:
    """Return those ids that are of items which need not be said again in the context."""
    query = (
        "select id from adopted where root = ? and id in (select value from json_each(?))"
        " and id not in (select id from adopt_mark where stop)"
    )
    return set(store.column(query, (root, array(ids))))


def list_marks(store: Store) -> list[Mark]:
    rows = store.db.execute("select * from adopt_mark order by at, id")
    return [_mark(row) for row in rows]


def list_lost(store: Store, root: str) -> list[Mark]:
    """Return the marks whose item a worktree has not."""
    rows = store.db.execute(
        "select * from adopt_mark where id not in (select id from adopted where root = ?)"
        " order by at, id",
        (root,),
    )
    return [_mark(row) for row in rows]


def find_mark(store: Store, id: str) -> Mark | None:
    row = store.db.execute("select * from adopt_mark where id = ?", (id,)).fetchone()
    return _mark(row) if row else None


def _mark(row: sqlite3.Row) -> Mark:
    values = {name: row[name] for name in Mark._fields}
    values |= {name: bool(row[name]) for name in ("stop", "ignored")}
    values["bound"] = tuple(row["bound"].splitlines())
    return Mark(**values)


def put_mark(store: Store, mark: Mark) -> None:
    note_change(store)
    store.db.execute(
        "insert into adopt_mark (id, path, head, text, stop, bound, ignored, at)"
        " values (:id, :path, :head, :text, :stop, :bound, :ignored, :at)"
        " on conflict do update set path = :path, head = :head, text = :text, stop = :stop,"
        " bound = :bound, ignored = :ignored, at = :at",
        {
            **{name: getattr(mark, name) for name in Mark._fields},
            "stop": int(mark.stop),
            "ignored": int(mark.ignored),
            "bound": "\n".join(mark.bound),
        },
    )


def drop_mark(store: Store, id: str) -> None:
    note_change(store)
    store.db.execute("delete from adopt_mark where id = ?", (id,))


def is_loaded(row: sqlite3.Row, runtime: Runtime) -> bool:
    """Tell whether Claude Code itself puts the file of an item before the model.

    It does not say so of each (none of AGENTS.md), and may of others than its rules name.
    """
    if row["path"] in runtime.loaded_files:
        return True
    if row["load"] == "alone":
        return reads_agents(runtime.environment)
    return row["load"] in ("client", "matching")


def in_context(row: sqlite3.Row) -> str:
    """Return the text of an item behind the sentence that leads to it."""
    lead = row["lead"]
    return f"{lead} {row['text']}" if lead else str(row["text"])


def as_memory(row: sqlite3.Row, runtime: Runtime, *, may_stop: bool = False) -> Memory:
    """Return an item in the form in which memories are shown and logged.

    One that Claude Code loads is named by its place, as its text is before the model already.
    """
    from ademem.core.memory import (
        NOTE,
        STOP,
        Category,
        Importance,
        Memory,
        Scope,
        Status,
        Tier,
        Trust,
    )

    head = (row["heads"].splitlines() or [""])[-1]
    where = f"{row['path']}:{row['first']}"
    content = in_context(row)
    if is_loaded(row, runtime):
        below = f", below “{head}”" if head else ""
        content = f"what that line says{below} is about this call"
    mark = find_mark(runtime.store, row["id"])
    return Memory(
        id=row["id"],
        sync_id=row["id"],
        project_id=runtime.store.project_id,
        tier=Tier.ACTIVE,
        title=where,
        content=content,
        importance=Importance.MEDIUM,
        confidence=1.0,
        status=Status.PROMOTED,
        trust=Trust.IMPORT if may_stop else Trust.TOOL,
        source_type=SOURCE,
        claimed_author=None if may_stop else "",
        tags=((STOP,) if mark and mark.stop else ()) if may_stop else (NOTE,),
        scope=Scope.PROJECT,
        category=Category("convention" if may_stop else _CATEGORIES.get(row["kind"], "fact")),
        dedupe_key="",
        created_at=runtime.now,
        updated_at=runtime.now,
        last_accessed_at=runtime.now,
    )
