"""What the code, its history or its tools can tell again is no memory."""

from __future__ import annotations

from ademem.capture.gate import tool_output
from ademem.capture.gate.verdict import Reject
from ademem.core.memory import Category, Trust
from ademem.core.text import words
from ademem.core.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ademem.capture.gate.verdict import Gate, Reviewed

RECORDS = (Category.EPISODE, Category.PROCEDURE, Category.DIGEST, Category.HANDOFF)
"""Reports by nature: what happened is what they are for."""

MARKS = 2
"""Different unmistakable marks that decide, however much prose stands around them."""
HEADING = 4
"""Most words of a line that ends in a colon and says nothing by itself."""
LESSON = 5
"""Fewest words of prose of which a fenced snippet is the illustration."""
PATHS = 3
"""Fewest paths that make a list of them."""
PATH_WEIGHT = 0.5
"""Words a path counts for: names beside a sentence do not outweigh it."""


class Evidence(Value):
    """What of a text can be derived."""

    kind: str
    """What most of it looks like."""
    share: float
    """Part of the words that stand in derivable lines."""
    marks: int


def code_derivable(draft: Reviewed, gate: Gate) -> Reviewed | Reject:
    """A dominant share of derivable lines, or two unmistakable marks; records and imports pass."""
    if draft.category in RECORDS or draft.origin.trust is Trust.IMPORT:
        return draft
    settings = gate.settings
    threshold = settings.derivable_lines_strict if draft.strict else settings.derivable_lines
    found = evidence(draft.content)
    if found is None or (found.share < threshold and found.marks < MARKS):
        return draft
    return Reject(
        draft=draft,
        why=f"reads as {found.kind}, which can be looked up again;"
        " write the lesson, not the log (a short quote may follow it in a ``` fence)",
    )


def evidence(text: str) -> Evidence | None:
    """Weigh the lines; None when every one of them is prose."""
    lines, fenced = _fences_apart(text)
    found = [(line, *trace) for line, trace in zip(lines, tool_output.read(lines), strict=True)]
    paths = sum(kind == tool_output.PATH for _, kind, _ in found)
    weights: dict[str, float] = {}
    prose = 0
    for line, kind, _ in found:
        if kind is None or (kind == tool_output.PATH and paths < PATHS):
            prose += _prose(line)
        else:
            weight = PATH_WEIGHT if kind == tool_output.PATH else len(line.split())
            weights[kind] = weights.get(kind, 0) + weight
    if fenced and prose < LESSON:
        weights["a code dump"] = sum(len(line.split()) for line in fenced)
    if not weights:
        return None
    total = sum(weights.values())
    return Evidence(
        kind=max(weights, key=weights.__getitem__),
        share=total / (total + prose),
        marks=len({(kind, mark) for _, kind, mark in found if mark}),
    )


def _prose(line: str) -> int:
    """Words that say something; a heading only announces what follows."""
    count = len(words(line))
    return 0 if count <= HEADING and line.rstrip().endswith(":") else count


def _fences_apart(text: str) -> tuple[list[str], list[str]]:
    """The lines outside and inside of ``` fences, blank ones left out."""
    apart: tuple[list[str], list[str]] = ([], [])
    inside = False
    for line in text.split("\n"):
        if line.lstrip().startswith("```"):
            inside = not inside
        elif line.strip():
            apart[inside].append(line)
    return apart
