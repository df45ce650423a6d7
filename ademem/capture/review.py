"""Remarks of reviewers as candidates: each once, and changed when the remark was."""

from __future__ import annotations

from ademem.capture import feedback, gate
from ademem.capture.record import category_of
from ademem.core.digest import sha256_hex
from ademem.core.memory import Category, Draft, Origin, Trust
from ademem.core.value import Value
from ademem.store import imports, jobs, ledger, memories, memory_queries, transitions
from ademem.store.transitions import Act

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ademem.capture.feedback import Comment
    from ademem.core.memory import Memory
    from ademem.store.runtime import Runtime

SOURCE = "pr_feedback"


class Captured(Value):
    """What became of the remarks: ids of memories, and how many said nothing new."""

    added: tuple[str, ...] = ()
    edited: tuple[str, ...] = ()
    merged: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    """Why the gate kept a remark out."""
    known: int = 0


def capture(text: str, runtime: Runtime) -> Captured:
    """Keep what the output of `gh` asks for; raises BadFeedback."""
    found: dict[str, list[str]] = {"added": [], "edited": [], "merged": [], "refused": []}
    remarks = feedback.comments(text)
    with runtime.store.transaction():
        for remark in remarks:
            outcome = _keep(remark, runtime)
            if outcome:
                found[outcome[0]].append(outcome[1])
        if found["added"] or found["merged"]:
            jobs.queue(runtime.store, "procedures", "project", runtime.now)
    kept = sum(map(len, found.values()))
    named = {name: tuple(values) for name, values in found.items()}
    return Captured(known=len(remarks) - kept, **named)


def _keep(remark: Comment, runtime: Runtime) -> tuple[str, str] | None:
    """What was done, and to which memory; None when the remark was captured as it is before."""
    store, now = runtime.store, runtime.now
    if not ledger.claim(store, SOURCE, f"{remark.key}:{sha256_hex(remark.text)}", now):
        return None
    if not ledger.claim(store, SOURCE, remark.key, now):
        return _edit(remark, runtime)
    category = category_of(remark.text)
    draft = Draft(
        content=remark.text,
        category=Category.CONVENTION if category is Category.FACT else category,
        path=remark.path,
        origin=Origin(
            trust=Trust.TOOL,
            source_type=SOURCE,
            source_id=remark.url or remark.key,
            branch=runtime.branch,
        ),
    )
    written = gate.write(draft, store, runtime.settings.gate, now)
    if written.memory is None:
        return "refused", f"{written.rule}: {written.reason}"
    ledger.credit(store, SOURCE, remark.key, written.memory.id)
    return ("merged" if written.deduped else "added"), written.memory.id


def _edit(remark: Comment, runtime: Runtime) -> tuple[str, str] | None:
    """Follow the reviewer, unless a person has decided about the memory since."""
    id = imports.credited(runtime.store, SOURCE, remark.key)
    found = memory_queries.by_id(runtime.store, id)
    if not found or not found.live or _decided(found, runtime):
        return None
    act = Act(store=runtime.store, now=runtime.now, actor=Trust.TOOL)
    memory = transitions.edit(found.id, act, runtime.settings.gate, content=remark.text)
    return "edited", memory.id


def _decided(memory: Memory, runtime: Runtime) -> bool:
    history = memories.revisions(runtime.store, memory.id)
    return any(revision["actor"] == Trust.USER for revision in history)
