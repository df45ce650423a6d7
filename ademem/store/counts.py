"""Numbers of memories and of vectors, which triggers keep in `memory_counts` and `vector_counts`.

No door reads all memories to tell how many there are. A masked table (`Store.distrust`,
`Store.show_beside`) is counted anew, as its rows are read as other than they are.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3

    from ademem.store import Store

TABLES = ("memory_counts", "vector_counts")
LIVE = "status <> 'archived' and not is_superseded"
CURRENT = "not is_superseded and not is_quarantined"
BROWSED = "source = ''"
"""The conditions of `ademem.store` with these names, over the columns of `memory_counts`."""
_KEYS = (
    "project_id, scope, owner, status, tier, source,"
    " is_pinned, is_superseded, is_quarantined, is_lost"
)
_COUNTED = {
    "memory_counts": f"select {_KEYS}, count(*) from counted_memories group by {_KEYS}",
    "vector_counts": "select project_id, embedding_model, count(*) from counted_vectors group by"
    " project_id, embedding_model",
}


def of_memories(store: Store) -> str:
    """Return SQL of a table with the columns of `memory_counts`, as this store reads memories."""
    if store.is_trusted and not store.place:
        return "main.memory_counts"
    # The words of the view, in which the masked table now stands before the one of the database.
    view = store.first("select sql from main.sqlite_master where name = 'counted_memories'", (), "")
    rows = view.partition(" as\n")[2]
    return f"(select {_KEYS}, count(*) as number from ({rows}) group by {_KEYS})"


def count_memories(store: Store, condition: str) -> int:
    query = f"select sum(number) from {of_memories(store)} where project_id = ? and {condition}"
    return store.number(query, (store.project_id,))


def count_searched(store: Store) -> int:
    """Count the memories that get a vector, which are those of the database, masked or not."""
    return store.number(
        "select sum(number) from main.memory_counts"
        f" where project_id = ? and {LIVE} and not is_quarantined",
        (store.project_id,),
    )


def count_vectors(store: Store, model: str) -> int:
    """Count the vectors of `count_searched` memories."""
    query = "select number from vector_counts where project_id = ? and embedding_model = ?"
    return store.number(query, (store.project_id, model))


def find_wrong(store: Store) -> list[str]:
    """Return the tables whose numbers are not those of the rows; reads all of them."""
    return [table for table in TABLES if _differs(store.db, table)]


def _differs(db: sqlite3.Connection, table: str) -> bool:
    kept, counted = f"select * from main.{table} where number <> 0", _COUNTED[table]
    query = f"select 1 from (select * from ({kept}) except {counted})"
    return any(
        db.execute(f"{each} limit 1").fetchone()
        for each in (query, f"select 1 from (select * from ({counted}) except {kept})")
    )


def recount(store: Store, table: str) -> None:
    with store.transaction() as db:
        db.execute(f"delete from main.{table}")
        db.execute(f"insert into main.{table} {_COUNTED[table]}")
