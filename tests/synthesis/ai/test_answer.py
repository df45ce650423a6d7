"""An answer fits its schema, is cut to fit, or is none."""

import json

import pytest

from ademem.synthesis.ai import ITEMS, TEXT_CHARS, InvalidAnswer, find_object, validate

TEXT = {"type": "string"}
TEXTS = {"type": "array", "items": TEXT}


def same(text):
    return text


def thing(required=(), **properties):
    return {"type": "object", "properties": properties, "required": list(required)}


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        pytest.param(TEXT, "words", id="text"),
        pytest.param(TEXTS, ["a", "b"], id="list"),
        pytest.param(thing(["a"], a=TEXT), {"a": "x"}, id="object"),
        pytest.param(thing(a=TEXT), {}, id="what is not required is missing"),
        pytest.param({"type": "string", "enum": ["yes", "no"]}, "no", id="one of a few words"),
    ],
)
def test_what_fits_stays_as_it_is(schema, value):
    assert validate(value, schema, same) == value


@pytest.mark.parametrize(
    ("schema", "value", "complaint"),
    [
        pytest.param(TEXT, 3, "the answer is not a string", id="number for a text"),
        pytest.param(TEXT, None, "the answer is not a string", id="nothing for a text"),
        pytest.param(thing(), [], "not an object", id="list for an object"),
        pytest.param(TEXTS, "abc", "not an array", id="text for a list"),
        pytest.param(thing(["a"], a=TEXT), {}, "a is missing", id="missing"),
        pytest.param(thing(["a"], a=TEXT), {"a": None}, "a is not a string", id="null"),
        pytest.param(thing(a=TEXTS), {"a": ["x", 1]}, r"a\[1\] is not a string", id="in a list"),
        pytest.param(thing(a=thing(["b"], b=TEXT)), {"a": {}}, r"a\.b is missing", id="deep"),
        pytest.param({"type": "string", "enum": ["yes"]}, "no", "none of yes", id="other word"),
        pytest.param({"type": "string", "minLength": 1}, " \n", "too short", id="blank"),
        pytest.param({**TEXTS, "minItems": 2}, ["a"], "only 1 items", id="too few"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_place(schema, value, complaint):
    with pytest.raises(InvalidAnswer, match=complaint):
        validate(value, schema, same)


@pytest.mark.parametrize(
    ("schema", "value", "kept"),
    [
        pytest.param({"type": "string", "maxLength": 3}, "abcdef", "abc", id="bounded text"),
        pytest.param(TEXT, "x" * 9_999, "x" * TEXT_CHARS, id="text without a bound"),
        pytest.param({**TEXTS, "maxItems": 1}, ["a", "b"], ["a"], id="bounded list"),
        pytest.param(TEXTS, ["a"] * 999, ["a"] * ITEMS, id="list without a bound"),
        pytest.param(thing(a=TEXT), {"a": "x", "b": "y"}, {"a": "x"}, id="not asked for"),
        pytest.param(thing(a=TEXT), {"a": None}, {}, id="null for what may be missing"),
    ],
)
def test_what_is_too_much_is_left_out(schema, value, kept):
    assert validate(value, schema, same) == kept


def test_every_text_is_cleaned_before_it_is_cut():
    schema = thing(a={"type": "array", "items": {"type": "string", "maxLength": 2}})

    assert validate({"a": ["--xy", "z"]}, schema, lambda t: t.strip("-")) == {"a": ["xy", "z"]}


@pytest.mark.parametrize(
    "text",
    [
        pytest.param('{"a": 1}', id="alone"),
        pytest.param('Sure!\n```json\n{"a": 1}\n```\nAnything else?', id="in a fence"),
        pytest.param('{broken, {"a": 1}', id="behind a brace"),
        pytest.param('"{not this}" but {"a": 1} {"a": 2}', id="the first of two"),
    ],
)
def test_the_object_is_found_among_words(text):
    assert find_object(text) == {"a": 1}


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="nothing"),
        pytest.param("I cannot help with that.", id="words"),
        pytest.param("[1, 2]", id="a list"),
        pytest.param('{"a": ', id="cut short"),
        pytest.param("{" * 100_000, id="braces"),
        pytest.param('{"a":' * 100_000, id="depth"),
    ],
)
def test_without_an_object_there_is_no_answer(text):
    with pytest.raises(InvalidAnswer, match="no JSON object"):
        find_object(text)


def test_an_object_below_braces_beyond_count_is_not_looked_for():
    with pytest.raises(InvalidAnswer):
        find_object("{" * 1_000 + json.dumps({"a": 1}))
