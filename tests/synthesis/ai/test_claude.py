"""The client as a program: what it is given, what it may do, and how it is ended."""

import json
import os
import select
from itertools import pairwise

import pytest

from tests.synthesis.ai.conftest import SCHEMA

ANSWER = {
    "type": "result",
    "subtype": "success",
    "is_error": False,
    "result": '{"task": "as text"}',
    "structured_output": {"task": "as data"},
    "total_cost_usd": 0.0125,
    "usage": {"input_tokens": 10, "cache_read_input_tokens": 5, "output_tokens": 7},
    "modelUsage": {"small-1": {}},
}


def saying(**changes):
    """A program that prints the client's answer."""
    return f"print({json.dumps(ANSWER | changes)!r})"


NOTED = """
import json, os, sys
given = {"options": sys.argv[1:], "prompt": sys.stdin.read(), "environment": dict(os.environ),
         "folder": os.listdir(), "group": os.getpgid(0) == os.getpid()}
open(NOTE, "w").write(json.dumps(given))
"""


@pytest.fixture
def given(ask, tmp_path):
    """What the client was given, when asked something long."""
    note = tmp_path / "note.json"
    ask.runtime.environment["ADEMEM_AI_KEY"] = "k-123"
    ask.claude(f"NOTE = {str(note)!r}{NOTED}{saying()}")
    assert ask("What happened? " + "x" * 100_000) == {"task": "as data"}
    return json.loads(note.read_text())


def test_the_question_is_no_argument(given):
    assert given["prompt"].startswith("What happened? xxx")
    assert not any("What happened" in option for option in given["options"])


def test_it_has_no_hooks_no_tools_no_servers_and_leaves_no_trace(given):
    options = given["options"]
    follows = dict(pairwise(options))

    assert json.loads(follows["--settings"])["disableAllHooks"] is True
    assert follows["--tools"] == ""
    assert follows["--setting-sources"] == "user"
    assert {"-p", "--safe-mode", "--strict-mcp-config", "--no-session-persistence"} <= {*options}
    assert json.loads(follows["--json-schema"]) == SCHEMA
    assert follows["--model"] == "haiku"
    assert given["folder"] == []
    assert given["group"]


def test_it_does_not_take_itself_for_a_part_of_the_session(given):
    names = given["environment"]

    assert not {"CLAUDECODE", "CLAUDE_CODE_SESSION_ID", "ADEMEM_AI_KEY"} & names.keys()
    assert (names["ADEMEM_DISABLE"], names["ADEMEM_ASKED"]) == ("1", "1")


def test_its_price_is_kept(ask):
    ask.claude(saying())
    ask()
    (call,) = ask.calls()

    assert (call["tokens_in"], call["tokens_out"], call["cost"]) == (15, 7, 0.0125)
    assert (call["provider"], call["model"], call["outcome"]) == ("claude", "small-1", "ok")


@pytest.mark.parametrize(
    ("body", "outcome"),
    [
        pytest.param(saying(structured_output=None), "ok", id="as text"),
        pytest.param(saying(structured_output={"task": 3}), "invalid", id="another shape"),
        pytest.param(saying(structured_output="text"), "invalid", id="data that is none"),
        pytest.param(
            saying(structured_output=None, result="Sorry, no."), "invalid", id="only words"
        ),
        pytest.param(saying(result=7, structured_output=None), "invalid", id="no text"),
        pytest.param(saying(stop_reason="refusal"), "refused", id="refusing"),
        pytest.param(saying(is_error=True, result="Not logged in"), "failed", id="error"),
        pytest.param(saying(subtype="error_max_turns"), "failed", id="no success"),
        pytest.param(saying() + "\nraise SystemExit(3)", "failed", id="exit code"),
        pytest.param("print('Segmentation fault')", "failed", id="no JSON"),
        pytest.param("print('[]')", "failed", id="a list"),
        pytest.param("print('[' * 100000)", "failed", id="depth"),
        pytest.param("", "failed", id="silent"),
        pytest.param("import os; os.abort()", "failed", id="crash"),
        pytest.param("import os; os.write(1, b'\\xff\\xfe')", "failed", id="no text at all"),
    ],
)
def test_every_end_is_distinguished(ask, body, outcome):
    ask.claude(body)
    answer = ask()

    assert [told for told, _ in ask.outcomes()] == [outcome]
    assert (answer is not None) == (outcome == "ok")


def test_without_a_client_there_is_no_answer(ask):
    ask.settings(provider="claude")
    ask.runtime.environment["PATH"] = str(ask.root / "nothing")

    assert ask() is None
    assert ask.outcomes() == [("failed", "no program `claude` on PATH")]


def test_the_client_is_found_where_its_installer_puts_it(ask):
    ask.claude(saying())
    home = ask.root / "home/.local/bin"
    home.mkdir(parents=True)
    (ask.bin / "claude").rename(home / "claude")
    ask.runtime.environment["PATH"] = str(ask.root / "nothing")

    assert ask() == {"task": "as data"}


def test_a_client_that_cannot_start_is_no_answer(ask):
    ask.claude(saying())
    (ask.bin / "claude").write_text("#!/nowhere/python\n")

    assert ask() is None
    assert ask.outcomes()[0][0] == "failed"


@pytest.fixture
def pipe(tmp_path):
    """A named pipe: as long as a process holds it open, it is not at its end."""
    path = tmp_path / "alive"
    os.mkfifo(path)
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    yield path, handle
    os.close(handle)


def is_let_go(path, handle):
    """Whether everybody who held the pipe has ended, or does so soon."""
    os.close(os.open(path, os.O_WRONLY))  # a pipe that nobody ever held tells of no end
    poll = select.poll()
    poll.register(handle, select.POLLHUP)
    return bool(poll.poll(20_000))


LEAVING_A_CHILD = """
import os, subprocess, sys
held = os.open({path!r}, os.O_WRONLY)
child = "import time; time.sleep(600)"
subprocess.Popen([sys.executable, "-c", child], pass_fds=[held])
"""


@pytest.mark.parametrize(
    ("then", "timeout_s", "outcome"),
    [
        pytest.param("while True: os.write(1, b'x' * 65536)", 60.0, "failed", id="rambling"),
        pytest.param("import time; os.write(2, b'x'); time.sleep(600)", 2.0, "timeout", id="slow"),
        pytest.param("os.write(1, b'{}'); os.kill(os.getpid(), 9)", 60.0, "failed", id="killed"),
        pytest.param(saying(), 60.0, "ok", id="answering"),
    ],
)
def test_nothing_that_it_started_outlives_it(ask, pipe, then, timeout_s, outcome):
    path, handle = pipe
    ask.claude(LEAVING_A_CHILD.format(path=str(path)) + then, timeout_s=timeout_s)
    ask()

    assert [told for told, _ in ask.outcomes()] == [outcome]
    assert is_let_go(path, handle)


def test_the_bound_of_a_worker_does_not_bind_the_client(ask):
    resource = pytest.importorskip("resource")
    given, most = resource.getrlimit(resource.RLIMIT_DATA)
    told = "print(resource.getrlimit(resource.RLIMIT_DATA)[0], file=sys.stderr); sys.exit(1)"
    ask.claude(f"import resource, sys; {told}")
    resource.setrlimit(resource.RLIMIT_DATA, (3_000_000_000, most))
    try:
        ask()
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (given, most))

    assert ask.outcomes() == [("failed", f"exit code 1: {most}")]


def test_complaints_without_end_fill_no_memory(ask):
    ask.claude(f"import os\nfor _ in range(200): os.write(2, b'x' * 65536)\n{saying()}")

    assert ask() == {"task": "as data"}
