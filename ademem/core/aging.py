"""How memory ages, as it could be worked out on paper."""

from __future__ import annotations

import math

ACCESS_GAIN = 0.1
"""What one access adds to the access score, which ends at 1."""


def decayed(score: float, *, idle_days: float, half_life_days: float) -> float:
    """The score after so many days without access; always from the stored one, never compounded."""
    return score * math.exp2(-max(0.0, idle_days) / half_life_days)


def accessed(score: float) -> float:
    """The score after an access, given what was left of it."""
    return min(1.0, score + ACCESS_GAIN)


def combined_confidence(confidence: float, witnesses: int) -> float:
    """Return the probability that not all of several independent sources err."""
    return float(1 - (1 - confidence) ** max(1, witnesses))
