"""Each line that evidence, a subject or the likeness of two texts is compared with, in one table.

A line is chosen on texts of some authors; what it gives on those of an author who was left out
tells what it is worth. Where no figure was measured, the table says nothing.
"""

from __future__ import annotations

from ademem.core.value import Value


class Floor(Value):
    """A line, and the figures that it was chosen by."""

    name: str
    value: float
    purpose: str
    chosen_on: str
    figures: str = ""
    """What it gives there."""
    left_out: str = ""
    """Author whose texts were not used to choose it, with what it gives on them; "" for none."""
    date: str


FLOORS: tuple[Floor, ...] = (
    Floor(
        name="prompt, hybrid",
        value=-1.3,
        purpose="the best memory is shown with a prompt, where vectors were compared",
        chosen_on="prompts to thirteen stores, with the occasions of their memories and without",
        figures="right, far and near in %, with occasions: 71, 2, 10; without: 49, 3, 11",
        left_out="each of them in turn: with 70, 2, 11; without 48, 4, 10; two more, in no fit,"
        " with occasions as Claude is asked for them: 73, 2, 12; without 45, 1, 12",
        date="2026-11-30",
    ),
    Floor(
        name="prompt, lexical",
        value=-1.4,
        purpose="the same, where words alone decide",
        chosen_on="the same",
        figures="with occasions: 53, 6, 14; without: 31, 7, 12",
        left_out="the two: with 62, 12, 21; without 24, 8, 12",
        date="2026-11-30",
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
        purpose="the best hit answers a reader who asked, where words alone decide or it has no"
        " vector; below it, all hits are weak",
        chosen_on="questions of the notes, of docs, and 320 of other stores to each of the two",
        figures="by words: rightly 63 and 69 %, others 42 and 40 %",
        left_out="by words: rightly, and searches of others: canal 54, 26; harbour 65, 28; blood"
        " bank 82, 20; audio 83, 7; -2.2 loses 5 right of 347, and answers 3 others of 120 less",
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
        name="subject, foreign",
        value=0.55,
        purpose="the same for a question that is not English, which the second model reads",
        chosen_on="64 questions of five authors",
        figures="rightly 50 (by the evidence 51); of 65 of other projects 6 are answered (15)",
        left_out="any four choose 0.62 or 0.63, where 44 are right: one that is lost costs more;"
        " with mapped questions, of three stores rightly 31 of 33 (28), others 79 of 213 (64)",
        date="2026-11-30",
    ),
    Floor(
        name="newer",
        value=0.3,
        purpose="whitened cosine from which the newer of a pair is shown in place of the earlier,"
        " where it helps as much",
        chosen_on="prompts to twelve stores, with the occasions of their memories, and to six"
        " without; 115 prompts had such a pair",
        figures="rightly 40, wrongly 9 (from 0.32 on, however much the newer helps: 46 and 35)",
        date="2026-11-30",
    ),
    Floor(
        name="newer, gap",
        value=0.05,
        purpose="by how much that cosine is higher for each unit of evidence that the newer helps"
        " less",
        chosen_on="the same",
        date="2026-11-30",
    ),
    Floor(
        name="near",
        value=0.2,
        purpose="whitened cosine of two that are each the nearest to the other, to stand together",
        chosen_on="questions about 90 facts that changed, of the notes and of docs",
        figures="current before stale 27 of 30 and 54 of 60, right first answers lost 2 + 4",
        date="2026-11-26",
    ),
    Floor(
        name="near, plain",
        value=0.33,
        purpose="plain cosine of two such memories",
        chosen_on="questions about 90 facts that changed",
        date="2026-11-26",
    ),
    Floor(
        name="near, margin",
        value=0.02,
        purpose="how much nearer two such memories are to each other than to any third",
        chosen_on="questions about 90 facts that changed",
        date="2026-11-26",
    ),
    Floor(
        name="pair, hybrid",
        value=-0.6,
        purpose="log odds from which two of the first ten hits are about one subject, with vectors",
        chosen_on="questions about 390 facts that changed, of 300 with occasions, too; searches of"
        " thirteen stores, with occasions and without; notes, docs, two changelogs",
        figures="current before stale 29 of 30 and 53 of 60 (27 and 54)",
        left_out="each author of 60 facts: 29, 34, 26, 25, 39 (22, 29, 15, 24, 33), with occasions"
        " 37, 38, 42, 36, 53 (31, 38, 34, 28, 45); first answers of halves of the stores: lost 31"
        " of 780, won 47 (24, 42); one more author, in no choice: 44 (37), with occasions 56 (50)",
        date="2026-11-30",
    ),
    Floor(
        name="pair, lexical",
        value=-0.8,
        purpose="the same, without vectors",
        chosen_on="the same",
        figures="24 of 30 and 49 of 60 (25 and 52)",
        left_out="14, 24, 16, 15, 30 (12, 21, 16, 14, 29), with occasions 23, 36, 40, 34, 51 (12,"
        " 22, 20, 15, 37); lost 24, won 44 (28, 32); the one more: 27 (25), with occasions 52 (34)",
        date="2026-11-30",
    ),
    Floor(
        name="proposed",
        value=0.35,
        purpose="whitened cosine from which two such memories are proposed in a review",
        chosen_on="questions about 90 facts that changed; 345 of a changelog keep their answers",
        figures="22 of 30 and 45 of 60",
        date="2026-11-26",
    ),
    Floor(
        name="proposed, margin",
        value=0.1,
        purpose="how much nearer they are to each other than to any third, to be proposed",
        chosen_on="questions about 90 facts that changed",
        date="2026-11-26",
    ),
    Floor(
        name="beside",
        value=-3.0,
        purpose="a hit beside one that answers is not weak",
        chosen_on="questions of two stores",
        date="2026-11-26",
    ),
    Floor(
        name="gap",
        value=4.0,
        purpose="difference in evidence to the best hit above which a hit beside it is weak",
        chosen_on="questions of the notes, of docs and of the changelog",
        figures="with it and beside: right hits kept 452 of 540, with one line 433",
        date="2026-11-26",
    ),
    Floor(
        name="cut",
        value=2.5,
        purpose="largest difference in evidence of a further hit that is shown unasked",
        chosen_on="prompts of four stores; of no effect while one memory is shown",
        date="2026-11-26",
    ),
    Floor(
        name="found",
        value=0.3,
        purpose="share of the score of a hit from which one that is near to it was found as well",
        chosen_on="questions about 90 facts that changed, of notes, docs and a changelog",
        figures="R@10 / nDCG@10: notes 97.7 / 87.7 (97.7 / 86.9), docs 92.3 / 73.4 (89.7 / 73.7)",
        date="2026-11-26",
    ),
    Floor(
        name="copy, words",
        value=0.9,
        purpose="share of common words from which two texts say nearly the same",
        chosen_on="docs; 0.8 on the other sets made 0.1 of a difference",
        figures="nDCG@10 of docs 73.1 with both models (72.4 from 0.8 on), by words 61.5 (60.9)",
        date="2026-11-27",
    ),
    Floor(
        name="copy, cosine",
        value=0.97,
        purpose="the same, by their plain cosine",
        chosen_on="docs, with the line above",
        date="2026-11-27",
    ),
    Floor(
        name="telling, rows",
        value=3,
        purpose="most memories with a word that says what a prompt is about, in a small store",
        chosen_on="40 prompts that let the work go on, 129 other ones",
        figures="searched for: 3 and 128",
        date="2026-11-27",
    ),
    Floor(
        name="telling, share",
        value=0.05,
        purpose="the same, as a share of all memories",
        chosen_on="the same",
        date="2026-11-27",
    ),
    Floor(
        name="few rows",
        value=0.2,
        purpose="cosine that stands for the tenth nearest row in a store with fewer rows",
        chosen_on="prompts of four stores",
        date="2026-11-26",
    ),
)
"""Every line, by what it decides."""
VALUES = {floor.name: floor.value for floor in FLOORS}
