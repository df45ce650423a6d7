"""Commands of parts in a default installation, and those that lack the packages of an extra."""

from __future__ import annotations

import re
import sys
from importlib.util import find_spec

import pytest

from ademem import operations
from ademem.core.memory import Draft
from ademem.core.value import replace
from ademem.operations import writing
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


def test_what_is_bound_to_a_command_is_not_compared_with_the_code(project):
    push, page = (
        Draft(content="a push waits", promoted=True),
        Draft(content="a page", promoted=True),
    )
    with operations.open_memories(str(project), environment={}) as memories:
        writing.write(memories, replace(push, anchors=("$ git push",)))
        (project / "page.py").write_text("x = 1\n")
        writing.write(memories, replace(page, anchors=("page.py",)))
    (project / "page.py").unlink()
    watch = "import atexit, sys; atexit.register(lambda: print(*sys.modules, file=sys.stderr));"
    of_command, of_file = (
        run(project, "recall", word, before=watch, door="main") for word in ("push", "page")
    )

    comparing = "ademem.plugins.verify.anchor_verification"
    assert comparing not in of_command.stderr
    assert comparing in of_file.stderr
    assert "gone" in of_file.stdout
