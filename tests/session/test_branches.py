"""What hooks learn on a branch, and what they tell on another one."""

from __future__ import annotations

import json
import subprocess

import pytest

from ademem.operations import files, searching, upkeep
from ademem.store import jobs
from tests.sync.repository import Worktree, git

LESSON = "Deploys of the billing service go through the staging cluster"


@pytest.fixture
def repository(world):
    """The project in git: its files on `main`, and a branch `topic` checked out."""
    git(world.root, "init", "--quiet", "--initial-branch=main")
    git(world.root, "add", "-A", ".ade")
    git(world.root, "commit", "--quiet", "-m", "start")
    git(world.root, "checkout", "--quiet", "-b", "topic")
    return world


def dictate(world):
    world.fire("user_prompt_submit", prompt=f"remember: {LESSON}", prompt_id="p1")


def key_learnings(world):
    world.fire("stop", last_assistant_message=f"## Key learnings\n\n- {LESSON}\n")


def learned(world):
    command = f'bd comment BD-1 "LEARNED: {LESSON}"'
    response = {"stdout": "", "stderr": "", "interrupted": False}
    call = {"tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": "t1"}
    world.fire("post_tool_use", tool_response=response, **call)


def corrected(world):
    world.fire("user_prompt_submit", prompt="no, use pnpm instead of npm", prompt_id="p1")


def failed(world):
    call = {"tool_name": "Bash", "tool_input": {"command": "make"}, "tool_use_id": "t1"}
    error = "Exit code 2\nmake: *** No rule to make target 'staging'. Stop."
    for session in ("s1", "s2"):
        world.fire("post_tool_use_failure", error=error, session_id=session, **call)


def typed(world):
    world.know(LESSON)


def reviewed(world):
    remark = {"id": 7, "user": {"login": "ana", "type": "User"}, "body": f"Please note: {LESSON}"}
    with world.memories() as memories:
        files.import_feedback(memories, json.dumps([remark]))


WAYS = (dictate, key_learnings, learned, corrected, failed, typed, reviewed)


@pytest.mark.parametrize("learn", WAYS)
def test_whatever_notices_it_what_is_learned_on_a_branch_waits_there(repository, learn):
    repository.fire("session_start", source="startup")
    learn(repository)

    assert [row.source_branch for row in repository.live()] == ["topic"]


def on_main(world):
    git(world.root, "checkout", "--quiet", "main")


def on_topic(world):
    git(world.root, "checkout", "--quiet", "topic")


def briefing(world):
    return world.context("session_start", source="startup", session_id="s9")


def subagent(world):
    return world.context("subagent_start", agent_id="a1", agent_type="Explore")


def prompt(world):
    return world.context(
        "user_prompt_submit", prompt="How do deploys of the billing service go?", prompt_id="p9"
    )


def site(world):
    call = {"tool_name": "Edit", "tool_input": {"file_path": str(world.root / "deploy/a.sh")}}
    world.fire("user_prompt_submit", prompt="thanks", prompt_id="p8")
    return world.context("pre_tool_use", prompt_id="p8", tool_use_id="t1", **call)


@pytest.mark.parametrize("tell", [briefing, subagent, prompt, site])
@pytest.mark.parametrize(("go", "told"), [(on_main, False), (on_topic, True)])
def test_it_comes_up_by_itself_on_its_own_branch_alone(repository, tell, go, told):
    repository.know(LESSON, path="deploy/**")
    go(repository)

    assert (LESSON in tell(repository)) is told


def test_a_search_finds_it_anywhere_behind_what_is_true_here_and_says_where_it_is_from(repository):
    repository.know(LESSON, importance="high")
    on_main(repository)
    repository.know("Deploys of the billing service need the approval of two people")
    with repository.memories() as memories:
        hits = searching.search(memories, "deploys of the billing service").hits
        on_topic(repository)
        there = searching.search(memories, "deploys of the billing service").hits

    assert [hit.memory.source_branch for hit in hits] == [None, "topic"]
    assert "elsewhere" in hits[1].signals
    assert [hit.memory.source_branch for hit in there] == ["topic", None]
    assert "elsewhere" not in there[0].signals


def test_a_merge_in_the_middle_of_a_session_is_noticed_at_the_end_of_the_turn(repository):
    repository.fire("session_start", source="startup")
    repository.know(LESSON)
    repository.work()
    git(repository.root, "commit", "--quiet", "-am", "memory")
    on_main(repository)
    git(repository.root, "merge", "--quiet", "topic")
    repository.fire("stop")
    with repository.memories() as memories:
        assert jobs.list_due(memories.store, "mirror", repository.now)
        upkeep.work(memories)

    assert [row.source_branch for row in repository.live()] == [None]


def test_a_branch_that_was_deleted_is_noticed_by_the_session_that_starts(repository):
    repository.know(LESSON)
    repository.work()
    git(repository.root, "commit", "--quiet", "-am", "memory")
    on_main(repository)
    repository.fire("session_start", source="startup")
    git(repository.root, "branch", "-D", "topic")
    repository.fire("session_start", source="startup", session_id="s2")

    (row,) = repository.live()
    assert row.has_lost_branch


def test_what_a_teammate_pushed_is_mentioned_at_the_start(repository, tmp_path):
    on_main(repository)
    repository.fire("session_start", source="startup")
    git(tmp_path, "clone", "--quiet", str(repository.root), "other")
    other = Worktree(tmp_path / "other")
    rows = [other.learn(f"lesson {name} of a teammate") for name in ("one", "two", "three", "four")]
    other.commit()
    git(repository.root, "pull", "--quiet", str(other.root), "main")
    said = briefing(repository)

    assert "4 memories from git" in said
    assert all(row.id in said for row in rows)
    assert "from git" not in repository.context("session_start", source="startup", session_id="s3")


def test_a_hook_reads_the_branch_without_starting_git(repository, monkeypatch):
    def refuse(*arguments, **options):
        raise AssertionError(arguments)

    repository.fire("session_start", source="startup")
    monkeypatch.setattr(subprocess, "Popen", refuse)
    for learn in (dictate, key_learnings, learned):
        learn(repository)
    repository.fire("session_start", source="startup", session_id="s2")

    assert {row.source_branch for row in repository.live()} == {"topic"}
    assert repository.failures() == []


def test_a_session_that_starts_in_the_middle_of_a_merge_leaves_the_files_to_git(repository):
    repository.fire("session_start", source="startup")
    code, page = repository.root / "code", repository.root / ".ade/memory/conventions.md"
    for branch in ("topic", "main"):
        git(repository.root, "checkout", "--quiet", branch)
        code.write_text(branch)
        git(repository.root, "add", "code")
        git(repository.root, "commit", "--quiet", "-m", branch)
    repository.know(LESSON)
    git(repository.root, "merge", "--quiet", "topic", check=False)
    page.touch()
    repository.fire("session_start", source="startup", session_id="s2")
    repository.work()
    assert LESSON not in page.read_text()

    git(repository.root, "merge", "--abort")
    repository.fire("session_start", source="startup", session_id="s3")
    repository.work()
    assert LESSON in page.read_text()
