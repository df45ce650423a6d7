"""A command loads its own part of ademem, and what all commands share, and no more."""

import os
import subprocess
import sys

import pytest

SHARED = 53
"""Modules of ademem that a command on one memory loads; with all of the parts it would be 300."""


def modules_loaded(folder, *arguments):
    code = f"import sys; sys.argv = {['ademem', *arguments]!r}\n"
    code += "from ademem.doors import cli\ntry: cli.main()\nexcept SystemExit: pass\n"
    code += "print(sum(name.split('.')[0] == 'ademem' for name in sys.modules))"
    ran = subprocess.run(
        [sys.executable, "-I", "-c", code],
        cwd=folder,
        env={"HOME": os.environ["HOME"], "PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=True,
    )
    return int(ran.stdout.split()[-1])


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
