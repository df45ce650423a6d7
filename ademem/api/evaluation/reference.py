"""The hybrid search of ADE as it is specified, over the same vectors: what ours has to beat.

Every word of the query has to be there; BM25 and cosine count 0.30 and 0.70; MMR picks.
"""

from __future__ import annotations

import math
import re
from collections import Counter

import numpy as np

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

K1, B = 1.2, 0.75
BM25_WEIGHT, COSINE_WEIGHT = 0.30, 0.70
LAMBDA = 0.7
POOL = 8
"""Nearest vectors looked at, in limits; 40 at least."""
LEAST_POOL = 40


def dense(cosines: Floats, limit: int) -> list[int]:
    """Places of the nearest, of equally near ones the first."""
    return [int(place) for place in np.argsort(-cosines, kind="stable")[:limit]]


def ranking(
    query: str, texts: Sequence[str], vectors: Floats, question: Floats, limit: int
) -> list[int]:
    """Places of the texts that answer, best first; *vectors* and *question* are unit rows."""

    lexical = bm25(tokens(query), [tokens(text) for text in texts])
    cosines = np.clip(vectors @ question, 0.0, 1.0)
    nearest = dense(cosines, max(LEAST_POOL, POOL * limit))
    pool = sorted({*lexical, *nearest})
    saturated = saturate(lexical)
    scores = {place: hybrid(saturated.get(place, 0.0), float(cosines[place])) for place in pool}
    return mmr(scores, vectors, limit)


def hybrid(lexical: float, cosine: float) -> float:
    return BM25_WEIGHT * lexical + COSINE_WEIGHT * cosine


def tokens(text: str) -> list[str]:
    return [token for token in re.split(r"[^a-z0-9_]+", text.lower()) if token]


def bm25(query: Sequence[str], texts: Sequence[Sequence[str]]) -> dict[int, float]:
    """The score of each text that has every token; nothing without tokens."""
    counts = [Counter(text) for text in texts]
    wanted = list(dict.fromkeys(query))
    holding = {word: sum(word in count for count in counts) for word in wanted}
    average = sum(map(len, texts)) / len(texts) if texts else 0.0
    return {
        place: sum(
            term(count[word], len(texts[place]), average, len(texts), holding[word])
            for word in wanted
        )
        for place, count in enumerate(counts)
        if wanted and all(word in count for word in wanted)
    }


def term(count: int, length: int, average: float, total: int, holding: int) -> float:
    """What one word adds: *count* times in a text of *length*, held by *holding* of *total*."""
    idf = math.log((total - holding + 0.5) / (holding + 0.5) + 1)
    return idf * count * (K1 + 1) / (count + K1 * (1 - B + B * length / average))


def saturate(scores: dict[int, float]) -> dict[int, float]:
    """Each score over itself and the median of those above zero."""
    positive = [score for score in scores.values() if score > 0]
    middle = max(float(np.median(positive)), np.finfo(float).eps) if positive else 1.0
    return {place: score / (score + middle) for place, score in scores.items()}


def mmr(scores: dict[int, float], vectors: Floats, limit: int) -> list[int]:
    """Greedy: score against likeness to what was picked; of equals the first."""
    picked: list[int] = []
    left = sorted(scores, key=lambda place: -scores[place])
    alike = dict.fromkeys(left, 0.0)
    while left and len(picked) < limit:
        best = max(left, key=lambda place: LAMBDA * scores[place] - (1 - LAMBDA) * alike[place])
        left.remove(best)
        picked.append(best)
        for place, cosine in zip(left, vectors[left] @ vectors[best], strict=True):
            alike[place] = max(alike[place], float(cosine))
    return picked
