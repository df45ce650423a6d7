"""Acts of a person outside the client, until a prompt of a session tells of them."""

from __future__ import annotations

from ademem.core.clock import stamp
from ademem.store.database import read_list, value, write_list

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime

    from ademem.store import Store

_RECEIPTS = "receipts/"
MOST = 50


def note(store: Store, done: str, where: str, memory_id: str, now: datetime) -> None:
    """Note what was *done* and the program in which it was typed; without an id it is trust."""
    name = _RECEIPTS + store.project_id
    with store.transaction():
        rows = [*read_list(store.db, name), [stamp(now), where, done, memory_id]]
        write_list(store.db, name, rows[-MOST:])


def any_noted(store: Store) -> bool:
    return bool(value(store.db, _RECEIPTS + store.project_id))


def take(store: Store) -> list[tuple[str, str, str, str]]:
    """Return time, place, act and memory of each, once."""
    name = _RECEIPTS + store.project_id
    with store.transaction():
        rows = read_list(store.db, name)
        store.db.execute("delete from store_values where name = ?", (name,))
    return [tuple(row) for row in rows]
