"""A search that counts as use."""

from __future__ import annotations

from ademem.core.aging import accessed
from ademem.core.redaction import redact
from ademem.core.text import preview
from ademem.search.engine import as_shown, search
from ademem.store import logs, memories
from ademem.store.database import is_unwritable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime

    from ademem.core.settings import SearchSettings
    from ademem.core.turn import TurnKey
    from ademem.search.embedding import Embedder
    from ademem.search.engine import Filters, Results
    from ademem.store import Store

LOGGED_CHARS = 500


def recall(
    query: str,
    store: Store,
    settings: SearchSettings,
    filters: Filters,
    now: datetime,
    limit: int | None = None,
    *,
    place: str = "recall",
    key: TurnKey | None = None,
    embedder: Embedder | None = None,
) -> Results:
    """Search, count one access of each memory returned, and log what was shown in which turn."""
    results = search(query, store, settings, filters, now, limit, embedder)
    shown = as_shown(results.hits)
    said = preview(redact(query).text, LOGGED_CHARS)
    try:
        with store.transaction():
            for hit in results.hits:
                memories.touch(store, hit.memory, accessed(hit.signals["access"]), now)
            logs.shown(store, place, shown, now, key=key, query=said)
    except store.db.OperationalError as error:
        if not is_unwritable(error):  # else the answer is worth more than the count
            raise
    return results
