"""Fit the weights by which two texts are compared, and measure them on pairs kept apart.

    PYTHONPATH=. python bench/contradiction.py [--unrelated TEXTS.txt ...] [--misses]

Reads `tests/search/pairs.txt`: pairs of which both texts cannot hold today, and pairs that
look like it. The first half is fitted, with groups of statements of `tests/synthesis`; the second
is only counted. Texts of different pairs of the first half, the lines of `bench/unrelated.txt`
(sentences of our documentation and subjects of commits) and those of `--unrelated` files can all
hold, and weigh little. Without the model only the weights of words are fitted. Prints the two
tables of `ademem/search/contradiction.py`.
"""

from __future__ import annotations

import argparse
import os
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ademem.capture.gate.relating import CERTAIN, LIKELY, STRONG
from ademem.core.settings import load_configuration
from ademem.search import contradiction, embedding
from tests.synthesis.statements import STATEMENTS

PAIRS = Path(__file__).parents[1] / "tests" / "search" / "pairs.txt"
UNRELATED = Path(__file__).with_name("unrelated.txt")
WEIGHT = {">": 2.0, "~": 2.0, "=": 0.2}
"""Weight of a pair in the fit: a change, one that looks like it, two texts of different pairs."""
RIDGE = 0.5


class Pair(NamedTuple):
    mark: str
    is_fitted: bool
    cosine: float | None
    one: str
    other: str


def read_pairs() -> list[Pair]:
    pairs = []
    is_fitted = True
    for line in PAIRS.read_text(encoding="utf-8").splitlines():
        is_fitted = is_fitted and line != "# kept apart"
        if line[:1] in (">", "~"):
            head, one, other = line.split(" | ")
            mark, cosine = head.split()
            pairs.append(Pair(mark, is_fitted, float(cosine), one, other))
    return pairs


def read_statements() -> list[Pair]:
    pairs = []
    for left, right in combinations(STATEMENTS, 2):
        if left.group == right.group:
            mark = ">" if {left.mark, right.mark} == {"=", "!"} else "~"
            vectors = (np.frombuffer(each.vector, "<f4") for each in (left, right))
            pairs.append(Pair(mark, True, float(np.dot(*vectors)), left.text, right.text))
    return pairs


def cross(pairs: list[Pair], files: list[str]) -> list[Pair]:
    groups = [(pair.one, pair.other) for pair in pairs if pair.is_fitted]
    crossed = [
        (one, other) for left, right in combinations(groups, 2) for one in left for other in right
    ]
    for file in (UNRELATED, *map(Path, files)):
        crossed += combinations(file.read_text(encoding="utf-8").splitlines(), 2)
    crossed = [texts for texts in crossed if contradiction.features(*texts)]
    embedder = embedding.load(load_configuration(None, os.environ).settings.embed, os.environ)
    if embedder is None:
        return [Pair("=", True, None, *texts) for texts in crossed]
    texts = sorted({text for pair in crossed for text in pair})
    vectors = dict(zip(texts, embedder.embed(texts), strict=True))
    return [
        Pair("=", True, float(vectors[one] @ vectors[other]), one, other) for one, other in crossed
    ]


def fit(pairs: list[Pair], *, with_cosine: bool) -> dict[str, float]:
    """Ridge regression of the log odds, by Newton's method."""
    rows = [_features(pair, with_cosine) for pair in pairs]
    pairs = [pair for pair, row in zip(pairs, rows, strict=True) if row]
    rows = [row for row in rows if row]
    names = list(rows[0])
    facts = np.array([[row[name] for name in names] for row in rows])
    wanted = np.array([pair.mark == ">" for pair in pairs], float)
    weights = np.array([WEIGHT[pair.mark] for pair in pairs])
    ridge = RIDGE * np.diag([name != "bias" for name in names])
    found = np.zeros(len(names))
    for _ in range(100):
        likely = 1 / (1 + np.exp(-facts @ found))
        slope = facts.T @ (weights * (likely - wanted)) + ridge @ found
        curve = (facts * (weights * likely * (1 - likely))[:, None]).T @ facts + ridge
        step = np.linalg.solve(curve, slope)
        found -= step
        if np.abs(step).max() < 1e-8:
            break
    return {name: round(float(weight), 1) + 0.0 for name, weight in zip(names, found, strict=True)}


def _features(pair: Pair, with_cosine: bool) -> dict[str, float]:
    return contradiction.features(pair.one, pair.other, pair.cosine if with_cosine else None)


def report(
    pairs: list[Pair], weights: dict[str, float], *, with_cosine: bool, misses: bool
) -> None:
    print(
        f"\n{'with vectors' if with_cosine else 'by words'}: pairs at {LIKELY}, {STRONG}, {CERTAIN}"
    )
    for is_fitted in (True, False):
        for mark, name in ((">", "changes"), ("~", "look-alikes"), ("=", "unrelated")):
            mine = [pair for pair in pairs if (pair.mark, pair.is_fitted) == (mark, is_fitted)]
            scores = [contradiction.score(_features(pair, with_cosine), weights) for pair in mine]
            counts = [sum(s >= least for s in scores) for least in (LIKELY, STRONG, CERTAIN)]
            if mine:
                half = "fitted" if is_fitted else "kept apart"
                print(f"  {half:10} {name:11} {counts} of {len(mine)}")
            for pair, s in zip(mine, scores, strict=True):
                if misses and is_fitted and (mark == ">") != (s >= LIKELY):
                    print(f"    {s:.2f} {pair.one} | {pair.other}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--unrelated", nargs="+", default=[], help="files of other texts")
    parser.add_argument("--misses", action="store_true", help="print what was fitted in vain")
    given = parser.parse_args()
    own = read_pairs()
    pairs = own + read_statements() + cross(own, given.unrelated)
    tables = {"WEIGHTS_OF_WORDS": False}
    if all(pair.cosine is not None for pair in pairs):
        tables = {"WEIGHTS": True, **tables}
    for name, with_cosine in tables.items():
        weights = fit([p for p in pairs if p.is_fitted], with_cosine=with_cosine)
        report(pairs, weights, with_cosine=with_cosine, misses=given.misses)
        print(f"\n{name} = {{")
        for feature, weight in weights.items():
            print(f'    "{feature}": {weight},')
        print("}")


if __name__ == "__main__":
    main()
