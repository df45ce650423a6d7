"""Values that a text shares with code: which they are, and what becomes of them."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ademem.plugins.verify.anchored_values import (
    CodeValue,
    Earlier,
    contains,
    correct,
    find_missing,
    find_values,
    headers_above,
    parse_value,
)


def values(text, code, headers=""):
    return [value.text for value in find_values(text, code, headers)]


@pytest.mark.parametrize(
    ("text", "code", "found"),
    [
        pytest.param(
            "The timeout of `connect` is 10 seconds",
            "def connect(self, host: str, timeout: Optional[float] = 10.0, retries=3):",
            ["timeout=10.0", "connect"],
            id="default argument",
        ),
        pytest.param("MAX_FILES is 1000", "MAX_FILES = 1_000", ["MAX_FILES=1_000"], id="constant"),
        pytest.param(
            "Needs Python 3.8 or newer", 'requires-python = ">=3.8"', ["requires-python=3.8"],
            id="version by a part of its name",
        ),
        pytest.param("anyio is at 3.4.0", '  "anyio>=3.4.0,<5",', ["anyio=3.4.0"], id="range"),
        pytest.param(
            "The mode is strict by default", 'def f(mode: str = "strict"):', ["mode=strict"],
            id="word of a string",
        ),
        pytest.param("CI runs on Python 3.11", "python-version: 3.11", ["python-version=3.11"],
                     id="YAML"),
        pytest.param("retries is 5", '{"retries": 5, "limit": 9}', ["retries=5"], id="JSON"),
        pytest.param("It fails under 90 %", "coverage report --fail-under=90", ["--fail-under=90"],
                     id="option of a command"),
        pytest.param("`--limit` shows fewer", 'option("--limit", default=20)', ["--limit"],
                     id="option by name"),
        pytest.param("Router.mount is not for tests", "def mount(self, path):", ["mount"],
                     id="symbol"),
        pytest.param("tests live in tests/unit", "testpaths = tests/unit", ["testpaths=tests/unit"],
                     id="path"),
        pytest.param("The API is at 3.0.", 'API = "3.0"', ["API=3.0"], id="end of a sentence"),
        pytest.param("It takes file_or_conn", "self.conn = file_or_conn", ["file_or_conn"],
                     id="a name that is bound by chance"),
        pytest.param("`get` defaults max_rows to None",
                     "get(max_rows=max_rows, defaults=None, max_rows=None)",
                     ["get", "max_rows=None"], id="a name as code before a word"),
        pytest.param("MAX_ROWS is 64", "#define MAX_ROWS 64", ["MAX_ROWS=64"], id="C"),
        pytest.param("It returns 404 then", "    return 404", ["return=404"], id="return"),
        pytest.param("Be careful with it", "def careful_with(x=1):", [], id="prose"),
        pytest.param("It has 2 sides", "x = 2; y = 3", [], id="a small number by chance"),
    ],
)  # fmt: skip
def test_a_text_shares_values_with_its_code(text, code, found):
    assert sorted(values(text, code)) == sorted(found)


def test_the_class_around_a_method_counts_as_its_code():
    lines = [
        b"class Router:\n",
        b"    x = 1\n",
        b"\n",
        b"    def mount(self):\n",
        b"        pass\n",
    ]

    assert headers_above(lines, 5) == [lines[0], lines[3]]
    assert values("Router.mount is public", "    def mount(self):", "class Router:") == [
        "Router",
        "mount",
    ]


@pytest.mark.parametrize(
    ("value", "code", "now"),
    [
        pytest.param("timeout=10", "def f(timeout=10.0):", None, id="the same number"),
        pytest.param("timeout=10", "def f(timeout=20):", "20", id="another number"),
        pytest.param("timeout=10", "def f(limit=10):", "", id="no such name"),
        pytest.param("anyio=3.4.0", '"anyio>=4.0,<5"', "4.0", id="another version"),
        pytest.param("mode=strict", 'mode = "lax"', "lax", id="another string"),
        pytest.param("debug=False", "debug: bool = True", "True", id="another truth"),
        pytest.param("python=3.8", "python: 3.80", "3.80", id="a longer version"),
        pytest.param("connect", "connect()", None, id="a name in use"),
        pytest.param("connect", "connection()", "", id="a longer name"),
    ],
)
def test_code_has_a_value_or_another_one(value, code, now):
    missing = find_missing([parse_value(value)], code)

    assert [each.now for each in missing] == ([] if now is None else [now])


def test_of_two_functions_the_one_that_the_text_names_decides():
    code = "def connect(timeout=20):\n    pass\n" + "\n" * 80 + "def close(timeout=10):\n    pass\n"
    found = [parse_value("connect"), parse_value("timeout=10")]

    assert [each.now for each in find_missing(found, code)] == ["20"]


def test_a_definition_counts_before_an_argument_of_its_name():
    code = "f(\n    connect=1,\n    timeout=10,\n)\n" + "\n" * 80 + "def connect(timeout=20):\n"
    found = [parse_value("connect"), parse_value("timeout=10")]

    assert [each.now for each in find_missing(found, code)] == ["20"]


def test_a_renamed_function_is_missing_although_it_is_still_called():
    earlier = Earlier(code="def send():\n    pass\nsend()\n", span="def send():\n")
    missing = find_missing(
        [parse_value("send")], "def post():\n    pass\nsend()\n", region=(1, 1), earlier=earlier
    )

    assert [(each.value.name, each.now) for each in missing] == [("send", "post")]


def test_a_value_that_another_place_always_had_replaces_none_that_is_gone():
    before = "def one(limit=5):\n    pass\ndef two(limit=5):\n    pass\n"
    after = "def one():\n    pass\ndef two(limit=5):\n    pass\n"
    earlier = Earlier(code=before, span="def one(limit=5):\n")

    assert find_missing([parse_value("limit=5")], after, region=(1, 1), earlier=earlier)


@pytest.mark.parametrize(
    ("text", "corrected"),
    [
        pytest.param("timeout is 10 s", "timeout is 20 s", id="once"),
        pytest.param("10 s, and 10 tries", None, id="twice, so nobody knows which"),
        pytest.param("timeout is ten", None, id="in words"),
    ],
)
def test_a_text_is_corrected_where_the_place_is_clear(text, corrected):
    missing = find_missing([parse_value("timeout=10")], "timeout = 20")

    assert correct(text, missing) == corrected


def test_a_list_takes_the_place_of_no_single_value():
    missing = find_missing([parse_value("versions=3.7")], 'versions: ["3.8", "3.9"]')

    assert missing[0].now == '["3.8", "3.9"]'
    assert correct("tested with 3.7", missing) is None


def test_a_value_that_is_only_gone_has_no_corrected_text():
    assert correct("timeout is 10", find_missing([parse_value("timeout=10")], "")) is None


NAMES = st.from_regex(r"[a-z]{3,6}_[a-z]{3,6}", fullmatch=True)
NUMBERS = st.integers(100, 10**6).map(str)


@given(name=NAMES, number=NUMBERS, other=NUMBERS, indent=st.integers(0, 8))
def test_an_assignment_is_found_unharmed_and_its_change_noticed(name, number, other, indent):
    code = f"{' ' * indent}{name} = {number}  # why\n"
    found = find_values(f"We set {name} to {number} for good", code)

    assert found == (CodeValue(name=name, token=number),)
    assert find_missing(found, code.replace(" ", "\t")) == []
    changed = find_missing(found, f"{name} = {other}")
    assert [each.now for each in changed] == ([other] if other != number else [])


@given(name=st.from_regex(r"-?[\w.-]{0,9}", fullmatch=True), token=st.text(max_size=9))
def test_a_value_is_read_as_it_was_written(name, token):
    value = CodeValue(name=name, token=token)

    assert parse_value(value.text) == value


@given(text=st.text(max_size=200), code=st.text(max_size=400), headers=st.text(max_size=80))
@example(text="0A0", code="", headers="A0")
def test_any_text_and_any_code_can_be_compared(text, code, headers):
    found = find_values(text, code, headers)

    assert all(contains(text, each.token or each.name) or each.token.isalpha() for each in found)
    assert len(find_missing(found, "")) == len(found)
