"""Cluster work by its tasks and steps."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import timedelta

from ademem.core.text import fold
from ademem.search.query import STOP_WORDS
from ademem.synthesis.procedures.steps import (
    FAILED,
    MASK_WORDS,
    SUCCEEDED,
    Step,
    Work,
    in_folder,
    mask,
)

TASK_SHARE = 0.4
"""Weight of the task in the similarity; the steps have the rest."""
STEM_CHARS = 6
"""Letters of a stem: "releases" and "releasing" are one."""
CONTINUATION = timedelta(hours=1)
"""Time within which a session with the same task continues an unfinished one."""
_WORD = re.compile(r"[^\W_]\w*")
_ENDING = re.compile(r"(?:ing|ed|es|e|s)$")


class Similarity:
    """Compares work by features, each weighted by its rarity."""

    def __init__(
        self,
        works: Sequence[Work],
        cosine: Callable[[str, str], float | None] = lambda _one, _other: None,
    ) -> None:
        """*cosine* returns that of two ids, or None where one has no vector."""
        self._cosine = cosine
        self._words = {each.id: stems(each.task) for each in works}
        self._steps = {each.id: signatures(each.steps) for each in works}
        self._word_weights = rarity(self._words.values())
        self._step_weights = rarity(self._steps.values())

    def of(self, one: Work, other: Work) -> float:
        """Return the similarity, 0 to 1; of two without steps, that of their tasks."""
        task = self.of_tasks(one, other)
        if not one.steps and not other.steps:
            return task
        steps = weighted_cosine(self._steps[one.id], self._steps[other.id], self._step_weights)
        return TASK_SHARE * task + (1 - TASK_SHARE) * steps

    def of_tasks(self, one: Work, other: Work) -> float:
        """Return the cosine of the vectors, else that of the words, 0 to 1."""
        cosine = self._cosine(one.id, other.id)
        if cosine is not None:
            return max(0.0, min(1.0, cosine))
        return weighted_cosine(self._words[one.id], self._words[other.id], self._word_weights)

    def mean(self, work: Work, cluster: Sequence[Work]) -> float:
        return sum(self.of(work, each) for each in cluster) / len(cluster)


def stems(text: str) -> frozenset[str]:
    """Return the stems of a task without stop words and what differs each time."""
    words = (word.lower() for word in _WORD.findall(mask(text)) if word not in MASK_WORDS)
    return frozenset(_ENDING.sub("", word)[:STEM_CHARS] for word in words if word not in STOP_WORDS)


def signatures(steps: Iterable[Step]) -> frozenset[str]:
    """Files count by folder and ending, as the file itself differs from task to task."""
    return frozenset(in_folder(step).signature for step in steps)


def rarity(sets: Iterable[frozenset[str]]) -> dict[str, float]:
    """Weight features by inverse document frequency, 1 + ln(N / n).

    A feature of a single set has weight 1: it tells nothing of what two have in common.
    """
    given = list(sets)
    counts = Counter(item for items in given for item in items)
    return {
        item: 1 + math.log(len(given) / count) if count > 1 else 1.0
        for item, count in counts.items()
    }


def weighted_cosine(
    one: frozenset[str], other: frozenset[str], weights: Mapping[str, float]
) -> float:
    if not one or not other:
        return 0.0
    both = sum(weights[item] ** 2 for item in one & other)
    sizes = (sum(weights[item] ** 2 for item in items) for items in (one, other))
    return both / math.sqrt(math.prod(sizes))


def make_clusters(
    works: Iterable[Work], similarity: Similarity, threshold: float
) -> list[list[Work]]:
    """Add each work to the cluster with the highest mean similarity, or begin a new one.

    Work is added in the order of time, so that later work leaves earlier clusters as they were.
    """
    found: list[list[Work]] = []
    for work in sorted(works, key=lambda each: (each.at, each.id)):
        means = [similarity.mean(work, each) for each in found]
        best = max(range(len(found)), key=means.__getitem__, default=None)
        if best is not None and means[best] >= threshold:
            found[best].append(work)
        else:
            found.append([work])
    return found


def count_distinct(cluster: Sequence[Work]) -> float:
    """Sum the weights of the sessions and missions that did not fail.

    A resumed session counts once, and so does one that soon repeats the task of a session which
    did not succeed.
    """
    weights: dict[str, float] = {}
    previous: dict[str, Work] = {}
    for work in sorted(cluster, key=lambda each: (each.at, each.id)):
        task = fold(work.task)
        earlier = previous.get(task)
        if earlier and earlier.outcome != SUCCEEDED and work.at - earlier.at <= CONTINUATION:
            weights.pop(earlier.session, None)
        previous[task] = work
        if work.outcome != FAILED:
            weights[work.session] = max(weights.get(work.session, 0.0), work.weight)
    return sum(weights.values())


def medoid(cluster: Sequence[Work], similarity: Similarity) -> Work:
    """Return the work most similar to all others; of equals the newest."""
    return max(cluster, key=lambda each: (similarity.mean(each, cluster), each.at, each.id))
