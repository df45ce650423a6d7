"""Convert values of the API for the terminal, JSON and pages; this module has memories."""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Any

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


def to_history(revisions: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the revisions newest first, each with the words that it changed."""
    history, before = [], None
    for row in revisions:
        text = row["snapshot"].get("content")
        changed = before is not None and text is not None and text != before
        diff = list(diff_words(before or "", text or "")) if changed else []
        history.append({**row, "diff": diff})
        before = text if text is not None else before
    return history[::-1]


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
    revisions: Sequence[Mapping[str, Any]], first: str, second: str
) -> dict[str, Any] | None:
    """Return the words that differ between two revisions, None without both; raises UsageError."""
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
