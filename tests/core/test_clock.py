"""Moments and the one form of text in which they are stored."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ademem.core.clock import days_between, now, parse, stamp, tell_date, tell_day, tell_time

ZONES = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
MOMENTS = st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30), timezones=ZONES)


@pytest.mark.parametrize(
    ("moment", "expected"),
    [
        pytest.param(
            datetime(2026, 1, 31, 23, 59, 59, 123999, UTC), "2026-01-31T23:59:59.123Z", id="UTC"
        ),
        pytest.param(
            datetime(2026, 2, 1, 1, 0, tzinfo=timezone(timedelta(hours=2))),
            "2026-01-31T23:00:00.000Z",
            id="another zone",
        ),
        pytest.param(datetime(7, 1, 1, tzinfo=UTC), "0007-01-01T00:00:00.000Z", id="long ago"),
    ],
)
def test_a_stamp_is_utc_with_milliseconds(moment, expected):
    assert stamp(moment) == expected


@given(MOMENTS)
def test_a_stamp_read_back_is_the_same_moment(moment):
    assert timedelta(0) <= moment - parse(stamp(moment)) < timedelta(milliseconds=1)


@given(MOMENTS, MOMENTS)
def test_stamps_sort_like_time(one, other):
    earlier, later = sorted((one, other))

    assert stamp(earlier) <= stamp(later)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("2026-01-31T23:59:59Z", id="ISO"),
        pytest.param("2026-01-31T23:59:59.000000+00:00", id="with an offset"),
        pytest.param("2026-02-01T01:59:59+02:00", id="another zone"),
        pytest.param("2026-01-31 23:59:59", id="as SQLite writes it"),
        pytest.param(" 20260131T235959Z\n", id="basic form among blanks"),
    ],
)
def test_any_iso_time_is_read_and_is_utc_without_a_zone(text):
    assert stamp(parse(text)) == "2026-01-31T23:59:59.000Z"


@pytest.mark.parametrize("text", ["", "soon", "31.01.2026", "2026-13-01"])
def test_what_is_no_time_is_refused(text):
    with pytest.raises(ValueError, match=r"Invalid isoformat|month must be"):
        parse(text)


def test_days_are_counted_with_their_parts():
    start = datetime(2026, 1, 1, tzinfo=UTC)

    assert days_between(start, start + timedelta(hours=36)) == 1.5
    assert days_between(start, start - timedelta(days=1)) == -1


def test_now_has_a_zone():
    assert now().tzinfo is UTC


@pytest.mark.parametrize(
    ("days_ago", "date", "day", "time"),
    [
        pytest.param(0, "3 Mar", "today", "today 12:00", id="today"),
        pytest.param(1, "2 Mar", "yesterday", "yesterday 12:00", id="the day before"),
        pytest.param(2, "1 Mar", "1 Mar", "1 Mar", id="this year"),
        pytest.param(365, "3 Mar 2025", "3 Mar 2025", "3 Mar 2025", id="another year"),
    ],
)
def test_a_day_is_told_as_people_say_it(days_ago, date, day, time):
    today = datetime(2026, 3, 3, 12).astimezone()
    moment = today - timedelta(days=days_ago)

    assert tell_date(moment, today) == date
    assert tell_day(stamp(moment), today) == day
    assert tell_time(moment, today) == time
