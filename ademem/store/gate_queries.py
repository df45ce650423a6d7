"""Queries of the write gate: memories of one scope and owner that a draft may repeat."""

from __future__ import annotations

from ademem.core import text as text_
from ademem.core.json_text import numbers
from ademem.store import LIVE, memories

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, Literal

    from ademem.core.memory import Memory
    from ademem.store import Store

    Key = Literal["topic_key", "knowledge_key", "dedupe_key"]
    Index = Literal["unified_memories_fts", "unified_memories_trigram"]

_HOME = "scope = :scope and ifnull(scope_owner_id, '') = :owner"
_CURRENT = f"{LIVE} and quarantine_reason is null"
# The plus keeps the planner from the index of all rejected rows: a query here is for one text.
_REJECTED = "status = 'archived' and +rejected_at is not null"


class Home:
    """The memories of a scope and owner; each method is one indexed query."""

    def __init__(self, store: Store, scope: str, owner: str | None) -> None:
        self._store = store
        self._values = {"scope": scope, "owner": owner or ""}

    def live_by(self, key: Key, value: str | None) -> Memory | None:
        """The newest live memory with this key."""
        where = f"{_HOME} and {key} = :key and {LIVE}"
        found = self._find(where, "order by seq desc limit 1", key=value)
        return found[0] if found else None

    def rejected_by(self, key: Key, value: str) -> list[Memory]:
        # `rejected_at` again, without the plus: the index of rejected texts begins with it.
        indexed = " and rejected_at is not null" if key == "dedupe_key" else ""
        return self._find(f"{_HOME} and {key} = :key{indexed} and {_REJECTED}", key=value)

    def matching_texts(
        self, index: Index, match: str, limit: int, *, rejected: bool
    ) -> dict[int, str]:
        """Text by row number, of the newest rows that match in a full-text index.

        Of rejected memories, or of live ones that are not quarantined.
        """
        found = self._store.db.execute(
            "select memory.seq, title, content from ("
            f"  select rowid as seq from {index} where {index} match :match"
            "  order by rowid desc limit :limit"
            ") as hit cross join unified_memories as memory on memory.seq = hit.seq"
            f" where project_id = :project and {_HOME}"
            f" and {_REJECTED if rejected else _CURRENT}",
            {"match": match, "limit": limit, "project": self._store.project_id} | self._values,
        )
        return {seq: text_.with_title(title, content) for seq, title, content in found}

    def _find(self, where: str, tail: str = "", **values: Any) -> list[Memory]:
        return memories.find(self._store, where, tail, **values, **self._values)


def by_seqs(store: Store, seqs: Iterable[int]) -> list[Memory]:
    """The memories in these rows, newest first."""
    where = "seq in (select value from json_each(:seqs))"
    return memories.find(store, where, "order by seq desc", seqs=numbers(seqs))


def has_rejected(store: Store) -> bool:
    query = "select 1 from unified_memories where project_id = ? and rejected_at is not null"
    return store.db.execute(f"{query} limit 1", (store.project_id,)).fetchone() is not None
