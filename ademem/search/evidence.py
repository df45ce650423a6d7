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
        figures="right 72 %, far 4 %, near 8 %",
        left_out="harbour: right 78 %, far 2 %, near 13 %; canal: right 42 %, far 2 %, near 34 %",
        date="2026-11-29",
    ),
    Floor(
        name="prompt, foreign",
        value=-1.9,
        purpose="the same for a prompt that is not English, which the second model reads",
        chosen_on="15 questions of the notes; -1.6 and -1.3 show less of them and of others",
        figures="right 53 %",
        left_out="harbour: right 10 of 14, near 2 of 13; canal: right 3 of 17, near 3 of 9",
        date="2026-11-29",
    ),
    Floor(
        name="prompt, lexical",
        value=-1.9,
        purpose="the same, where words alone decide",
        chosen_on="prompts of the notes: 29 with an answer, 50 far, 50 near",
        figures="right 83 %, far 6 %, near 10 %",
        left_out="harbour: right 60 %, far 5 %, near 23 %; canal: right 30 %, far 4 %, near 40 %",
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
        purpose="the best hit answers a reader who asked, where words alone decide or the question"
        " is not English; below it, all hits are weak",
        chosen_on="questions of the notes, of docs, and 320 of other stores to each of the two",
        figures="by words: rightly 63 and 69 %, others 42 and 40 %",
        left_out="canal, harbour, by words: rightly 54 and 65 %, others 26 and 28 %",
        date="2026-11-29",
    ),
    Floor(
        name="subject",
        value=0.6,
        purpose="subject from which a hit answers a question in English, where it has a vector",
        chosen_on="questions of the notes, of docs, and 320 of other stores to each of the two",
        figures="rightly 85 and 77 % (before 86 and 69), others 29 and 15 % (33 and 16)",
        left_out="canal, harbour: rightly 79 and 88 % (74 and 90), others 15 and 19 % (25 and 31)",
        date="2026-11-29",
    ),
    Floor(
        name="newer",
        value=0.32,
        purpose="whitened cosine from which the newer of a pair is shown in place of the earlier",
        chosen_on="prompts and questions of the notes, of docs, and 90 facts that changed",
        figures="rightly 35 (from 0.2 on 40), wrongly 1 (7)",
        left_out="questions of two strangers: rightly 4 (5), wrongly 1 (8)",
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
    Floor(
        name="gap",
        value=4.0,
        purpose="difference in evidence to the best hit above which a hit beside it is weak",
        chosen_on="questions of the notes, of docs and of the changelog",
        figures="with it and beside: right hits kept 452 of 540, with one line 433",
        left_out="",
        date="2026-11-26",
    ),
    Floor(
        name="cut",
        value=2.5,
        purpose="largest difference in evidence of a further hit that is shown unasked",
        chosen_on="prompts of four stores; of no effect while one memory is shown",
        figures="",
        left_out="",
        date="2026-11-26",
    ),
)
"""Every line that evidence, a subject or a pair is compared with, by what it decides."""
_BY_NAME = {floor.name: floor.value for floor in FLOORS}
ANSWER, BESIDE, ERROR = _BY_NAME["answer"], _BY_NAME["beside"], _BY_NAME["error"]
SUBJECT, NEWER = _BY_NAME["subject"], _BY_NAME["newer"]
GAP, CUT = _BY_NAME["gap"], _BY_NAME["cut"]
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
    share = _share(signals, asked)
    if "cosine" in signals:
        return 9.66 * signals["cosine"] - 8.56 * background + 4.54 * share - 4.85
    return 7.13 * share - 4.50


def weigh_subject(signals: Mapping[str, float], asked: float, background: float) -> float:
    """How much a row with a vector, and the rows around it, are about the subject of the text.

    The evidence compares a row with the others, and for any subject one of them is ahead. Here what
    the others are about speaks for it: the background counts as much as the words.
    """
    return signals["cosine"] + (background + _share(signals, asked)) / 2


def _share(signals: Mapping[str, float], asked: float) -> float:
    """Between the share of the text, next to nothing for a long one, and that of a full answer."""
    share: float = max(signals["share"], signals.get("near_share", 0.0)) / max(asked, 1.0) ** 0.5
    return share


def background(cosines: Iterable[float]) -> float:
    nearest = sorted(cosines, reverse=True)
    return nearest[NEAREST - 1] if len(nearest) >= NEAREST else FEW_ROWS


def least_shown(weighed: Iterable[float], floor: float) -> float:
    """Evidence of the least hit that may be shown: infinite if even the best is below *floor*."""
    best = max(weighed, default=-INFINITE)
    return best - CUT if best >= floor else INFINITE


def is_answer(signals: Mapping[str, float], *, is_english: bool) -> bool:
    """Tell whether a hit alone answers a reader who asked; the first model reads English alone."""
    if is_english and "subject" in signals:
        return signals["subject"] >= SUBJECT
    return signals["evidence"] >= ANSWER


def least_answering(best: float, *, beside_best: bool = True) -> float:
    """Evidence of the least hit that is not weak, by that of the *best* that answers."""
    if best == -INFINITE:
        return INFINITE
    return min(best, max(BESIDE, best - GAP) if beside_best else BESIDE)


def choose(hits: Iterable[Hit], *, floor: float, most: int) -> list[Hit]:
    ranked = sorted(hits, key=lambda hit: hit.signals["evidence"], reverse=True)
    least = least_shown((hit.signals["evidence"] for hit in ranked[:1]), floor)
    return [hit for hit in ranked[:most] if hit.signals["evidence"] >= least]
