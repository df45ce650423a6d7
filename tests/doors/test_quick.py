"""Usual command lines are run before the parser of options is loaded."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from ademem import __version__, operations
from ademem.core.memory import Draft
from ademem.operations import writing
from tests import extras

CALL = "import sys; from ademem.doors import cli; cli.{door}()"


@pytest.fixture
def project(tmp_path):
    operations.init(str(tmp_path))
    with operations.open_memories(str(tmp_path), environment={}) as memories:
        writing.write(
            memories, Draft(content="naïve login tokens expire in UTC 数据库", promoted=True)
        )
    return tmp_path


def run(project, *arguments, before="", door="program"):
    return subprocess.run(
        [sys.executable, "-c", before + CALL.format(door=door), *arguments],
        cwd=project,
        env={
            "PATH": os.environ["PATH"],
            "HOME": str(project),
            "ADEMEM_JOBS_AUTO": "false",
            "PYTHONPATH": os.pathsep.join(sys.path),
        },
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_a_terminal_without_unicode_shows_a_sign_for_what_it_lacks(project):
    ran = run(project, before="import sys; sys.stdout.reconfigure(encoding='ascii');")

    assert (ran.returncode, ran.stdout[:2]) == (0, "? "), ran.stderr


def test_the_answer_is_that_of_the_long_way(project):
    short = run(project, "recall", "--json", "login tokens")
    long = run(project, "recall", "--json", "-n10", "login tokens")

    assert short.stderr == long.stderr
    assert short.returncode == long.returncode == 0
    assert without_scores(short) == without_scores(long)


def without_scores(ran):
    """An access before may have changed them."""
    lines = ran.stdout.splitlines()
    return [line for line in lines if '"score"' not in line]


@pytest.mark.parametrize(("client", "code"), [("", 1), ("session", 0)], ids=["person", "client"])
def test_nothing_found_is_reported_by_the_exit_code_but_no_failure_in_a_clients_shell(
    project, client, code
):
    alone = "from ademem.core import who; who.line_above = lambda *_: [];"
    shell = f"import os; os.environ['CLAUDE_CODE_SESSION_ID'] = {client!r};"
    ran = run(project, "recall", "--json", "zebra", before=alone + shell)

    assert ran.returncode == code
    assert json.loads(ran.stdout)["memories"] == []


def test_no_project_is_reported_in_one_document(tmp_path):
    ran = run(tmp_path, "recall", "--json", "zebra")

    assert ran.returncode == 5
    assert json.loads(ran.stdout)["error"]["kind"] == "no_project"


def test_it_loads_neither_typer_nor_numpy_for_words_alone(project):
    watch = "import atexit, sys; atexit.register(lambda: print(*sys.modules, file=sys.stderr));"
    ran = run(project, "recall", "--json", "login", before=watch, door="main")

    loaded = set(ran.stderr.split())
    assert "ademem.search.engine" in loaded
    assert loaded.isdisjoint({"typer", "numpy", "onnxruntime", "orjson"})


def test_the_program_leaves_without_taking_apart_what_it_loaded(project):
    watch = "import atexit, sys; atexit.register(lambda: print('at the end', file=sys.stderr));"
    quickly = run(project, "recall", "--json", "login", before=watch)
    with_threads = run(project, "recall", "login", before="import threading;" + watch)

    assert json.loads(quickly.stdout)["count"] == 1
    assert (quickly.returncode, quickly.stderr) == (0, "")
    assert with_threads.stderr.endswith("at the end\n"), "threads end as Python ends them"


@pytest.mark.parametrize(
    ("command", "most"),
    [
        pytest.param(("recall", "--json", "login"), 74, id="recall for an agent"),
        pytest.param(("recall", "login"), 85, id="recall for a person"),
        pytest.param(("files", "import"), 138, id="import of files"),
    ],
)
def test_a_command_executes_few_modules_of_ours(project, command, most):
    watch = "import atexit, sys; atexit.register(lambda: print(*sys.modules, file=sys.stderr));"
    ran = run(project, *command, before=watch, door="main")

    loaded = [name for name in ran.stderr.split() if name.partition(".")[0] == "ademem"]
    assert len(loaded) <= most


WITHOUT_EXTRAS = f"""
import sys
from ademem.core import who
who.of_process = lambda: who.Who(by=who.By.PERSON, why="a test says so")
class Absent:
    def find_spec(name, path=None, target=None):
        if name.partition(".")[0] in {sorted(extras.PACKAGES)}:
            raise ModuleNotFoundError(f"no {{name}}", name=name)
sys.meta_path.insert(0, Absent)
"""


@pytest.mark.parametrize(
    ("typed", "code", "said"),
    [
        pytest.param("", 0, "Next", id="bare"),
        pytest.param("--help", 0, "╭─ Every day", id="help"),
        pytest.param("--version", 0, f"ademem {__version__}", id="version"),
        pytest.param(
            "lst",
            2,
            "No such command 'lst'. Did you mean 'list'? (`ademem --help` shows its options)",
            id="a typo",
        ),
        pytest.param(
            "list --kidn fact",
            2,
            "ademem: No such option: --kidn (`ademem list --help` shows its options)",
            id="a typo in an option",
        ),
        pytest.param(
            "list --limit x",
            2,
            "(`ademem list --help` shows its options)",
            id="a wrong value",
        ),
        pytest.param(
            "files check --project",
            2,
            "requires an argument (`ademem files check --help` shows its options)",
            id="an option without its value",
        ),
        pytest.param("files --help", 0, "Usage: ademem files", id="help of a command"),
    ],
)
def test_a_default_installation_imports_no_package_of_an_extra(project, typed, code, said):
    ran = run(project, *typed.split(), before=WITHOUT_EXTRAS)

    printed = ran.stdout + ran.stderr
    assert (ran.returncode, said in printed) == (code, True), printed
    assert code == 0 or printed.count("\n") == 1


@pytest.mark.parametrize(
    ("typed", "completed"),
    [
        pytest.param("ademem sw", ["sweep"], id="a command"),
        pytest.param("ademem files ref", ["refresh"], id="one of a group"),
        pytest.param("ademem list --sta", ["--status"], id="an option"),
    ],
)
def test_completion_imports_no_package_of_an_extra(project, typed, completed):
    words = {"COMP_WORDS": typed, "COMP_CWORD": str(len(typed.split()) - 1)}
    asked = words | {"_ADEMEM_COMPLETE": "complete_bash"}
    ran = run(project, before=f"{WITHOUT_EXTRAS}import os; os.environ.update({asked});")

    assert ran.stdout.split() == completed


def test_the_version_loads_no_parser_and_a_typo_no_command(project):
    watch = "import atexit, sys; atexit.register(lambda: print(*sys.modules, file=sys.stderr));"
    version, typo = (run(project, typed, before=watch) for typed in ("--version", "lst"))

    assert "typer" not in version.stderr
    assert "ademem.doors.cli.commands" in typo.stderr
    assert "ademem.doors.cli.memory" not in typo.stderr


def test_a_command_without_its_packages_names_how_to_install_them(project):
    without = "import sys; sys.modules['typer'] = None;"

    assert "naïve login tokens" in run(project, "recall", "login", before=without).stdout
    assert "memories" in run(project, "status", before=without).stdout
    refused = run(project, "status", "--help", before=without)
    assert refused.returncode == 4
    assert "needs the package typer" in refused.stderr
    assert f"{sys.executable} -I -m pip install " in refused.stderr
