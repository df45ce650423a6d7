"""Lines and JSON of why a text is held."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ademem.core.text import preview
from ademem.core.value import as_dict
from ademem.guard.injection.evidence import Evidence, describe
from ademem.operations.judging import Explanation


def evidence_lines(found: Evidence) -> Iterator[str]:
    """Yield the rules that spoke, and of the judge what scored most."""
    if found.structure:
        yield f"held: it {found.structure}"
    if found.highest:
        yield f"held: {describe(found.highest)}"
        yield f"  in: {found.highest.piece}"
    if found.damage:
        yield f"not judged: {found.damage}"


def explanation_lines(explained: Explanation) -> Iterator[str]:
    found = explained.evidence
    yield from evidence_lines(found)
    if not (found.structure or found.held or found.damage):
        yield "not held: no rule and no piece of it over the judge's limit"
    for held in found.held:
        if held != found.highest:
            yield f"also: {held.score:.2g} in: {held.piece}"
    for each in explained.nearest:
        kind = "an order" if each.label else "harmless"
        yield f"near ({each.shared:.0%}, {kind}, by {each.author}): {preview(each.text, 160)}"


def explanation_json(explained: Explanation) -> dict[str, Any]:
    found = explained.evidence
    return {
        "structure": found.structure,
        "damage": found.damage or None,
        "held": [as_dict(each) for each in found.held],
        "nearest": [as_dict(each) for each in explained.nearest],
    }
