"""Times as UTC `datetime`, stored as text that sorts by time."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import UTC, datetime, timedelta
else:
    try:  # `datetime` defines all classes in Python first
        from _datetime import UTC, datetime, timedelta
    except ImportError:
        from datetime import UTC, datetime, timedelta

__all__ = ["UTC", "datetime", "timedelta"]


def now() -> datetime:
    return datetime.now(UTC)


def stamp(moment: datetime) -> str:
    """Format as `2026-01-31T23:59:59.123Z`, the only form of time in the database."""
    if moment.tzinfo is not UTC:
        moment = moment.astimezone(UTC)
    return moment.isoformat(timespec="milliseconds")[: -len("+00:00")] + "Z"


def parse(text: str) -> datetime:
    """Parse a stamp or any ISO-8601 time; without a zone it is UTC."""
    moment = datetime.fromisoformat(text.strip())
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def days_between(earlier: datetime, later: datetime) -> float:
    return (later - earlier).total_seconds() / 86400


class TooLate(Exception):
    """The deadline has passed; nothing was changed."""


class Deadline:
    def __init__(self, clock: Callable[[], float], seconds: float) -> None:
        self._clock = clock
        self._end = clock() + seconds

    @property
    def left_s(self) -> float:
        return self._end - self._clock()

    def check(self) -> None:
        if self.left_s <= 0:
            raise TooLate
