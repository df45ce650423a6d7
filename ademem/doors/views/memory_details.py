"""Details of one memory: its uses, neighbours, anchors, sites and lines in files; pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ademem.core.errors import UsageError
from ademem.core.text import preview
from ademem.doors.views.memories import diff_words, to_row
from ademem.store.injections import ABOUT, PLACES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ademem.api.inspecting import Line, Similar
    from ademem.store.hints import Site
    from ademem.store.logs import Use
    from ademem.synthesis.anchored_lines import Excerpt

LINE_CHARS = 300
ABOUT_CHARS = 120
STATES = {
    "fresh": "as noted",
    "moved": "moved: the same text is elsewhere",
    "rewritten": "rewritten: other text with all values",
    "changed": "changed: another value",
    "gone": "gone: no value, or no file",
}
"""Meaning of the states of `verify`."""
KINDS = {"path": "file", "anchor": "anchored file", "command": "command"}


def to_uses(uses: Sequence[Use]) -> list[dict[str, Any]]:
    return [
        {
            "at": use.created_at,
            "session": use.session_id,
            "where": " ".join(
                filter(
                    None,
                    [
                        PLACES.get(use.place, use.place),
                        preview(use.query, ABOUT_CHARS) if use.place in ABOUT else "",
                    ],
                )
            ),
            "rank": use.rank,
            "used": use.used,
            "evidence": use.evidence,
        }
        for use in uses
    ]


def to_similar(found: Similar) -> dict[str, Any]:
    near = found.by_meaning
    return {
        "words": [to_row(memory) for memory in found.by_words],
        "meaning": None
        if near is None
        else [to_row(memory) | {"cosine": cosine} for memory, cosine in near],
    }


def to_anchors(found: Sequence[Excerpt]) -> list[dict[str, Any]]:
    rows = []
    for each in found:
        location = each.checked.location
        rows.append(
            {
                "anchor": each.checked.anchor,
                "where": location.noted.where,
                "now": location.now.where if location.now else "",
                "state": location.state,
                "meaning": STATES[location.state],
                "is_sound": each.checked.is_sound,
                "missing": [finding.shown for finding in location.missing],
                "noted_lines": each.noted,
                "now_lines": each.now,
                "noted_values": location.noted.values,
            }
        )
    return rows


def to_sites(sites: Sequence[Site]) -> list[dict[str, str]]:
    return [{"kind": KINDS[site.kind], "pattern": site.pattern} for site in sites]


def to_lines(lines: Sequence[Line]) -> list[dict[str, Any]]:
    return [
        {"path": line.path, "number": line.number, "text": preview(line.text, LINE_CHARS)}
        for line in lines
    ]


def compare_revisions(
    revisions: Sequence[Mapping[str, Any]], first: str, second: str
) -> dict[str, Any] | None:
    """Return the words that differ between two revisions; None where none are asked for.

    Raises UsageError for a revision that there is not.
    """
    if not (first and second):
        return None
    texts = {str(row["revision"]): row["snapshot"].get("content") or "" for row in revisions}
    for number in (first, second):
        if number not in texts:
            raise UsageError(f"there is no revision {number!r}", f"1 to {len(texts)}")
    return {
        "from": int(first),
        "to": int(second),
        "diff": list(diff_words(texts[first], texts[second])),
    }
