"""The steps that sessions have in common, in their order."""

from __future__ import annotations

import math
from collections import Counter

from ademem.core.value import replace
from ademem.synthesis.procedures.context import Step, anywhere, in_folder
from ademem.synthesis.procedures.mask import common as common_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    Steps = tuple[Step, ...]

LEVELS: tuple[Callable[[Step], Step], ...] = (lambda step: step, in_folder, anywhere)
"""How closely a file can be named, the closest first."""


def distil(sessions: Sequence[Steps], share: float) -> Steps:
    """Of the session that has most in common with the others, the steps that *share* of all have.

    Files that differ are told by their folder and ending, arguments that differ by a word in
    capitals.
    """
    told = _generalised([steps for steps in sessions if steps], share)
    if not told:
        return ()
    needed = math.ceil(share * len(told))
    pairs = {at: [aligned(told[at], other) for other in told] for at in range(len(told))}
    most = max(pairs, key=lambda at: (sum(map(len, pairs[at])), at))
    kept = []
    for place, step in enumerate(told[most]):
        matches = [pair[place] for pair in pairs[most] if place in pair]
        if len(matches) >= needed:
            lines = [told[other][pair[place]].words for other, pair in _with(pairs[most], place)]
            kept.append(replace(step, words=tuple(common_words(lines))))
    return tuple(kept)


def aligned(one: Steps, other: Steps) -> dict[int, int]:
    """Places in *one* and where the same step stands in *other*: a longest common sequence."""
    rows = [[0] * (len(other) + 1) for _ in range(len(one) + 1)]
    for at in range(len(one) - 1, -1, -1):
        for there in range(len(other) - 1, -1, -1):
            rows[at][there] = (
                rows[at + 1][there + 1] + 1
                if one[at].sign == other[there].sign
                else max(rows[at + 1][there], rows[at][there + 1])
            )
    return dict(_walk(one, other, rows))


def followed(steps: Steps, session: Steps) -> float:
    """The share of the steps that a session took in their order; 0 without steps."""
    return len(aligned(steps, session)) / len(steps) if steps else 0.0


def same(one: Steps, other: Steps) -> float:
    """How much two ways of doing it agree: common steps over all of the longer."""
    longer = max(len(one), len(other))
    return len(aligned(one, other)) / longer if longer else 1.0


def telling(steps: Steps, others: Sequence[Steps], rare: float) -> Steps:
    """Those that at most *rare* of other sessions take, which tell it from what all do."""
    told = [_signs(other) for other in others]
    return tuple(
        step for step in steps if sum(step.sign in signs for signs in told) <= rare * len(told)
    )


def _signs(steps: Iterable[Step]) -> set[str]:
    return {level(step).sign for step in steps for level in LEVELS}


def _walk(one: Steps, other: Steps, rows: list[list[int]]) -> Iterator[tuple[int, int]]:
    at = there = 0
    while at < len(one) and there < len(other):
        if one[at].sign == other[there].sign:
            yield at, there
            at, there = at + 1, there + 1
        elif rows[at + 1][there] >= rows[at][there + 1]:
            at += 1
        else:
            there += 1


def _with(pairs: list[dict[int, int]], place: int) -> Iterator[tuple[int, dict[int, int]]]:
    return ((other, pair) for other, pair in enumerate(pairs) if place in pair)


def _generalised(sessions: Sequence[Steps], share: float) -> list[Steps]:
    """Files named as closely as *share* of the sessions agree on."""
    needed = math.ceil(share * len(sessions))
    counts = [
        Counter(sign for steps in sessions for sign in {level(step).sign for step in steps})
        for level in LEVELS
    ]

    def told(step: Step) -> Step:
        for level, count in zip(LEVELS, counts, strict=True):
            if count[level(step).sign] >= needed:
                return level(step)
        return step

    return [_collapsed([told(step) for step in steps]) for steps in sessions]


def _collapsed(steps: Sequence[Step]) -> Steps:
    return tuple(step for at, step in enumerate(steps) if not at or steps[at - 1].sign != step.sign)
