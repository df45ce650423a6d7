"""The evidence that a memory is about a text, and the choice of memories to show unasked.

The weights are those of a logistic regression, which `bench/README.md` describes.
"""

from __future__ import annotations

from ademem.core.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ademem.search.ranking import Hit

INFINITE = float("inf")  # a hook need not load `math` for it


class Floor(Value):
    """A line of evidence, and the figures that it was chosen by."""

    name: str
    value: float
    purpose: str
    chosen_on: str
    figures: str
    """What it gives there."""
    left_out: str
    """Author whose texts were not used to choose it, with what it gives on them; "" for none."""
    date: str


FLOORS: tuple[Floor, ...] = (
    Floor(
        name="prompt, hybrid",
        value=-1.3,
        purpose="the best memory is shown with a prompt, where vectors were compared",
        chosen_on="prompts of the notes: 29 with an answer, 50 far, 50 near",
        figures="right 76 %, far 4 %, near 8 %",
        left_out="questions of strangers, 60 and 60 near: right 73 %, near 13 %",
        date="2026-11-29",
    ),
    Floor(
        name="prompt, foreign",
        value=-1.9,
        purpose="the same for a prompt that is not English, which the second model reads",
        chosen_on="kept as it was: too few prompts to choose by",
        figures="",
        left_out="",
        date="2026-11-29",
    ),
    Floor(
        name="prompt, lexical",
        value=-1.9,
        purpose="the same, where words alone decide",
        chosen_on="prompts of the notes: 29 with an answer, 50 far, 50 near",
        figures="right 83 %, far 6 %, near 10 %",
        left_out="questions of strangers, 60 and 60 near: right 60 %, near 23 %",
        date="2026-11-29",
    ),
    Floor(
        name="error",
        value=-1.9,
        purpose="a memory is shown with a failed command whose code it does not name",
        chosen_on="prompts of two stores",
        figures="of prompts of the notes, by words: right 83 %, far 6 %, near 10 %",
        left_out="failures of strangers: tests/strangers",
        date="2026-11-26",
    ),
    Floor(
        name="answer",
        value=-2.5,
        purpose="the best hit answers a reader who asked; below it, all hits are weak",
        chosen_on="questions of two stores and those of other projects",
        figures="with vectors, of the notes: answered 91 %, of other stores 42 %",
        left_out="memories of strangers: answered 95 %, of other stores 39 %",
        date="2026-11-26",
    ),
    Floor(
        name="topic",
        value=0.32,
        purpose="cosine below which a hit answers a question in English by clear evidence alone",
        chosen_on="questions of the notes, of docs and of a stranger, and 60 of another subject",
        figures="rightly 85 % (before 87), 67 (72), 88 (88); others 17 % (30), 8 (18), 12 (30)",
        left_out="questions of another stranger: answered rightly 69 % (69), others 7 % (18)",
        date="2026-11-29",
    ),
    Floor(
        name="clear",
        value=-1.5,
        purpose="evidence from which a hit answers however far its vector is",
        chosen_on="the same as topic; -1.25 and -1 differ by a point at most",
        figures="",
        left_out="",
        date="2026-11-29",
    ),
    Floor(
        name="beside",
        value=-3.0,
        purpose="a hit beside one that answers is not weak",
        chosen_on="questions of two stores",
        figures="",
        left_out="",
        date="2026-11-26",
    ),
)
"""Every line that evidence is compared with, by what it decides."""
_BY_NAME = {floor.name: floor.value for floor in FLOORS}
ANSWER, BESIDE, ERROR = _BY_NAME["answer"], _BY_NAME["beside"], _BY_NAME["error"]
TOPIC, CLEAR = _BY_NAME["topic"], _BY_NAME["clear"]
GAP = 4.0
"""Difference in evidence to the best hit above which a hit beside it is weak."""
CUT = 2.5
"""Largest difference in evidence between the best hit and a further one that is shown."""
MOST = 1
LOOKED_AT = 5

NEAREST = 10
"""The cosine of this row, by nearness, tells how near the store as a whole is to a text."""
FEW_ROWS = 0.2
"""The same cosine for a store with fewer rows."""


def prompt_floor(mode: str, *, is_english: bool = True) -> float:
    """Evidence from which a prompt is shown a memory; *mode* is that of the search."""
    return _BY_NAME["prompt, foreign" if mode == "hybrid" and not is_english else f"prompt, {mode}"]


def weigh(signals: Mapping[str, float], asked: float, background: float) -> float:
    """Log odds that the row is about the text that these signals compare it with.

    *asked* is the information of the text as part of a full answer, *background* the cosine of the
    tenth nearest row: other topics of the same project are near its prompts as well, and those of
    another project are equally far from all rows.
    """
    # Between the share of the text, next to nothing for a long one, and that of a full answer.
    share: float = max(signals["share"], signals.get("near_share", 0.0)) / max(asked, 1.0) ** 0.5
    if "cosine" in signals:
        return 9.66 * signals["cosine"] - 8.56 * background + 4.54 * share - 4.85
    return 7.13 * share - 4.50


def background(cosines: Iterable[float]) -> float:
    nearest = sorted(cosines, reverse=True)
    return nearest[NEAREST - 1] if len(nearest) >= NEAREST else FEW_ROWS


def least_shown(weighed: Iterable[float], floor: float) -> float:
    """Evidence of the least hit that may be shown: infinite if even the best is below *floor*."""
    best = max(weighed, default=-INFINITE)
    return best - CUT if best >= floor else INFINITE


def is_answer(signals: Mapping[str, float], *, is_english: bool) -> bool:
    """Tell whether a hit alone answers a reader who asked.

    The evidence compares it with the other rows, and one of them is ahead for any subject: that all
    are far, the cosine tells, for a text that the first model reads.
    """
    if signals["evidence"] < ANSWER:
        return False
    is_near = not is_english or signals.get("cosine", TOPIC) >= TOPIC
    return is_near or signals["evidence"] >= CLEAR


def least_answering(best: float, *, beside_best: bool = True) -> float:
    """Evidence of the least hit that is not weak, by that of the *best* that answers."""
    if best < ANSWER:
        return INFINITE
    return max(BESIDE, best - GAP) if beside_best else BESIDE


def choose(hits: Iterable[Hit], *, floor: float, most: int) -> list[Hit]:
    ranked = sorted(hits, key=lambda hit: hit.signals["evidence"], reverse=True)
    least = least_shown((hit.signals["evidence"] for hit in ranked[:1]), floor)
    return [hit for hit in ranked[:most] if hit.signals["evidence"] >= least]
