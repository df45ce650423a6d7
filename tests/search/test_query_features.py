"""What a question asks for beside its words."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from ademem.core.memory import DIALOGUE, PROCEDURE
from ademem.search import query_features
from ademem.search.embedding import embedded_text
from tests.builders import memory


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
    read = query_features.read(query)

    assert (read.months, read.years) == (months, years)


@pytest.mark.parametrize(
    ("query", "cue", "holds"),
    [
        pytest.param("when was it moved", query_features.time, True, id="when"),
        pytest.param("which year was it moved", query_features.time, True, id="which year"),
        pytest.param("what happens when it moves", query_features.time, False, id="when inside"),
        pytest.param("what did Ann say", query_features.speaker, True, id="the speaker"),
        pytest.param("what did Annabel say", query_features.speaker, False, id="somebody else"),
        pytest.param("what was in March 2025", query_features.date, True, id="its month"),
        pytest.param(
            "what was in March 2024", query_features.date, False, id="that month of another year"
        ),
        pytest.param("what was in 2025", query_features.date, True, id="its year"),
        pytest.param("what was it", query_features.date, False, id="no date"),
        pytest.param("what was it", query_features.asks, False, id="it asks nothing"),
    ],
)
def test_a_memory_has_what_a_question_asks_for(query, cue, holds):
    said = memory(
        "It was moved last Monday.",
        title="Ann",
        tags=(DIALOGUE,),
        created_at=datetime(2025, 3, 10, tzinfo=UTC),
    )

    assert cue(query_features.read(query), said) is holds


def test_a_title_is_no_speaker():
    assert not query_features.speaker(
        query_features.read("signing keys"), memory("rotate them", title="signing keys")
    )


def test_a_memory_that_ends_with_a_question_asks():
    assert query_features.asks(query_features.read("x"), memory("Why is it red?"))


@pytest.mark.parametrize(
    ("query", "holds"),
    [
        pytest.param("how is billing deployed", True, id="a question"),
        pytest.param("What's the way to deploy billing?", True, id="a contracted one"),
        pytest.param("deploy billing", False, id="a task"),
    ],
)
def test_the_steps_of_sessions_answer_no_question(query, holds):
    taught = memory("Use when the task is like “deploy billing”.", source_type=PROCEDURE)

    assert query_features.steps(query_features.read(query), taught) is holds
    assert not query_features.steps(
        query_features.read(query), memory("To deploy billing, tag it.")
    )


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
