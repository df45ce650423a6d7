"""Memories of one project in groups, with the vectors that the real model made of them."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

HERE = Path(__file__).parent
MODEL = "all-MiniLM-L6-v2/int8/256/words/headings"


class Statement(NamedTuple):
    group: int
    mark: str
    """`=` says the same as the others with it, `!` the opposite, `~` something else."""
    text: str
    vector: bytes


def read():
    lines = (HERE / "statements.txt").read_text(encoding="utf-8").splitlines()
    group, rows = 0, []
    for line in lines:
        if not line:
            group += 1
        elif not line.startswith("#"):
            rows.append((group, line[0], line[2:]))
    vectors = np.load(HERE / "statements.npy").astype("<f4")
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return [Statement(*row, vector.tobytes()) for row, vector in zip(rows, vectors, strict=True)]


STATEMENTS = read() if (HERE / "statements.npy").exists() else []


def group(number):
    """The statements of one group, by mark."""
    found = [each for each in STATEMENTS if each.group == number]
    return {mark: [each for each in found if each.mark == mark] for mark in "=!~"}
