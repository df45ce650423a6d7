"""Edits of JSON text that leave every other character alone."""

import pytest

from ademem.operations.install import json_text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            '{\n  "a": [\n    1\n  ]\n}', '{\n  "a": [\n    1,\n    9\n  ]\n}', id="lines"
        ),
        pytest.param('{"a":[1,2]}', '{"a":[1,2,9]}', id="one line, tight"),
        pytest.param('{ "a" : [ 1 , 2 ] }', '{ "a" : [ 1 , 2 , 9 ] }', id="one line, wide"),
        pytest.param('{\n\t"a": []\n}\n', '{\n\t"a": [\n\t\t9\n\t]\n}\n', id="tabs, empty"),
        pytest.param('{"a": [], "b": 1}', '{"a": [9], "b": 1}', id="one line, empty"),
        pytest.param('{\r\n "a": [ ]\r\n}', '{\r\n "a": [\r\n  9\r\n ]\r\n}', id="CRLF"),
        pytest.param(
            '{\n  "a": [\n    1\n  , 2\n  ]\n}',
            '{\n  "a": [\n    1\n  , 2\n  , 9\n  ]\n}',
            id="comma first",
        ),
        pytest.param('{\n"a": []\n}', '{\n"a": [\n9\n]\n}', id="no indentation"),
        pytest.param('\ufeff{"a":[1]}', '\ufeff{"a":[1,9]}', id="byte order mark"),
        pytest.param('{"a":[1],"a":[2]}', '{"a":[1],"a":[2,9]}', id="the last of equal keys"),
        pytest.param('{"\\u0061":[1]}', '{"\\u0061":[1,9]}', id="escaped key"),
    ],
)
def test_a_value_joins_an_array_in_the_layout_of_its_neighbours(text, expected):
    assert json_text.append(text, ("a",), 9) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            "{}\n", '{\n  "a": {\n    "b": [\n      9\n    ]\n  }\n}\n', id="nothing there"
        ),
        pytest.param('{"z": 1}', '{"z": 1,"a": {"b": [9]}}', id="one line"),
        pytest.param(
            '{\n    "a": {\n        "z": 1\n    }\n}',
            '{\n    "a": {\n        "z": 1,\n        "b": [\n            9\n        ]\n    }\n}',
            id="four blanks",
        ),
    ],
)
def test_an_array_that_is_missing_is_made(text, expected):
    assert json_text.append(text, ("a", "b"), 9) == expected


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        pytest.param(("a", 0), '{"a": [ 2, 3 ], "b": {"c": 1}}', id="first"),
        pytest.param(("a", 1), '{"a": [ 1, 3 ], "b": {"c": 1}}', id="middle"),
        pytest.param(("a", 2), '{"a": [ 1, 2 ], "b": {"c": 1}}', id="last"),
        pytest.param(("b", "c"), '{"a": [ 1, 2, 3 ], "b": {}}', id="only"),
        pytest.param(("b",), '{"a": [ 1, 2, 3 ]}', id="a whole object"),
    ],
)
def test_a_member_goes_with_its_comma(path, expected):
    assert json_text.remove('{"a": [ 1, 2, 3 ], "b": {"c": 1}}', path) == expected


def test_a_value_can_be_seen_and_replaced_as_it_is_written():
    text = '{"a": {"b": [ 1,\t2 ]}}'

    assert json_text.raw(text, ("a", "b")) == "[ 1,\t2 ]"
    assert json_text.raw(text, ("a", "c")) is None
    assert json_text.replace(text, ("a", "b"), "[ ]") == '{"a": {"b": [ ]}}'


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="empty"),
        pytest.param("{a: 1}", id="bare key"),
        pytest.param('{"a": 1,}', id="trailing comma"),
        pytest.param('{"a": 1} // why', id="comment"),
        pytest.param('{"a": NaN}', id="NaN"),
        pytest.param('{"a": -Infinity}', id="infinity"),
        pytest.param('{"a": "\t"}', id="raw tab in a string"),
        pytest.param("[" * 100_000 + "]" * 100_000, id="too deep"),
    ],
)
def test_what_the_client_cannot_read_is_not_json(text):
    with pytest.raises(ValueError, match=r"."):
        json_text.parse(text)
