"""What was refused, decided and shown."""

from __future__ import annotations

from datetime import timedelta

import pytest

from ademem.core.client import TurnKey
from ademem.core.value import as_dict
from ademem.store import logs
from ademem.store.logs import Shown
from tests.builders import NOW

KEY = TurnKey(session_id="s", prompt_id="p")


def refuse(store, rule):
    logs.log_decision(store, "gate", NOW, decision=rule, reason="why", kind="fact", subject="text")


def decide(store, reason):
    logs.log_decision(
        store,
        "guard",
        NOW,
        **as_dict(KEY),
        tool_use_id="t",
        kind="Edit",
        subject="a.py",
        decision="deny",
        reason=reason,
    )


@pytest.mark.parametrize(
    ("write", "read", "field"),
    [
        pytest.param(refuse, logs.list_refusals, "rule", id="refusals"),
        pytest.param(decide, logs.list_decisions, "reason", id="decisions"),
    ],
)
def test_the_newest_come_first_and_no_more_than_asked(store, write, read, field):
    for text in ("one", "two", "three"):
        write(store, text)

    assert [row[field] for row in read(store, 2)] == ["three", "two"]


def test_what_was_shown_keeps_its_order(store):
    logs.log_shown(
        store, "prompt", [Shown(memory_id="b", score=0.9), Shown(memory_id="a")], NOW, key=KEY
    )
    rows = store.db.execute("select rank, memory_id, score, session_id, prompt_id from recall_log")

    assert [tuple(row) for row in rows] == [(1, "b", 0.9, "s", "p"), (2, "a", None, "s", "p")]


def test_a_search_that_found_nothing_leaves_a_trace(store):
    logs.log_shown(store, "recall", [], NOW, key=KEY, query="wal")
    row = store.db.execute("select memory_id, query from recall_log").fetchone()

    assert tuple(row) == (None, "wal")
    assert logs.list_in_context(store, KEY, NOW) == set()


def test_a_session_and_each_of_its_agents_see_for_themselves(store):
    logs.log_shown(store, "briefing", [Shown(memory_id="a")], NOW, key=TurnKey(session_id="s"))
    logs.log_shown(store, "prompt", [Shown(memory_id="b")], NOW, key=KEY)
    logs.log_shown(
        store, "agent", [Shown(memory_id="c")], NOW, key=TurnKey(session_id="s", agent_id="x")
    )

    assert logs.list_in_context(store, KEY, NOW) == {"a", "b"}
    assert logs.list_in_context(store, TurnKey(session_id="s", agent_id="x"), NOW) == {"c"}
    assert logs.list_in_context(store, TurnKey(session_id="t"), NOW) == set()


def test_a_compaction_ends_a_context(store):
    session = TurnKey(session_id="s")
    logs.log_shown(store, "site", [Shown(memory_id="before")], NOW, key=KEY)
    logs.log_shown(store, "briefing", [], NOW, key=session, query="compact")
    logs.log_shown(store, "briefing", [Shown(memory_id="after")], NOW, key=session, query="compact")

    assert logs.list_in_context(store, KEY, NOW) == {"after"}


def test_what_a_denial_carries_counts_once_it_was_read(store):
    carried = [Shown(memory_id="a")]
    logs.log_shown(store, "guard", carried, NOW, key=KEY, query="npm ci", pending=True)

    assert logs.list_in_context(store, KEY, NOW) == set()
    overdue = NOW + timedelta(seconds=logs.OVERDUE_S + 1)
    assert logs.list_in_context(store, KEY, overdue) == {"a"}
    logs.mark_read(store, KEY)
    assert logs.list_in_context(store, KEY, NOW) == {"a"}
    assert not logs.any_pending(store)


SUBAGENT = TurnKey(session_id="s", agent_id="x")
OTHER = TurnKey(session_id="s", prompt_id="q")


@pytest.mark.parametrize(
    ("rows", "turn", "expected"),
    [
        pytest.param([("prompt", KEY), ("recall", KEY)], KEY, True, id="recall"),
        pytest.param([("prompt", KEY), ("search", KEY)], KEY, True, id="search"),
        pytest.param([("recall", KEY), ("prompt", KEY)], KEY, False, id="before"),
        pytest.param([("prompt", KEY), ("prompt", KEY)], KEY, False, id="shown without asking"),
        pytest.param(
            [("prompt", KEY), ("recall", KEY), ("prompt", KEY)], KEY, False, id="new order"
        ),
        pytest.param([("prompt", OTHER), ("recall", KEY)], KEY, False, id="no beginning"),
        pytest.param(
            [("prompt", KEY), ("recall", KEY), ("prompt", OTHER)], OTHER, False, id="other turn"
        ),
        pytest.param([("agent", SUBAGENT), ("recall", KEY)], SUBAGENT, True, id="of a subagent"),
        pytest.param(
            [("recall", KEY), ("agent", SUBAGENT)], SUBAGENT, False, id="before the subagent"
        ),
    ],
)
def test_a_search_in_a_turn_is_known_by_the_order_of_rows(store, rows, turn, expected):
    for number, (place, key) in enumerate(rows):
        logs.log_shown(store, place, [], NOW - timedelta(hours=number), key=key)

    assert logs.has_searched(store, turn) is expected
    assert not logs.has_searched(store, TurnKey(session_id="t", prompt_id="p"))


def test_a_compaction_makes_a_turn_search_anew(store):
    for place, query in (("prompt", None), ("recall", "x"), ("briefing", "compact")):
        logs.log_shown(store, place, [], NOW, key=KEY, query=query)

    assert not logs.has_searched(store, KEY)

    logs.log_shown(store, "recall", [], NOW, key=KEY, query="x")

    assert logs.has_searched(store, KEY)
