"""The write gate: decides if a draft becomes a memory, and which one it merges into."""

from ademem.capture.gate.form import Gate, Reject, RuleEffect
from ademem.capture.gate.rules import judge
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
    "Gate",
    "Reject",
    "RuleEffect",
    "Written",
    "corroborate",
    "draft_change",
    "explain",
    "find_contradicted",
    "judge",
    "propose",
    "write",
]
