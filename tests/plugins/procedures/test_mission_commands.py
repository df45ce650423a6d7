"""Missions at the terminal, and in processes that are bound to one."""

import json

import pytest

from ademem.core.clock import now
from ademem.session import answer, post_tool_use, post_tool_use_failure, user_prompt_submit
from tests.doors.cli.test_upkeep import imported, limited


@pytest.fixture
def bound(ademem, monkeypatch):
    """A shell that works for the mission `m1`."""
    ademem("mission", "start", "Ship passkeys", "--id", "m1")
    monkeypatch.setenv("ADEMEM_MISSION", "m1")
    return ademem


def fire(ademem, handle, **keys):
    head = {"session_id": "s1", "prompt_id": "p1", "cwd": str(ademem.root)}
    environment = {"CLAUDE_PROJECT_DIR": str(ademem.root), "ADEMEM_MISSION": "m1"}
    environment |= {"TMPDIR": str(ademem.root), "ADEMEM_JOBS_AUTO": "false"}
    return answer(handle, json.dumps(head | keys).encode(), environment, now())


def contents(ademem, *arguments):
    return [row["content"] for row in ademem.json(*arguments)["memories"]]


def test_a_mission_begins_and_tells_how_a_shell_is_bound_to_it(ademem):
    told = ademem("mission", "start", "Ship passkeys")

    assert (
        told == "ship-passkeys started; `export ADEMEM_MISSION=ship-passkeys` binds a shell to it\n"
    )
    (row,) = ademem.json("mission", "list")["missions"]
    assert (row["id"], row["goal"], row["status"]) == ("ship-passkeys", "Ship passkeys", "running")


def test_the_line_that_binds_a_shell_runs_nothing_else(ademem):
    told = ademem("mission", "start", "Ship passkeys", "--id", "x; echo $(id)")

    assert "`export ADEMEM_MISSION='x; echo $(id)'` binds" in told


def test_what_is_added_in_a_bound_shell_is_the_mission_s(bound, monkeypatch):
    row = bound.json("add", "Deploys need a lock", "--category", "gotcha")["memory"]
    other = bound.json("add", "Everybody's", "--scope", "project")["memory"]
    lesson = bound.json("learn", "Locks are kept in Redis")["memory"]

    assert (row["scope"], row["owner"]) == ("mission", "m1")
    assert other["scope"] == "project"
    assert (lesson["scope"], lesson["owner"]) == ("mission", "m1")
    assert contents(bound, "recall", "deploys lock") == ["Deploys need a lock"]
    monkeypatch.delenv("ADEMEM_MISSION")
    assert contents(bound, "recall", "deploys lock") == []
    assert contents(bound, "recall", "deploys lock", "--scope", "mission", "--owner", "m1") == [
        "Deploys need a lock"
    ]


def test_what_is_imported_in_a_bound_shell_for_a_mission_is_that_mission_s(bound, tmp_path):
    lines = tmp_path / "lines.jsonl"
    lines.write_text('{"content": "Deploys need a lock", "scope": "mission"}\n')

    assert bound.json("import", str(lines))["inserted"] == 1
    (row,) = bound.json("mission", "list", "m1")["memories"]
    assert row["owner"] == "m1"


def test_what_hooks_capture_in_a_bound_process_is_the_mission_s(bound):
    bash = {"tool_name": "Bash", "tool_use_id": "t1"}
    fire(
        bound,
        post_tool_use.handle,
        **bash,
        tool_input={"command": 'bd comment BD-1 "LEARNED: tokens expire in UTC, never locally"'},
        tool_response={"stdout": "", "stderr": "", "interrupted": False},
    )
    for session in ("s1", "s2"):
        fire(
            bound,
            post_tool_use_failure.handle,
            **bash | {"session_id": session, "tool_input": {"command": "npm start"}},
            error="Exit code 1\nError: listen EADDRINUSE: port 3000 is taken",
        )

    held = bound.json("mission", "list", "m1")["memories"]
    assert {(row["category"], row["owner"]) for row in held} == {("fact", "m1"), ("gotcha", "m1")}


def test_a_prompt_of_a_bound_session_recalls_what_the_mission_knows(bound):
    bound("add", "Deploys need a lock in Redis", "--category", "gotcha")
    said = fire(bound, user_prompt_submit.handle, prompt="Which lock do deploys need in Redis?")

    assert "Deploys need a lock in Redis" in said


def test_a_mission_that_hooks_hear_of_first_begins_then(ademem, monkeypatch):
    monkeypatch.setenv("ADEMEM_MISSION", "heard-of")
    ademem("add", "Deploys need a lock")

    assert [row["id"] for row in ademem.json("mission", "list", "--running")["missions"]] == [
        "heard-of"
    ]
    ademem("add", "Dry runs begin nothing", "--dry-run")
    assert ademem.json("mission", "list", "--status")["memories"] == {
        "promoted": 1,
        "candidates": 0,
    }


def test_its_end_copies_and_tells_how_to_take_that_back(bound):
    bound("add", "Deploys need a lock", "--category", "gotcha")
    told = bound("mission", "end", "--outcome", "success")

    assert "m1 succeeded: 1 copied (`ademem undo " in told
    assert "0 copied" in bound("mission", "end", "--outcome", "success")
    ended = bound.json("mission", "list", "--status")
    assert (ended["status"], ended["memories"]["promoted"]) == ("succeeded", 1)


def test_one_memory_can_be_copied_by_hand(bound):
    id = bound.json("add", "Deploys need a lock", "--category", "gotcha")["memory"]["id"]
    copy = bound.json("mission", "promote", id)

    assert (copy["scope"], copy["content"]) == ("project", "Deploys need a lock")


def test_an_end_says_how_it_ended(bound):
    assert "--outcome" in bound("mission", "end", "m1")
    assert bound.exit_code == 2


def test_which_mission_is_meant_is_asked_for_when_several_run(ademem):
    ademem("mission", "start", "One")
    ademem("mission", "start", "Two")
    told = ademem("mission", "end", "--outcome", "cancelled")

    assert (ademem.exit_code, "running: two, one" in told) == (2, True)


def test_a_memory_of_a_mission_needs_a_mission(ademem):
    told = ademem("add", "Deploys need a lock", "--scope", "mission")

    assert (ademem.exit_code, "which mission?" in told) == (2, True)
    assert ademem.json("list", "--scope", "mission")["count"] == 0


def test_a_memory_of_a_mission_that_does_not_run_is_stored_with_a_note(ademem):
    ademem("mission", "start", "Ship passkeys", "--id", "m1")
    here = ("--scope", "mission", "--owner", "m1")
    assert ademem.json("add", "Safari wants a user gesture", *here)["notes"] == []

    ademem("mission", "end", "m1", "--outcome", "cancelled")
    told = ademem("add", "Firefox asks twice for a passkey", *here)
    assert "note: the mission m1 has ended (cancelled); `ademem mission promote" in told
    elsewhere = ademem("add", "Opera asks once", "--scope", "mission", "--owner", "m2")
    assert "note: no mission m2 was started" in elsewhere


def test_neither_goal_nor_id_of_a_mission_has_a_secret(ademem):
    ademem("mission", "start", "Call the API with xoxb-123456789012-1234567890123-AbCdEfGhIjKlMnOp")

    (row,) = ademem.json("mission", "list")["missions"]
    assert row["id"].startswith("call-the-api-with-redacted")
    assert "1234567890" not in row["id"] + row["goal"]


def test_every_owner_has_a_limit_of_its_own_and_a_running_mission_has_none(ademem):
    limited(ademem, agent=2, mission=2)
    ademem("mission", "start", "Ship passkeys", "--id", "m1")
    imported(ademem, 2, scope="agent", scope_owner_id="ada")
    imported(ademem, 3, scope="agent", scope_owner_id="ben")
    told = imported(ademem, 5, scope="mission", scope_owner_id="m1")
    assert "1 above agent_limit:" in told
    assert "mission_limit" not in told

    ademem("mission", "end", "m1", "--outcome", "cancelled")
    assert "3 above mission_limit" in ademem.json("status")["overfull"]


def test_an_empty_list_says_so(ademem):
    assert ademem("mission", "list") == "no missions\n"
    assert ademem.exit_code == 0
