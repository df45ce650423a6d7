"""Find the memories of a store that the rules compare with a draft."""

from __future__ import annotations

import math
import re

from ademem.capture.gate.duplicates import NEAR_DUPLICATE, compared_text
from ademem.capture.gate.rows import id_of
from ademem.core.text import is_cjk, jaccard, words
from ademem.store import gate_queries, memory_queries
from ademem.store.gate_queries import Home

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ademem.capture.gate.verdict import Reviewed
    from ademem.core.memory import Memory
    from ademem.store import Store
    from ademem.store.gate_queries import Index

SHOWN = 500
"""Newest rows of what a session was shown that are compared with what it says."""
POOL = 500
"""Newest memories compared of those that share a group of words with a draft."""
GROUPS = 64
GROUP = 8
"""Most groups of words in a query, and most words of one."""


class StoreLookup:
    """Lookup in the draft's scope and owner; each method is one indexed query."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def by_topic(self, draft: Reviewed) -> Memory | None:
        return self._home(draft).live_by("topic_key", draft.topic_key)

    def by_key(self, draft: Reviewed) -> Memory | None:
        return self._home(draft).live_by("knowledge_key", draft.knowledge_key)

    def exact(self, draft: Reviewed) -> Memory | None:
        return self._home(draft).live_by("dedupe_key", draft.dedupe_key)

    def near(self, draft: Reviewed, least: float = 0.0) -> list[Memory]:
        """Find by common words, newest first."""
        return self._find_alike(draft, least, rejected=False)

    def rejected(self, draft: Reviewed) -> list[Memory]:
        """Find rejected memories with the same text or key, and near duplicates."""
        if not gate_queries.has_rejected(self._store):
            return []
        same = self._home(draft).rejected_by("dedupe_key", draft.dedupe_key)
        if draft.knowledge_key:
            same += self._home(draft).rejected_by("knowledge_key", draft.knowledge_key)
        alike = self._find_alike(draft, NEAR_DUPLICATE, rejected=True)
        return [*same, *alike]

    def shown(self, draft: Reviewed) -> list[Memory]:
        """Memories that the session was shown last."""
        return memory_queries.shown_in_session(self._store, draft.origin.session_id, SHOWN)

    def _home(self, draft: Reviewed) -> Home:
        return Home(self._store, draft.scope, draft.owner)

    def _find_alike(self, draft: Reviewed, least: float, *, rejected: bool) -> list[Memory]:
        """Memories that share *least* of the words or more."""
        text = compared_text(draft)
        home = self._home(draft)
        index, groups = _probes(text, NEAR_DUPLICATE)
        if not groups:
            return []
        match = " OR ".join(f"({' AND '.join(group)})" for group in groups)
        texts = home.matching_texts(index, match, POOL, rejected=rejected)
        mine = words(text)
        near = [
            seq
            for seq, theirs in texts.items()
            if not least or jaccard(mine, words(theirs)) >= least
        ]
        return gate_queries.by_seqs(self._store, near) if near else []


def is_taken(store: Store, sync_id: str) -> bool:
    """Return True if a memory has the name, or had it before it was deleted for good."""
    return memory_queries.is_id_used(store, id_of(sync_id), sync_id)


def _probes(text: str, share: float) -> tuple[Index, list[list[str]]]:
    """Return an index and groups of quoted words, of which a near duplicate has one in full.

    A text that shares so much of *text* lacks at most `missing` of its words, and there is one
    group more than that. Long words first: they are rare.
    """
    missing = math.floor((1 - share) * len(words(text)))
    tokens = list({token.lower(): token for token in re.findall(r"[^\W_]\w*", text)}.values())
    index: Index = "unified_memories_fts"
    if is_cjk(text):  # no blanks: the trigram index knows pieces of three signs
        tokens = [token[at : at + 3] for token in tokens for at in range(0, len(token) - 2, 3)]
        missing *= 2
        index = "unified_memories_trigram"
    tokens.sort(key=len, reverse=True)
    count = min(missing + 1, GROUPS, len(tokens))
    used = [f'"{token}"' for token in tokens[: count * GROUP]]
    return index, [used[at::count] for at in range(count)]
