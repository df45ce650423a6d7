"""Relate what changed since the last call, by its words and by its vectors."""

from __future__ import annotations

from ademem.capture.gate import relating
from ademem.store import embeddings, relations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from ademem.capture.gate.relating import Cosines, Meaning, Pair
    from ademem.core.memory import Memory
    from ademem.store import Store


def catch_up(
    store: Store, now: datetime, model: str = "", pause: Callable[[], None] | None = None
) -> list[Pair]:
    """Relate what changed, or got a vector of the *model*, since the last call."""
    last = relations.last_change(store)
    pairs = []
    ids, meaning = _read_changes(store, model)
    for batch in relating.read_batches(store, ids):
        pairs += relating.relate(batch, store, now, meaning=meaning)
        if pause:
            pause()
    if ids:
        relating.withdraw_unlikely(store, now, meaning)
    relations.save_cursor(store, last, now)
    return pairs


def find_new_pairs(store: Store, model: str = "") -> list[Pair]:
    """Return the pairs that `catch_up` would add; nothing is written."""
    ids, meaning = _read_changes(store, model)
    return [
        pair
        for batch in relating.read_batches(store, ids)
        for memory in batch
        for pair in relating.find_pairs(memory, relating.find_alike(memory, store), store, meaning)
        if not relations.is_known(store, pair.earlier, pair.later)
    ]


def _read_changes(store: Store, model: str) -> tuple[list[str], Meaning | None]:
    ids = relations.list_changed(store, relations.read_cursor(store), model)
    return ids, _load_meaning(store, model) if ids else None


def _load_meaning(store: Store, model: str) -> Meaning | None:
    """Return None where there are no vectors of the model."""
    dimensions = embeddings.dimensions(store, model) if model else 0
    if not dimensions:
        return None
    from ademem.search import dense

    vectors = dense.read_vectors(store, model, dimensions)

    def cosines_of(memory: Memory) -> Cosines | None:
        at = int(vectors.rows.searchsorted(memory.seq))
        if at == len(vectors.rows) or vectors.rows[at] != memory.seq:
            return None
        return dense.Cosines(vectors.matrix[at], vectors)

    return cosines_of
