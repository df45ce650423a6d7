"""Sessions that programs start and end themselves, and prompts that can be found and deleted."""

from datetime import timedelta

import pytest

from ademem.core.errors import NotFound, UsageError
from ademem.operations import curation, writing
from ademem.operations.sessions import (
    SessionEnded,
    delete_prompt,
    delete_session,
    end_session,
    get_session,
    list_session_memories,
    list_sessions,
    require_open_session,
    search_prompts,
    start_session,
    summarize_session,
)
from ademem.store import sessions
from ademem.store.transitions import CannotDo
from tests.world import World


@pytest.fixture
def world(tmp_path):
    root = tmp_path / "project"
    root.mkdir()
    return World(root)


def test_a_start_fills_blanks_and_keeps_what_is_there(world):
    with world.memories() as memories:
        start_session(memories, "m1")
        start_session(memories, "m1", "/work")
        again = start_session(memories, "m1", "/elsewhere")

        assert again["directory"] == "/work"
        assert len(list_sessions(memories)) == 1


def test_an_end_is_final_for_all_but_the_client_that_resumes(world):
    with world.memories() as memories:
        start_session(memories, "m1")
        ended = end_session(memories, "m1")
        with pytest.raises(SessionEnded, match="session_already_ended") as raised:
            start_session(memories, "m1")
        with pytest.raises(SessionEnded):
            require_open_session(memories, "m1")

        world.now += timedelta(minutes=1)
        assert (raised.value.rule, raised.value.id) == ("session", "m1-2")
        assert end_session(memories, "m1")["ended_at"] == ended["ended_at"]
        require_open_session(memories, "m1-2")
    world.fire("session_start", source="resume", session_id="m1")
    with world.memories() as memories:
        resumed = get_session(memories, "m1")

    assert (resumed["source"], resumed.get("ended_at")) == ("resume", None)


def test_three_turns_end_no_session(world):
    world.fire("session_start", source="startup")
    for _ in range(3):
        world.fire("stop")
    with world.memories() as memories:
        assert "ended_at" not in get_session(memories, "s1")
    world.fire("session_end", reason="other")
    with world.memories() as memories:
        assert get_session(memories, "s1")["end_reason"] == "other"


def test_a_summary_is_one_memory_that_follows_the_last_one(world):
    with world.memories() as memories:
        start_session(memories, "m1")
        start_session(memories, "m2")
        first = summarize_session(memories, "Goal: signed webhooks. Next: rotate keys", "m1")
        again = summarize_session(memories, "Goal: signed webhooks. Next: rotate keys", "m1")
        later = end_session(memories, "m2", "Goal: keys rotate. Next: alerts in Grafana")
        (summary,) = list_session_memories(memories, "m2")
        pairs = [
            (each.left, each.right, each.relation) for each in curation.list_conflicts(memories)
        ]

    assert (first.memory.category, first.memory.topic_key) == ("handoff", "session/m1")
    assert "session_summary" in first.memory.tags
    assert again.memory.id == first.memory.id
    assert later["summary"] == summary.content
    assert pairs == [(first.memory.id, summary.id, "supersedes")]


def test_a_session_with_live_memories_is_not_deleted(world):
    world.fire("user_prompt_submit", prompt="Sign the webhooks", prompt_id="p1")
    with world.memories() as memories:
        start_session(memories, "s1")
        written = writing.write(memories, "Webhooks are signed with HMAC")
        with pytest.raises(CannotDo, match="1 live memory"):
            delete_session(memories, "s1")
        curation.delete(memories, written.memory.id)
        delete_session(memories, "s1")

        assert list_sessions(memories) == []
        assert search_prompts(memories) == []
        with pytest.raises(NotFound, match="no session has the id"):
            get_session(memories, "s1")


def test_a_session_needs_an_id(world):
    world.environment.pop("CLAUDE_CODE_SESSION_ID")
    with world.memories() as memories:
        for wrong in ("", "x" * 201):
            with pytest.raises(UsageError):
                start_session(memories, wrong)
        with pytest.raises(UsageError, match="which session"):
            summarize_session(memories, "Goal: signed webhooks")


def prompts(memories, *arguments):
    return [row["text"] for row in search_prompts(memories, *arguments)]


@pytest.fixture
def typed(world):
    for number, text in enumerate(
        ("Sign the webhooks", "Rotate the keys of the webhooks", "更新数据库缓存", "x" * 500)
    ):
        world.fire(
            "user_prompt_submit", prompt=text, prompt_id=f"p{number}", session_id=f"s{number % 2}"
        )
    return world


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        pytest.param("signing webhook", ["Sign the webhooks"], id="all words"),
        pytest.param("rotate grafana", ["Rotate the keys of the webhooks"], id="some words"),
        pytest.param("数据库", ["更新数据库缓存"], id="without blanks"),
        pytest.param('"NEAR( col:* -"', [], id="no words"),
        pytest.param("kubernetes", [], id="nothing"),
    ],
)
def test_prompts_are_found_by_words(typed, words, expected):
    with typed.memories() as memories:
        assert prompts(memories, words) == expected


def test_prompts_are_listed_newest_first_of_all_sessions_or_one(typed):
    with typed.memories() as memories:
        assert [len(text) for text in prompts(memories)] == [200, 7, 31, 17]
        assert prompts(memories, "", "s0", 1) == ["更新数据库缓存"]


def test_a_deleted_prompt_is_gone_and_comes_back_by_no_import(typed):
    """Row E15 of prompts."""

    with typed.memories() as memories:
        id = search_prompts(memories, "rotate")[0]["id"]
        delete_prompt(memories, id)
        again = "Rotate the keys of the webhooks"
        stored = sessions.add_prompt(memories.store, "s1", "p1", again, typed.now)
        buried = memories.store.db.execute("select sync_id from tombstones").fetchall()

        assert prompts(memories, "rotate") == []
        assert not stored
        assert buried[0][0].startswith(id)
        with pytest.raises(NotFound, match="no prompt with the id"):
            delete_prompt(memories, id)


def test_of_fifty_live_sessions_each_gets_what_was_saved_in_it(world):
    """Row E3 of concurrent sessions."""

    ids = [f"live-{number}" for number in range(50)]
    for id in ids:
        world.fire("user_prompt_submit", session_id=id, prompt=f"remember: {id} is on port 80")

    found = world.rows("select content, source_session_id from unified_memories")
    assert {row[1]: row[0].split()[0] for row in found} == {id: id for id in ids}
