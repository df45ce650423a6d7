"""The rules of the write gate, in order."""

from __future__ import annotations

from ademem.capture.gate.derivable import code_derivable
from ademem.capture.gate.duplicates import (
    echo,
    exact_duplicate,
    near_duplicate,
    rejected_before,
    same_key,
    same_topic,
)
from ademem.capture.gate.form import (
    Insert,
    Reviewed,
    RuleEffect,
    Ruling,
    known_category,
    length,
    normal_form,
    redaction,
    strict_mode,
    with_note,
)
from ademem.core.value import as_dict, replace
from ademem.guard.injection import instruction_in_fields, instruction_in_titled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from ademem.capture.gate.form import Gate, Rule
    from ademem.core.memory import Draft


def harmless_labels(draft: Reviewed, gate: Gate) -> Reviewed:
    """Leave out tags, path and topic key that read as an instruction and no person typed.

    A memory that says the same would take them over.
    """
    if draft.by_person:
        return draft
    found = instruction_in_fields((*draft.tags, draft.topic_key), draft.path)
    if not found:
        return draft
    draft = replace(draft, tags=(), path=None, topic_key=None)
    return with_note(draft, f"without tags, path and topic key: what stood there {found}")


def instruction_shaped(draft: Reviewed, gate: Gate) -> Reviewed:
    """Quarantine an instruction that no person typed.

    An agent may repeat a file or page that it has read.
    """
    return _quarantine(
        draft, None if draft.by_person else instruction_in_titled(draft.title, draft.content)
    )


def instruction_beside(draft: Reviewed, gate: Gate) -> Reviewed:
    """Quarantine an instruction in tags, path, anchors, keys or names."""
    if draft.by_person or draft.quarantine_reason:
        return draft
    words = (*draft.tags, draft.topic_key)
    named = (draft.path, draft.knowledge_key, draft.bead, draft.owner, draft.origin.agent_id)
    return _quarantine(draft, instruction_in_fields(words, *draft.anchors, *named))


def _quarantine(draft: Reviewed, found: str | None) -> Reviewed:
    if not found:
        return draft
    draft = replace(draft, quarantine_reason=found, promoted=False, pinned=False, strict=False)
    return with_note(
        draft, f"quarantined, as it {found}; a person approves it with `ademem promote`"
    )


RULES: tuple[Rule, ...] = (
    normal_form,
    redaction,
    harmless_labels,
    known_category,
    strict_mode,
    length,
    echo,
    rejected_before,
    same_topic,
    same_key,
    exact_duplicate,
    near_duplicate,
    code_derivable,
    instruction_shaped,
)


def judge(draft: Draft, gate: Gate, rules: Sequence[Rule] = RULES) -> Ruling:
    """Apply the rules in order; the first that does not return a draft decides."""
    reviewed = Reviewed(**as_dict(draft))
    trail = []
    for rule in rules:
        outcome = rule(reviewed, gate)
        trail.append((rule.__name__, reviewed, outcome))
        if not isinstance(outcome, Reviewed):
            return Ruling(rule=rule.__name__, verdict=outcome, trail=tuple(trail))
        reviewed = outcome
    verdict = Insert(draft=reviewed, why="nothing like it is remembered")
    trail.append(("insert", reviewed, verdict))
    return Ruling(rule="insert", verdict=verdict, trail=tuple(trail))


def steps(judged: Ruling) -> list[RuleEffect]:
    """Describe what each rule did to the draft."""
    found = []
    for rule, before, after in judged.trail:
        if isinstance(after, Reviewed):
            changed = [
                name for name in Reviewed._fields if getattr(after, name) != getattr(before, name)
            ]
            why = "; ".join(after.notes[len(before.notes) :]) or ", ".join(changed)
            outcome = "change" if changed else "pass"
        else:
            outcome, why = type(after).__name__.lower(), after.why
        found.append(RuleEffect(rule=rule, outcome=outcome, why=why))
    return found
