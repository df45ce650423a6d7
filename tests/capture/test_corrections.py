"""What a person corrects is kept; an order for once, a question or a report is not."""

import re
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ademem.capture.prompt_lessons import (
    _OPENING,
    MAX_CORRECTION_CHARS,
    MAX_CORRECTIONS,
    RULES,
    corrections,
    possible_rules,
    state_rule,
)

HERE = Path(__file__).parent
PRECISION = 0.95
RECALL = {"tune": 0.95, "held_out": 0.8}
"""The rules were written on the first half of the corpus; the second was only measured."""


def corpus(name):
    lines = (HERE / f"corrections_{name}.tsv").read_text(encoding="utf-8").splitlines()
    return [(label == "+", prompt) for label, prompt in (line.split("\t") for line in lines)]


@pytest.mark.parametrize("name", RECALL)
def test_corrections_are_distinguished_from_orders_and_reports(name):
    rows = [(is_one, bool(corrections(prompt))) for is_one, prompt in corpus(name)]
    right = sum(is_one and found for is_one, found in rows)

    assert len(rows) >= 60
    assert right / sum(found for _, found in rows) >= PRECISION
    assert right / sum(is_one for is_one, _ in rows) >= RECALL[name]


def stated(start):
    """Every other row, as the rules were written on the first half alone."""
    lines = (HERE / "corrections_stated.tsv").read_text(encoding="utf-8").splitlines()
    rows = [line.split("\t") for line in lines]
    for label in "+-":
        yield from islice((row for row in rows if row[0] == label), start, None, 2)


@pytest.mark.parametrize("start", [0, 1], ids=["tune", "held out"])
def test_a_correction_is_kept_as_the_rule_that_it_states(start):
    rows = [([each.rule for each in corrections(row[1])], row) for row in stated(start)]
    exact = [found == [row[2]] for found, row in rows if row[0] == "+"]
    harmless = [not found for found, row in rows if row[0] == "-"]

    assert len(exact) + len(harmless) >= 60
    assert sum(exact) / len(exact) >= 0.9
    assert sum(harmless) / len(harmless) >= 0.95


@pytest.mark.parametrize(
    ("sentence", "rule"),
    [
        pytest.param("always run the formatter", "Always run the formatter", id="always"),
        pytest.param(
            "we deploy from the release branch", "Deploy from the release branch", id="we"
        ),
        pytest.param("no, use pnpm instead of npm", "Use pnpm, not npm", id="instead of"),
        pytest.param(
            "use fixtures instead of creating rows",
            "Use fixtures instead of creating rows",
            id="before a verb",
        ),
        pytest.param("please don't use wildcards", "Don't use wildcards", id="please"),
        pytest.param("please stop using any", "Stop using any", id="stop"),
        pytest.param("I'd rather have small commits", "Prefer small commits", id="rather"),
        pytest.param("from now on write the test first", "Write the test first", id="from now on"),
        pytest.param("you should not commit secrets", "Don't commit secrets", id="should not"),
        pytest.param("no, the port is 5433, not 5432", "The port is 5433, not 5432", id="a fact"),
    ],
)
def test_a_rule_is_worded_as_a_command(sentence, rule):
    assert state_rule(sentence) == rule


@pytest.mark.parametrize(
    "sentence",
    [
        pytest.param("don't run the tests yet", id="not yet"),
        pytest.param("always use the staging host for this run", id="for this run"),
        pytest.param("should we always use UTC?", id="a question"),
        pytest.param("it never worked on Windows", id="a report"),
        pytest.param("Always " + "x " * MAX_CORRECTION_CHARS, id="too long"),
        pytest.param("the port is 5433, not 5432", id="a fact that corrects nothing"),
        pytest.param("no, the problem is in the parser, not in the lexer", id="of this task"),
        pytest.param("use a set instead of a list", id="one place in the code"),
        pytest.param("don't touch the tests, only fix the source", id="for this fix"),
        pytest.param("don't edit any files", id="for this turn"),
        pytest.param("only analyse, do not modify", id="for this analysis"),
        pytest.param('always show the text "this field must be filled"', id="with a quotation"),
    ],
)
def test_what_is_no_rule_is_left_alone(sentence):
    assert state_rule(sentence) is None


@pytest.mark.parametrize(
    "pasted",
    [
        "```\n# always use tabs in this file\n```",
        "~~~\nnever do that here\n~~~",
        "> We always use tabs.",
        "    # always use tabs in this file",
        "<review>\nWe always use tabs.\n</review>",
        '"We always use tabs in this file."',
        "| always use tabs | yes |",
    ],
)
def test_quotations_code_and_pasted_blocks_are_not_the_persons_words(pasted):
    assert corrections(f"Fix this:\n{pasted}\nthanks") == []


def test_only_the_correcting_sentences_of_a_prompt_are_kept():
    prompt = "That's wrong. We keep SQL in the store package. Move it there, and run the tests."
    (found,) = corrections(prompt)

    assert found.sentence == "We keep SQL in the store package."
    assert found.rule == "Keep SQL in the store package"


@pytest.mark.parametrize(
    "objection",
    [
        "No, that is wrong.",
        "That's wrong.",
        "Nope.",
        "No!",
        "Sorry, that's not right.",
        "this isn't true.",
        "Wrong port.",
        "No, that is wrong \N{EM DASH}",
        "That is not correct.\n\n",
    ],
)
def test_a_fact_behind_an_objection_is_kept(objection):
    (found,) = corrections(f"{objection} The port is 8081, not 8080.")

    assert found.rule == "The port is 8081, not 8080"


@pytest.mark.parametrize(
    "before",
    [
        "",
        "No problem.",
        "Is that wrong?",
        "Ok.",
        "The test is wrong.",
        "It did not start.",
        "No. Look at the log.",
        "> No, that is wrong.\n",
    ],
)
def test_a_fact_that_answers_no_objection_is_left_alone(before):
    assert corrections(f"{before} The port is 8081, not 8080.") == []


def test_a_sermon_is_cut():
    assert (
        len(corrections("\n".join(f"never use module{n} here" for n in range(20))))
        == MAX_CORRECTIONS
    )


@given(st.text(max_size=300))
def test_no_text_does_harm(text):
    found = corrections(f"never {text}")

    assert all(len(each.sentence) <= MAX_CORRECTION_CHARS for each in found)
    assert all(each.rule for each in found)


before = (
    "no nope wrong nein non actually sorry wait stop please and so but also then ok okay that's"
    " that’s thats that this is isn't isn’t right correct true i meant mean said told you to not"
    " bitte por favor s'il te plaît remember"
).split()
pieces = st.sampled_from([*before, "nooo", "for good", "we", "rather", "Use", "never", "pnpm"])
gaps = st.sampled_from([" ", ", ", " - ", "! ", "\t"])
endings = st.sampled_from(["we use pnpm", "don’t push", "I'd prefer it", "next time it is so"])


@given(st.lists(st.tuples(pieces, gaps), max_size=6), endings)
def test_the_words_of_a_sentence_leave_out_no_pattern_that_matches(opening, ending):
    sentence = "".join(word + gap for word, gap in opening) + ending
    matching = {rule.pattern for rule in RULES if re.match(_OPENING + rule.pattern, sentence, re.I)}

    assert matching <= {rule.pattern for rule in possible_rules(sentence)}
