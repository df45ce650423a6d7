"""The arithmetic of worth, and how a budget is spent."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ademem.core.memory import Importance
from ademem.session.briefing import Entry, select_entries, worth
from ademem.store.logs import discount
from tests.builders import NOW, memory

counts = st.integers(0, 500)
patience = st.integers(1, 50)
entries = st.lists(
    st.builds(
        Entry,
        text=st.uuids().map(str),
        chars=st.integers(1, 400),
        worth=st.floats(0.01, 1.0, allow_nan=False),
    ),
    max_size=12,
)


@given(shown=counts, patience=patience)
def test_a_memory_keeps_its_worth_until_it_was_shown_too_often_without_use(shown, patience):
    known, unknown = (worth(memory("x"), NOW, times, patience) for times in (shown, 0))

    assert (known == unknown) is (shown <= patience)
    assert known <= unknown


@given(shown=counts, patience=patience)
def test_a_memory_sinks_with_every_showing_beyond(shown, patience):
    assert 0 < discount(shown + 1, patience) <= discount(shown, patience) <= 1


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        pytest.param({"importance": Importance.HIGH}, {}, id="importance"),
        pytest.param({"confidence": 0.9}, {"confidence": 0.5}, id="confidence"),
        pytest.param({}, {"updated_at": NOW - timedelta(days=30)}, id="freshness"),
        pytest.param(
            {"importance": Importance.HIGH, "updated_at": NOW - timedelta(days=3000)},
            {"importance": Importance.LOW},
            id="old and important before new and slight",
        ),
    ],
)
def test_of_two_memories_the_one_with_more_of_it_is_worth_more(better, worse):
    assert worth(memory("x", **better), NOW, 0, 10) > worth(memory("x", **worse), NOW, 0, 10)


@given(entries=entries, most=st.integers(0, 8), room=st.integers(0, 1500))
def test_what_is_chosen_fits_whole_and_keeps_its_order(entries, most, room):
    told = select_entries(entries, most, room)

    assert len(told) <= most
    assert sum(entry.chars for entry in told) <= room
    assert told == [entry for entry in entries if entry in told]


@given(entries=entries, most=st.integers(1, 8), room=st.integers(0, 1500))
def test_no_entry_that_would_fit_alone_is_worth_more_than_all_that_is_chosen(entries, most, room):
    """So the choice is at least half as good as the best there is."""
    told = sum(entry.worth for entry in select_entries(entries, most, room))

    assert all(entry.worth <= told + 1e-9 for entry in entries if entry.chars <= room)


def test_with_room_for_all_the_worthiest_are_chosen_however_long():
    long = Entry(text="long", chars=400, worth=0.9)
    short = Entry(text="short", chars=10, worth=0.2)

    assert select_entries([short, long], 1, 1000) == [long]


def test_where_room_is_scarce_two_short_ones_go_before_a_long_one():
    long = Entry(text="long", chars=100, worth=0.9)
    short = [Entry(text=text, chars=50, worth=0.6) for text in ("one", "two")]

    assert select_entries([long, *short], 8, 100) == short
