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

MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()
NEAR_DAYS = ("today", "yesterday")


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


def tell_date(at: datetime | str, now: datetime) -> str:
    """Return a local date as people say it: “21 Nov”, “3 Mar 2025” of another year."""
    moment = _local(at)
    year = "" if moment.year == now.astimezone().year else f" {moment.year}"
    return f"{moment.day} {MONTHS[moment.month - 1]}{year}"


def tell_day(at: datetime | str, now: datetime) -> str:
    """Return a local day as people say it: “today”, “yesterday”, “21 Nov”, “3 Mar 2025”."""
    moment, today = _local(at), now.astimezone().date()
    for days_ago, name in enumerate(NEAR_DAYS):
        if moment.date() == today - timedelta(days=days_ago):
            return name
    return tell_date(moment, now)


def tell_time(at: datetime | str, now: datetime) -> str:
    """Return a local moment as people say it: “today 10:42”, “21 Nov”, “3 Mar 2025”."""
    moment = _local(at)
    day = tell_day(moment, now)
    return f"{day} {moment:%H:%M}" if day in NEAR_DAYS else day


def _local(at: datetime | str) -> datetime:
    return (parse(at) if isinstance(at, str) else at).astimezone()


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
