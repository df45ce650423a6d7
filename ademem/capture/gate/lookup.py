"""The live memories of one store, as the rules ask for them."""

from __future__ import annotations

import math
import re

from ademem.capture.gate.distinctions import said
from ademem.capture.gate.persistence import id_of
from ademem.core import text as text_
from ademem.core.json_text import numbers
from ademem.core.minhash import SHARE
from ademem.core.text import is_cjk, jaccard, words
from ademem.store import LIVE, memories, signatures

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ademem.capture.gate.verdict import Reviewed
    from ademem.core.memory import Memory
    from ademem.core.settings import GateSettings
    from ademem.store import Store

SHOWN = 500
"""Newest rows of what a session was shown that are compared with what it says."""
POOL = 32
"""Newest memories looked at of those that share words but have no signature that would tell."""
GROUPS = 16
GROUP = 8
"""Most groups of words they are found by, and most words of one."""

REJECTED = "status = 'archived' and +rejected_at is not null"
"""The sign keeps the planner from the index of all that was refused: it is for one text."""
_HOME = "scope = :scope and ifnull(scope_owner_id, '') = :owner"


class StoreShelf:
    """Looks at the rows of the draft's scope and owner; each look is one indexed query."""

    def __init__(self, store: Store, settings: GateSettings) -> None:
        self._store = store
        self._settings = settings

    def by_topic(self, draft: Reviewed) -> Memory | None:
        return self._one(draft, "topic_key = :key", draft.topic_key)

    def by_key(self, draft: Reviewed) -> Memory | None:
        return self._one(draft, "knowledge_key = :key", draft.knowledge_key)

    def exact(self, draft: Reviewed) -> Memory | None:
        return self._one(draft, "dedupe_key = :key", draft.dedupe_key)

    def near(self, draft: Reviewed, least: float = 0.0) -> list[Memory]:
        """By signature, and by words where signatures do not tell, newest first."""
        return self._alike(draft, f"{LIVE} and quarantine_reason is null", least)

    def rejected(self, draft: Reviewed) -> list[Memory]:
        """Those of its text or key, and those that may say almost the same."""
        refused = "select 1 from unified_memories where project_id = ? and rejected_at is not null"
        if not self._store.db.execute(f"{refused} limit 1", (self._store.project_id,)).fetchone():
            return []
        same = self._refused(
            draft, "dedupe_key = :key and rejected_at is not null", draft.dedupe_key
        )
        if draft.knowledge_key:
            same += self._refused(draft, "knowledge_key = :key", draft.knowledge_key)
        return [*same, *self._alike(draft, REJECTED, self._settings.near_duplicate)]

    def _refused(self, draft: Reviewed, where: str, key: str) -> list[Memory]:
        """By one key at a time, as each has an index of its own."""
        return memories.find(
            self._store,
            f"{_HOME} and {where} and {REJECTED}",
            scope=draft.scope,
            owner=draft.owner or "",
            key=key,
        )

    def _alike(self, draft: Reviewed, where: str, least: float) -> list[Memory]:
        """Those that share *least* of the words or more."""
        text = said(draft)
        texts: dict[int, str] = {}
        met = signatures.alike(self._store.db, text, draft.scope, draft.owner, least)
        if met:
            listed = "select value as seq from json_each(:met)"
            texts = self._texts(draft, where, listed, met=numbers(met))
        last = self._last_unsigned()
        if last is not None:
            texts |= self._worded(draft, where, last)
        mine = words(text)
        near = [
            seq
            for seq, theirs in texts.items()
            if not least or jaccard(mine, words(theirs)) >= least
        ]
        if not near:
            return []
        wanted = "seq in (select value from json_each(:near))"
        return memories.find(self._store, wanted, "order by seq desc", near=numbers(near))

    def _last_unsigned(self) -> int | None:
        """Up to where near duplicates can be without a signature in common."""
        if self._settings.near_duplicate < SHARE:
            return 2**62
        return signatures.last_unsigned(self._store.db)

    def _worded(self, draft: Reviewed, where: str, last: int) -> dict[int, str]:
        index, groups = _probes(said(draft), self._settings.near_duplicate)
        if not groups:
            return {}
        return self._texts(
            draft,
            where,
            f"select rowid as seq from {index} where {index} match :probe and rowid <= :last"
            f" order by rowid desc limit {POOL}",
            probe=" OR ".join(f"({' AND '.join(group)})" for group in groups),
            last=last,
        )

    def _texts(self, draft: Reviewed, where: str, seqs: str, **values: Any) -> dict[int, str]:
        """What those of the *seqs*, a query, say for which the condition holds."""
        found = self._store.db.execute(
            f"select memory.seq, title, content from ({seqs}) as hit"
            " cross join unified_memories as memory on memory.seq = hit.seq"
            f" where project_id = :project and {_HOME} and {where}",
            values
            | {
                "project": self._store.project_id,
                "scope": draft.scope,
                "owner": draft.owner or "",
            },
        )
        return {seq: text_.said(title, content) for seq, title, content in found}

    def shown(self, draft: Reviewed) -> list[Memory]:
        """What the session saw last: looked up one by one, whatever the size of the store."""
        rows = self._store.db.execute(
            "select memory.* from (select distinct memory_id from (select memory_id from recall_log"
            " where session_id = :session and memory_id is not null order by id desc limit :most))"
            " as seen cross join unified_memories as memory on memory.id = seen.memory_id"
            " where memory.project_id = :project order by memory.seq",
            {
                "session": draft.origin.session_id,
                "most": SHOWN,
                "project": self._store.project_id,
            },
        )
        return memories.from_rows(rows)

    def _one(self, draft: Reviewed, where: str, key: str | None) -> Memory | None:
        found = memories.find(
            self._store,
            f"{_HOME} and {where} and {LIVE}",
            "order by seq desc limit 1",
            scope=draft.scope,
            owner=draft.owner or "",
            key=key,
        )
        return found[0] if found else None


def is_taken(store: Store, sync_id: str) -> bool:
    """Whether a memory has the name, or had it before it was deleted for good."""
    row = store.db.execute(
        "select exists (select 1 from unified_memories where id = :id)"
        " or exists (select 1 from unified_memories where sync_id = :sync_id)"
        " or exists (select 1 from memory_revisions where memory_id = :id)",
        {"id": id_of(sync_id), "sync_id": sync_id},
    ).fetchone()
    return bool(row[0])


def _probes(text: str, share: float) -> tuple[str, list[list[str]]]:
    """The index to ask, and groups of quoted words.

    A text that shares so much of *text* lacks at most `missing` of its words, so it has all the
    words of one group, if there is a group more than that. Long words first: they are rare.
    """
    missing = math.floor((1 - share) * len(words(text)))
    tokens = list({token.lower(): token for token in re.findall(r"[^\W_]\w*", text)}.values())
    index = "unified_memories_fts"
    if is_cjk(text):  # no blanks: the trigram index knows pieces of three signs
        tokens = [token[at : at + 3] for token in tokens for at in range(0, len(token) - 2, 3)]
        missing *= 2
        index = "unified_memories_trigram"
    tokens.sort(key=len, reverse=True)
    count = min(missing + 1, GROUPS, len(tokens))
    used = [f'"{token}"' for token in tokens[: count * GROUP]]
    return index, [used[at::count] for at in range(count)]
