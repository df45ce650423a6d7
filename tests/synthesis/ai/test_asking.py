"""Asking: who may be asked, how often, what is kept of it, and what is not."""

import json
from types import SimpleNamespace

import pytest

from ademem.core.value import replace
from ademem.operations import reports
from ademem.synthesis import ai
from tests.synthesis.ai.conftest import SCHEMA, said

KEY = "ghp_" + "a1B2c3D4e5" * 4


def test_nobody_is_asked_unless_a_person_turned_it_on(ask):
    ask.claude("raise SystemExit(1)")
    ask.settings()

    assert ask() is None
    assert ask.calls() == []
    assert not ai.is_available(ask.runtime)


def test_an_answer_that_fits_comes_back(ask, served):
    served.answers = [said('{"task": "Fixed the login", "steps": ["a", "b"], "more": 1}')]

    assert ask() == {"task": "Fixed the login", "steps": ["a", "b"]}


def test_each_call_is_counted_with_its_price(ask, served):
    served.answers = [said('{"task": "x"}')]
    ask(purpose="procedure")
    (call,) = ask.calls()

    assert call["ms"] >= 0
    assert {name: call[name] for name in ("purpose", "provider", "model", "outcome", "error")} == {
        "purpose": "procedure",
        "provider": "openai",
        "model": "small-1",
        "outcome": "ok",
        "error": None,
    }
    assert (call["tokens_in"], call["tokens_out"], call["cost"]) == (12, 5, None)


def test_a_day_has_only_so_many_calls(ask, served):
    served.answers = [said('{"task": "x"}')] * 3
    ask.settings(provider="openai", model="m", url=served.url, daily_calls=2)
    answers = [ask() for _ in range(3)]
    tomorrow = ask.runtime.now.replace(day=1, month=2)

    assert answers == [{"task": "x"}, {"task": "x"}, None]
    assert not ai.is_available(ask.runtime)
    ask.runtime.now = tomorrow
    assert ai.is_available(ask.runtime)
    assert ask() == {"task": "x"}


def test_a_call_that_nobody_came_back_from_counts_too(ask, served, monkeypatch):
    ask.settings(provider="openai", model="m", url=served.url, daily_calls=1)
    nobody = SimpleNamespace(ask=lambda _: (_ for _ in ()).throw(MemoryError), problem=lambda _: "")
    monkeypatch.setattr(ai, "_provider", lambda _: nobody)
    with pytest.raises(MemoryError):
        ask()

    assert ask.outcomes() == [("asked", None)]
    assert ask() is None


def test_what_was_started_to_answer_does_not_ask(ask, served):
    ask.runtime.environment |= {"ADEMEM_ASKED": "1"}

    assert ask() is None
    assert (ask.calls(), served.asked) == ([], [])


def test_no_secret_is_asked_about(ask, served):
    served.answers = [said('{"task": "x"}')]
    ask(f"The token was {KEY}, and <private>my name</private>.")
    ((_, _, body),) = served.asked
    asked = json.dumps(body)

    assert "The token was" in asked
    assert KEY not in asked
    assert "my name" not in asked


def test_no_secret_is_answered(ask, served):
    served.answers = [said(json.dumps({"task": "Rotate", "steps": [f"export T={KEY}"]}))]

    assert KEY not in json.dumps(ask())


def test_an_answer_has_no_signs_that_nobody_sees(ask, served):
    served.answers = [said(json.dumps({"task": "a\x1b[31m\x00b\x08 \ud800c\nd"}))]

    assert ask() == {"task": "a[31mb ?c\nd"}


def test_a_question_has_a_bound(ask, served):
    served.answers = [said('{"task": "x"}')]
    ask("x" * 10_000_000)
    ((_, _, body),) = served.asked

    assert len(body["messages"][1]["content"]) == ai.PROMPT_CHARS


def test_an_answer_that_does_not_fit_is_counted_and_dropped(ask, served):
    served.answers = [said('{"steps": []}'), said("I would rather talk.")]

    assert [ask(), ask()] == [None, None]
    assert ask.outcomes() == [
        ("invalid", "task is missing"),
        ("invalid", "there is no JSON object in the answer"),
    ]


def test_an_error_that_names_a_secret_is_kept_without_it(ask):
    ask.claude(f"import sys; sys.stderr.write('bad key {KEY}'); raise SystemExit(2)")
    answer = ask()
    ((outcome, error),) = ask.outcomes()

    assert (answer, outcome) == (None, "failed")
    assert "bad key" in error
    assert KEY not in error


def test_cost_is_summed_by_day_and_purpose(ask, served):
    usage = {"prompt_tokens": 100, "completion_tokens": 10, "cost": 0.25}
    status, body = said('{"task": "x"}')
    served.answers = [(status, body | {"usage": usage})] * 3 + [said("no")]
    for purpose in ("episode", "episode", "merge", "merge"):
        ask(purpose=purpose)
    spent = reports.get_cost(ask.memories)

    assert (spent["calls_today"], spent["usd"], spent["tokens_in"]) == (4, 0.75, 312)
    assert [
        (row["day"], row["purpose"], row["calls"], row["answered"], row["usd"])
        for row in spent["ai"]
    ] == [("2026-01-31", "episode", 2, 2, 0.5), ("2026-01-31", "merge", 2, 1, 0.25)]


def test_an_unknown_price_is_not_zero(ask, served):
    served.answers = [said('{"task": "x"}')]
    ask()

    assert reports.get_cost(ask.memories)["usd"] is None


def test_status_tells_how_the_last_call_ended(ask):
    ask.settings(provider="openai", model="m", url="nowhere")
    ask()
    told = reports.get_status(ask.memories)["ai"]

    assert (told["provider"], told["calls_today"]) == ("openai", 1)
    assert told["last"].startswith("episode failed at 2026-01-31")
    assert "ai.url" in told["error"]


def test_the_schema_is_sent_with_the_question(ask, served):
    served.answers = [said('{"task": "x"}')]
    ask()
    ((path, _, body),) = served.asked

    assert path == "/v1/chat/completions"
    assert body["response_format"]["json_schema"]["schema"] == SCHEMA
    assert json.dumps(SCHEMA) in body["messages"][0]["content"]


def test_settings_of_an_unknown_provider_are_refused_before(ask):
    ask.runtime.settings = replace(
        ask.runtime.settings, ai=replace(ask.runtime.settings.ai, provider="oracle")
    )

    assert ask() is None
