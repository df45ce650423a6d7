"""How much two sessions were about the same: what was asked, and what was done."""

from __future__ import annotations

import math
import re
from collections import Counter

from ademem.search.query import STOP_WORDS
from ademem.synthesis.procedures.context import in_folder
from ademem.synthesis.procedures.mask import WORDS, masked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from ademem.synthesis.procedures.context import Context, Step

TASK_SHARE = 0.4
"""Weight of what was asked; the rest is what was done."""
STEM_CHARS = 6
"""Letters of a word, its ending off, that tell it: "releases" and "releasing" are one."""
_WORD = re.compile(r"[^\W_]\w*")
_ENDING = re.compile(r"(?:ing|ed|es|e|s)$")


class Likeness:
    """Compares contexts by signals that weigh the more the fewer of them have them."""

    def __init__(
        self,
        contexts: Sequence[Context],
        meant: Callable[[str, str], float | None] = lambda _one, _other: None,
    ) -> None:
        """*meant* tells the cosine of two contexts by their ids, or None without their vectors."""
        self._meant = meant
        self._words = {each.id: words(each.task) for each in contexts}
        self._signs = {each.id: signs(each.steps) for each in contexts}
        self._rare_words = rarity(self._words.values())
        self._rare_signs = rarity(self._signs.values())

    def of(self, one: Context, other: Context) -> float:
        """0 to 1; of two without steps, what they say alone."""
        task = self.task(one, other)
        if not one.steps and not other.steps:
            return task
        done = shared(self._signs[one.id], self._signs[other.id], self._rare_signs)
        return TASK_SHARE * task + (1 - TASK_SHARE) * done

    def task(self, one: Context, other: Context) -> float:
        """What was asked alone: 0 to 1."""
        cosine = self._meant(one.id, other.id)
        if cosine is not None:
            return max(0.0, min(1.0, cosine))
        return shared(self._words[one.id], self._words[other.id], self._rare_words)


def words(text: str) -> frozenset[str]:
    """The telling words of a task, stemmed, without what differs each time."""
    found = _WORD.findall(masked(text))
    kept = (word.lower() for word in found if word not in WORDS)
    return frozenset(_ENDING.sub("", word)[:STEM_CHARS] for word in kept if word not in STOP_WORDS)


def signs(steps: Iterable[Step]) -> frozenset[str]:
    """What was done, files by folder and ending: the file itself differs from task to task."""
    return frozenset(in_folder(step).sign for step in steps)


def rarity(sets: Iterable[frozenset[str]]) -> dict[str, float]:
    """1 for what all have, and more the fewer have it: 1 + ln(N / n).

    What one alone has counts as what all have: it tells nothing of what two have in common.
    """
    given = list(sets)
    counts = Counter(item for items in given for item in items)
    return {
        item: 1 + math.log(len(given) / count) if count > 1 else 1.0
        for item, count in counts.items()
    }


def shared(one: frozenset[str], other: frozenset[str], weights: Mapping[str, float]) -> float:
    """Cosine of two sets whose members have weights; 0 when either is empty."""
    if not one or not other:
        return 0.0
    both = sum(weights[item] ** 2 for item in one & other)
    sizes = (sum(weights[item] ** 2 for item in items) for items in (one, other))
    return both / math.sqrt(math.prod(sizes))
