"""Signatures of memories, written with each text so that near duplicates are found by a look-up."""

from __future__ import annotations

from ademem import signature
from ademem.jsontext import array
from ademem.text import said, words

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Set as AbstractSet

    from ademem.model import Memory

POOL = 32
"""Newest memories looked at of those that share one signature."""
BACKLOG = 16
"""Memories from before there were signatures that get theirs with each new one."""

ALIKE = (
    "select distinct held.seq from json_each(:asked) as one"
    " cross join unified_memory_signatures as held on held.signature = one.value"
    " and held.seq >= ifnull((select seq from unified_memory_signatures"
    f"  where signature = one.value order by seq desc limit 1 offset {POOL - 1}), 0)"
)
"""Numbers of the memories that have one of :asked, a JSON array."""


def renew(db: sqlite3.Connection, seq: int, old: AbstractSet[int], new: AbstractSet[int]) -> None:
    """Let the memory have the *new* ones instead of the *old*."""
    if old - new:
        db.executemany(
            "delete from unified_memory_signatures where signature = ? and seq = ?",
            [(number, seq) for number in old - new],
        )
    db.executemany(
        "insert or ignore into unified_memory_signatures values (?, ?)",
        [(number, seq) for number in new],
    )


def of(scope: str, owner: str | None, title: str | None, content: str) -> set[int]:
    """What a memory with these texts is found by."""
    return signature.own(words(said(title, content)), _home(scope, owner))


def of_memory(memory: Memory) -> set[int]:
    return of(memory.scope, memory.scope_owner_id, memory.title, memory.content)


def stored(db: sqlite3.Connection, memory: Memory) -> set[int]:
    """The signatures of the text that the row still has."""
    query = "select scope, scope_owner_id, title, content from unified_memories where id = ?"
    row = db.execute(query, (memory.id,)).fetchone()
    return of(*row) if row else set()


def asked(text: str, scope: str, owner: str | None) -> str:
    """What finds the memories that may share most of the words of *text*, as a JSON array."""
    return array(signature.of_likes(words(text), _home(scope, owner)))


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
        renew(db, seq, frozenset(), of(*texts))
    db.execute("delete from unified_memory_unsigned")
    if len(found) == BACKLOG:
        db.execute("insert into unified_memory_unsigned values (?)", (found[-1][0] - 1,))
