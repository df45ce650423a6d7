"""The write gate: what may become a memory, and what it merges into."""

from ademem.gate.rules import RULES, judge
from ademem.gate.verdict import Gate, Insert, Judged, Merge, Reject, Reviewed, Revise, Step
from ademem.gate.writing import Written, corroborate, explain, write

__all__ = [
    "RULES",
    "Gate",
    "Insert",
    "Judged",
    "Merge",
    "Reject",
    "Reviewed",
    "Revise",
    "Step",
    "Written",
    "corroborate",
    "explain",
    "judge",
    "write",
]
