"""What a person corrects is kept; an order for once, a question or a report is not."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ademem.capture.prompt_lessons import (
    _OPENING,
    BEFORE,
    MAX_CORRECTION_CHARS,
    MAX_CORRECTIONS,
    RULES,
    correction_kind,
    corrections,
    may_open,
)

HERE = Path(__file__).parent
PRECISION = 0.95
RECALL = {"tune": 0.95, "held_out": 0.8}
"""The rules were written on the first half of the corpus; the second was only measured."""


def corpus(name):
    lines = (HERE / f"corrections_{name}.tsv").read_text(encoding="utf-8").splitlines()
    return [(label == "+", prompt) for label, prompt in (line.split("\t") for line in lines)]


@pytest.mark.parametrize("name", RECALL)
def test_corrections_are_told_from_orders_and_reports(name):
    rows = [(is_one, bool(corrections(prompt))) for is_one, prompt in corpus(name)]
    right = sum(is_one and found for is_one, found in rows)

    assert len(rows) >= 60
    assert right / sum(found for _, found in rows) >= PRECISION
    assert right / sum(is_one for is_one, _ in rows) >= RECALL[name]


@pytest.mark.parametrize(
    ("sentence", "rule"),
    [
        pytest.param("always run the formatter", "a rule for good", id="always"),
        pytest.param("No, never use floats for money", "a rule for good", id="after a no"),
        pytest.param("we deploy from the release branch", "how we do it", id="we"),
        pytest.param("no, use pnpm instead of npm", "one thing instead of another", id="instead"),
        pytest.param("please don't use wildcard imports", "what not to do", id="don't"),
        pytest.param("I'd rather have small commits", "a preference", id="rather"),
        pytest.param("from now on write the test first", "from now on", id="from now on"),
    ],
)
def test_each_rule_names_what_it_takes(sentence, rule):
    assert correction_kind(sentence) == rule


@pytest.mark.parametrize(
    "sentence",
    [
        pytest.param("don't run the tests yet", id="not yet"),
        pytest.param("always use the staging host for this run", id="for this run"),
        pytest.param("should we always use UTC?", id="a question"),
        pytest.param("it never worked on Windows", id="a report"),
        pytest.param("Always " + "x " * MAX_CORRECTION_CHARS, id="too long"),
        pytest.param("> always use tabs here", id="a quotation"),
    ],
)
def test_what_is_no_rule_is_left_alone(sentence):
    assert correction_kind(sentence) is None


def test_code_is_not_speech():
    prompt = "Fix this:\n```\n# always use tabs in this file\nnever do that here\n```\nthanks"

    assert corrections(prompt) == []


def test_only_the_correcting_sentences_of_a_prompt_are_kept():
    prompt = "That's wrong. We keep SQL in the store package. Move it there, and run the tests."

    assert corrections(prompt) == ["We keep SQL in the store package."]


def test_a_sermon_is_cut():
    assert (
        len(corrections("\n".join(f"never use module{n} here" for n in range(20))))
        == MAX_CORRECTIONS
    )


@given(st.text(max_size=300))
def test_no_text_does_harm(text):
    assert all(len(found) <= MAX_CORRECTION_CHARS for found in corrections(f"never {text}"))


pieces = st.sampled_from([*BEFORE, "nooo", "for good", "we", "rather", "Use", "never", "pnpm"])
gaps = st.sampled_from([" ", ", ", " - ", "! ", "\t"])
endings = st.sampled_from(["we use pnpm", "don’t push", "I'd prefer it", "next time it is so"])


@given(st.lists(st.tuples(pieces, gaps), max_size=6), endings)
def test_no_rule_matches_what_may_not_open_one(opening, ending):
    sentence = "".join(word + gap for word, gap in opening) + ending
    matches = any(re.match(_OPENING + rule, sentence, re.I) for _, rule in RULES)

    assert may_open(sentence) or not matches
