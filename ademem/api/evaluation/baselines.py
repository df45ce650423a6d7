"""What anybody could do with the same memories, so that a figure of ours says something."""

from __future__ import annotations

import re

from ademem.api.evaluation.metrics import DEPTH
from ademem.core.text import fold
from ademem.store import memory_queries

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from ademem.api.evaluation.arena import Arena

    Ranking = Callable[[str, Arena], list[str]]


def ours(query: str, arena: Arena) -> list[str]:
    return arena.search(query)


def bm25(query: str, arena: Arena) -> list[str]:
    """FTS5's own order of the rows that have any of the words."""
    words = re.findall(r"\w+", query)
    return memory_queries.match_any_word(arena.store, words, DEPTH) if words else []


def grep(query: str, arena: Arena) -> list[str]:
    """How many of the words stand anywhere in the text, whatever their case; oldest first."""
    wanted = set(re.findall(r"\w+", fold(query)))
    rows = memory_queries.texts(arena.store)
    counts = [(grep_count(wanted, f"{title or ''} {text}"), id) for id, title, text in rows]
    found = sorted((row for row in counts if row[0]), key=lambda row: -row[0])
    return [id for _, id in found[:DEPTH]]


def grep_count(wanted: set[str], text: str) -> int:
    folded = fold(text)
    return sum(word in folded for word in wanted)


def dense(query: str, arena: Arena) -> list[str]:
    """The nearest vectors alone."""
    from ademem.api.evaluation import reference

    meanings = arena.meanings
    if meanings is None:
        return []
    cosines = meanings.vectors @ meanings.question(query)
    return [meanings.ids[place] for place in reference.dense(cosines, DEPTH)]


def hybrid(query: str, arena: Arena) -> list[str]:
    """ADE's search: 0.30 of BM25, 0.70 of the cosine, MMR."""
    from ademem.api.evaluation import reference

    meanings = arena.meanings
    if meanings is None:
        return []
    question = meanings.question(query)
    places = reference.ranking(query, meanings.texts, meanings.vectors, question, DEPTH)
    return [meanings.ids[place] for place in places]


BASELINES: dict[str, Ranking] = {
    "ademem": ours,
    "30/70 + MMR": hybrid,
    "dense only": dense,
    "BM25 only": bm25,
    "grep": grep,
}
"""Ours, and what stands beside it."""
NEED_A_MODEL = ("30/70 + MMR", "dense only")
