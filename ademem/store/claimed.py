"""Memories that came with the files and that nobody here accepted."""

from __future__ import annotations

from ademem.store import LIVE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ademem.store import Store

ANY = f"claimed_author is not null and {LIVE}"


def count(store: Store) -> int:
    query = f"select count(*) from unified_memories where project_id = ? and {ANY}"
    return int(store.db.execute(query, (store.project_id,)).fetchone()[0])


def authors(store: Store) -> list[str]:
    """The names that the files give, those with most memories first."""
    rows = store.db.execute(
        f"select claimed_author from unified_memories where project_id = ? and {ANY}"
        " and claimed_author <> '' group by claimed_author order by count(*) desc, claimed_author",
        (store.project_id,),
    )
    return [row[0] for row in rows]
