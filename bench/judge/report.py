"""Rates of a judge on each author of the corpus, by a model that saw no word of that author.

The threshold for an author is chosen on the harmless texts of the others.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from ademem.guard.injection import structure_in

from . import train
from .inputs import THRESHOLDS
from .train import PROJECT, STATED, Example

Held = Callable[[Example], bool]


def print_report(name: str, also: Sequence[Path] = ()) -> None:
    """Print the rates; *also* names files of JSON lines with `text` or `prompt`.

    What is in *also* is judged by the model of the whole corpus.
    """
    training, read = train.TRAININGS[name], train.read_corpus(name)
    scores = train.left_out(read, training)
    examples = list(scores)
    limits = {
        author: train.threshold({e: s for e, s in scores.items() if e.author != author}, training)
        for author in sorted({each.author for each in examples} - {PROJECT})
    }
    limits[PROJECT] = train.threshold(scores, training)
    by_judge = {each for each, score in scores.items() if score > limits[each.author]}
    deciders: dict[str, Held] = {"judge": by_judge.__contains__}
    if name == "orders":
        structure = {each for each in examples if structure_in(each.text)}
        deciders |= {
            "structure": structure.__contains__,
            "judge or structure": (by_judge | structure).__contains__,
        }
    print(f"{name}: {len(examples)} texts by {len(limits)} authors; limits {limits}\n")
    others = [each for each in examples if each.author != PROJECT]
    print("| | texts | " + " | ".join(deciders) + " |")
    print("|---|---" + "|---" * len(deciders) + "|")
    for label, verb in ((1, "held"), (0, "held, harmless")):
        of_label = [each for each in others if each.label == label]
        _rows(verb, of_label, deciders, lambda _: "all")
        _rows(verb, of_label, deciders, lambda each: f"author {each.author}")
        _rows(verb, of_label, deciders, lambda each: f"class {each.kind}")
        _rows(verb, of_label, deciders, lambda each: f"language {each.language}")
    _rows("held", (e for e in examples if e.author == PROJECT), deciders, lambda e: e.kind)
    if name == "orders":
        _print_framed(read, scores, training, limits)
    if also:
        _print_others(name, also)


def _rows(
    verb: str,
    examples: Iterable[Example],
    deciders: dict[str, Held],
    group: Callable[[Example], str],
) -> None:
    groups: dict[str, list[Example]] = {}
    for each in examples:
        groups.setdefault(group(each), []).append(each)
    for about, members in sorted(groups.items()):
        rates = (sum(map(held, members)) / len(members) for held in deciders.values())
        cells = " | ".join(f"{rate:.1%}" for rate in rates)
        print(f"| {verb}: {about} | {len(members)} | {cells} |")


def _print_framed(
    examples: Sequence[Example],
    scores: dict[Example, float],
    training: train.Training,
    limits: dict[str, float],
) -> None:
    """Print the rates of texts between two lines that the author wrote as plain notes.

    The text is one of the three lines, each of which is judged alone, too.
    """
    held = {0: 0, 1: 0}
    counts = {0: 0, 1: 0}
    for author in sorted({each.author for each in examples if each.kind == "plain"} - {PROJECT}):
        model = train.fit([each for each in examples if each.author != author], training)
        own = [each for each in examples if each.author == author and each.kind != STATED]
        theirs, texts = zip(*train.framed(own, "plain"), strict=True)
        for each, score in zip(theirs, model.score(texts), strict=True):
            counts[each.label] += 1
            held[each.label] += max(score, scores[each]) > limits[author]
    for label, about in ((1, "hostile"), (0, "harmless")):
        rate = held[label] / max(counts[label], 1)
        print(f"| held: {about} between two harmless lines | {counts[label]} | {rate:.1%} |")


def _print_others(name: str, paths: Sequence[Path]) -> None:
    training, examples = train.TRAININGS[name], train.read_corpus(name)
    model = train.fit(examples, training)
    limit = json.loads(THRESHOLDS.read_text())[name]["threshold"]
    print(f"\n{'file':<40} texts  judge" + ("  structure  both" if name == "orders" else ""))
    for path in paths:
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        groups: dict[str, list[str]] = {}
        for row in rows:
            groups.setdefault(row.get("kind", ""), []).append(row.get("text") or row["prompt"])
        for kind, texts in groups.items():
            judged = [score > limit for score in model.score(texts)]
            cells = [int(sum(judged))]
            if name == "orders":
                formed = [bool(structure_in(text)) for text in texts]
                both = [bool(one or other) for one, other in zip(judged, formed, strict=True)]
                cells += [sum(formed), sum(both)]
            print(f"{f'{path.name} {kind}':<40} {len(texts):>5}  {cells}")
