"""Compare anchors with the working tree or with commits, and move them."""

from __future__ import annotations

from ademem.core.errors import UsageError
from ademem.core.memory import Memory
from ademem.operations.curation import edit, get_speaker
from ademem.plugins.verify import anchor_verification, change_verification
from ademem.plugins.verify.anchor_verification import Checked, Excerpt
from ademem.store import memories
from ademem.store.runtime import Runtime


def compare_anchors(runtime: Runtime, id: str) -> list[Excerpt]:
    memory = memories.get(runtime.holding(id).store, id)
    if not memory.anchors:
        return []
    tree = anchor_verification.TracedTree(runtime.project.root)
    checked = anchor_verification.check_memory(memory, tree)
    return [anchor_verification.excerpt(each, tree) for each in checked]


def renew_anchor(runtime: Runtime, id: str, anchor: str, *, revision: int | None = None) -> Memory:
    """Move an anchor to the code of today, or remove it without such code."""
    memory = memories.get(runtime.holding(id).store, id)
    tree = anchor_verification.TracedTree(runtime.project.root)
    for found in anchor_verification.check_memory(memory, tree):
        if found.anchor == anchor:
            text = memory.whole_text
            anchors = anchor_verification.anchor_anew(found, text, runtime.project.root)
            return edit(runtime, id, revision=revision, anchors=anchors)
    raise UsageError(f"{memory.id} has no such anchor", "load the page again")


def verify(runtime: Runtime, *, fix: bool = False) -> list[Checked]:
    """*fix* updates anchors whose text moved."""
    found = anchor_verification.verify(runtime.project, runtime.store, runtime.clock())
    if not fix:
        return found
    return anchor_verification.fix(found, runtime.store, runtime.clock(), get_speaker(runtime))


def verify_change(runtime: Runtime, commits: str) -> list[Checked]:
    """Return the memories that the commits of `BASE..HEAD` make false; raises CannotCompare."""
    return change_verification.verify_change(runtime.project.root, runtime.store, commits)
