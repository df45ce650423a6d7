"""The evidence that a memory is about a text, and the choice of memories to show unasked.

The weights are those of a logistic regression, which `bench/README.md` describes.
"""

from __future__ import annotations

from ademem.core.floors import VALUES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ademem.search.ranking import Hit

INFINITE = float("inf")  # a hook need not load `math` for it

ANSWER, BESIDE, ERROR = VALUES["answer"], VALUES["beside"], VALUES["error"]
GAP, CUT, NEWER = VALUES["gap"], VALUES["cut"], VALUES["newer"]
NEWER_GAP = VALUES["newer, gap"]
MOST = 1
LOOKED_AT = 5

MOST_ASKED = 6.0
"""Full answers that a prompt asks for, above which it helps no more to say more."""

NEAREST = 10
"""The cosine of this row, by nearness, tells how near the store as a whole is to a text."""
FEW_ROWS = VALUES["few rows"]
"""The same cosine for a store with fewer rows."""


def prompt_floor(mode: str) -> float:
    """Evidence from which a prompt is shown a memory; *mode* is that of the search."""
    return VALUES[f"prompt, {mode}"]


def weigh(signals: Mapping[str, float], asked: float, background: float) -> float:
    """Log odds that the row is about the text that these signals compare it with.

    *asked* is the information of the text as part of a full answer, *background* the cosine of the
    tenth nearest row: other topics of the same project are near its prompts as well, and those of
    another project are equally far from all rows.
    """
    share = _share(signals, asked)
    if "cosine" in signals:
        return 9.66 * signals["cosine"] - 8.56 * background + 4.54 * share - 4.85
    return 7.13 * share - 4.50


def weigh_prompt(signals: Mapping[str, float], asked: float) -> float:
    """Log odds that the row helps with a prompt, by a logistic regression on those of 13 authors.

    *asked* is that of `weigh`: the same share of a prompt is more of one that says more.
    """
    share = _matched(signals)
    if "cosine" in signals:
        return 11.6 * signals["cosine"] + 5.0 * share + 0.59 * min(asked, MOST_ASKED) - 10.25
    return 7.7 * share - 6.5


def weigh_subject(signals: Mapping[str, float], asked: float, background: float) -> float:
    """How much a row with a vector, and the rows around it, are about the subject of the text.

    The evidence compares a row with the others, and for any subject one of them is ahead. Here what
    the others are about speaks for it: the background counts as much as the words.
    """
    return signals["cosine"] + (background + _share(signals, asked)) / 2


def _share(signals: Mapping[str, float], asked: float) -> float:
    """Between the share of the text, next to nothing for a long one, and that of a full answer."""
    return float(_matched(signals) / max(asked, 1.0) ** 0.5)


def _matched(signals: Mapping[str, float]) -> float:
    return max(signals["share"], signals.get("near_share", 0.0))


def background(cosines: Iterable[float]) -> float:
    nearest = sorted(cosines, reverse=True)
    return nearest[NEAREST - 1] if len(nearest) >= NEAREST else FEW_ROWS


def least_shown(weighed: Iterable[float], floor: float) -> float:
    """Evidence of the least hit that may be shown: infinite if even the best is below *floor*."""
    best = max(weighed, default=-INFINITE)
    return best - CUT if best >= floor else INFINITE


def is_outdated_by(cosine: float, *, gap: float) -> bool:
    """Tell whether the newer of two neighbours takes the place of the earlier before a prompt.

    *gap* is how much less the newer helps; what is not among the hits helps `CUT` less.
    """
    return cosine >= NEWER + NEWER_GAP * min(max(gap, 0.0), CUT)


def is_answer(signals: Mapping[str, float], *, is_english: bool) -> bool:
    """Tell whether a hit alone answers a reader who asked; the first model reads English alone."""
    if "subject" in signals:
        return signals["subject"] >= VALUES["subject" if is_english else "subject, foreign"]
    return signals["evidence"] >= ANSWER


def least_answering(best: float, *, beside_best: bool = True) -> float:
    """Evidence of the least hit that is not weak, by that of the *best* that answers."""
    if best == -INFINITE:
        return INFINITE
    return min(best, max(BESIDE, best - GAP) if beside_best else BESIDE)


def choose(hits: Iterable[Hit], *, floor: float, most: int) -> list[Hit]:
    ranked = sorted(hits, key=lambda hit: hit.signals["helps"], reverse=True)
    least = least_shown((hit.signals["helps"] for hit in ranked[:1]), floor)
    return [hit for hit in ranked[:most] if hit.signals["helps"] >= least]
