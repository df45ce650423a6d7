"""Sessions that did the same kind of thing."""

from __future__ import annotations

from datetime import timedelta

from ademem.core.text import fold
from ademem.synthesis.procedures.context import FAILED, SUCCEEDED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ademem.synthesis.procedures.context import Context
    from ademem.synthesis.procedures.similarity import Likeness

GOES_ON = timedelta(hours=1)
"""Within it a session that is asked the same goes on with what the one before did not finish."""


def clusters(
    contexts: Iterable[Context], likeness: Likeness, threshold: float
) -> list[list[Context]]:
    """Each context joins the cluster it is like on average, the most alike first, or is a new one.

    They come in the order of time, so that what came later changes nothing of what was.
    """
    found: list[list[Context]] = []
    for context in sorted(contexts, key=lambda each: (each.at, each.id)):
        best = max(found, key=lambda each: _mean(context, each, likeness), default=None)
        if best is not None and _mean(context, best, likeness) >= threshold:
            best.append(context)
        else:
            found.append([context])
    return found


def distinct(cluster: Sequence[Context]) -> float:
    """How many contexts it counts for that did not fail.

    One a mission or session, however often it was resumed; a session that is soon asked the same
    as one which did not succeed goes on with it.
    """
    heavy: dict[str, float] = {}
    before: dict[str, Context] = {}
    for context in sorted(cluster, key=lambda each: (each.at, each.id)):
        asked = fold(context.task)
        earlier = before.get(asked)
        if earlier and earlier.outcome != SUCCEEDED and context.at - earlier.at <= GOES_ON:
            heavy.pop(earlier.session, None)
        before[asked] = context
        if context.outcome != FAILED:
            heavy[context.session] = max(heavy.get(context.session, 0.0), context.weight)
    return sum(heavy.values())


def medoid(cluster: Sequence[Context], likeness: Likeness) -> Context:
    """The one most like all others; of equals the newest."""
    return max(cluster, key=lambda each: (_mean(each, cluster, likeness), each.at, each.id))


def _mean(context: Context, cluster: Sequence[Context], likeness: Likeness) -> float:
    return sum(likeness.of(context, each) for each in cluster) / len(cluster)
