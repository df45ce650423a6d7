"""Parts around the core: found by folder or entry point, and left out where they cannot load."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
RUN = """
import sys
sys.path.insert(0, sys.argv[1])
from ademem.core import plugins, who
who.of_process = lambda: who.Who(by=who.By.PERSON, why="a test says so")
if sys.argv[2]:
    plugins.FOLDER = sys.argv[2]
plugins.RECORD = sys.argv[1] + "/parts"
sys.argv[1:] = sys.argv[3:]
from ademem.doors.cli import program
program()
"""


@pytest.fixture
def site(tmp_path):
    """A folder with the package of the page on parts, as pip would have installed it."""
    site = tmp_path / "site"
    for name, text in written_on_the_page().items():
        path = site / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    about = site / "ademem_decisions-1.0.dist-info"
    about.mkdir()
    declared = tomllib.loads((site / "pyproject.toml").read_text())["project"]
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {declared['name']}\n")
    points = declared["entry-points"]["ademem"].items()
    (about / "entry_points.txt").write_text(
        "[ademem]\n" + "".join(f"{name} = {value}\n" for name, value in points)
    )
    return site


def written_on_the_page():
    """The files of the package that the page shows, by their paths."""
    page = (ROOT / "docs/parts.md").read_text(encoding="utf-8")
    found = re.findall(r"^## `([^`]+)`\n.*?```\w+\n(.*?)```", page, re.S | re.M)
    return {name: text for name, text in found if "." in name}


def type_(site, folder, *arguments, parts=""):
    ran = subprocess.run(
        [sys.executable, "-I", "-c", RUN, str(site), str(parts), *arguments],
        cwd=folder,
        env={"HOME": os.environ["HOME"], "PATH": os.environ["PATH"], "ADEMEM_JOBS_AUTO": "false"},
        capture_output=True,
        text=True,
        check=False,
    )
    return ran.returncode, ran.stdout + ran.stderr


@pytest.fixture
def records(tmp_path):
    folder = tmp_path / "decisions"
    folder.mkdir()
    (folder / "0001.md").write_text("# Queue in SQLite\n\nA job is a row, as there is no broker\n")
    return folder


def test_a_package_of_somebody_else_adds_a_command_and_a_reader(site, here, store, records):
    said = type_(site, here.root, "import", "--format", "auto", str(records))

    assert "decisions: 1 inserted" in said[1]
    assert type_(site, here.root, "decisions") == (0, "Queue in SQLite\n")
    assert re.search("Insight .*│ decisions +List", type_(site, here.root, "--help")[1], re.S)
    assert "or one of: " in " ".join(type_(site, here.root, "import", "--help")[1].split())
    assert "decisions" in type_(site, here.root, "import", "--format", "none", "x")[1]


def test_its_rule_judges_from_the_next_install_on(site, here, store):
    decision = ("add", "--category", "decision")
    before = type_(site, here.root, *decision, "Jobs are rows of a table, as there is no broker")
    type_(site, here.root, "install")
    refused = type_(site, here.root, *decision, "Errors are values, as they are expected")
    titled = type_(site, here.root, *decision, "Times are UTC everywhere", "--title", "UTC")

    assert before[0] == titled[0] == 0
    assert refused[0] != 0
    assert "a decision has a title" in refused[1]


def test_a_rule_that_fails_or_is_gone_changes_nothing(site, here, store):
    type_(site, here.root, "install")
    rule = site / "ademem_decisions/rule.py"
    rule.write_text("def broken(draft, gate):\n    return draft.nothing\n\nRULES = (broken,)\n")
    broken = type_(site, here.root, "add", "Errors are values, as they are expected")
    rule.unlink()
    gone = type_(site, here.root, "add", "Jobs are rows of a table, as there is no broker")

    assert (broken[0], gone[0]) == (0, 0)


def test_a_part_that_cannot_load_is_left_out_and_the_doctor_says_why(site, here, store):
    (site / "ademem_decisions/__init__.py").write_text("import a_package_that_nobody_has")

    assert type_(site, here.root, "list") == (0, "no memories\n")
    assert "No such command 'decisions'" in type_(site, here.root, "decisions")[1]
    said = type_(site, here.root, "doctor")[1]
    assert "without decisions: ModuleNotFoundError: No module" in said


def test_the_core_works_without_any_part(here, store, tmp_path):
    code, help = type_(tmp_path, here.root, "--help", parts=tmp_path / "none")

    assert code == 0
    listed, _, left_out = help.partition("Parts that are not there would add: ")
    assert not {"web", "tui", "hub"} & set(listed.split())
    assert {"web,", "tui,", "hub,"} <= set(left_out.split())
    assert 20 < len(re.findall(r"│ [a-z]+ ", listed)) <= 45
    assert "No such command 'web'" in type_(tmp_path, here.root, "web", parts=tmp_path / "none")[1]
