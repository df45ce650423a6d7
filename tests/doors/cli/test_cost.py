"""`ademem status cost`: what was asked, at what price, and how much hooks said."""

from __future__ import annotations

import os

from ademem import api
from ademem.core import clock
from ademem.session import answer, session_end, session_start
from ademem.store import ai_calls
from ademem.store.ai_calls import Price

KEYS = "days provider calls_today daily_calls usd tokens_in tokens_out characters ai hooks"


def test_before_anything_was_asked_all_is_nothing(ademem):
    spent = ademem.json("status", "cost")

    assert list(spent) == KEYS.split()
    assert (spent["provider"], spent["usd"], spent["ai"], spent["hooks"]) == ("none", None, [], [])
    assert "in 30 days: nothing was asked; hooks put 0 characters" in ademem("status", "cost")


def test_calls_are_shown_with_their_price(ademem):
    with api.open_memories() as memories:
        store, now = memories.store, clock.now()
        call = ai_calls.begin(store, "episode", "claude", now, daily_calls=5)
        price = Price(model="m", tokens_in=1200, tokens_out=34, cost_usd=0.0125)
        ai_calls.end(store, call, "ok", price, ms=800)
    shown = ademem("status", "cost", "--days", "2")

    assert "calls today: 1 of 40" in shown
    assert "episode      1 of 1 answered, 1,200 tokens in, 34 out, $0.0125" in shown
    assert "in 2 days: $0.0125" in shown


def test_what_a_hook_puts_before_the_model_is_counted(ademem):
    ademem("add", "Tokens expire in UTC", "--category", "gotcha")
    raw = b'{"session_id": "s1", "hook_event_name": "SessionStart", "source": "startup"}'
    said = answer(session_start.handle, raw, os.environ, clock.now())
    spent = ademem.json("status", "cost")

    assert "Tokens expire in UTC" in said
    assert spent["characters"] == len(said)
    assert [(row["event"], row["answers"]) for row in spent["hooks"]] == [("session_start", 1)]
    assert "session_start             1 answers" in ademem("status", "cost")


def test_a_silent_hook_is_not_counted(ademem):
    raw = b'{"session_id": "s1", "hook_event_name": "SessionEnd", "reason": "exit"}'

    assert answer(session_end.handle, raw, os.environ, clock.now()) == ""
    assert ademem.json("status", "cost")["hooks"] == []


def test_a_hook_answers_though_its_answer_cannot_be_counted(ademem):
    ademem("add", "Tokens expire in UTC", "--category", "gotcha")
    with api.open_memories() as memories:
        memories.store.db.execute(
            "create trigger full before insert on store_values"
            " begin select raise(abort, 'full'); end"
        )
    raw = b'{"session_id": "s1", "hook_event_name": "SessionStart", "source": "startup"}'

    assert "Tokens expire in UTC" in answer(session_start.handle, raw, os.environ, clock.now())
