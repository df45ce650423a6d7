"""Labelled texts, one a line under a heading that tells where their kind is described.

`\\n` stands for a line break and `\\u…` for a sign that would not be seen. All texts are ours. They
were written before the rules were read or, those of `orders` and `notes`, before the rules about
commands existed; of each heading the odd lines were used to better the rules
(the first half), the even ones only to measure them (the second).
"""

from __future__ import annotations

import re
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

_ESCAPE = re.compile(r"\\(n|u[0-9A-F]{4}|U[0-9A-F]{8})")


class Labelled(NamedTuple):
    kind: str
    text: str
    half: int


def read(name: str) -> list[Labelled]:
    found: list[Labelled] = []
    kind, number = "", 0
    path = Path(__file__).parent / f"{name}.txt"
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("# "):
            kind, number = line[2:], 0
        else:
            found.append(Labelled(kind, _ESCAPE.sub(_sign, line), half=number % 2 + 1))
            number += 1
    return found


def kinds(texts: list[Labelled]) -> list[str]:
    return [kind for kind, _ in groupby(texts, key=lambda labelled: labelled.kind)]


def _sign(escape: re.Match[str]) -> str:
    return "\n" if escape[1] == "n" else chr(int(escape[1][1:], 16))
