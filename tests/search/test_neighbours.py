"""Who stands beside whom in a session, and what that adds."""

from __future__ import annotations

import pytest

from ademem.core.memory import EPISODE
from ademem.search.relevance import neighbour_meaning, neighbour_words
from ademem.store.memories import session_neighbours
from tests.builders import NOW


def test_neighbours_are_those_of_the_same_session_in_their_order(store, keep):
    a = [keep(f"turn {number}", source_session_id="ab"[number % 2]).seq for number in range(10)][
        ::2
    ]
    keep("of no session")

    found = session_neighbours(store, [a[1]], 2, 2)
    assert found[a[1]] == ((a[0], a[2]), (a[3],))
    assert found[a[2]] == ((a[1], a[3]), (a[0], a[4]))
    assert set(found) == set(a[:4])


def test_a_row_of_no_session_has_no_neighbours(store, keep):
    rows = [keep(f"note {number}").seq for number in range(3)]

    assert session_neighbours(store, rows, 2, 2) == {}


def test_a_deleted_row_is_nobodys_neighbour(store, keep):
    first = keep("turn 1", source_session_id="a")
    keep("turn 2", source_session_id="a", deleted_at=NOW)
    third = keep("turn 3", source_session_id="a")

    assert session_neighbours(store, [first.seq], 2, 2)[first.seq] == ((third.seq,), ())


def test_an_episode_is_nobodys_neighbour_as_it_tells_the_whole_session(store, keep):
    first = keep("note 1", source_session_id="a")
    told = keep("they did 1 and 2", source_session_id="a", source_type=EPISODE)
    second = keep("note 2", source_session_id="a")

    assert session_neighbours(store, [first.seq], 2, 2)[first.seq] == ((second.seq,), ())
    assert session_neighbours(store, [told.seq], 2, 2) == {}


@pytest.mark.parametrize(
    ("held", "expected"),
    [
        pytest.param({1: (0,)}, 0.5, id="the row itself"),
        pytest.param({2: (0,)}, 0.5, id="the next one"),
        pytest.param({3: (0,)}, 0.5 * 1.3 * 0.6 / 0.9, id="the one after it"),
        pytest.param({1: (0,), 2: (0,)}, 0.5 * 1.3 * 2 / 2.3, id="both: hardly more"),
        pytest.param({1: (0,), 2: (1,)}, 1.0, id="each its word"),
        pytest.param({4: (0, 1)}, 0.0, id="somebody else"),
    ],
)
def test_near_words_are_those_of_a_row_and_its_neighbours(held, expected):
    assert neighbour_words(1, ((2,), (3,)), held, (0.5, 0.5)) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("cosines", "expected"),
    [
        pytest.param({1: 0.5}, 0.5, id="alone"),
        pytest.param({1: 0.5, 2: 0.1}, 0.3, id="with one"),
        pytest.param({2: 0.4, 3: 0.4}, 0.4, id="only neighbours"),
        pytest.param({}, None, id="no vectors"),
    ],
)
def test_near_meaning_is_the_mean_of_what_has_a_vector(cosines, expected):
    assert neighbour_meaning(1, ((2,), (3,)), cosines) == (
        None if expected is None else pytest.approx(expected)
    )
