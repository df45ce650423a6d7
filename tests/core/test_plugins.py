"""Parts around the core: found by folder or entry point, and left out where they cannot load."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from ademem.core import plugins

ROOT = Path(__file__).parents[2]
RUN = """
import sys
sys.path.insert(0, sys.argv[1])
from ademem.core import plugins, who
who.of_process = lambda: who.Who(by=who.By.PERSON, why="a test says so")
if sys.argv[2]:
    plugins.FOLDER = sys.argv[2]
sys.argv[1:] = sys.argv[3:]
from ademem.doors.cli import program
program()
"""


@pytest.fixture
def shout(tmp_path):
    """The package of the page on parts, as pip would have installed it."""
    site = tmp_path / "site"
    page = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    declared, command = re.findall(r"```python\n(.*?)```", page, re.S)
    package = site / "ademem_shout"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(declared)
    (package / "command.py").write_text(command)
    about = site / "ademem_shout-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: ademem-shout\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[ademem]\nshout = ademem_shout\n")
    return site


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


def test_a_package_of_somebody_else_adds_a_command(shout, here, store):
    type_(shout, here.root, "add", "Deploys go through staging")

    assert type_(shout, here.root, "shout") == (0, "DEPLOYS GO THROUGH STAGING\n")
    assert re.search("Insight:.*  shout +Show memories", type_(shout, here.root, "--help")[1], re.S)


def test_a_part_that_cannot_load_is_left_out_and_the_doctor_says_why(shout, here, store):
    (shout / "ademem_shout/__init__.py").write_text("import a_package_that_nobody_has")

    assert type_(shout, here.root, "list") == (0, "no memories\n")
    assert "No such command 'shout'" in type_(shout, here.root, "shout")[1]
    assert "without shout: ModuleNotFoundError: No module" in type_(shout, here.root, "doctor")[1]


def test_the_core_works_without_any_part(shout, here, store, tmp_path):
    code, help = type_(tmp_path, here.root, "--help", parts=tmp_path / "none")

    assert code == 0
    assert not {"web", "tui", "hub"} & set(help.split())
    assert "No such command 'web'" in type_(tmp_path, here.root, "web", parts=tmp_path / "none")[1]


def test_every_folder_is_a_part_that_loads_and_says_what_it_is():
    parts = plugins.built_in()

    assert [part.__name__.rpartition(".")[2] for part in parts] == sorted(
        path.parent.name for path in (ROOT / "ademem/plugins").glob("*/__init__.py")
    )
    assert all(part.__doc__ for part in parts)
    assert [part for part in parts if not any(map(str.isupper, vars(part)))] == []
    assert plugins.faults == {}
