"""How far a procedure is believed after each use, and what follows from it."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ademem.core.settings import ProcedureSettings

SUCCESS, FAILURE = OUTCOMES = ("success", "failure")
MOST, LEAST = 0.99, 0.01
"""Nothing that people do is ever certain."""


def after(confidence: float, outcome: str, settings: ProcedureSettings) -> float:
    """`c + (1 − c)·gain` after a success, `c·loss` after a failure."""
    if outcome == SUCCESS:
        return min(MOST, confidence + (1 - confidence) * settings.gain)
    return max(LEAST, confidence * settings.loss)


def is_sustained(confidence: float, successes: int, settings: ProcedureSettings) -> bool:
    """Whether it has worked often enough to be knowledge."""
    return successes >= settings.promote_successes and confidence >= settings.promote_confidence


def is_refuted(confidence: float, outcomes: int, settings: ProcedureSettings) -> bool:
    """Whether it has been tried often enough to be given up."""
    return outcomes >= settings.archive_outcomes and confidence < settings.archive_confidence
