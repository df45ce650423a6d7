"""An OpenAI-compatible API: slow, broken, refusing, rambling, hostile, and where a key goes."""

import json

import pytest

from ademem.synthesis.ai import ANSWER_BYTES
from tests.synthesis.ai.conftest import said


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        pytest.param((500, {"error": "boom"}), "failed", id="broken"),
        pytest.param((401, {"error": "no key"}), "failed", id="not allowed"),
        pytest.param((200, b"<html>proxy</html>"), "failed", id="no JSON"),
        pytest.param((200, b"\xff\xfe\x00"), "failed", id="no text"),
        pytest.param((200, b"[" * 100_000), "failed", id="depth"),
        pytest.param((200, []), "failed", id="a list"),
        pytest.param((200, {"choices": []}), "failed", id="no choice"),
        pytest.param((200, {"choices": [{"message": "hi"}]}), "failed", id="no message"),
        pytest.param(said(None), "invalid", id="no content"),
        pytest.param(said(["a", {"text": 3}]), "invalid", id="content of another shape"),
        pytest.param(said("", finish_reason="content_filter"), "refused", id="filtered"),
        pytest.param((200, b"x" * (ANSWER_BYTES + 1)), "failed", id="rambling"),
        pytest.param((200, b""), "failed", id="silent"),
    ],
)
def test_what_is_no_answer_is_none(ask, served, answer, outcome):
    served.answers = [answer]

    assert ask() is None
    assert [told for told, _ in ask.outcomes()] == [outcome]


def test_a_refusal_says_so(ask, served):
    status, body = said(None)
    body["choices"][0]["message"]["refusal"] = "I will not."
    served.answers = [(status, body)]

    assert ask() is None
    assert ask.outcomes() == [("refused", "I will not.")]


def test_numbers_that_make_no_sense_are_no_price(ask, served):
    _, body = said('{"task": "x"}')
    usage = {"prompt_tokens": -5, "completion_tokens": "many", "cost": 1e300}
    served.answers = [(200, body | {"usage": usage, "model": ["a"]})]
    answer = ask()
    (call,) = ask.calls()

    assert answer == {"task": "x"}
    assert (call["tokens_in"], call["tokens_out"], call["cost"], call["model"]) == (0, 0, 0, "")


def test_who_keeps_silent_is_not_waited_for(ask, served):
    ask.settings(provider="openai", model="m", url=served.url, timeout_s=0.2)
    served.answers = [lambda _handler: served.done.wait(60)]

    assert ask() is None
    assert ask.outcomes() == [("timeout", "it took too long")]


def test_who_drips_for_ever_is_not_waited_for(ask, served):
    def drip(handler):
        handler.send_response(200)
        handler.end_headers()
        try:
            while not served.done.wait(0.01):
                handler.wfile.write(b" ")
        except ConnectionError:
            return

    ask.settings(provider="openai", model="m", url=served.url, timeout_s=0.2)
    served.answers = [drip]

    assert ask() is None
    assert ask.outcomes() == [("timeout", "it took too long")]


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_nobody_is_sent_elsewhere(ask, served, status):
    def elsewhere(handler):
        handler.send_response(status)
        handler.send_header("location", f"{served.url}/elsewhere")
        handler.send_header("content-length", "0")
        handler.end_headers()

    served.answers = [elsewhere]

    assert ask() is None
    assert len(served.asked) == 1


def test_a_server_that_knows_no_schemas_is_asked_without(ask, served):
    served.answers = [(400, {"error": "response_format"}), said('Yes: {"task": "x"}')]

    assert ask() == {"task": "x"}
    assert [("response_format" in body) for _, _, body in served.asked] == [True, False]


def test_a_server_that_refuses_twice_is_not_asked_again(ask, served):
    served.answers = [(400, {}), (400, {})]

    assert ask() is None
    assert ask.outcomes() == [("failed", "400 Bad Request")]


def test_nobody_there_is_no_answer(ask, served):
    url = served.url
    served.server.server_close()
    ask.settings(provider="openai", model="m", url=url)

    assert ask() is None
    assert [outcome for outcome, _ in ask.outcomes()] == ["failed"]


def test_the_key_goes_to_this_machine(ask, served):
    ask.runtime.environment |= {"ADEMEM_AI_KEY": "k-123"}
    served.answers = [said('{"task": "x"}')]
    ask()
    ((_, headers, body),) = served.asked

    assert headers["Authorization"] == "Bearer k-123"
    assert "k-123" not in json.dumps(body)
    assert "k-123" not in "".join(map(str, ask.calls()))


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        pytest.param({"url": "http://example.invalid/v1"}, "https", id="key in the open"),
        pytest.param({"url": ""}, "ai.url", id="no address"),
        pytest.param({"url": "file:///etc/passwd"}, "ai.url", id="a file"),
        pytest.param({"url": "ftp://localhost/"}, "ai.url", id="another protocol"),
        pytest.param({"model": ""}, "ai.model", id="no model"),
    ],
)
def test_what_cannot_be_asked_says_what_is_missing(ask, served, changes, complaint):
    ask.runtime.environment |= {"ADEMEM_AI_KEY": "k-123"}
    ask.settings(**({"provider": "openai", "model": "m", "url": served.url} | changes))

    assert ask() is None
    assert complaint in ask.outcomes()[0][1]
    assert served.asked == []
