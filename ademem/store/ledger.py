"""What was captured and imported from where: events, each once, edits and readings of files."""

from __future__ import annotations

import os

from ademem.core.clock import datetime, parse, stamp, timedelta
from ademem.core.json_text import loads
from ademem.core.text import sha256_hex
from ademem.store.database import read_list, set_value, value, write_list

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from ademem.core.memory import Memory
    from ademem.store import Store

NAMED = "file_edit"
"""Type of an entry for a tool call that named a file; its key is path, tab, `session:turn`."""
ANY_FILE = "*"
ANY_TIME = "* later"
"""A file of memory that what a command left running may change once the command has ended."""
ERROR = "error_capture"
"""Source type of captured errors; an entry's key is the fingerprint and a session that met it."""
TYPED = "typed"
"""Type of an entry for a prompt that a person typed; its key is `session:prompt`."""
ERROR_DETAIL = "error_detail"
"""Type of an entry for a detail of an error of a program.

Its key is a digest of both, which may be secrets, and the key of ERROR.
"""
OPERATION = "operation"
"""Type of an entry for a write that its caller may repeat; its key is the caller's id of it."""
READ = "files_read"
"""Type of an entry for the last complete reading of the files of a work tree."""
_FOLLOWED = "followed"
MOST_TRUSTED = 100
"""Changes by trusted people that are told at the next start; earlier ones are not."""
_TRUSTED = "changed_by_trusted"
_COPIED = "copied/"
_OFFERED = "offered"
_NOTICES = "notices_waiting"
MOST_OFFERING = 20
"""Sessions whose last line is kept."""
MOST_FOLLOWED = 200
"""Most files of a source that are followed, as each session's start looks at all."""

ABANDONED = timedelta(days=1)
"""Time after which a turn without an end counts as ended."""

_EVENT = "project_id = ? and source_type = ? and source_key = ?"


def claim(store: Store, source_type: str, source_key: str, now: datetime) -> bool:
    """Add the event, in the transaction of its capture; False if it was there."""
    id = sha256_hex(store.project_id, source_type, source_key)[:32]
    cursor = store.db.execute(
        "insert or ignore into memory_capture_ledger"
        " (id, project_id, source_type, source_key, created_at, updated_at)"
        " values (?1, ?2, ?3, ?4, ?5, ?5)",
        (id, store.project_id, source_type, source_key, stamp(now)),
    )
    return cursor.rowcount > 0


def is_claimed(store: Store, source_type: str, source_key: str) -> bool:
    query = f"select 1 from memory_capture_ledger where {_EVENT}"
    return store.has_row(query, (store.project_id, source_type, source_key))


def list_endings(
    store: Store, source_type: str, beginning: str, *, before: datetime | None = None
) -> list[str]:
    """Return what follows *beginning* in keys, the oldest first; *before* leaves out newer ones."""
    return store.column(
        "select substr(source_key, length(:key) + 1) from memory_capture_ledger"
        " where project_id = :project and source_type = :type"
        " and source_key >= :key and source_key < :key || char(1114111)"
        " and (:before is null or created_at <= :before)"
        " order by created_at, rowid",
        {"project": store.project_id, "type": source_type, "key": beginning}
        | {"before": before and stamp(before)},
    )


def is_own_error(store: Store, memory: Memory, session_id: str) -> bool:
    key = f"{memory.source_id}:{session_id}"
    return memory.source_type == ERROR and memory.trust != "user" and is_claimed(store, ERROR, key)


def release(store: Store, source_type: str, source_key: str) -> None:
    query = f"delete from memory_capture_ledger where {_EVENT}"
    store.db.execute(query, (store.project_id, source_type, source_key))


def renew(store: Store, source_type: str, source_key: str, now: datetime) -> None:
    with store.transaction():
        release(store, source_type, source_key)
        claim(store, source_type, source_key, now)


def add_answer(
    store: Store, operation_id: str, memory_id: str | None, answer: dict[str, Any], now: datetime
) -> None:
    import json  # which no hook needs

    claim(store, OPERATION, operation_id, now)
    query = f"update memory_capture_ledger set memory_id = ?, metadata_json = ? where {_EVENT}"
    event = (store.project_id, OPERATION, operation_id)
    store.db.execute(query, (memory_id, json.dumps(answer), *event))


def find_answer(store: Store, operation_id: str) -> tuple[str | None, dict[str, Any]] | None:
    query = f"select memory_id, metadata_json from memory_capture_ledger where {_EVENT}"
    row = store.db.execute(query, (store.project_id, OPERATION, operation_id)).fetchone()
    return (row[0], loads(row[1])) if row else None


def credit(
    store: Store, source_type: str, source_key: str, memory_id: str, column: str = "memory_id"
) -> None:
    query = f"update memory_capture_ledger set {column} = ? where {_EVENT}"
    store.db.execute(query, (memory_id, store.project_id, source_type, source_key))


def memory_of(store: Store, source_type: str, source_key: str) -> str | None:
    query = f"select memory_id from memory_capture_ledger where {_EVENT}"
    return store.first(query, (store.project_id, source_type, source_key), None)


def memories_of_turn(store: Store, source_type: str, turn: str) -> list[str]:
    """Return the ids of memories that a turn, `session:prompt`, brought as events of this type."""
    return store.column(
        "select distinct memory_id from memory_capture_ledger"
        " where project_id = :project and source_type = :type and memory_id is not null"
        " and source_key > :turn || ':' and source_key < :turn || ';' order by rowid",
        {"project": store.project_id, "type": source_type, "turn": turn},
    )


def turns_naming(store: Store, path: str, *, since: str) -> list[str]:
    """List turns that named the file since then, or left running a day before what may write it."""
    rows = store.tuples(
        "select source_key, created_at from memory_capture_ledger"
        " where project_id = ? and source_type = ? and created_at >= ?",
        (store.project_id, NAMED, since and _abandoned(since)),
    )
    named = ((*key.split("\t", 1), at) for key, at in rows)
    return [
        turn
        for found, turn, at in named
        if found == ANY_TIME or (at >= since and found in (path, ANY_FILE))
    ]


def last_reading(store: Store, root: str) -> str:
    """Return its stamp, or that of a turn that ran then and may have changed files; empty: none."""
    query = f"select created_at from memory_capture_ledger where {_EVENT}"
    seen = store.first(query, (store.project_id, READ, root), "")
    return seen and store.first(
        "select min(started_at) from turns where project_id = :project and started_at <= :seen"
        " and (ended_at > :seen or (ended_at is null and started_at >= :abandoned))",
        {"project": store.project_id, "seen": seen, "abandoned": _abandoned(seen)},
        seen,
    )


def sessions_between(store: Store, since: str, until: str) -> list[tuple[str, str]]:
    """List the sessions of that time with their transcripts."""
    return store.tuples(
        "select distinct sessions.id, ifnull(sessions.transcript_path, '') from turns"
        " join sessions on sessions.id = turns.session_id"
        " where turns.project_id = :project and turns.started_at <= :until"
        " and (turns.ended_at >= :since or turns.started_at >= :since"
        "  or (turns.ended_at is null and turns.started_at >= :abandoned))",
        {"project": store.project_id, "since": since, "until": until}
        | {"abandoned": _abandoned(until)},
    )


def session_of_commit(store: Store, sha: str) -> str | None:
    query = "select session_id from commits where project_id = ? and sha = ?"
    return store.first(query, (store.project_id, sha), None)


def _abandoned(moment: str) -> str:
    return stamp(parse(moment) - ABANDONED)


def note_offered(store: Store, session_id: str, ids: Iterable[str]) -> None:
    """Note the memories that the last line to the person named, which may be kept or dropped."""
    others = [row for row in read_list(store.db, _OFFERED) if row[0] != session_id]
    write_list(store.db, _OFFERED, [*others, [session_id, list(ids)]][-MOST_OFFERING:])


def list_offered(store: Store, session_id: str) -> list[str]:
    """Return the ids of the memories that the last such line of the session named."""
    named = (ids for session, ids in read_list(store.db, _OFFERED) if session == session_id)
    return next(named, [])


def list_waiting_notices(store: Store, session_id: str) -> list[str]:
    """Return lines that the person is to be shown in this session, after another one."""
    session, *lines = read_list(store.db, _NOTICES) or [""]
    return lines if session == session_id else []


def keep_notices(store: Store, session_id: str, lines: Iterable[str]) -> None:
    write_list(store.db, _NOTICES, [session_id, *lines])


def note_copy(store: Store, root: str, folder: str) -> None:
    """Note that the files of a work tree were copied before much was removed from them."""
    set_value(store.db, _COPIED + root, folder)


def take_copy(store: Store, root: str) -> str:
    """Return the last folder that was noted, once."""
    if folder := value(store.db, _COPIED + root):
        store.db.execute("delete from store_values where name = ?", (_COPIED + root,))
    return folder


def note_trusted(store: Store, id: str, author: str, kind: str) -> None:
    """Note that a trusted person changed what was stated here."""
    noted = [row for row in read_list(store.db, _TRUSTED) if row[0] != id]
    write_list(store.db, _TRUSTED, [*noted, [id, author, kind]][-MOST_TRUSTED:])


def take_trusted(store: Store) -> list[tuple[str, str]]:
    """Return author and kind of the changes that were noted, once."""
    if not value(store.db, _TRUSTED):
        return []
    found = [(str(author), str(kind)) for _, author, kind in read_list(store.db, _TRUSTED)]
    store.db.execute("delete from store_values where name = ?", (_TRUSTED,))
    return found


def follow(store: Store, format: str, path: str, files: Iterable[str]) -> None:
    """Let files of another program stay the source of memories imported from them."""
    states = {each: file_state(each) for each in list(files)[:MOST_FOLLOWED]}
    others = [row for row in read_list(store.db, _FOLLOWED) if row[:2] != [format, path]]
    write_list(store.db, _FOLLOWED, [*others, [format, path, states]])


def changed_sources(store: Store) -> Iterator[tuple[str, str, list[str]]]:
    for format, path, states in read_list(store.db, _FOLLOWED):
        if changed := [file for file, state in states.items() if file_state(file) != state]:
            yield format, path, changed


def file_state(path: str) -> str:
    try:
        found = os.stat(path)
    except OSError:
        return ""
    return f"{found.st_size} {found.st_mtime_ns}"
