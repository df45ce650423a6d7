"""What MCP and JSON-RPC ask of every call."""

import pytest

from ademem.core.errors import Conflict, NoSuchMemory, NotEnrolled, UsageError
from ademem.doors import calls
from ademem.doors.calls import TooManyWrites, WriteRate, describe_refusal
from ademem.operations.arguments import check_arguments

SCHEMA = {
    "properties": {
        "query": {"type": "string", "maxLength": 10},
        "limit": {"type": "integer", "minimum": 1, "maximum": 20, "default": 5},
        "scope": {"type": "string", "enum": ["project", "personal"]},
        "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 3},
        "pinned": {"type": "boolean"},
        "id": {"type": ["integer", "string"]},
    },
    "required": ["query"],
}


def test_arguments_get_the_defaults_of_their_schema_and_long_texts_are_cut():
    assert check_arguments(SCHEMA, {"query": "x" * 11, "scope": None}) == {
        "query": "x" * 10,
        "limit": 5,
    }


@pytest.mark.parametrize(
    ("given", "why", "hint"),
    [
        pytest.param({"query": "x", "limti": 3}, "no argument 'limti'", "'limit'", id="unknown"),
        pytest.param({}, "'query' is missing", "'query'", id="missing"),
        pytest.param({"query": 7}, "'query' is not a string", "string", id="wrong type"),
        pytest.param(
            {"query": "x", "limit": True}, "'limit' is not an integer", "integer", id="truth"
        ),
        pytest.param({"query": "x", "pinned": 1}, "'pinned' is not a boolean", "boolean", id="one"),
        pytest.param({"query": "x", "limit": 21}, "'limit' is 21", "from 1 to 20", id="range"),
        pytest.param({"query": "x", "scope": "projet"}, "no scope", "'project'", id="no member"),
        pytest.param({"query": "x", "tags": ["a", 1]}, "'tags' is not a string", "", id="item"),
        pytest.param({"query": "x", "tags": [*"abcd"]}, "'tags' has 4 items", "most 3", id="many"),
        pytest.param({"query": "x", "id": 1.5}, "'id' is not an integer or string", "", id="union"),
        pytest.param({"query": "a\0b"}, "NUL", "leave it out", id="NUL"),
        pytest.param({"query": "a\ud800"}, "half a character", "leave it out", id="surrogate"),
    ],
)
def test_a_wrong_argument_is_named_with_the_nearest_known_one(given, why, hint):
    with pytest.raises(UsageError, match=why) as raised:
        check_arguments(SCHEMA, given)
    assert hint in raised.value.hint
    assert describe_refusal(raised.value)["rule"] == "argument"


@pytest.mark.parametrize(
    ("error", "rule", "id"),
    [
        pytest.param(NoSuchMemory("m1"), "not_found", None, id="no memory"),
        pytest.param(NotEnrolled("/tmp"), "project", None, id="no project"),
        pytest.param(Conflict("changed", "read it", "m1"), "conflict", "m1", id="conflict"),
        pytest.param(PermissionError(13, "no", "f"), "store", None, id="disk"),
    ],
)
def test_a_refusal_has_rule_reason_and_next_step(error, rule, id):
    facts = describe_refusal(error)

    assert (facts["rule"], facts.get("id")) == (rule, id)
    assert all((facts["why"], facts["next"]))


def test_a_bug_is_logged_and_shows_no_traceback(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    facts = describe_refusal(ZeroDivisionError("division"))

    assert facts["rule"] == "internal"
    assert "Traceback" not in str(facts)
    (log,) = (path for path in tmp_path.rglob("*") if path.is_file())
    assert "ZeroDivisionError" in log.read_text()


def test_writes_beyond_the_rate_name_when_to_try_again():
    rate = WriteRate(2)
    rate.admit(0.0)
    rate.admit(10.0)

    with pytest.raises(TooManyWrites, match="2 writes a minute") as raised:
        rate.admit(20.0)
    assert raised.value.hint == "try again in 41 seconds"
    rate.admit(61.0)


def test_a_client_names_itself_without_secrets_in_80_characters():
    assert calls.name_client("claude-code", "2.1") == "claude-code/2.1"
    assert "ghp_" not in calls.name_client("ghp_" + "a1B2" * 9, "1")
    assert len(calls.name_client("x" * 200, "1")) <= calls.CLIENT_CHARS
