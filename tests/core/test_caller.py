"""Who runs a command: a person at a terminal, or a coding agent."""

from __future__ import annotations

import os
import pty
import subprocess
import sys

import pytest

from ademem.core import caller

ASKS = """
import os, sys
from ademem.core import caller
sys.stderr.write(f"{caller.has_terminal()} {caller.client_of(os.environ) or 'nobody'}")
"""
HERE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def asked(*command, terminal=True, **environment):
    """What a process started by *command* finds out about itself, with or without a terminal."""
    variables = {"PATH": os.environ["PATH"], "PYTHONPATH": HERE} | environment
    master, slave = pty.openpty() if terminal else (None, subprocess.DEVNULL)
    streams = {"stdin": slave, "stdout": slave, "stderr": subprocess.PIPE}
    ran = subprocess.run([*command], env=variables, start_new_session=True, check=True, **streams)
    if terminal:
        os.close(master)
        os.close(slave)
    return ran.stderr.decode().replace("True nobody", "a person").replace("False nobody", "no tty")


def program(path, text):
    path.parent.mkdir(exist_ok=True, parents=True)
    path.write_text(text)
    path.chmod(0o755)
    return str(path)


@pytest.fixture
def asking(tmp_path):
    return program(tmp_path / "ask.py", f"#!{sys.executable}\n{ASKS}")


def starting(asking):
    """A shell script that starts the question and waits for it."""
    return f"#!/bin/sh\nsh -c '{asking}; :'\n:\n"


needs_person = pytest.mark.skipif(
    bool(caller.client_of({})), reason="these tests run in the shell of a coding agent"
)


@needs_person
def test_a_command_in_a_terminal_is_a_persons(asking):
    assert asked("sh", "-c", f"{asking}; :") == "a person"


@needs_person
def test_without_a_terminal_it_is_not(asking):
    assert asked(asking, terminal=False) == "no tty"


def test_a_variable_of_a_client_is_seen_before_any_process_is_looked_at():
    assert caller.client_of({"CLAUDECODE": "1"}) == "CLAUDECODE"
    assert caller.client_of({"CODEX_SANDBOX": "seatbelt"}) == "CODEX_SANDBOX"


@pytest.mark.parametrize("client", ["claude", "codex", "gemini", "opencode", "cursor-agent"])
def test_a_client_among_the_parents_is_seen_though_its_variables_were_removed(
    client, asking, tmp_path
):
    path = program(tmp_path / "bin" / client, starting(asking))

    assert asked("env", "-i", f"PATH={os.environ['PATH']}", f"PYTHONPATH={HERE}", path) == (
        f"True {client}"
    )


def test_a_client_in_python_is_seen(asking, tmp_path):
    starts = f"import subprocess; subprocess.run(['{asking}'])"
    path = program(tmp_path / "bin" / "aider", starts)

    assert asked(sys.executable, path) == "True aider"


@pytest.mark.parametrize(
    ("line", "client"),
    [
        pytest.param("claude --continue", "claude", id="by its name"),
        pytest.param("/opt/bin/Codex", "codex", id="by its path"),
        pytest.param(
            "node /usr/lib/node_modules/@openai/codex/bin/codex.js", "codex", id="in node"
        ),
        pytest.param(
            "node --max-old-space-size=9 /x/@anthropic-ai/claude-code/cli.js",
            "claude-code",
            id="by its package",
        ),
        pytest.param("/usr/bin/python3.12 -E /venv/bin/aider", "aider", id="in Python"),
        pytest.param("bash /home/me/claude/run.sh", "", id="a folder of that name"),
        pytest.param("vim claude", "", id="a file of that name"),
        pytest.param("-zsh", "", id="a shell"),
        pytest.param("", "", id="no command line"),
    ],
)
def test_a_client_is_known_by_its_command_line(line, client):
    assert caller.client_in(line.split()) == client


def test_settings_of_a_client_in_a_persons_profile_make_no_agent(monkeypatch):
    monkeypatch.setattr(caller, "client_above", lambda: "")

    assert caller.client_of({"CLAUDE_CODE_USE_BEDROCK": "1", "CLAUDE_CONFIG_DIR": "/c"}) == ""


def test_where_there_is_no_proc_ps_tells_the_same():
    from_ps = [caller.client_in(line) for line in caller._from_ps(os.getppid())]
    from_proc = [caller.client_in(line) for line in caller._from_proc(os.getppid())]

    assert from_ps
    assert set(from_ps) <= set(from_proc)


@pytest.mark.parametrize(
    ("terminal", "environment", "reason"),
    [
        pytest.param(False, {}, "not a terminal", id="no terminal"),
        pytest.param(True, {"GEMINI_CLI": "1"}, "GEMINI_CLI runs this shell", id="a client"),
    ],
)
def test_what_is_a_persons_to_decide_is_refused_with_the_reason(
    terminal, environment, reason, monkeypatch
):
    monkeypatch.setattr(caller, "has_terminal", lambda: terminal)

    with pytest.raises(caller.NotByPerson, match=reason) as refused:
        caller.require_person(environment, "approving a memory")

    assert "your own terminal" in refused.value.hint
