"""Times as people and programs write them."""

from __future__ import annotations

from ademem.core import regex
from ademem.core.clock import datetime, timedelta
from ademem.core.errors import UsageError

UNITS = {"m": timedelta(minutes=1), "h": timedelta(hours=1), "d": timedelta(days=1)}


def parse_time(text: str, now: datetime) -> datetime:
    """Read ISO 8601, by default in local time, or an age; a day alone means its end."""
    age = regex.fullmatch(r"(\d{1,5})([mhd])", text.strip())
    if age:
        return now - int(age[1]) * UNITS[age[2]]
    try:
        moment = datetime.fromisoformat(text.strip()).astimezone()
        return moment + timedelta(days=1) if len(text.strip()) == len("2026-01-31") else moment
    except (ValueError, OverflowError) as error:
        raise UsageError(
            f"{text!r} is not a time", "2026-01-31, 2026-01-31T18:00, or ago: 45m, 3h, 2d"
        ) from error
