"""The write gate: what may become a memory, and what it merges into."""

from ademem.capture.gate.rules import RULES, judge
from ademem.capture.gate.verdict import Gate, Insert, Judged, Merge, Reject, Reviewed, Revise, Step
from ademem.capture.gate.writing import Written, corroborate, explain, write

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
