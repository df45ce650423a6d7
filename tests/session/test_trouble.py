"""Whatever a hook is given and whatever fails in it, the session goes on and the log tells why."""

import json
import os
import sqlite3
import time
from contextlib import closing

import pytest

from ademem.core import client, failure_log
from ademem.core.project import at
from ademem.operations import sessions
from ademem.operations.doctor import Patient, hooks_do_not_fail
from ademem.session import answer
from ademem.store import database, migration
from tests.examples import examples
from tests.session.mutants import mutants
from tests.session.payloads import LEARNED, LESSON, NAMES, ODD, RECORDED, payload, understood
from tests.store import filled

MB = 1_000_000
CALL = {"tool_name": "Write", "tool_input": {"file_path": "/p/x.py"}, "tool_use_id": "toolu_1"}
LESSONS = [f"{n} is what we learned {'about it ' * 100}{n}" for n in range(5400)]


def is_readable(raw):
    try:
        client.read(raw)
    except client.BadPayload:
        return False
    return True


def checkup(world):
    project = at(str(world.root))
    patient = Patient(project=project, environment=world.environment, now=world.now)
    return hooks_do_not_fail(patient)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(examples(10, share=10)))
def test_of_ten_thousand_mutants_only_those_that_are_no_object_are_failures(world, seed):
    world.know("Login sessions expire after ten minutes")
    refused = 0
    with world.memories():  # an open connection spares every hook the work of closing the last one
        for hook, raw in mutants(seed, examples(1000, share=3)):
            assert understood(hook, world.fire(hook, raw=raw)), raw
            refused += not is_readable(raw)

    assert {failure["error"].partition(":")[0] for failure in world.failures()} == {"BadPayload"}
    assert len(world.failures()) == refused < 300


@pytest.mark.parametrize("hook", RECORDED)
@pytest.mark.parametrize("recorded", range(3))
def test_what_the_client_sends_is_no_trouble(world, hook, recorded):
    for keys in RECORDED[hook][recorded : recorded + 1]:
        assert understood(hook, world.fire(hook, raw=json.dumps(keys).encode()))

    assert world.failures() == []


@pytest.mark.parametrize("hook", NAMES)
@pytest.mark.parametrize(("raw", "readable"), ODD.values(), ids=ODD)
def test_odd_input_is_answered_and_what_cannot_be_read_is_logged_once(world, hook, raw, readable):
    assert understood(hook, world.fire(hook, raw=raw))
    assert [failure["event"] for failure in world.failures()] == ([] if readable else [hook])


@pytest.mark.parametrize("id", [None, 12345, ""], ids=["null", "number", "empty"])
def test_a_session_without_an_id_is_briefed_and_leaves_no_row(world, id):
    world.know("Deploys go through the staging branch")

    assert "staging branch" in world.context("session_start", source="startup", session_id=id)
    world.fire("user_prompt_submit", session_id=id, prompt="Fix the login bug")
    world.fire("stop", session_id=id, last_assistant_message="Done.")
    world.fire("session_end", session_id=id, reason="other")
    with world.memories() as memories:
        assert sessions.list_sessions(memories) == []
    assert world.failures() == []


@pytest.mark.parametrize(
    ("hook", "keys"),
    [
        pytest.param("user_prompt_submit", {"prompt": "Fix the login, then. " * (MB // 4)}),
        pytest.param("pre_tool_use", {"tool_input": {"command": "ls\n" * (5 * MB // 3)}}),
        pytest.param("pre_tool_use", CALL | {"tool_input": {"content": "x" * 5 * MB}}),
        pytest.param("post_tool_use", {"tool_response": {"stdout": "LEARNED: x\n" * (MB // 2)}}),
        pytest.param("post_tool_use_failure", {"error": "npm error x\n" * (5 * MB // 12)}),
        pytest.param("post_tool_use_failure", {"error": "x" * 5 * MB}),
        pytest.param("stop", {"last_assistant_message": "It is done now. " * (5 * MB // 16)}),
        pytest.param("stop", {"last_assistant_message": "\n- ".join(["# Learnings", *LESSONS])}),
    ],
)
def test_five_megabytes_are_read_in_half_the_time_that_the_client_grants(world, hook, keys):
    raw = json.dumps(payload(hook, **keys)).encode()

    started = time.process_time()
    assert len(raw) > 4.9 * MB
    assert understood(hook, world.fire(hook, raw=raw))
    assert world.failures() == []
    assert time.process_time() - started < 5


@pytest.mark.parametrize(
    ("tool", "value"),
    [
        pytest.param({"tool_name": "Bash"}, {"command": "echo 1 > a\n" * 100_000}, id="command"),
        pytest.param({"tool_name": "Write"}, {"file_path": "/a" * MB}, id="path"),
        pytest.param({"tool_name": "Edit", "cwd": "/a" * MB}, {"file_path": "a"}, id="folder"),
    ],
)
def test_an_endless_call_is_looked_up_in_the_time_that_it_can_wait(world, tool, value):
    world.know("Never push to main without asking")

    started = time.process_time()
    assert understood("pre_tool_use", world.fire("pre_tool_use", **tool, tool_input=value))
    assert world.failures() == []
    assert time.process_time() - started < 5


def test_a_prompt_that_dictates_too_much_is_saved_whole_and_reported_in_part(world):
    lines = [f"remember: rule {n} {'is never broken 😀 ' * 20}" for n in range(30)]

    said = world.context("user_prompt_submit", prompt="\n".join(lines), prompt_id="p1")
    assert client.units(said) <= client.CONTEXT_UNITS
    assert "and 22 more" in said
    assert len(world.live()) == 30


def test_of_an_endless_prompt_the_beginning_is_kept(world):
    secret = "ghp_" + "a1B2c3D4e5" * 4
    limit = 20_000
    prompt = "x" * (limit - 20) + secret + "y" * limit + secret

    world.fire("user_prompt_submit", prompt=prompt, prompt_id="p1")
    (kept,) = world.row("select content from user_prompts")
    assert len(kept) <= limit
    assert secret[:12] not in kept


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        RecursionError("maximum recursion depth exceeded"),
        OSError(28, "No space left on device"),
        sqlite3.OperationalError("database is locked"),
        UnicodeEncodeError("utf-8", "\ud800", 0, 1, "surrogates\nnot allowed"),
    ],
    ids=lambda error: type(error).__name__,
)
@pytest.mark.parametrize("fail", ["open", "closed"])
def test_an_error_ends_as_one_line_of_the_log(world, fail, error):
    world.environment["ADEMEM_GUARD_FAIL"] = fail

    def handle(_payload, _runtime):
        raise error

    for hook in ("pre_tool_use", "stop"):
        handle.__module__ = f"ademem.session.{hook}"
        said = answer(handle, b"{}", world.environment, world.now)

        assert ('"deny"' in said) is (hook == "pre_tool_use" and fail == "closed")
        assert world.failures()[-1]["event"] == hook
        assert world.failures()[-1]["error"].startswith(type(error).__name__)
    assert len(world.failures()) == 2


@pytest.mark.parametrize("end", [KeyboardInterrupt, SystemExit])
def test_whoever_ends_the_process_is_not_held_up(world, end):
    def handle(_payload, _runtime):
        raise end

    with pytest.raises(end):
        answer(handle, b"{}", world.environment, world.now)

    assert world.failures() == []


@pytest.mark.parametrize(("fail", "denied"), [("open", False), ("closed", True)])
def test_a_call_that_cannot_be_read_is_judged_as_the_project_chose(world, fail, denied):
    world.environment["ADEMEM_GUARD_FAIL"] = fail

    assert ('"deny"' in world.fire("pre_tool_use", raw=b"{")) is denied
    assert len(world.failures()) == 1


@pytest.mark.parametrize(
    "text", ["[guard]\nmode = 'stern'\n", "[gurad]\n", "[guard\n", "\x00", "[guard]\nmoed = 1\n"]
)
def test_settings_that_cannot_be_meant_switch_no_hook_off(world, calls, text):
    world.environment["ADEMEM_GUARD_MODE"] = "strict"
    world.know("Login sessions expire after ten minutes")
    (world.root / ".ade" / "config.toml").write_text(text)

    assert "ten minutes" in world.context("session_start", source="startup")
    world.fire("user_prompt_submit", prompt="Fix the login sessions", prompt_id="p1")
    assert world.denial(**calls.write(), prompt_id="p1")
    assert world.failures() == []


def test_a_database_of_a_later_version_is_left_alone(world):
    db = sqlite3.connect(world.root / ".ade" / "ade.db")
    db.execute("pragma user_version = 999")
    db.close()

    (notice,) = filter(None, [world.fire(hook, raw=b"{}") for hook in NAMES])
    assert "failed (NewerDatabase)" in notice
    assert {f["error"].partition(":")[0] for f in world.failures()} == {"NewerDatabase"}


def test_a_database_from_before_the_release_that_a_hook_has_no_time_for_is_named(
    world, monkeypatch
):
    world.know("Login sessions expire after ten minutes")
    with closing(sqlite3.connect(world.root / ".ade" / "ade.db")) as db:
        db.executescript(filled.EARLIER)
        db.execute(f"pragma user_version = {database.EARLIER[-1]}")
    monkeypatch.setattr(migration, "BYTES_PER_S", 1)

    (notice,) = filter(None, [world.fire(hook, raw=b"{}") for hook in NAMES])
    assert "`ademem doctor` takes it over" in notice
    assert [memory.content for memory in world.live()] == [
        "Login sessions expire after ten minutes"
    ]
    assert "ten minutes" in world.context("session_start", source="startup")


def test_a_project_that_is_not_enrolled_is_left_alone(world, tmp_path):
    world.environment["CLAUDE_PROJECT_DIR"] = str(tmp_path / "elsewhere")
    before = sorted(path for path in tmp_path.rglob("*") if "ade.db" not in path.name)

    assert [world.fire(hook, raw=b"") for hook in NAMES] == [""] * len(NAMES)
    assert sorted(path for path in tmp_path.rglob("*") if "ade.db" not in path.name) == before


def test_the_model_may_remove_the_folder_it_stands_in(world, tmp_path, monkeypatch):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()

    world.fire("post_tool_use", tool_name="Bash", tool_input={"command": LEARNED})
    monkeypatch.chdir(tmp_path)
    assert [memory.content for memory in world.live()] == [LESSON]
    assert world.failures() == []


def test_the_doctor_names_the_failures_and_the_open_guard(world):
    assert checkup(world).ok

    world.fire("stop", raw=b"{")
    finding = checkup(world)
    assert not finding.ok
    assert "stop: BadPayload" in finding.message
    assert "guard" not in finding.message

    world.fire("pre_tool_use", raw=b"{")
    assert "the guard let calls pass" in checkup(world).message


def test_where_the_project_takes_no_log_the_user_has_one(world, tmp_path):
    (world.root / ".ade" / "log").write_text("in the way")

    world.fire("stop", raw=b"{")
    log = tmp_path / f"ademem-{os.getuid()}" / "hooks.log"
    assert len(log.read_text().splitlines()) == 1
    assert log.parent.stat().st_mode & 0o777 == 0o700
    assert "stop: BadPayload" in checkup(world).message


def test_failures_of_other_projects_are_not_shown_here(world, tmp_path):
    other = tmp_path / "other"
    (other / ".ade").mkdir(parents=True)
    (other / ".ade" / "log").write_text("in the way")
    world.environment["CLAUDE_PROJECT_DIR"] = str(other)
    world.fire("stop", raw=b"{")

    assert checkup(world).ok


def test_a_line_cut_short_by_a_full_disk_hides_no_other(world):
    world.fire("stop", raw=b"{")
    log = world.root / ".ade" / "log" / "hooks.log"
    log.write_text('{"at": "2026-03-' + "\n" + log.read_text())

    assert "1 hook failure;" in checkup(world).message


def test_a_log_folder_that_somebody_else_made_is_not_written_to(world, tmp_path, monkeypatch):
    monkeypatch.setattr(os, "getuid", lambda: os.geteuid() + 1)
    theirs = tmp_path / f"ademem-{os.getuid()}"
    theirs.mkdir()
    (world.root / ".ade" / "log").write_text("in the way")

    assert world.fire("stop", raw=b"{") == ""
    assert list(theirs.iterdir()) == []


def test_the_log_is_bounded(world, monkeypatch):
    monkeypatch.setattr(failure_log, "LOG_BYTES", 1000)
    for _ in range(30):
        world.fire("stop", raw=b"{")

    sizes = [path.stat().st_size for path in (world.root / ".ade" / "log").glob("hooks.log*")]
    assert sum(sizes) < 4000
    assert len(world.failures()) >= 1
