"""The shell part of the hooks takes nothing away: a session hears what Python alone says."""

import json
import os
import time
from pathlib import Path

import pytest

from ademem import worker
from tests.session.twins import Twins, shell_asks

STRANGERS = Path(__file__).parents[1] / "strangers"


def cases(name):
    text = (STRANGERS / f"{name}.jsonl").read_text()
    return [json.loads(line) for line in text.splitlines()]


@pytest.fixture
def started(monkeypatch):
    """Processes that would have been started."""
    commands = []
    monkeypatch.setattr(worker, "_detach", commands.append)
    return commands


@pytest.fixture
def twins(tmp_path, started):
    made = Twins(tmp_path)
    yield made
    made.close()


def live(twins, steps):
    """Live through a recorded session."""
    results = {each["id"]: each for each in steps if each["row"] == "result"}
    for step in steps:
        match step["row"]:
            case "prompt":
                twins.prompt(step["text"])
            case "claude":
                twins.stop(step["text"])
            case "call":
                given = dict(step["input"])
                if path := given.get("file_path"):
                    given["file_path"] = f"/project/{path.removeprefix('/')}"
                result = results.get(step["id"], {"text": "", "ok": True})
                twins.call(step["tool"], given, result["text"], failed=not result["ok"])


def test_strangers_sessions_hear_the_same_with_the_shell_and_by_python_alone(twins):
    for rule in cases("replay_rules"):
        if rule["project"] == "hofladen":
            twins.know(rule["text"], *rule["at"])
    twins.begin()
    sessions = [each for each in cases("replay_sessions") if each["project"] == "hofladen"]
    for session in sessions[:5]:
        live(twins, session["steps"])

    assert twins.differing == []
    assert (twins.answers > 5, twins.passed > twins.asked) == (True, True)


def asks(twins, tool, **given):
    """Tell whether the shell asks Python before a call."""
    call = {"tool_name": tool, "tool_input": given, "tool_use_id": "toolu_1"}
    return shell_asks(twins.worlds[0], "pre_tool_use", twins.payload(twins.worlds[0], call))


def stops(twins, message="Done."):
    """Tell whether the shell asks Python at the end of the turn."""
    payload = twins.payload(twins.worlds[0], {"last_assistant_message": message})
    return shell_asks(twins.worlds[0], "stop", payload)


def test_a_target_that_met_nothing_is_let_through_until_what_it_runs_changes(twins):
    twins.know("Tokens are checked twice", "src/auth.py")
    twins.begin()
    twins.prompt("Tidy up")
    assert asks(twins, "Bash", command="make docs")
    twins.call("Bash", {"command": "make docs"})

    assert not asks(twins, "Bash", command="make docs")
    assert asks(twins, "Bash", command="make all")
    twins.write("Makefile", "docs:\n\trm src/auth.py\n")
    later = time.time() + 1
    os.utime(twins.worlds[0].root / "Makefile", (later, later))
    assert asks(twins, "Bash", command="make docs")


def test_letters_that_json_may_escape_hide_no_command(twins):
    twins.know("Packages come from the mirror", "`npm install`")
    twins.begin()
    twins.prompt("Tidy up")
    call = {"tool_name": "Bash", "tool_input": {"command": "npm install"}, "tool_use_id": "toolu_1"}
    payload = twins.payload(twins.worlds[0], call)

    assert shell_asks(twins.worlds[0], "pre_tool_use", payload)
    escaped = payload.replace(b"npm install", b"\\u006epm install")
    assert shell_asks(twins.worlds[0], "pre_tool_use", escaped)


def test_a_long_command_full_of_quotes_is_handed_on_at_once(twins):
    twins.know("Packages come from the mirror", "`npm install`")
    twins.begin()
    twins.prompt("Tidy up")
    began = time.perf_counter()

    assert asks(twins, "Bash", command='echo "x"; ' * 7000 + "npm install")
    assert time.perf_counter() - began < 1  # 0.1 s, and 2 s where it is read to its end


def test_a_target_may_meet_what_is_stored_later(twins):
    twins.know("Tokens are checked twice", "src/auth.py")
    twins.begin()
    twins.prompt("Tidy up")
    twins.call("Bash", {"command": "make docs"})
    twins.know("The documentation is built on the server", "`make docs`")

    assert asks(twins, "Bash", command="make docs")


def test_what_was_said_stays_said_at_the_next_prompt_but_not_after_a_rewind(twins):
    twins.know("Tokens are checked twice", "src/auth.py")
    twins.begin()
    twins.prompt("Tidy up")
    before, edit = twins.last, {"file_path": "/project/src/auth.py", "new_string": "x"}
    twins.call("Edit", edit)
    twins.prompt("Go on")
    assert not asks(twins, "Edit", **edit)
    twins.last = before
    twins.prompt("Tidy up differently")

    assert asks(twins, "Edit", **edit)
    twins.call("Edit", edit)
    assert (twins.answers, twins.differing) == (2, [])  # a denial before, and one after


@pytest.mark.parametrize("name", ["write.py", "[id].tsx", "fix"])
def test_the_name_of_an_edited_file_is_no_command(twins, name):
    twins.know("Tokens are checked twice", "src/auth.py")
    twins.begin()
    twins.prompt("Tidy up")

    assert not asks(twins, "Write", file_path=f"/project/lib/{name}", content="x")


def test_a_turn_at_whose_end_nothing_is_to_be_done_ends_without_python(twins, started):
    twins.begin()
    started.clear()
    twins.prompt("Tidy up")
    twins.call("Bash", {"command": "ls"})

    assert not stops(twins)
    assert stops(twins, "Takeaways: the queue is empty")
    twins.stop()
    assert started == []


@pytest.mark.parametrize("path", [".ade/memory/new.md", ".git/HEAD", ".ade/run/changed"])
def test_files_that_changed_in_a_turn_are_read_at_its_end(twins, path):
    twins.begin()
    twins.prompt("Tidy up")
    twins.write(path, "# New\n")
    later = time.time() + 1
    os.utime(twins.worlds[0].root / path, (later, later))

    assert stops(twins)


def test_what_was_stored_or_denied_in_a_turn_is_looked_at_at_its_end(twins):
    twins.know("Tokens are checked twice", "src/auth.py")
    twins.begin()
    twins.prompt("Tidy up")
    assert not stops(twins)
    twins.call("Edit", {"file_path": "/project/src/auth.py", "new_string": "x"})
    assert stops(twins)
    twins.stop()
    twins.prompt("Go on")
    assert not stops(twins)
    twins.know("Tests need a database", "tests/")

    assert stops(twins)
