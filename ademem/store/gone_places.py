"""Since when the place of a memory is not there; a person is asked about it after a while."""

from __future__ import annotations

from ademem.store import bindings, ledger

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime

    from ademem.store import Store
    from ademem.store.bindings import Binding

_SEEN = "place_gone"
"""Type of an entry for a place that is not there; its key is the memory's id, a tab, the place."""


def note(store: Store, now: datetime) -> None:
    """Note the places that are not there, and forget those that are again."""
    gone = {_key(id, place) for id, place in bindings.list_gone(store)}
    with store.transaction():
        for key in ledger.list_endings(store, _SEEN, ""):
            if key not in gone:
                ledger.release(store, _SEEN, key)
        for key in gone:
            ledger.claim(store, _SEEN, key, now)


def list_since(store: Store, before: datetime) -> list[tuple[str, Binding]]:
    """Return ids and places that were noted before a time and are not there."""
    noted = set(ledger.list_endings(store, _SEEN, "", before=before))
    gone = bindings.list_gone(store) if noted else []
    return [(id, place) for id, place in gone if _key(id, place) in noted]


def note_again(store: Store, id: str, place: Binding, now: datetime) -> None:
    """Count the time of one place from now on."""
    ledger.renew(store, _SEEN, _key(id, place), now)


def _key(id: str, place: Binding) -> str:
    return f"{id}\t{place.place}"
