"""Convert values of the API for the terminal, JSON and pages; this module has memories."""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Any

from ademem.core import anchor
from ademem.core.errors import UsageError
from ademem.core.memory import Memory, Tier, flags
from ademem.search import evidence
from ademem.store.transitions import waits_for

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ademem.search.engine import Hit

NOTHING: dict[str, str] = {}
WITHHELD = "(withheld until a person approves it)"
ALIKE = 0.5
"""Share of common words from which the differences of two texts are shown."""
MARKS = {"same": "{}", "removed": "[-{}-]", "added": "{{+{}+}}"}
TIERS = {Tier.PINNED: "pinned", Tier.ACTIVE: "active", Tier.FADING: "fading"}


def to_row(memory: Memory, drifted: Mapping[str, str] = NOTHING, later: str = "") -> dict[str, Any]:
    """Show of a quarantined memory only why it waits."""
    held = memory.quarantine_reason is not None
    return {
        "id": memory.id,
        "revision": memory.revision_count,
        "category": memory.category.value,
        "scope": memory.shown_scope,
        "owner": memory.scope_owner_id,
        "status": memory.status.value,
        "tier": TIERS[memory.tier],
        "title": None if held else memory.title,
        "text": waits_for(memory) if held else memory.content,
        "pinned": memory.is_pinned,
        "created_at": memory.created_at,
        "flags": flags(memory, drifted, later),
    }


def diff_words(before: str, after: str) -> Iterator[tuple[str, str]]:
    """Yield parts of two texts as (`same`, `removed` or `added`, text)."""
    ours, theirs = before.split(), after.split()
    matcher = SequenceMatcher(None, ours, theirs, autojunk=False)
    for tag, i, j, k, m in matcher.get_opcodes():
        if tag == "equal":
            yield "same", " ".join(ours[i:j])
            continue
        if i < j:
            yield "removed", " ".join(ours[i:j])
        if k < m:
            yield "added", " ".join(theirs[k:m])


def word_diff(before: str, after: str) -> str:
    """Mark words that only one text has, as git does; empty where the texts share too little."""
    parts = list(diff_words(before, after))
    same = sum(len(text.split()) for kind, text in parts if kind == "same")
    if 2 * same < ALIKE * (len(before.split()) + len(after.split())):
        return ""
    return mark_words(parts)


def mark_words(parts: Iterable[tuple[str, str]]) -> str:
    return " ".join(MARKS[kind].format(text) for kind, text in parts)


def to_history(revisions: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the revisions newest first, each with what it changed, in words and occasions."""
    from ademem.operations import curation

    history, before, earlier = [], None, None
    for row in revisions:
        text = row["snapshot"].get("content")
        differs = before is not None and text is not None and text != before
        diff = list(diff_words(before or "", text or "")) if differs else []
        memory = curation.read_revision(row)
        changed = curation.list_changed(row["operation"], earlier, memory)
        when = diff_occasions(earlier, memory)
        history.append({**row, "diff": diff, "changed": changed, "when": when})
        before, earlier = text if text is not None else before, memory
    return history[::-1]


def diff_occasions(before: Memory | None, after: Memory | None) -> list[tuple[str, str]]:
    """Return the occasions that one of two revisions lacks, as `removed` or `added` lines."""
    if before is None or after is None:
        return []
    old, new = (anchor.describe_occasions(each.anchors) for each in (before, after))
    gone = [("removed", line) for line in old if line not in new]
    return gone + [("added", line) for line in new if line not in old]


UNSUPPORTED = "an agent wrote it, and nothing has supported it for too long"
"""The reason for which a prompt is not shown a hit, however much evidence it has."""


def why_unprompted(hit: Hit, hits: Sequence[Hit]) -> str:
    """Return the reason for which a prompt with the words of the query is not shown a hit."""
    mine = hit.signals["helps"]
    best = max(each.signals["helps"] for each in hits)
    mode = "hybrid" if "cosine" in hit.signals else "lexical"
    floor = evidence.prompt_floor(mode)
    if mine < floor:
        return f"evidence {mine:.2f}, below the floor of {floor}"
    if mine < best - evidence.CUT:
        return f"evidence {mine:.2f}, more than {evidence.CUT} below the best"
    return f"evidence {mine:.2f}, and a prompt is shown at most {evidence.MOST}"


STATES = {
    "fresh": "as noted",
    "moved": "moved: the same text is elsewhere",
    "rewritten": "rewritten: other text with all values",
    "changed": "changed: another value",
    "gone": "gone: no value, or no file",
}
"""Meaning of the states of `verify`."""


def compare_revisions(
    revisions: Sequence[dict[str, Any]], first: str, second: str
) -> dict[str, Any] | None:
    """Return what differs between two revisions, None without both; raises UsageError."""
    from ademem.operations import curation

    if not (first and second):
        return None
    rows = {str(row["revision"]): row for row in revisions}
    for number in (first, second):
        if number not in rows:
            raise UsageError(f"there is no revision {number!r}", f"1 to {len(rows)}")
    before, after = rows[first], rows[second]
    texts = (each["snapshot"].get("content") or "" for each in (before, after))
    return {
        "from": int(first),
        "to": int(second),
        "diff": list(diff_words(*texts)),
        "when": diff_occasions(*map(curation.read_revision, (before, after))),
    }
