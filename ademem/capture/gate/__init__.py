"""The write gate: decides if a draft becomes a memory, and which one it merges into."""

from ademem.capture.gate.form import (
    Gate,
    Insert,
    Merge,
    Reject,
    Reviewed,
    Revise,
    RuleEffect,
    Ruling,
)
from ademem.capture.gate.rules import RULES, judge
from ademem.capture.gate.writing import (
    Written,
    corroborate,
    draft_change,
    explain,
    find_contradicted,
    propose,
    write,
)

__all__ = [
    "RULES",
    "Gate",
    "Insert",
    "Merge",
    "Reject",
    "Reviewed",
    "Revise",
    "RuleEffect",
    "Ruling",
    "Written",
    "corroborate",
    "draft_change",
    "explain",
    "find_contradicted",
    "judge",
    "propose",
    "write",
]
