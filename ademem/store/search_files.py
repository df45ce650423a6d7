"""Which index files are current, and which memories changed since they were written."""

from __future__ import annotations

import os
from contextlib import contextmanager
from enum import IntEnum

from ademem.core import confined
from ademem.core.json_text import array
from ademem.core.memory import EPISODE
from ademem.core.value import Value
from ademem.store import BROWSED, CURRENT
from ademem.store.memories import TURN

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator, Sequence

    from ademem.store import Store

WORTH = 200
"""Memories from which files are worth writing; fewer are read from the database as fast."""
DUE = 100
"""Changed memories from which the files are brought up to date."""
PAGES_KIB = 65536
"""Memory for pages of the database, taken as they are read."""
CHUNK = 500
"""Rows that are asked for by name at once."""


class Listed(Value):
    """An index file that counts, and how far it has seen the store."""

    name: str
    model: str
    place: int
    """0: every memory; 1: what changed since."""
    last_seq: int
    last_change: int


class Standing(IntEnum):
    """What a memory itself says about who may see it."""

    ASKED = 0
    """It depends on who asks."""
    HIDDEN = 1
    """Nobody, unless they say that they look for such ones."""
    PROMOTED = 2
    CANDIDATE = 3
    ARCHIVED = 4


class Row(Value):
    """What of a memory can be searched."""

    seq: int
    session: str | None
    standing: int
    turn: bool
    """Whether it is one of a dialogue."""
    texts: tuple[str | None, ...]
    """Title, content, tags, path and topic key."""
    vector: bytes | None


class Seen(Value):
    """The lens that the vectors of one model are looked at through, as little-endian float32."""

    mean: bytes
    axes: bytes
    learned_from: int


def lens(store: Store, model: str) -> Seen | None:
    row = store.db.execute(
        "select mean, axes, learned_from from search_lenses where embedding_model = ?", (model,)
    ).fetchone()
    return Seen(mean=row[0], axes=row[1], learned_from=row[2]) if row else None


def keep_lens(store: Store, model: str, seen: Seen) -> None:
    """The lens of this model from now on; those of others are forgotten."""
    with store.transaction() as db:
        db.execute("delete from search_lenses")
        db.execute(
            "insert into search_lenses values (?, ?, ?, ?)",
            (model, seen.mean, seen.axes, seen.learned_from),
        )


def listed(store: Store, model: str) -> list[Listed]:
    """The files of one model, in the order in which they override each other."""
    rows = store.db.execute(
        "select name, embedding_model, place, last_seq, last_change from search_files"
        " where embedding_model = ? and place is not null order by place",
        (model,),
    )
    return [
        Listed(name=row[0], model=row[1], place=row[2], last_seq=row[3], last_change=row[4])
        for row in rows
    ]


def folder(store: Store) -> str:
    """Beside the database: all worktrees share it."""
    (_, _, path), *_ = store.db.execute("pragma database_list")
    return os.path.join(os.path.dirname(path), "run", "index")


def root(store: Store) -> str:
    """From where `folder` is reached without following links."""
    return os.path.dirname(os.path.dirname(os.path.dirname(folder(store))))


def remember_pages(store: Store) -> None:
    """For a process that searches again and again: rows it has read stay in its memory."""
    store.db.execute(f"pragma cache_size = -{PAGES_KIB}")


@contextmanager
def snapshot(store: Store) -> Iterator[None]:
    """See the store as it is at the first look, whatever others write; writes nothing."""
    if store.db.in_transaction:
        yield
        return
    store.db.execute("begin")
    try:
        yield
    finally:
        store.db.execute("rollback")


def are_behind(store: Store, model: str) -> bool:
    """Whether enough has changed for new files, or there are none though they would be worth it."""
    files = listed(store, model)
    where = folder(store)
    paths = [os.path.join(where, file.name) for file in files]
    if files and all(confined.exists(root(store), path) for path in paths):
        return len(changed(store, files[-1], DUE)) >= DUE
    return reached(store)[0] >= WORTH and dimensions(store, model) > 0


def names(store: Store) -> set[str]:
    return {row[0] for row in store.db.execute("select name from search_files")}


def announce(store: Store, name: str, model: str) -> None:
    """From now on changes are noted, so that none escapes while the file is written."""
    with store.transaction() as db:
        db.execute("delete from search_files where place is null")
        db.execute("insert into search_files values (?, ?, null, 0, 0)", (name, model))


def publish(store: Store, files: Sequence[Listed]) -> None:
    """Let these files count and no others; changes that all of them hold are forgotten."""
    with store.transaction() as db:
        db.execute("delete from search_files")
        db.executemany(
            "insert into search_files values (?, ?, ?, ?, ?)",
            [
                (file.name, file.model, file.place, file.last_seq, file.last_change)
                for file in files
            ],
        )
        # The newest stays, so that its number is never given again.
        db.execute(
            "delete from search_changes where number <= ?"
            " and number < (select max(number) from search_changes)",
            (min((file.last_change for file in files), default=0),),
        )


def withdraw(store: Store) -> None:
    """Trust no file any more."""
    publish(store, ())


def reached(store: Store) -> tuple[int, int]:
    """The last memory and the last change there are."""
    row = store.db.execute(
        "select (select ifnull(max(seq), 0) from unified_memories),"
        " (select ifnull(max(number), 0) from search_changes)"
    ).fetchone()
    return row[0], row[1]


def changed(store: Store, file: Listed, limit: int = -1) -> list[int]:
    """Memories, deleted ones too, that *file* has not seen as they are; at most *limit*."""
    rows = store.db.execute(
        "select seq from search_changes where number > :change"
        " and ifnull(embedding_model, :model) = :model"
        " union select seq from unified_memories where seq > :seq limit :limit",
        {
            "change": file.last_change,
            "model": file.model,
            "seq": file.last_seq,
            "limit": limit,
        },
    )
    return [row[0] for row in rows]


_SESSION = f"iif(source_type = '{EPISODE}', null, source_session_id)"
"""An episode is nobody's neighbour: it tells the whole session."""
_STANDING = f"""
case
  when not ({CURRENT} and {BROWSED}) then {Standing.HIDDEN:d}
  when memory.project_id <> :project or scope <> 'project' or source_branch is not null
    then {Standing.ASKED:d}
  when status = 'promoted' then {Standing.PROMOTED:d}
  when status = 'candidate' then {Standing.CANDIDATE:d}
  else {Standing.ARCHIVED:d}
end
"""
_ROWS = f"""
select memory.seq, {_SESSION}, {_STANDING}, {TURN}, memory.title, memory.content, memory.tags,
  memory.file_scope_pattern, memory.topic_key, embedding.embedding_blob
from json_each(:wanted) as wanted
cross join unified_memories as memory on memory.seq = wanted.value
left join unified_memory_embeddings as embedding
  on embedding.memory_id = memory.id and embedding.embedding_model = :model
where memory.deleted_at is null
"""


def rows(store: Store, model: str, seqs: Sequence[int]) -> Iterator[Row]:
    """These memories in ascending order, without deleted ones."""
    ordered = sorted(seqs)
    for start in range(0, len(ordered), CHUNK):
        wanted = array(ordered[start : start + CHUNK])
        given = {"wanted": wanted, "model": model, "project": store.project_id}
        for seq, session, standing, turn, *texts, vector in store.db.execute(_ROWS, given):
            yield Row(
                seq=seq,
                session=session,
                standing=standing,
                turn=bool(turn),
                texts=tuple(texts),
                vector=vector,
            )


def dimensions(store: Store, model: str) -> int:
    """Of the vectors of a model; 0 when there are none."""
    row = store.db.execute(
        "select dimensions from unified_memory_embeddings where embedding_model = ? limit 1",
        (model,),
    ).fetchone()
    return int(row[0]) if row else 0


def everything(store: Store) -> sqlite3.Cursor:
    """`seq`, session, standing, whether a turn: of all that are not deleted, in ascending order."""
    return store.db.execute(
        f"select seq, {_SESSION}, {_STANDING}, {TURN} from unified_memories as memory"
        " where deleted_at is null order by seq",
        {"project": store.project_id},
    )


def vectors(store: Store, model: str) -> sqlite3.Cursor:
    """`seq` and vector, or null, of every memory that is not deleted, in ascending order."""
    return store.db.execute(
        "select memory.seq, embedding.embedding_blob"
        " from unified_memories as memory"
        " left join unified_memory_embeddings as embedding"
        " on embedding.memory_id = memory.id and embedding.embedding_model = ?"
        " where memory.deleted_at is null order by memory.seq",
        (model,),
    )


def sample(store: Store, model: str, at_most: int) -> list[bytes]:
    """Vectors from all over the store."""
    (count,) = store.db.execute(
        "select count(*) from unified_memory_embeddings where embedding_model = ?", (model,)
    ).fetchone()
    rows = store.db.execute(
        "select embedding_blob from unified_memory_embeddings"
        " where embedding_model = ? and rowid % ? = 0",
        (model, -(-count // at_most) or 1),
    )
    return [row[0] for row in rows]


def around(store: Store, session: str, seq: int) -> tuple[int | None, int | None]:
    """The memories before and after this one in its session."""
    row = store.db.execute(
        "select (select max(seq) from unified_memories where source_session_id = :session"
        f" and seq < :seq and deleted_at is null and source_type <> '{EPISODE}'),"
        " (select min(seq) from unified_memories where source_session_id = :session"
        f" and seq > :seq and deleted_at is null and source_type <> '{EPISODE}')",
        {"session": session, "seq": seq},
    ).fetchone()
    return row[0], row[1]
