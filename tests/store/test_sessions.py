"""Sessions of the client and the prompts typed in them."""

from __future__ import annotations

from datetime import timedelta

import pytest

from ademem.core.clock import stamp
from ademem.store import sessions
from tests.builders import NOW

WINDOW = timedelta(seconds=sessions.TWIN_WINDOW_S)


def start(store, now=NOW, **changes):
    given = {"source": "startup", "directory": "/srv/atlas", "branch": "main"} | changes
    return sessions.start(store, "s", now=now, **given)


def row(store):
    return dict(store.db.execute("select * from sessions").fetchone())


def test_a_session_starts(store):
    assert start(store) is True
    assert row(store)["started_at"] == row(store)["last_started_at"] == stamp(NOW)


@pytest.mark.parametrize(
    ("later", "source", "expected"),
    [
        pytest.param(timedelta(), "startup", False, id="at once"),
        pytest.param(WINDOW / 2, "startup", False, id="within the window"),
        pytest.param(WINDOW, "startup", True, id="after the window"),
        pytest.param(-WINDOW, "startup", True, id="when the clock was set back"),
        pytest.param(timedelta(), "compact", True, id="from another source"),
        pytest.param(-timedelta(milliseconds=9), "startup", False, id="whose clock came first"),
    ],
)
def test_the_twin_of_a_start_just_seen_is_no_start(store, later, source, expected):
    start(store)

    assert start(store, NOW + later, source=source) is expected


def test_a_resumed_session_is_open_again_and_keeps_what_it_knew(store):
    start(store)
    sessions.end(store, "s", "exit", NOW)
    start(store, NOW + WINDOW, source="resume", directory="/elsewhere", branch="other")

    found = row(store)
    assert (found["ended_at"], found["end_reason"]) == (None, None)
    assert (found["directory"], found["branch"]) == ("/srv/atlas", "main")
    assert (found["started_at"], found["last_source"]) == (stamp(NOW), "resume")


def test_a_session_never_seen_to_start_is_closed_and_filled_in_later(store):
    sessions.end(store, "s", "exit", NOW)
    assert (row(store)["end_reason"], row(store)["directory"]) == ("exit", "")

    start(store, NOW + WINDOW)
    assert (row(store)["directory"], row(store)["branch"]) == ("/srv/atlas", "main")


def test_a_prompt_is_kept_once_a_turn(store):
    kept = [
        sessions.add_prompt(store, session, prompt, text, NOW)
        for session, prompt, text in (
            ("s", "p1", "fix it"),
            ("s", "p1", "fix it"),
            ("s", "p2", "fix it"),
            ("s", "p1", "fix that"),
            ("t", "p1", "fix it"),
        )
    ]

    assert kept == [True, False, True, True, True]
    assert sessions.count_prompts(store, "s") == 3
