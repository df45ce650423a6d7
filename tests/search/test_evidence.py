"""What is shown to a reader who did not ask: the features, the floor, and the cut."""

from __future__ import annotations

import math
from datetime import timedelta

import pytest

from ademem.core.floors import FLOORS, VALUES
from ademem.core.memory import Stage, Status, Trust
from ademem.core.value import Value
from ademem.search import evidence
from ademem.search.engine import Filters, search, suggest
from ademem.store import evidence as store_evidence
from tests.builders import NOW, insert, memory


class Hit(Value):
    """A hit, as far as the choice looks at it."""

    signals: dict[str, float]


def hits(*weighed: float) -> list[Hit]:
    return [Hit(signals={"helps": each}) for each in weighed]


def choose(
    *weighed: float, floor: float = evidence.prompt_floor("lexical"), most: int = 2
) -> list[float]:
    chosen = evidence.choose(hits(*weighed), floor=floor, most=most)
    return [hit.signals["helps"] for hit in chosen]


@pytest.mark.parametrize(
    ("given", "chosen"),
    [
        pytest.param((), [], id="no hit"),
        pytest.param((-1.5, -3.0), [], id="none above the floor"),
        pytest.param((0.0, -1.0, -1.5), [0.0, -1.0], id="never more than two"),
        pytest.param((-1.0, 1.0), [1.0, -1.0], id="in the order of the evidence"),
        pytest.param((3.0, 0.4), [3.0], id="no filler far below the best"),
        pytest.param((-1.0, -2.5), [-1.0, -2.5], id="the second is held against the best alone"),
    ],
)
def test_what_is_shown(given, chosen):
    assert choose(*given) == chosen


def test_each_line_says_what_it_was_chosen_on_and_when():
    assert len(VALUES) == len(FLOORS)
    for floor in FLOORS:
        assert floor.purpose, floor.name
        assert floor.chosen_on, floor.name
        assert floor.date >= "2026", floor.name


def test_a_prompt_is_helped_by_what_is_near_it_and_shares_its_words():
    signals = {"share": 0.4, "cosine": 0.5}
    least = evidence.weigh_prompt(signals, 1.0)

    assert evidence.weigh_prompt(signals | {"share": 0.6}, 1.0) > least
    assert evidence.weigh_prompt(signals | {"cosine": 0.6}, 1.0) > least
    assert evidence.weigh_prompt(signals, 4.0) > least, "as much of a longer prompt is more"
    far = signals | {"cosine": 0.1}
    assert evidence.weigh_prompt({"share": 0.4}, 1.0) > evidence.weigh_prompt(far, 1.0)


def test_the_newer_of_two_that_are_alike_has_to_help_as_much_or_be_more_alike():
    alike = evidence.NEWER + 0.01

    assert evidence.is_outdated_by(alike, gap=0.0)
    assert evidence.is_outdated_by(alike, gap=-1.0), "it helps even more"
    assert not evidence.is_outdated_by(alike, gap=1.0)
    assert evidence.is_outdated_by(alike + evidence.NEWER_GAP, gap=1.0)
    assert evidence.is_outdated_by(0.5, gap=evidence.INFINITE), "it was not found"
    assert not evidence.is_outdated_by(evidence.NEWER - 0.01, gap=0.0)


def test_each_feature_moves_the_evidence_its_way():
    signals = {"share": 0.4, "cosine": 0.5}
    least = evidence.weigh(signals, 1.0, 0.3)

    assert evidence.weigh(signals | {"share": 0.6}, 1.0, 0.3) > least
    assert evidence.weigh(signals | {"cosine": 0.6}, 1.0, 0.3) > least
    assert evidence.weigh(signals, 4.0, 0.3) < least, "a longer prompt"
    assert evidence.weigh(signals, 1.0, 0.4) < least, "a store that is near as a whole"


@pytest.mark.parametrize(
    ("signals", "is_english", "expected"),
    [
        pytest.param({"evidence": -3.0, "subject": 0.7}, True, True, id="about the subject"),
        pytest.param({"evidence": -1.0, "subject": 0.5}, True, False, id="ahead, and far"),
        pytest.param({"evidence": -1.0, "subject": 0.57}, True, False, id="near, in English"),
        pytest.param(
            {"evidence": -3.0, "subject": 0.57}, False, True, id="near, in another language"
        ),
        pytest.param({"evidence": -2.0}, True, True, id="without a vector"),
        pytest.param({"evidence": -3.0}, True, False, id="without a vector, with few words"),
    ],
)
def test_a_hit_answers_that_is_about_the_subject(signals, is_english, expected):
    assert evidence.is_answer(signals, is_english=is_english) is expected


def test_a_question_is_about_the_subject_of_rows_that_are_all_near_it():
    signals = {"share": 0.4, "cosine": 0.4}
    least = evidence.weigh_subject(signals, 1.0, 0.1)

    assert evidence.weigh_subject(signals | {"cosine": 0.5}, 1.0, 0.1) > least
    assert evidence.weigh_subject(signals | {"share": 0.5}, 1.0, 0.1) > least
    assert evidence.weigh_subject(signals, 1.0, 0.3) > least, "as a whole near, in which it is"
    assert evidence.weigh_subject(signals, 4.0, 0.1) < least, "a longer question"


@pytest.mark.parametrize(
    ("best", "beside_best", "least"),
    [
        pytest.param(-math.inf, True, math.inf, id="none answers"),
        pytest.param(2.0, True, -2.0, id="not far below the best"),
        pytest.param(0.0, True, -3.0, id="not below all that answers"),
        pytest.param(2.0, False, -3.0, id="of a dialogue, however far below the best"),
        pytest.param(-3.5, True, -3.5, id="the best answers in any case"),
    ],
)
def test_a_hit_beside_one_that_answers(best, beside_best, least):
    assert evidence.least_answering(best, beside_best=beside_best) == least


def test_a_row_without_vector_is_weighed_by_its_words_alone():
    assert evidence.weigh({"share": 0.9}, 1.0, 0.9) == evidence.weigh({"share": 0.9}, 1.0, 0.1)


def test_the_background_is_the_tenth_nearest_row_or_an_average_one():
    near = [place / 100 for place in range(30)]

    assert evidence.background(near) == 0.20
    assert evidence.background(near[:9]) == evidence.FEW_ROWS


def test_a_project_with_one_memory_already_suggests_it(store):
    insert(store, memory("Deploys run only from main, after CI is green"))

    (shown,) = suggest("may deploys run from a branch?", store, Filters(), NOW)
    assert shown.memory.content.startswith("Deploys")
    assert suggest("Write a poem about the sea", store, Filters(), NOW) == []


AGENTS = {"status": Status.CANDIDATE, "promoted_at": None}


@pytest.mark.parametrize(
    ("days", "changes", "evidence_days", "is_shown"),
    [
        pytest.param(29, AGENTS, None, True, id="an agent wrote it lately"),
        pytest.param(31, AGENTS, None, False, id="an agent wrote it long ago"),
        pytest.param(90, AGENTS, 3, True, id="it was met again"),
        pytest.param(31, AGENTS | {"stage": Stage.SUPPORTED}, None, True, id="two things speak"),
        pytest.param(91, AGENTS | {"stage": Stage.SUPPORTED}, None, False, id="they did once"),
        pytest.param(400, AGENTS | {"trust": Trust.USER}, None, True, id="a person said it"),
        pytest.param(400, {}, None, True, id="a person confirmed it"),
    ],
)
def test_use_alone_shows_nobody_unasked_what_an_agent_wrote_long_ago(
    store, days, changes, evidence_days, is_shown
):
    learned = NOW - timedelta(days=days)
    times = {"created_at": learned, "updated_at": learned, "last_accessed_at": NOW}
    (kept,) = insert(store, memory("Rows of billing live in PostgreSQL", **times, **changes))
    if evidence_days is not None:
        met = NOW - timedelta(days=evidence_days)
        store_evidence.add(store, kept.id, "error_met", met, quote="PostgreSQL refused a row")
    prompt = "where do the rows of billing live?"

    assert bool(suggest(prompt, store, Filters(), NOW)) is is_shown
    assert search(prompt, store, Filters(), NOW).answers


@pytest.mark.parametrize("prompt", ["ja", "si", "mach weiter"])
def test_a_short_prompt_is_not_taken_for_the_beginning_or_a_part_of_a_word(store, prompt):
    for text in ("java 21 is needed", "the sidebar reads /api/nav", "a machine of ours is slow"):
        insert(store, memory(text))

    assert suggest(prompt, store, Filters(), NOW) == []
    assert suggest("which java?", store, Filters(), NOW)
