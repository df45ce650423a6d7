"""Hooks ask for the episode of a session that ended, and of one that nobody ended."""

from datetime import timedelta

import pytest

from ademem.store import jobs, sessions


def due(world, kind="episode"):
    """Keys of the work asked for."""
    with world.memories() as memories:
        return [job.key for job in jobs.list_due(memories.store, kind, world.now)]


def known(world, id="s1"):
    with world.memories() as memories:
        return sessions.get(memories.store, id)


def test_the_end_of_a_session_asks_for_its_episode(world):
    world.fire("session_end", reason="other", transcript_path="/t/s1.jsonl")

    assert due(world) == ["s1"]
    assert known(world).transcript == "/t/s1.jsonl"


def test_a_session_bound_to_a_mission_says_so(world):
    world.environment["ADEMEM_MISSION"] = "apollo"
    world.fire("session_end", reason="other")

    assert due(world) == ["s1 apollo"]
    assert due(world, "extract") == ["s1 - apollo"]


def test_the_transcript_of_a_running_session_is_known(world):
    world.fire("session_start", source="startup", transcript_path="/t/s1.jsonl")
    world.fire("session_end", reason="other")

    assert known(world).transcript == "/t/s1.jsonl"


@pytest.mark.parametrize(
    ("source", "copied"), [("startup", False), ("clear", False), ("resume", True), ("fork", True)]
)
def test_what_a_conversation_was_copied_from_is_not_its_own(world, source, copied):
    world.fire("session_start", source=source)
    own_since = known(world).own_since

    assert bool(own_since) == copied
    world.now += timedelta(hours=1)
    world.fire("session_start", source="resume")
    assert known(world).own_since == own_since


def test_of_a_session_that_was_not_seen_to_start_only_what_was_seen_is_its_own(world):
    world.fire("user_prompt_submit", prompt="Fix the login", prompt_id="p1")
    seen = world.row("select started_at from turns")[0]
    world.fire("session_end", reason="other")

    assert known(world).own_since == seen


def test_a_session_that_was_left_open_is_summarized_when_the_next_begins(world):
    world.fire("session_start", source="startup")
    world.fire("user_prompt_submit", prompt="Fix the login", prompt_id="p1")
    world.now += timedelta(hours=2)
    world.fire("session_start", source="startup", session_id="s2")

    assert due(world) == ["s1"]


def leave_at_work(world):
    world.now += timedelta(minutes=25)
    world.fire("user_prompt_submit", prompt="Fix the login", prompt_id="p1")


def leave_ended(world):
    world.fire("session_end", reason="other")
    with world.memories() as memories:
        memories.store.db.execute("delete from jobs")


def leave_old(world):
    world.now += timedelta(days=30)


@pytest.mark.parametrize("leave", [leave_at_work, leave_ended, leave_old])
def test_other_sessions_are_left_alone(world, leave):
    world.fire("session_start", source="startup")
    leave(world)
    world.now += timedelta(minutes=20)
    world.fire("session_start", source="startup", session_id="s2")

    assert due(world) == []


def test_the_session_that_begins_is_not_the_one_left_open(world):
    world.fire("session_start", source="startup")
    world.now += timedelta(hours=2)
    world.fire("session_start", source="resume")

    assert due(world) == []
