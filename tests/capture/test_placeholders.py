"""What stands for a lesson that nobody wrote is captured by no door."""

from __future__ import annotations

import pytest

from ademem.capture import is_placeholder
from ademem.capture.message_lessons import findings, learnings
from ademem.capture.prompt_lessons import dictations

BLANKS = (
    *("n/a", "N/A.", "TODO", "TODO: describe the fix", "…", "...", "---", "", "???", "tbd"),
    *("<describe what you learned in this session>", "<lesson>: <why it matters>", "**<lesson>**"),
    *("[describe the lesson here]", "{{lesson}}", "$LESSON", "${LESSON}", "$(cat lesson.md)"),
    *("No new learnings", "nothing to add", "Your lesson here", "What I learned", "as above"),
    *("Summarize the key findings here", "placeholder", "Lorem ipsum dolor sit amet consectetur"),
)

LESSONS = (
    "TODO comments are checked by the linter in CI",
    "use <T> for the type of the items",
    "The button says n/a when the value is null",
    "$HOME is not set under systemd",
    "缓存必须先清空",
    "nothing is written before the lease is taken",
    "tests run with xdist",
    "x is y",
    "WAL",
)


@pytest.mark.parametrize("text", BLANKS)
def test_a_blank_is_a_placeholder(text):
    assert is_placeholder(text)


@pytest.mark.parametrize("text", LESSONS)
def test_a_lesson_is_none(text):
    assert not is_placeholder(text)


@pytest.mark.parametrize("text", [text for text in BLANKS if len(text) >= 12])
def test_no_door_for_words_takes_a_blank(text):
    assert dictations(f"remember: {text}") == []
    assert learnings(f"## Key learnings\n\n1. {text}\n") == []
    assert findings(f"Gotcha: {text}") == []


def test_the_same_doors_take_a_lesson():
    text = "the importer needs two gigabytes of memory for every file"

    assert dictations(f"remember: {text}") == [text]
    assert learnings(f"## Key learnings\n\n1. {text}\n") == [text]
    assert [said for _, said in findings(f"Gotcha: {text}")] == [text]
