"""Commands of parts in a default installation, and those that lack the packages of an extra."""

from __future__ import annotations

import re
import sys
from importlib.util import find_spec

import pytest

from tests.doors.test_quick import WITHOUT_EXTRAS, run
from tests.doors.test_quick import project as project


@pytest.mark.parametrize(
    ("typed", "code", "said"),
    [
        pytest.param("sync --help", 0, "Usage: ademem sync", id="help of a command"),
        pytest.param("hub --help", 0, "Usage: ademem hub", id="help of a command of an extra"),
        pytest.param("sync --dir exchange", 0, "exchange", id="exchange through a folder"),
        pytest.param("sync --dry-run --dir exchange", 0, "would", id="a dry run of it"),
        pytest.param("sync --status", 0, "", id="state of the exchange"),
        pytest.param("sync", 2, "ademem hub join", id="exchange with no hub"),
    ],
)
def test_a_default_installation_imports_no_package_of_an_extra(project, typed, code, said):
    (project / "exchange").mkdir()
    ran = run(project, *typed.split(), before=WITHOUT_EXTRAS)

    assert (ran.returncode, said in ran.stdout + ran.stderr) == (code, True), (
        ran.stdout + ran.stderr
    )


@pytest.mark.parametrize(
    ("typed", "completed"),
    [
        pytest.param("ademem sy", ["sync"], id="a command"),
        pytest.param("ademem hub mem", ["member"], id="a group in a group"),
    ],
)
def test_completion_imports_no_package_of_an_extra(project, typed, completed):
    words = {"COMP_WORDS": typed, "COMP_CWORD": str(len(typed.split()) - 1)}
    asked = words | {"_ADEMEM_COMPLETE": "complete_bash"}
    ran = run(project, before=f"{WITHOUT_EXTRAS}import os; os.environ.update({asked});")

    assert ran.stdout.split() == completed


@pytest.mark.parametrize(
    ("command", "extra", "package"),
    [
        ("web", "web", "starlette"),
        ("tui", "tui", "textual"),
        ("mcp", "mcp", "mcp"),
        ("mcp --http", "mcp,http", "uvicorn"),
        ("hub serve", "hub", "psycopg"),
        ("hub serve", "hub", "uvicorn"),
        ("hub backup DIR", "hub", "psycopg"),
        ("hub project list", "hub", "psycopg"),
    ],
)
def test_a_door_without_its_packages_names_the_command_for_this_python(
    project, command, extra, package
):
    without = f"import sys; sys.modules['{package}'] = None;"
    refused = run(project, *command.split(), before=without)

    assert refused.returncode == 2
    named = re.search(rf"needs the package (\w+) of the extra {extra} ", refused.stderr)
    assert named, refused.stderr
    assert named[1] == package or find_spec(named[1]) is None  # as all, in a default installation
    assert f"{sys.executable} -I -m pip install " in refused.stderr
    assert f"[{extra}]'" in refused.stderr
