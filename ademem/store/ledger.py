"""Events that were captured, so that each is captured once; edits and readings of memory files."""

from __future__ import annotations

from ademem.core.clock import parse, stamp, timedelta
from ademem.core.text import sha256_hex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime

    from ademem.store import Store


NAMED = "file_edit"
"""Entries of the ledger: a tool call named a file; the key is its path, a tab, session and turn."""
ANY_FILE = "*"
"""The path of a call that may change any file."""
READ = "files_read"
"""The entry that says when the files of a work tree were last read and nothing was left to do."""


ABANDONED = timedelta(days=1)
"""A turn that began so long before and was not ended is over."""


def claim(store: Store, source_type: str, source_key: str, now: datetime) -> bool:
    """Enter the event, in the transaction of its capture; False when it was captured before."""
    cursor = store.db.execute(
        "insert or ignore into memory_capture_ledger"
        " (id, project_id, source_type, source_key, created_at, updated_at)"
        " values (?, ?, ?, ?, ?, ?)",
        (
            sha256_hex(store.project_id, source_type, source_key)[:32],
            store.project_id,
            source_type,
            source_key,
            stamp(now),
            stamp(now),
        ),
    )
    return cursor.rowcount > 0


def claimed(store: Store, source_type: str, source_key: str) -> bool:
    """Return True if the event was entered before."""
    row = store.db.execute(
        "select 1 from memory_capture_ledger"
        " where project_id = ? and source_type = ? and source_key = ?",
        (store.project_id, source_type, source_key),
    ).fetchone()
    return row is not None


def any_claimed(store: Store, source_type: str, beginning: str) -> bool:
    """Return True if an event was entered whose key has this prefix."""
    row = store.db.execute(
        "select 1 from memory_capture_ledger where project_id = :project"
        " and source_type = :type and substr(source_key, 1, length(:beginning)) = :beginning"
        " limit 1",
        {"project": store.project_id, "type": source_type, "beginning": beginning},
    ).fetchone()
    return row is not None


def release(store: Store, source_type: str, source_key: str) -> None:
    """Nothing came of the claimed event: it may be tried again."""
    store.db.execute(
        "delete from memory_capture_ledger"
        " where project_id = ? and source_type = ? and source_key = ?",
        (store.project_id, source_type, source_key),
    )


def credit(store: Store, source_type: str, source_key: str, memory_id: str) -> None:
    """Note which memory came of a claimed event."""
    store.db.execute(
        "update memory_capture_ledger set memory_id = ?"
        " where project_id = ? and source_type = ? and source_key = ?",
        (memory_id, store.project_id, source_type, source_key),
    )


def credit_episode(store: Store, source_type: str, source_key: str, memory_id: str) -> None:
    """Note which episode came of a claimed event."""
    store.db.execute(
        "update memory_capture_ledger set episode_memory_id = ?"
        " where project_id = ? and source_type = ? and source_key = ?",
        (memory_id, store.project_id, source_type, source_key),
    )


def memory_of(store: Store, source_type: str, source_key: str) -> str | None:
    """The memory that came of a claimed event; None if the gate refused it."""
    row = store.db.execute(
        "select memory_id from memory_capture_ledger"
        " where project_id = ? and source_type = ? and source_key = ?",
        (store.project_id, source_type, source_key),
    ).fetchone()
    return row[0] if row else None


def note_edit(store: Store, path: str, turn: str, now: datetime) -> None:
    """Enter that a tool call of the turn, `session:turn`, is about to change the file."""
    _renew(store, NAMED, f"{path}\t{turn}", now)


def turns_naming(store: Store, path: str, *, since: str) -> list[str]:
    """Turns in which a tool call named the file, or files of memory, since a moment, a stamp."""
    rows = store.db.execute(
        "select source_key from memory_capture_ledger"
        " where project_id = ? and source_type = ? and created_at >= ?",
        (store.project_id, NAMED, since),
    )
    named = (row[0].split("\t", 1) for row in rows)
    return [turn for found, turn in named if found in (path, ANY_FILE)]


def note_reading(store: Store, root: str, now: datetime) -> None:
    """Enter that store and files of the work tree agree now."""
    _renew(store, READ, root, now)


def last_reading(store: Store, root: str) -> str:
    """When that was last so, as a stamp; empty for never.

    A turn that ran at that moment may have been about to change something: then, its beginning.
    """
    row = store.db.execute(
        "select created_at from memory_capture_ledger"
        " where project_id = ? and source_type = ? and source_key = ?",
        (store.project_id, READ, root),
    ).fetchone()
    if row is None:
        return ""
    seen = str(row[0])
    running = store.db.execute(
        "select min(started_at) from turns where project_id = :project and started_at <= :seen"
        " and (ended_at > :seen or (ended_at is null and started_at >= :abandoned))",
        {"project": store.project_id, "seen": seen, "abandoned": _abandoned(seen)},
    ).fetchone()
    return str(running[0] or seen)


def sessions_between(store: Store, since: str, until: str) -> list[tuple[str, str]]:
    """Sessions with a turn between two stamps, and their transcripts."""
    rows = store.db.execute(
        "select distinct sessions.id, ifnull(sessions.transcript_path, '') from turns"
        " join sessions on sessions.id = turns.session_id"
        " where turns.project_id = :project and turns.started_at <= :until"
        " and (turns.ended_at >= :since or turns.started_at >= :since"
        "  or (turns.ended_at is null and turns.started_at >= :abandoned))",
        {
            "project": store.project_id,
            "since": since,
            "until": until,
            "abandoned": _abandoned(until),
        },
    )
    return [(row[0], row[1]) for row in rows]


def session_of_commit(store: Store, sha: str) -> str | None:
    """The session that made the commit with its shell."""
    query = "select session_id from commits where project_id = ? and sha = ?"
    row = store.db.execute(query, (store.project_id, sha)).fetchone()
    return row[0] if row else None


def _abandoned(moment: str) -> str:
    return stamp(parse(moment) - ABANDONED)


def _renew(store: Store, kind: str, key: str, now: datetime) -> None:
    with store.transaction():
        release(store, kind, key)
        claim(store, kind, key, now)
