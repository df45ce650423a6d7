"""Memories that came with the files and that nobody here accepted."""

from __future__ import annotations

from ademem.core.value import Value
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


class DatabaseClaims(Value):
    """Memories that a database which was not made here gives out as a person's."""

    user: int
    pinned: int


def by_database(store: Store) -> DatabaseClaims | None:
    """Count claims of the tables themselves; None for this person's own database."""
    if store.is_trusted:
        return None
    row = store.db.execute(
        "select ifnull(sum(trust = 'user'), 0) as user, ifnull(sum(pinned), 0) as pinned"
        f" from main.unified_memories where {LIVE}"
    ).fetchone()
    return DatabaseClaims(user=row["user"], pinned=row["pinned"])
