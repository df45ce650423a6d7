"""The write gate in order."""

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
from ademem.capture.gate.form import known_category, length, normal_form, redaction, strict_mode
from ademem.capture.gate.instructions import instruction_shaped
from ademem.capture.gate.verdict import Insert, Judged, Reviewed, Step
from ademem.core.value import as_dict

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from ademem.capture.gate.verdict import Gate, Rule, Verdict
    from ademem.core.memory import Draft

RULES: tuple[Rule, ...] = (
    normal_form,
    redaction,
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


def judge(draft: Draft, gate: Gate, rules: Sequence[Rule] = RULES) -> Judged:
    """Walk the rules in order; the first that does not hand back a draft decides."""
    reviewed = Reviewed(**as_dict(draft))
    trail = []
    for rule in rules:
        outcome = rule(reviewed, gate)
        trail.append((rule.__name__, reviewed, outcome))
        if not isinstance(outcome, Reviewed):
            return Judged(rule=rule.__name__, verdict=outcome, trail=tuple(trail))
        reviewed = outcome
    verdict = Insert(draft=reviewed, why="nothing like it is remembered")
    trail.append(("insert", reviewed, verdict))
    return Judged(rule="insert", verdict=verdict, trail=tuple(trail))


def steps(judged: Judged) -> list[Step]:
    """What each rule did, for people; most drafts are judged and nobody asks."""
    return [_step(*passed) for passed in judged.trail]


def _step(rule: str, before: Reviewed, outcome: Reviewed | Verdict) -> Step:
    if not isinstance(outcome, Reviewed):
        return Step(rule=rule, outcome=type(outcome).__name__.lower(), why=outcome.why)
    changed = [name for name in Reviewed._fields if getattr(outcome, name) != getattr(before, name)]
    why = "; ".join(outcome.notes[len(before.notes) :]) or ", ".join(changed)
    return Step(rule=rule, outcome="change" if changed else "pass", why=why)
