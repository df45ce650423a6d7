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
from ademem.capture.gate.writing import Written, corroborate, explain, find_contradicted, write

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
    "explain",
    "find_contradicted",
    "judge",
    "write",
]
