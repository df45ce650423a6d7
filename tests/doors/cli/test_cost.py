"""What memory costs: calls of an AI and their price, what hooks said, and what of it was used."""

from __future__ import annotations

import json
import math
import os

import pytest

from ademem import operations
from ademem.core import clock
from ademem.core.client import TurnKey
from ademem.doors.views.session import spent_json, spent_lines
from ademem.operations import reports
from ademem.session import answer, session_end, session_start
from ademem.store import logs, maintenance, outcomes
from ademem.store.maintenance import Price

KEYS = (
    "days provider calls_today daily_calls reader read_today usd tokens_in tokens_out characters ai"
    " hooks"
)


def test_before_anything_was_asked_all_is_nothing(ademem):
    spent = ademem.json("status", "cost")

    assert list(spent) == KEYS.split()
    assert (spent["provider"], spent["usd"], spent["ai"], spent["hooks"]) == ("none", None, [], [])
    assert "in 30 days: nothing was asked; hooks put 0 characters" in ademem("status", "cost")


def test_calls_are_shown_with_their_price(ademem):
    with operations.open_memories() as memories:
        store, now = memories.store, clock.now()
        call = maintenance.begin_call(store, "episode", "claude", now, daily_calls=5)
        price = Price(model="m", tokens_in=1200, tokens_out=34, cost_usd=0.0125)
        maintenance.end_call(store, call, "ok", price, ms=800)
    shown = ademem("status", "cost", "--days", "2")

    assert "calls today: 1 of 40" in shown
    assert "reader: off, 0 of 20 calls today" in shown
    assert "episode      1 of 1 answered, 1,200 tokens in, 34 out, $0.0125" in shown
    assert "in 2 days: $0.0125" in shown


def test_calls_of_the_reader_are_listed_with_those_of_the_ai(ademem):
    ademem("config", "set", "learn.reader", "on", "--user")
    with operations.open_memories() as memories:
        store, now = memories.store, clock.now()
        call = maintenance.begin_call(store, "reader", "claude", now, daily_calls=5, most=5)
        price = Price(model="haiku", tokens_in=7000, tokens_out=300, cost_usd=0.0015)
        maintenance.end_call(store, call, "ok", price, ms=800)
    spent, shown = ademem.json("status", "cost"), ademem("status", "cost")

    assert (spent["reader"], spent["read_today"], spent["usd"]) == ("on", 1, 0.0015)
    assert "reader: on, 1 of 20 calls today" in shown
    assert "reader       1 of 1 answered, 7,000 tokens in, 300 out, $0.0015" in shown


def test_what_a_hook_puts_before_the_model_is_counted(ademem):
    ademem("add", "Tokens expire in UTC", "--category", "gotcha")
    raw = b'{"session_id": "s1", "hook_event_name": "SessionStart", "source": "startup"}'
    said = answer(session_start.handle, raw, os.environ, clock.now())
    spent = ademem.json("status", "cost")

    assert "Tokens expire in UTC" in said
    assert spent["characters"] == len(said)
    assert [(row["event"], row["answers"]) for row in spent["hooks"]] == [("session_start", 1)]
    assert "session_start              1 answer  " in ademem("status", "cost")


def test_a_silent_hook_is_not_counted(ademem):
    raw = b'{"session_id": "s1", "hook_event_name": "SessionEnd", "reason": "exit"}'

    assert answer(session_end.handle, raw, os.environ, clock.now()) == ""
    assert ademem.json("status", "cost")["hooks"] == []


def test_a_hook_answers_though_its_answer_cannot_be_counted(ademem):
    ademem("add", "Tokens expire in UTC", "--category", "gotcha")
    with operations.open_memories() as memories:
        memories.store.db.execute(
            "create trigger full before insert on store_values"
            " begin select raise(abort, 'full'); end"
        )
    raw = b'{"session_id": "s1", "hook_event_name": "SessionStart", "source": "startup"}'

    assert "Tokens expire in UTC" in answer(session_start.handle, raw, os.environ, clock.now())


USED, UNUSED, PINNED = "Tokens expire in UTC", "Keys rotate on Mondays at noon", "Builds need pnpm"


@pytest.fixture
def told(ademem):
    """Ids of three memories; two sessions were sent them, and one used the first."""
    ids = [ademem.json("add", text)["memory"]["id"] for text in (USED, UNUSED, PINNED)]
    ademem("pin", ids[2])
    for session in ("s1", "s2"):
        payload = {"session_id": session, "hook_event_name": "SessionStart", "source": "startup"}
        answer(session_start.handle, json.dumps(payload).encode(), os.environ, clock.now())
    with operations.open_memories() as memories:
        logs.log_use(memories.store, "s1", {ids[0]: "x"}, clock.now())
    return ids


def test_the_ledger_sums_what_sessions_were_sent(ademem, told):
    spent = ademem.json("cost")
    sent = [ademem.json("why", id)["texts"] for id in ("s1", "s2")]

    assert list(spent) == [*KEYS.split(), "injections"]
    ledger = spent["injections"]
    characters = [sum(text["characters"] for text in texts) for texts in sent]
    assert (ledger["texts"], ledger["characters"]) == (2, sum(characters))
    assert ledger["tokens"] == math.ceil(sum(characters) / 4)
    assert (ledger["memories"], ledger["used"]) == (6, 1)
    assert [row["event"] for row in ledger["by_event"]] == ["session_start"]
    assert {row["session"]: row["characters"] for row in ledger["by_session"]} == {
        "s1": characters[0],
        "s2": characters[1],
    }
    assert {row["id"]: (row["shown"], row["used"]) for row in ledger["by_memory"]} == {
        told[0]: (2, 1),
        told[1]: (2, 0),
        told[2]: (2, 0),
    }
    parts = [part for texts in sent for part in texts[0]["memories"]]
    assert ledger["memory_tokens"] == math.ceil(sum(part["characters"] for part in parts) / 4)
    used = sum(part["characters"] for part in parts if part["used"])
    assert ledger["used_tokens"] == math.ceil(used / 4) > 0


def test_what_had_no_room_cost_nothing(ademem, told):
    before = ademem.json("cost")["injections"]
    with operations.open_memories() as memories:
        memories.store.db.execute(
            "insert into injection_memories"
            " (injection_id, rank, memory_id, revision, characters, left_out)"
            " values (1, 99, ?, 1, 500, 'room')",
            (told[1],),
        )

    assert ademem.json("cost")["injections"] == before


def test_the_ledger_of_one_session_has_its_texts_alone(ademem, told):
    ledger = ademem.json("cost", "--session", "s1")["injections"]

    assert (ledger["session"], ledger["texts"], ledger["memories"]) == ("s1", 1, 3)
    assert [row["session"] for row in ledger["by_session"]] == ["s1"]
    assert "no session has the id 'nope'" in ademem("cost", "--session", "nope")


def test_unused_memories_are_named_with_what_quiets_them(ademem, told):
    unused = {row["id"]: row["quiet"] for row in ademem.json("cost")["injections"]["unused"]}
    shown = ademem("cost")

    assert unused == {
        told[1]: f"ademem archive {told[1]}",
        told[2]: f"ademem pin --off {told[2]}",
    }
    assert "estimated: a token for each 4 characters, rounded up" in shown
    assert f"ademem archive {told[1]}" in shown

    for command in unused.values():
        ademem(*command.split()[1:])
    assert [ademem.json("get", id)["status"] for id in told[1:]] == ["archived", "promoted"]
    assert ademem.json("get", told[2])["pinned"] is False
    left = {row["id"]: row["quiet"] for row in ademem.json("cost")["injections"]["unused"]}
    assert left == {told[1]: None, told[2]: f"ademem archive {told[2]}"}


def test_a_memory_that_was_deleted_for_good_keeps_its_cost_without_its_text(ademem, told):
    ademem("delete", told[1], "--hard")
    unused = {row["id"]: row for row in ademem.json("cost")["injections"]["unused"]}
    gone = unused[told[1]]

    assert (gone["deleted"], gone["text"], gone["quiet"]) == (True, None, None)
    assert UNUSED not in ademem("cost")


def test_a_model_does_not_read_what_waits_for_a_person(ademem, told):
    with operations.open_memories() as memories:
        ledger = reports.get_ledger(memories)

    assert UNUSED in "\n".join(spent_lines(ledger, lambda _: False))
    assert UNUSED not in "\n".join(spent_lines(ledger, lambda _: True))
    assert all(row["text"] is None for row in spent_json(ledger, lambda _: True)["unused"])


def test_what_a_memory_prevented_is_shown_everywhere(ademem, told):
    key, denied = TurnKey(session_id="s2"), "prevented npm install left-pad → pnpm add left-pad"
    with operations.open_memories() as memories:
        shown = [logs.Shown(memory_id=told[2], binding="program npm install any")]
        given = {"key": key, "call": "npm install left-pad"}
        logs.log_shown(memories.store, "guard", shown, clock.now(), **given)
        outcomes.note_passed(memories.store, key, [], "pnpm add left-pad")
        outcomes.end_turn(memories.store, key, clock.now())

    done = ademem.json("status")["effects"]
    assert done == {"days": 7, "prevented": 1, "answered": 1, "learned": 0}
    sentence = "In 7 days memory prevented 1 mistake and answered 1 question.\n"
    assert ademem("status").startswith(sentence)
    assert f"{told[2]}  shown 2, used 1 (prevented 1), worth" in ademem("status", "impressions")
    assert "used 1 (prevented 1): Builds need pnpm" in ademem("cost")
    assert "effects: prevented 1\n" in ademem("get", told[2])
    assert ademem.json("get", told[2])["effects"] == {"prevented": 1, "answered": 0}
    assert "effects: answered 1\n" in ademem("get", told[0])
    assert "effects" not in ademem("get", told[1])
    assert ademem("why", "s2").startswith("session s2: prevented 1\n")
    assert f"{told[2]}  {denied}" in ademem("why", "s2")
    assert ademem.json("why", "s2")["effects"] == {"prevented": 1, "answered": 0, "learned": 0}
    assert denied not in ademem("why", "s1")


def test_an_effect_that_is_not_right_is_taken_out(ademem, told):
    number = ademem("why", "s1").partition("(#")[2].partition(")")[0]

    assert ademem("why", "--wrong", number) == f"no longer counted: an answer ({told[0]})\n"
    assert ademem.json("status")["effects"]["answered"] == 0
    assert "no effect has the number" in ademem("why", "--wrong", number)
    assert ademem.exit_code == 1


def test_a_status_without_effects_begins_with_the_project(ademem):
    assert ademem("status").startswith("project ")
