"""The evidence that a memory is about a text, and the choice of memories to show unasked.

The weights are those of a logistic regression, which `bench/README.md` describes.
"""

from __future__ import annotations

import math

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ademem.search.ranking import Hit

ANSWER = -2.5
"""Evidence from which the best hit answers a reader who asked; below it, all hits are weak."""
BESIDE = -3.0
"""Evidence below which a hit beside one that answers is weak."""
GAP = 4.0
"""Difference in evidence to the best hit above which a hit beside it is weak."""
PROMPT = -1.9
"""Evidence from which a prompt or an error is shown a memory."""
DENIAL = 0.0
"""Evidence from which a call may be stopped for a memory."""
CUT = 2.5
"""Largest difference in evidence between the best hit and a further one that is shown."""
MOST = 2
LOOKED_AT = 5

NEAREST = 10
"""The cosine of this row, by nearness, tells how near the store as a whole is to a text."""
FEW_ROWS = 0.2
"""The same cosine for a store with fewer rows."""


def weigh(signals: Mapping[str, float], asked: float, background: float) -> float:
    """Log odds that the row is about the text that these signals compare it with.

    *asked* is the information of the text as part of a full answer, *background* the cosine of the
    tenth nearest row: other topics of the same project are near its prompts as well, and those of
    another project are equally far from all rows.
    """
    # Between the share of the text, next to nothing for a long one, and that of a full answer.
    share = max(signals["share"], signals.get("near_share", 0.0)) / math.sqrt(max(asked, 1.0))
    if "cosine" in signals:
        return 9.66 * signals["cosine"] - 8.56 * background + 4.54 * share - 4.85
    return 7.13 * share - 4.50


def background(cosines: Iterable[float]) -> float:
    nearest = sorted(cosines, reverse=True)
    return nearest[NEAREST - 1] if len(nearest) >= NEAREST else FEW_ROWS


def least_shown(weighed: Iterable[float], floor: float) -> float:
    """Evidence of the least hit that may be shown: infinite if even the best is below *floor*."""
    best = max(weighed, default=-math.inf)
    return best - CUT if best >= floor else math.inf


def least_answering(best: float, *, beside_best: bool = True) -> float:
    """Evidence of the least hit that is not weak: infinite if even the best answers nothing."""
    if best < ANSWER:
        return math.inf
    return max(BESIDE, best - GAP) if beside_best else BESIDE


def choose(hits: Iterable[Hit], *, floor: float, most: int) -> list[Hit]:
    ranked = sorted(hits, key=lambda hit: hit.signals["evidence"], reverse=True)
    least = least_shown((hit.signals["evidence"] for hit in ranked[:1]), floor)
    return [hit for hit in ranked[:most] if hit.signals["evidence"] >= least]
