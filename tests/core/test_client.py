"""What a hook reads of a payload, and what it prints in answer."""

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ademem.core import client
from ademem.core.client import BadPayload, read

TEXTS = {
    "hook_event_name": "event",
    "last_assistant_message": "last_message",
} | {
    name: name
    for name in (
        *("session_id", "prompt_id", "agent_id", "agent_type", "cwd", "source", "permission_mode"),
        *("prompt", "tool_name", "tool_use_id", "error", "reason"),
    )
}
"""Keys that hold text, and what a payload calls them."""

FLAGS = ("is_interrupt", "stop_hook_active")

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


def payload(**keys):
    return read(json.dumps(keys).encode())


def texts(found):
    return {key: getattr(found, field) for key, field in TEXTS.items()}


def test_every_key_is_read_as_the_client_sends_it():
    sent = {key: f"the {key}" for key in TEXTS} | dict.fromkeys(FLAGS, True)
    call = {"tool_input": {"command": "ls"}, "tool_response": {"stdout": "a"}}
    found = payload(**sent, **call)

    assert texts(found) == {key: f"the {key}" for key in TEXTS}
    assert (found.is_interrupt, found.stop_hook_active) == (True, True)
    assert (found.tool_input, found.tool_response) == ({"command": "ls"}, {"stdout": "a"})


def test_a_missing_key_is_empty():
    found = payload(unknown=1)

    assert set(texts(found).values()) == {""}
    assert (found.is_interrupt, found.stop_hook_active) == (False, False)
    assert (found.tool_input, found.tool_response) == ({}, None)


@pytest.mark.parametrize("value", [None, 0, -1, 2.5, True, [], ["x"], {}, {"x": "y"}])
def test_a_key_of_another_type_is_empty(value):
    assert set(texts(payload(**dict.fromkeys(TEXTS, value))).values()) == {""}


@pytest.mark.parametrize("value", [None, 0, 1, "true", [True], {}, False])
def test_a_flag_is_up_only_for_true_itself(value):
    found = payload(**dict.fromkeys(FLAGS, value))

    assert (found.is_interrupt, found.stop_hook_active) == (False, False)


@pytest.mark.parametrize("value", [None, 7, "ls", ["ls"], True])
def test_a_tool_input_that_is_no_object_has_neither_command_nor_path(value):
    found = payload(tool_input=value)

    assert (found.tool_input, found.command, found.path) == ({}, "", "")


@pytest.mark.parametrize(
    ("tool_input", "path"),
    [
        pytest.param({"file_path": "/p/a.py"}, "/p/a.py", id="a file"),
        pytest.param({"notebook_path": "/p/a.ipynb"}, "/p/a.ipynb", id="a notebook"),
        pytest.param({"file_path": 1, "notebook_path": "/p/n"}, "/p/n", id="the one that is text"),
        pytest.param({"path": "/p"}, "", id="neither"),
    ],
)
def test_the_path_of_a_writing_tool(tool_input, path):
    assert payload(tool_input=tool_input).path == path


@pytest.mark.parametrize(
    ("raw", "prompt"),
    [
        pytest.param(rb'{"prompt":"a\u0000b"}', "ab", id="NUL, which ends a path or a row"),
        pytest.param(rb'{"prompt":"a\ud800b"}', "a?b", id="half a surrogate pair"),
        pytest.param(rb'{"prompt":"\ud83d\ude00"}', "😀", id="a whole pair"),
        pytest.param(b'{"prompt":"a\xff\xfeb"}', "a\ufffd\ufffdb", id="invalid UTF-8"),
        pytest.param(b'{"prompt":"a","prompt":"b"}', "b", id="a key twice"),
        pytest.param(b' \n{"prompt":"a"}\n', "a", id="blanks around"),
        pytest.param(b'{"prompt":"\\u202egnp.x"}', "\u202egnp.x", id="odd but valid"),
    ],
)
def test_text_can_be_stored_whatever_was_sent(raw, prompt):
    assert read(raw).prompt == prompt


@pytest.mark.parametrize(
    "raw",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"   \n", id="blanks"),
        pytest.param(b"\x00", id="NUL"),
        pytest.param(b"\xff\xfe\x00", id="no UTF-8 at all"),
        pytest.param(b'{"prompt":"a', id="cut off"),
        pytest.param(b'{"prompt":"a"}{}', id="two objects"),
        pytest.param(b'{"prompt":"a\x00b"}', id="a raw control character"),
        pytest.param(b"[]", id="a list"),
        pytest.param(b'"text"', id="a text"),
        pytest.param(b"null", id="null"),
        pytest.param(b"[" * 200_000, id="nested without end"),
        pytest.param(b'{"a":' * 200_000 + b"1" + b"}" * 200_000, id="nested and closed"),
        pytest.param(b'{"n":' + b"9" * 10_000 + b"}", id="a number Python refuses"),
    ],
)
def test_what_is_no_object_is_refused(raw):
    with pytest.raises(BadPayload):
        read(raw)


@given(st.dictionaries(st.sampled_from(sorted(TEXTS | {"tool_input": ""})) | st.text(), JSON))
def test_whatever_the_object_its_texts_are_texts(sent):
    found = read(json.dumps(sent).encode())

    for text in (*texts(found).values(), found.command, found.path):
        assert "\x00" not in text
        assert text.encode().decode() == text


@given(JSON.map(json.dumps) | st.text(), st.integers(0, 99), st.binary(max_size=9))
def test_any_bytes_are_read_or_refused(text, cut, junk):
    raw = text.encode()[:cut] + junk
    with suppress(BadPayload):
        found = read(raw)

        assert raw.strip().startswith(b"{")
        assert set(texts(found).values()) == {""}


@pytest.mark.parametrize("text", ['a "b"\n</x>', "記憶 😀", "\u2028"])
def test_an_answer_is_one_line_of_ascii_whatever_it_says(text):
    for said in (client.context("Stop", text), client.deny(text), client.keep_going(text)):
        assert said.isascii()
        assert "\n" not in said


def test_the_shapes_that_the_client_understands():
    assert json.loads(client.context("SessionStart", "x")) == {
        "hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": "x"}
    }
    assert json.loads(client.deny("why")) == {
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": "deny",
            "permissionDecisionReason": "why",
        }
    }
    assert json.loads(client.keep_going("more")) == {"decision": "block", "reason": "more"}


@pytest.mark.parametrize(
    ("text", "units"), [("", 0), ("abc", 3), ("é", 1), ("😀", 2), ("\ud800", 1)]
)
def test_length_is_counted_as_the_client_counts_it(text, units):
    assert client.units(text) == units


@pytest.mark.parametrize(
    ("environment", "folder"),
    [
        ({"HOME": "/h"}, "/h/.claude"),
        ({"HOME": "/h", "CLAUDE_CONFIG_DIR": "/c"}, "/c"),
        ({}, "/.claude"),
    ],
)
def test_where_the_client_keeps_its_configuration(environment, folder):
    assert client.config_dir(environment) == folder


@pytest.mark.parametrize(
    "id",
    [
        pytest.param("123e4567-e89b-12d3-a456-426614174000", id="a UUID"),
        pytest.param("toolu_01A09q90qw90lq917835lq9", id="of a tool call"),
        pytest.param("s1", id="short"),
        pytest.param("nightly-2024-05-01-run", id="a name"),
    ],
)
def test_an_id_without_a_secret_is_kept(id):
    assert client.safe_id(id) == id


def test_a_digest_stands_for_an_id_with_a_secret_in_it():
    ids = [client.safe_id(f"run-ghp_{sign * 36}") for sign in "12"]

    assert [id.partition("-")[0] for id in ids] == ["redacted", "redacted"]
    assert ids[0] != ids[1]
    assert ids[0] == client.session_of({"CLAUDE_CODE_SESSION_ID": f"run-ghp_{'1' * 36}"})


def test_of_a_long_message_the_end_is_read_from_between_two_words():
    said = "first " + "word " * client.MESSAGE_CHARS + "last"
    payload = read(json.dumps({"last_assistant_message": said}).encode())

    assert len(payload.last_message) <= client.MESSAGE_CHARS
    assert payload.last_message.endswith("word last")
    assert payload.last_message.split()[0] == "word"
