"""Signatures of memories, written with each text so that near duplicates are found by a look-up."""

from __future__ import annotations

from ademem.core import minhash
from ademem.core.json_text import array
from ademem.core.text import said, words

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Set as AbstractSet

    from ademem.core.memory import Memory

POOL = 32
"""Newest memories looked at of those that share one signature."""
BACKLOG = 16
"""Memories from before there were signatures that get theirs with each new one."""

_MET = (
    "select held.seq, held.sketch from json_each(?) as one"
    " cross join unified_memory_signatures as held on held.signature = one.value"
    " and held.seq >= ifnull((select seq from unified_memory_signatures"
    f"  where signature = one.value order by seq desc limit 1 offset {POOL - 1}), 0)"
)


def alike(
    db: sqlite3.Connection, text: str, scope: str, owner: str | None, least: float
) -> set[int]:
    """Numbers of the memories that may share *least* of the words of *text*; 0: of all it meets.

    Told by the sketches: in a large store each row that is read is a page that no cache has.
    """
    mine = words(text)
    met = db.execute(_MET, (array(minhash.of_likes(mine, _home(scope, owner))),))
    if not least:
        return {seq for seq, _ in met}
    sketch, most = minhash.sketch(mine), minhash.most_apart(len(mine), least)
    return {seq for seq, theirs in met if theirs is None or (sketch ^ theirs).bit_count() <= most}


def renew(db: sqlite3.Connection, memory: Memory, old: AbstractSet[int] = frozenset()) -> None:
    """Let the memory be found by what it says, and no longer by the *old* signatures."""
    texts = (memory.scope, memory.scope_owner_id, memory.title, memory.content)
    forget(db, memory.seq, old - _signed(db, memory.seq, *texts))


def forget(db: sqlite3.Connection, seq: int, old: AbstractSet[int]) -> None:
    if old:
        db.executemany(
            "delete from unified_memory_signatures where signature = ? and seq = ?",
            [(number, seq) for number in old],
        )


def of(scope: str, owner: str | None, title: str | None, content: str) -> set[int]:
    """Return the signatures of a memory with these texts."""
    return minhash.own(words(said(title, content)), _home(scope, owner))


def stored(db: sqlite3.Connection, memory: Memory) -> set[int]:
    """The signatures of the text that the row still has."""
    query = "select scope, scope_owner_id, title, content from unified_memories where id = ?"
    row = db.execute(query, (memory.id,)).fetchone()
    return of(*row) if row else set()


def _signed(
    db: sqlite3.Connection, seq: int, scope: str, owner: str | None, title: str | None, content: str
) -> set[int]:
    """The signatures of these texts, which the memory has from now on."""
    new = of(scope, owner, title, content)
    sketch = minhash.sketch(words(said(title, content)))
    db.executemany(
        "insert into unified_memory_signatures values (?, ?, ?) on conflict do update"
        " set sketch = excluded.sketch where sketch is not excluded.sketch",
        [(number, seq, sketch) for number in new],
    )
    return new


def _home(scope: str, owner: str | None) -> str:
    return f"{scope}/{owner or ''}"


def last_unsigned(db: sqlite3.Connection) -> int | None:
    """Number of the last memory that may have no signatures."""
    row = db.execute("select max(seq) from unified_memory_unsigned").fetchone()
    return row[0]  # type: ignore[no-any-return]


def catch_up(db: sqlite3.Connection) -> None:
    """Sign the next few memories from before there were signatures, the newest first."""
    last = last_unsigned(db)
    if last is None:
        return
    found = db.execute(
        "select seq, scope, scope_owner_id, title, content from unified_memories"
        f" where seq <= ? order by seq desc limit {BACKLOG}",
        (last,),
    ).fetchall()
    for seq, *texts in found:
        _signed(db, seq, *texts)
    db.execute("delete from unified_memory_unsigned")
    if len(found) == BACKLOG:
        db.execute("insert into unified_memory_unsigned values (?)", (found[-1][0] - 1,))
