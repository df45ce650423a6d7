"""Judge texts by linear models of hashed words, which `bench/judge` trains on many authors."""

from __future__ import annotations

import os
import struct
from math import inf, isfinite, sqrt

from ademem.core.caching import cache
from ademem.core.errors import AdememError
from ademem.core.hashed_words import BUCKETS, HashedWords
from ademem.core.json_text import loads
from ademem.core.value import Value

FOLDER = os.path.join(os.path.dirname(__file__), "judges")
MAGIC = b"judgeW01"


class DamagedJudge(AdememError):
    hint = "install ademem again; until then, texts from elsewhere wait for review"


class Held(Value):
    score: float
    limit: float
    piece: str
    because: tuple[str, ...]  # the runs of its words that weigh most


class Judge:
    def __init__(self, weights: memoryview[int], scale: float, bias: float, limit: float) -> None:
        self.weights, self.scale, self.bias, self.limit = weights, scale, bias, limit

    def holds(self, text: str) -> Held | None:
        read = HashedWords(text)
        score, piece = max(self.scores(read), default=(self.limit, (0, 0)))
        return self.explain(read, piece, score) if score > self.limit else None

    def holds_line(self, text: str) -> bool:
        """Tell whether it holds a text of several lines, or one of these, which are read once."""
        read = HashedWords(text)
        parts = [(0, len(read.words)), *read.lines()]
        pieces = (piece for part in dict.fromkeys(parts) for piece in read.pieces(*part))
        return any(self.score(read.features(*piece)) > self.limit for piece in pieces)

    def all_held(self, text: str) -> list[Held]:
        read = HashedWords(text)
        over = (each for each in self.scores(read) if each[0] > self.limit)
        return [self.explain(read, piece, score) for score, piece in over]

    def score_sentence(self, sentence: str) -> float:
        buckets = HashedWords(sentence).sentence_features()
        return self.score(buckets) if buckets else -inf

    def scores(self, read: HashedWords) -> list[tuple[float, tuple[int, int]]]:
        return [(self.score(read.features(*piece)), piece) for piece in read.pieces()]

    def score(self, buckets: set[int]) -> float:
        total = sum(map(self.weights.__getitem__, buckets))
        return self.scale * total / sqrt(len(buckets)) + self.bias

    def explain(self, read: HashedWords, piece: tuple[int, int], score: float) -> Held:
        weigh = self.weights.__getitem__
        places = range(piece[0], piece[1] + 1)
        runs = [(at, end) for at in places for end in places if at < end <= at + 3]
        most: list[tuple[int, int]] = []
        for run in sorted(runs, key=lambda run: -sum(map(weigh, read.features(*run)))):
            if all(run[1] <= low or high <= run[0] for low, high in most):
                most.append(run)
        because = tuple(read.quote(*run) for run in sorted(most[:3]))
        return Held(score=score, limit=self.limit, piece=read.quote(*piece), because=because)


@cache
def load(name: str) -> Judge:
    """Read a judge once a process; raises DamagedJudge."""
    try:
        with open(os.path.join(FOLDER, f"{name}.judge"), "rb") as file:
            magic, scale, bias = struct.unpack("<8sff", file.read(16))
            weights = memoryview(file.read()).cast("b")  # an `array` loads `collections`
        with open(os.path.join(FOLDER, "thresholds.json"), encoding="utf-8") as file:
            limit = float(loads(file.read())[name]["threshold"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError, struct.error) as error:
        raise DamagedJudge(f"the judge {name!r} cannot be read: {error}") from None
    if magic != MAGIC or len(weights) != BUCKETS or not all(map(isfinite, (scale, bias, limit))):
        raise DamagedJudge(f"the judge {name!r} is damaged")
    return Judge(weights, scale, bias, limit)
