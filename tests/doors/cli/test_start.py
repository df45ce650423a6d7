"""A command loads its own part of ademem, and what all commands share, and no more."""

import os
import subprocess
import sys

import pytest

SHARED = 60
"""Modules of ademem that a command on one memory loads; with all of the parts it would be 300."""


START = """
import sys; sys.argv = {arguments}
from ademem.doors import cli
try: cli.main()
except SystemExit: pass
"""


def run(folder, code):
    """Run code in a process of its own; return its last line."""
    ran = subprocess.run(
        [sys.executable, "-I", "-c", code],
        cwd=folder,
        env={"HOME": os.environ["HOME"], "PATH": os.environ["PATH"], "ADEMEM_JOBS_AUTO": "false"},
        capture_output=True,
        text=True,
        check=True,
    )
    return ran.stdout.splitlines()[-1]


def modules_loaded(folder, *arguments):
    code = START.format(arguments=["ademem", *arguments])
    return int(
        run(folder, f"{code}print(sum(name.split('.')[0] == 'ademem' for name in sys.modules))")
    )


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(["list"], id="list"),
        pytest.param(["get", "nothing"], id="get"),
        pytest.param(["add", "--help"], id="the help of add"),
        pytest.param(["promote", "--help"], id="the help of promote"),
    ],
)
def test_a_command_on_one_memory_loads_what_all_share(here, store, arguments):
    assert modules_loaded(here.root, *arguments) <= SHARED


@pytest.mark.parametrize(
    ("arguments", "most"),
    [
        pytest.param(["--help"], 57, id="the help of all commands"),
        pytest.param(["add", "Tokens expire in UTC"], 120, id="add"),
        pytest.param(["status"], 104, id="status"),
        pytest.param(["review"], 118, id="review"),
        pytest.param(["recall", "tokens"], 61, id="recall"),
    ],
)
def test_a_command_loads_the_part_that_does_its_work(here, store, arguments, most):
    assert modules_loaded(here.root, *arguments) <= most


PARSERS = ("typer", "inspect", "importlib.metadata")
NEEDLESS = (*PARSERS, "typing", "datetime", "contextlib", "shlex", "importlib")
"""What a short command would spend a tenth of its time on."""
READERS = ("re", "enum", "json", "ademem.core.credential_judge", "ademem.store.adopted")
"""What a search of plain words, which are no secret, can do without: an eighth of its time."""


@pytest.mark.parametrize(
    ("command", "needless"),
    [
        *((command, NEEDLESS) for command in ("recall x", "add x", "list", "get x")),
        *((command, PARSERS) for command in ("status", "review", "--help")),
        ("recall tokens", (*NEEDLESS, *READERS)),
        ("recall ports in use", READERS),
    ],
)
def test_a_usual_command_loads_nothing_slow_that_it_does_not_need(here, store, command, needless):
    code = START.format(arguments=["ademem", *command.split()])
    code += f"print(sorted({set(needless)} & sys.modules.keys()))"

    assert run(here.root, code) == "[]"
