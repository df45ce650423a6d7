"""Turns of a dialogue: their neighbours, and what a question asks for beside its words."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from ademem.core.memory import DIALOGUE, EPISODE
from ademem.search import dialogue
from ademem.search.dialogue import neighbour_meaning, neighbour_words
from ademem.search.embedding import embedded_text, embedded_texts
from ademem.search.ranking import DEFAULTS
from ademem.store.memories import session_neighbours
from tests.builders import NOW, memory


@pytest.mark.parametrize(
    ("query", "months", "years"),
    [
        pytest.param("what did we decide in March 2023?", {3}, {2023}, id="a month of a year"),
        pytest.param("the plan of May 3", set() | {5}, set(), id="May with a day"),
        pytest.param("what happened in may", {5}, set(), id="in may"),
        pytest.param("may I delete the cache", set(), set(), id="may I"),
        pytest.param("march and april", {3, 4}, set(), id="two months"),
        pytest.param("port 20235 and error 12023", set(), set(), id="other numbers"),
    ],
)
def test_a_question_may_name_months_and_years(query, months, years):
    read = dialogue.read_features(query)

    assert (read.months, read.years) == (months, years)


def bonus(query, turn):
    return dialogue.bonus(dialogue.read_features(query), turn, DEFAULTS)


@pytest.mark.parametrize(
    ("query", "cue", "holds"),
    [
        pytest.param("when was it moved", "time", True, id="when"),
        pytest.param("which year was it moved", "time", True, id="which year"),
        pytest.param("what happens when it moves", "time", False, id="when inside"),
        pytest.param("what did Ann say", "speaker", True, id="the speaker"),
        pytest.param("what did Annabel say", "speaker", False, id="somebody else"),
        pytest.param("what was in March 2025", "date", True, id="its month"),
        pytest.param("what was in March 2024", "date", False, id="that month of another year"),
        pytest.param("what was in 2025", "date", True, id="its year"),
        pytest.param("what was it", "date", False, id="no date"),
        pytest.param("what was it", "asks", False, id="it asks nothing"),
    ],
)
def test_a_memory_has_what_a_question_asks_for(query, cue, holds):
    said = memory(
        "It was moved last Monday.",
        title="Ann",
        tags=(DIALOGUE,),
        created_at=datetime(2025, 3, 10, tzinfo=UTC),
    )

    assert (cue in bonus(query, said)) is holds


def test_a_title_is_no_speaker():
    assert "speaker" not in bonus("signing keys", memory("rotate them", title="signing keys"))


def test_a_memory_that_ends_with_a_question_asks():
    assert "asks" in bonus("x", memory("Why is it red?"))


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        pytest.param({}, "it was red", id="a note"),
        pytest.param({"title": "Colours"}, "Colours\nit was red", id="a titled one"),
        pytest.param(
            {"title": "Ann", "tags": (DIALOGUE,)},
            'Ann said, "it was red"',
            id="a turn of a dialogue",
        ),
    ],
)
def test_what_gets_a_vector_is_the_text_as_it_was_said(changes, expected):
    assert embedded_text(memory("it was red", **changes)) == expected


@pytest.mark.parametrize(
    ("content", "changes", "heading"),
    [
        pytest.param(
            "Fix rounding of invoices\n\nHalf cents were cut off",
            {},
            True,
            id="subject of a commit",
        ),
        pytest.param("half cents were cut off", {"title": "Cents and rounding"}, True, id="title"),
        pytest.param("Half cents were cut off", {"title": "Invoices"}, False, id="one word"),
        pytest.param("Half cents of invoices\nwere cut off", {}, False, id="wrapped sentence"),
        pytest.param("- cents of one\n- Cents of another", {}, False, id="list"),
        pytest.param("Half cents of invoices were cut off", {}, False, id="one line"),
        pytest.param(
            "How is it?\nGood", {"title": "Ann Lee Moe", "tags": (DIALOGUE,)}, False, id="turn"
        ),
    ],
)
def test_a_heading_gets_a_vector_as_well(content, changes, heading):
    texts = embedded_texts(memory(content, **changes))

    assert (len(texts) == 2) is heading
    assert texts[0] == embedded_text(memory(content, **changes))
    assert texts[1:] == ((texts[0].split("\n")[0],) if heading else ())


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
