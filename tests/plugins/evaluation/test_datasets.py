"""Published formats become haystacks and questions."""

from __future__ import annotations

import pytest

from ademem.core.errors import UsageError
from ademem.plugins.evaluation import measuring as evaluation
from tests.plugins.evaluation import sets


def only(data, format=None):
    (haystack,) = evaluation.read(data, format).haystacks
    return haystack


def test_each_turn_of_a_conversation_is_an_item():
    first, second, _ = only(sets.locomo()).items

    assert (first.id, first.speaker, first.session) == ("D1:1", "Ada", "D1")
    assert first.date == "2023-01-20T00:04:00"
    assert second.text == "My sister adopted a grey parrot last week [photo: a bird on a perch]"


def test_evidence_is_read_as_it_was_meant_and_what_points_nowhere_is_left_out():
    questions = only(sets.locomo()).questions

    assert [(q.relevant, q.category) for q in questions] == [
        (("D1:2",), "single-hop"),
        (("D1:1", "D1:3"), "multi-hop"),
        (("D1:1",), "adversarial"),
    ]


@pytest.mark.parametrize(
    ("spoken", "moment"),
    [
        pytest.param("4:04 pm on 20 January, 2023", "2023-01-20T16:04:00", id="afternoon"),
        pytest.param("12:30 pm on 1 May, 2023", "2023-05-01T12:30:00", id="noon"),
        pytest.param("12:04 am on 20 January, 2023", "2023-01-20T00:04:00", id="midnight"),
    ],
)
def test_dates_are_read_in_english_whatever_the_locale(spoken, moment):
    turn = {"dia_id": "D1:1", "speaker": "Ada", "text": "hello"}
    talk = {"session_1": [turn], "session_1_date_time": spoken}

    assert only(sets.locomo(conversation=talk, qa=[])).items[0].date == moment


def test_of_a_haystack_of_sessions_the_marked_turns_are_relevant():
    haystack = only(sets.longmemeval())
    (question,) = haystack.questions
    answers = [item for item in haystack.items if item.id in question.relevant]

    assert [(item.text, item.session) for item in answers] == [("My hive is called Aurora", "s2")]
    assert answers[0].date == "2023-05-21T14:00:00"
    assert question.category == "single-session-user"


def test_without_marks_every_turn_of_the_answering_sessions_is_relevant():
    turns = [[{"role": "user", "content": "a"}], [{"role": "user", "content": "b"}]]
    haystack = only(sets.longmemeval(haystack_sessions=turns, question_id="q_abs"))
    (question,) = haystack.questions

    assert question.relevant == (haystack.items[1].id,)
    assert question.category == "abstention"


def test_a_session_that_stands_twice_has_two_sets_of_items():
    haystack = only(sets.longmemeval(haystack_session_ids=["s2", "s2"]))

    assert len({item.id for item in haystack.items}) == 4


def test_plain_lines_are_stores():
    asked = {"query": "Who adopted a parrot?", "relevant": ["D1:2"]}
    data = sets.plain(asked) + b"\n\n" + sets.plain()
    first, second = evaluation.read(data).haystacks

    assert (first.name, len(first.items), second.questions) == ("talk", 3, ())
    assert first.questions[0].relevant == ("D1:2",)


@pytest.mark.parametrize(
    ("data", "format"),
    [
        pytest.param(sets.plain(), "jsonl", id="plain"),
        pytest.param(sets.locomo(), "locomo", id="LoCoMo"),
        pytest.param(sets.longmemeval(), "longmemeval", id="LongMemEval"),
    ],
)
def test_the_format_is_recognised(data, format):
    assert evaluation.read(data).format == format


@pytest.mark.parametrize(
    ("data", "format"),
    [
        pytest.param(b"", None, id="nothing"),
        pytest.param(b"{", None, id="half a line"),
        pytest.param(b'{"a": 1}', None, id="another object"),
        pytest.param(b"[1]", None, id="a list of numbers"),
        pytest.param(sets.plain(), "locomo", id="another format"),
        pytest.param(sets.plain(), "csv", id="a format nobody knows"),
    ],
)
def test_what_is_no_dataset_is_refused(data, format):
    with pytest.raises(UsageError):
        evaluation.read(data, format)


def test_the_digest_is_that_of_the_file():
    assert evaluation.read(sets.plain()).sha256 == sets.digest(sets.plain())
