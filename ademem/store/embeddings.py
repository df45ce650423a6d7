"""Vectors of memories: which are missing, writing them, and reading them for a search."""

from __future__ import annotations

import os
import sys

from ademem.core.clock import datetime, stamp
from ademem.core.json_text import array
from ademem.core.text import sha256_hex
from ademem.core.value import Value, as_dict
from ademem.store import LIVE, Store, jobs
from ademem.store import counts as counts_

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Sequence
    from typing import Any

    from ademem.core.memory import Memory

FAILURES = "vector"
ADE_MODEL, ADE_DIMENSIONS = "Xenova/all-MiniLM-L6-v2", 384
"""The model of the vectors of an adopted database, which wait under its name for the worker."""

_WANTED = f"memory.project_id = :project and memory.quarantine_reason is null and {LIVE}"
"""Memories that get a vector: quarantined ones cannot be found, and wait for approval first."""

_MISSING = """
not exists (
  select 1 from unified_memory_embeddings as vector
  where vector.memory_id = memory.id and vector.embedding_model = :model)
"""

# A failure counts for this text and this model: another text, or another model, starts anew.
_FAILURE = """
select 1 from jobs as failure
where failure.project_id = memory.project_id and failure.kind = 'vector'
  and failure.key = memory.id || ' ' || :model || ' ' || memory.dedupe_key
"""
_PARKED = f"""
select substr(key, 1, instr(key, ' ') - 1) from jobs
where project_id = :project and kind = '{FAILURES}' and parked_at is not null
"""


class Vector(Value):
    memory: Memory
    blob: bytes
    """Little-endian float32."""
    dimensions: int
    norm: float


class Counts(Value):
    embedded: int
    waiting: int
    """Without a vector, those that failed and will be tried again among them."""
    parked: int


NONE = Counts(embedded=0, waiting=0, parked=0)
"""Those without a model."""


def list_new(store: Store, model: str, *, limit: int, below: int = sys.maxsize) -> list[Memory]:
    where = f"memory.seq < :below and not exists ({_FAILURE})"
    return _memories(store, where, {"model": model, "below": below, "limit": limit})


def list_retries(store: Store, model: str, now: datetime, *, limit: int) -> list[Memory]:
    where = f"exists ({_FAILURE} and failure.parked_at is null and failure.due_at <= :now)"
    return _memories(store, where, {"model": model, "now": stamp(now), "limit": limit})


def has_any(store: Store, model: str) -> bool:
    return bool(dimensions(store, model))


def dimensions(store: Store, model: str) -> int:
    query = "select dimensions from unified_memory_embeddings where embedding_model = ? limit 1"
    return store.first(query, (model,), 0)


def put(store: Store, model: str, vectors: Sequence[Vector], now: datetime) -> int:
    with store.transaction() as db:
        written = 0
        for vector in vectors:
            written += db.execute(
                "insert into unified_memory_embeddings (id, memory_id, project_id, embedding_model,"
                " embedding_blob, dimensions, norm, created_at, updated_at)"
                " select :id, memory.id, memory.project_id, :model, :blob, :dimensions, :norm,"
                " :now, :now from unified_memories as memory"
                " where memory.id = :memory and memory.content is :content"
                " and memory.title is :title"
                " on conflict (memory_id, embedding_model) do update set embedding_blob = :blob,"
                " dimensions = :dimensions, norm = :norm, updated_at = :now",
                as_dict(vector)
                | {"id": sha256_hex(vector.memory.id, model)[:32], "memory": vector.memory.id}
                | {"content": vector.memory.content, "title": vector.memory.title}
                | {"model": model, "now": stamp(now)},
            ).rowcount
            clear_failures(store, vector.memory)
    return written


def count_failure(store: Store, model: str, memory: Memory, error: str, now: datetime) -> None:
    jobs.count_failure(store, FAILURES, f"{memory.id} {model} {memory.dedupe_key}", error, now)


def name_failure(store: Store, model: str, memory: Memory, error: str) -> None:
    key = f"{memory.id} {model} {memory.dedupe_key}"
    query = "update jobs set last_error = ? where project_id = ? and kind = ? and key = ?"
    store.db.execute(query, (error[: jobs.ERROR_CHARS], store.project_id, FAILURES, key))


def list_adopted(store: Store) -> list[Memory]:
    """Return the memories that have a vector by ADE."""
    from ademem.store.memories import from_rows

    rows = store.db.execute(
        "select memory.* from main.unified_memories as memory"
        " join unified_memory_embeddings as vector on vector.memory_id = memory.id"
        " where vector.embedding_model = ?",
        (ADE_MODEL,),
    )
    return from_rows(rows)


def take_adopted(store: Store, model: str, ids: Iterable[str], now: datetime) -> int:
    """Let vectors by ADE count as those of the model, where it has none."""
    return store.db.execute(
        "update or ignore unified_memory_embeddings set embedding_model = ?, updated_at = ?"
        " where embedding_model = ? and memory_id in (select value from json_each(?))",
        (model, stamp(now), ADE_MODEL, array(ids)),
    ).rowcount


def drop_others(store: Store, models: Sequence[str]) -> int:
    """Remove obsolete failures, too; return the number of vectors."""
    current = array(models)
    others = [model for model in _list_models(store) if model not in models]
    dropped = store.db.execute(
        "delete from unified_memory_embeddings"
        " where embedding_model in (select value from json_each(?))",
        (array(others),),
    ).rowcount
    store.db.execute(
        "delete from jobs where project_id = :project and kind = :kind and not exists ("
        " select 1 from unified_memories as memory, json_each(:kept) as model where jobs.key ="
        " memory.id || ' ' || model.value || ' ' || memory.dedupe_key"
        " and memory.id = substr(jobs.key, 1, instr(jobs.key, ' ') - 1))",
        {"project": store.project_id, "kind": FAILURES, "kept": current},
    )
    store.db.execute(
        "delete from store_values where name glob 'whitening_*'"
        " and substr(name, instr(name, ' ') + 1) not in (select value from json_each(?))",
        (current,),
    )
    return dropped


def _list_models(store: Store) -> list[str]:
    """List the models that have a vector; each is one step in the index."""
    query = "select min(embedding_model) from unified_memory_embeddings where embedding_model > ?"
    found = [""]
    while next_one := store.first(query, (found[-1],), ""):
        found.append(next_one)
    return found[1:]


def counts(store: Store, model: str) -> Counts:
    embedded = counts_.count_vectors(store, model)
    left = counts_.count_searched(store) - embedded
    parked = left and store.number(
        f"select count(*) from unified_memories as memory where memory.id in ({_PARKED})"
        f" and {_WANTED} and {_MISSING} and exists ({_FAILURE} and failure.parked_at is not null)",
        {"project": store.project_id, "model": model},
    )
    return Counts(embedded=embedded, waiting=left - parked, parked=parked)


def clear_failures(store: Store, memory: Memory) -> None:
    store.db.execute(
        "delete from jobs where project_id = :project and kind = :kind"
        " and key > :id || ' ' and key < :id || '!'",
        {"project": store.project_id, "kind": FAILURES, "id": memory.id},
    )


def _memories(store: Store, where: str, values: dict[str, object]) -> list[Memory]:
    from ademem.store.memories import from_rows  # hooks that only look in need no memories

    # By row number: an index would have all rows sorted before the first is handed out.
    rows = store.db.execute(
        "select memory.* from main.unified_memories as memory not indexed"
        f" where {_WANTED} and {_MISSING}"
        f" and {where} order by memory.seq desc limit :limit",
        values | {"project": store.project_id},
    )
    return from_rows(rows)


def blobs(store: Store, model: str, ids: Iterable[str]) -> dict[str, bytes]:
    return store.pairs(
        "select memory_id, embedding_blob from unified_memory_embeddings"
        " where embedding_model = ? and memory_id in (select value from json_each(?))",
        (model, array(ids)),
    )


def vectors(store: Store, model: str) -> sqlite3.Cursor:
    return store.db.execute(
        "select memory.seq, vector.embedding_blob"
        " from unified_memory_embeddings as vector"
        " join unified_memories as memory on memory.id = vector.memory_id"
        " where vector.embedding_model = ? order by memory.seq",
        (model,),
    )


def vectors_since(store: Store, model: str, at: str, number: int) -> sqlite3.Cursor:
    """Yield what `vectors` does of the rows from *number* on, and of those written from *at* on."""
    return store.db.execute(
        "select memory.seq, vector.embedding_blob"
        " from unified_memory_embeddings as vector"
        " join unified_memories as memory on memory.id = vector.memory_id"
        " where vector.embedding_model = ?1 and vector.rowid in ("
        "  select rowid from unified_memory_embeddings where rowid >= ?2"
        "  union select rowid from unified_memory_embeddings"
        "   where embedding_model = ?1 and updated_at >= ?3) order by memory.seq",
        (model, number, at),
    )


def count(store: Store, model: str) -> int:
    query = "select count(*) from unified_memory_embeddings where embedding_model = ?"
    return store.number(query, (model,))


def state(store: Store, model: str) -> list[object]:
    """Return values that change with every vector of the model, and with its whitening."""
    row = store.db.execute(
        "select"
        " (select count(*) from unified_memory_embeddings where embedding_model = :model),"
        " (select max(updated_at) from unified_memory_embeddings where embedding_model = :model),"
        " (select max(rowid) from unified_memory_embeddings),"
        " (select group_concat(value) from store_values where name glob 'whitening_vectors*')",
        {"model": model},
    ).fetchone()
    path = _database_path(store)
    return [path, os.stat(path).st_ino if path else id(store), model, *row]


def cache_folder(store: Store) -> tuple[str, str]:
    """The folder of files derived from the vectors, after the one that links may not leave."""
    ade = os.path.dirname(_database_path(store))
    return os.path.dirname(ade), os.path.join(ade, "run", "index")


def _database_path(store: Store) -> str:
    (_, _, path), *_ = store.db.execute("pragma database_list")
    return str(path)


def whitening(store: Store, model: str) -> dict[str, Any]:
    """Return `mean` and `axes`, little-endian float32, and the number of `vectors`, or nothing."""
    return store.pairs(
        "select substr(name, 11, instr(name || ' ', ' ') - 11), value from store_values"
        " where name glob 'whitening_*'"
        # Earlier versions named the first model once, as a value beside those of its whitening.
        " and iif(instr(name, ' '), substr(name, instr(name, ' ') + 1),"
        "  (select value from store_values where name = 'whitening_model')) = ?"
        " order by instr(name, ' ')",
        (model,),
    )


def save_whitening(store: Store, model: str, **values: bytes | int) -> None:
    with store.transaction() as db:
        db.executemany(
            "insert or replace into store_values values ('whitening_' || ?, ?)",
            [(f"{name} {model}", value) for name, value in values.items()],
        )


def unread_rows(store: Store) -> bytes:
    """Row numbers of memories that the first model does not read, as little-endian int64."""
    return store.first("select value from store_values where name = 'unread_rows'", (), b"")


def save_unread_rows(store: Store, rows: bytes) -> None:
    store.db.execute("insert or replace into store_values values ('unread_rows', ?)", (rows,))
