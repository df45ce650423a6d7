"""The guard's state: turns begin, get stricter, are searched, denied and ended."""

from __future__ import annotations

from datetime import timedelta

import pytest

from ademem.core.client import TurnKey
from ademem.core.value import replace
from ademem.store import turns
from tests.builders import NOW

KEY = TurnKey(session_id="s", prompt_id="p1")
LATER = NOW + timedelta(minutes=1)


def begin(store, turn_class="required", key=KEY, now=NOW, hint="wal"):
    turns.begin(store, key, turn_class, f"it is {turn_class}", hint, now)
    return turns.get(store, key)


def test_a_turn_nobody_began_is_none(store):
    assert turns.get(store, KEY) is None
    assert turns.latest(store, "s") is None


def test_a_new_turn_was_neither_searched_nor_denied(store):
    turn = begin(store)

    assert (turn.turn_class, turn.why, turn.hint) == ("required", "it is required", "wal")
    assert (turn.searched, turn.denied) == (False, ())


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        pytest.param("none", "soft", ("soft", "second"), id="none to soft"),
        pytest.param("none", "required", ("required", "second"), id="none to required"),
        pytest.param("soft", "required", ("required", "second"), id="soft to required"),
        pytest.param("soft", "soft", ("soft", "second"), id="soft again"),
        pytest.param("soft", "none", ("soft", "first"), id="soft stays"),
        pytest.param("required", "soft", ("required", "first"), id="required stays"),
        pytest.param("required", "none", ("required", "first"), id="required stays over none"),
    ],
)
def test_another_prompt_in_a_running_turn_makes_it_no_less_strict(store, first, second, expected):
    begin(store, first, hint="first")
    turn = begin(store, second, hint="second")

    assert (turn.turn_class, turn.hint) == expected


def test_an_order_typed_into_a_searched_turn_starts_it_anew(store):
    turn = begin(store)
    turns.deny(store, turn, "call-a")
    turns.note_search(store, KEY, NOW)
    again = begin(store, hint="tables")

    assert (again.hint, again.searched, again.denied) == ("tables", False, ())


def test_a_search_and_denials_are_recorded_until_the_turn_is_rearmed(store):
    turns.note_search(store, begin(store).key, NOW)
    turns.deny(store, turns.get(store, KEY), "call-a")
    before = turns.get(store, KEY)
    turns.rearm(store, KEY)
    after = turns.get(store, KEY)

    assert (before.searched, before.denied) == (True, ("call-a",))
    assert (after.searched, after.denied) == (False, ())


def test_each_call_is_denied_once(store):
    turn = begin(store)
    counted = [turns.deny(store, turn, "call-a")]
    turn = turns.get(store, KEY)
    counted += [turns.deny(store, turn, "call-a"), turns.deny(store, turn, "call-b")]

    assert counted == [True, False, True]
    assert turns.get(store, KEY).denied == ("call-a", "call-b")


def test_calls_without_an_id_are_numbered(store):
    for _ in range(2):
        turns.deny(store, turns.get(store, KEY) or begin(store), "")

    assert turns.get(store, KEY).denied == ("call-1", "call-2")


def test_a_continued_turn_knows_what_the_earlier_one_knew(store):
    turns.deny(store, begin(store), "call-a")
    turns.note_search(store, KEY, NOW)
    continued = replace(KEY, prompt_id="p2")
    turns.continue_turn(store, KEY, continued, LATER)

    earlier, turn = turns.get(store, KEY), turns.get(store, continued)
    assert replace(turn, key=KEY, started_at=earlier.started_at) == earlier
    assert turns.latest(store, "s") == continued


def test_the_newest_turn_of_the_main_thread_is_the_latest(store):
    begin(store)
    begin(store, key=replace(KEY, prompt_id="p2"))
    begin(store, key=TurnKey(session_id="s", agent_id="a"), now=LATER)
    begin(store, key=replace(KEY, session_id="other"), now=LATER)

    assert turns.latest(store, "s").prompt_id == "p2"


def test_the_turn_of_a_subagent_is_open_until_it_ends(store):
    agent = replace(KEY, prompt_id="", agent_id="a")
    begin(store, key=agent)
    before = turns.list_open(store, KEY.session_id)
    turns.end(store, agent, LATER)

    assert before == [agent]
    assert turns.list_open(store, KEY.session_id) == []
