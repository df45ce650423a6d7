"""A project of before there were stamps, upgraded here and not yet by a teammate.

The teammate's ademem is the real one of then, from the history of this repository.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ademem.sync.merging import merge_lines
from tests import persons
from tests.sync.clone import gotcha
from tests.sync.repository import git

ROOT = Path(__file__).parents[2]
BEFORE_STAMPS = "5bd71c5d"
PROGRAMS = {"old": "ademem.cli", "new": "ademem.doors.cli"}
LINES = ".ade/memory/knowledge.jsonl"
STARTED = {
    "cache": "the cache is not thread safe",
    "retries": "retries need a limit",
    "tokens": "tokens expire in UTC",
    "ports": "ports are in env files",
    "node": "builds need node 20",
}


@pytest.fixture(scope="session")
def sources(tmp_path_factory):
    """Folders with the package of then and of now."""
    folder = tmp_path_factory.mktemp("old")
    command = ["git", "archive", BEFORE_STAMPS, "ademem"]
    packed = subprocess.run(command, cwd=ROOT, capture_output=True, check=False)
    if packed.returncode:
        pytest.skip("the history of this repository does not reach back to the older ademem")
    subprocess.run(["tar", "-x", "-C", folder], input=packed.stdout, check=True)
    return {"old": folder, "new": ROOT}


class Person:
    """A clone, and the ademem that its owner has."""

    def __init__(self, root, home, sources, version):
        self.root, self._home, self._sources = root, home, sources
        self.version = version

    def _environment(self):
        bin = self._home / self.version
        if not bin.exists():
            bin.mkdir(parents=True)
            program = f"from {PROGRAMS[self.version]} import program; program()"
            script = f"#!/bin/sh\nexec {sys.executable} -P -c '{program}' \"$@\"\n"
            (bin / "ademem").write_text(script)
            (bin / "ademem").chmod(0o755)
        names = {
            f"GIT_{who}_{what}": "n@x"
            for who in ("AUTHOR", "COMMITTER")
            for what in ("NAME", "EMAIL")
        }
        return {
            "HOME": str(self._home),
            "PATH": f"{bin}:{os.environ['PATH']}",
            "PYTHONPATH": str(self._sources[self.version]),
            "ADEMEM_MODELS_DIR": str(self._home / "no-models"),
            **names,
        }

    def run(self, *command, code=0):
        ran = subprocess.run(
            command,
            cwd=self.root,
            env=self._environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        assert code in (ran.returncode, None), f"{command}: {ran.stdout}{ran.stderr}"
        return ran.stdout + ran.stderr

    def ademem(self, *arguments, code=0, text=b""):
        """What a person sees who types it, where it is told from what others run."""
        if self.version == "old":
            return self.run("ademem", *arguments, code=code)
        environment = self._environment()
        command = [f"{self._home}/new/ademem", *arguments]
        ran = persons.type_command(command, environment, self.root, text=text)
        said = (ran.stdout + ran.stderr).decode()
        assert code in (ran.returncode, None), f"{arguments}: {said}"
        return said

    def share(self):
        said = self.ademem("files", "refresh")
        self.run("git", "add", "-A")
        self.run("git", "commit", "--quiet", "--allow-empty", "-m", "memory")
        return said

    def pull(self, other):
        self.run("git", "pull", "--quiet", "--no-rebase", str(other.root), "main")
        return self.share()

    def texts(self):
        """The memories by text, with their status."""
        rows = json.loads(self.ademem("list", "--json"))
        rows = rows["memories"] if isinstance(rows, dict) else rows
        return {row["content"]: row["status"] for row in rows}

    def ids(self):
        lines = map(json.loads, (self.root / LINES).read_text().splitlines())
        named = {line["content"]: line["id"] for line in lines}
        return {name: named[text] for name, text in STARTED.items()}


@pytest.fixture(scope="module")
def started(tmp_path_factory, sources):
    """A folder with two clones, of which both owners have the older ademem."""
    folder = tmp_path_factory.mktemp("started")
    ann, ben = (Person(folder / name, folder / "home", sources, "old") for name in ("ann", "ben"))
    ann.root.mkdir()
    git(ann.root, "init", "--quiet", "--initial-branch=main")
    ann.ademem("init")
    for text in STARTED.values():
        ann.ademem("add", text, "--category", "gotcha")
    ann.share()
    ann.run("git", "clone", "--quiet", str(ann.root), str(ben.root))
    ben.ademem("init")
    ben.share()
    return folder


@pytest.fixture
def team(tmp_path, started, sources):
    """Ann, who upgrades and trusts what others confirm, and Ben, who does not upgrade."""
    shutil.copytree(started, tmp_path / "team")
    home = tmp_path / "team/home"
    ann = Person(tmp_path / "team/ann", home, sources, "new")
    ann.ademem("trust", "--files", text=b"y\n")
    return ann, Person(tmp_path / "team/ben", home, sources, "old")


def test_an_upgrade_changes_no_line_and_loses_no_memory(team):
    ann, _ = team
    before = (ann.root / LINES).read_text()
    ann.share()

    assert (ann.root / LINES).read_text() == before
    assert set(ann.texts()) == set(STARTED.values())


def test_what_both_versions_wrote_is_known_in_both_clones(team):
    ann, ben = team
    id = ann.ids()
    ann.share()
    ann.ademem("edit", id["cache"], "--content", "the cache is not thread safe under load")
    ann.ademem("edit", id["retries"], "--tags", "api")
    ann.ademem("archive", id["ports"])
    ann.ademem("add", "written with stamps", "--category", "fact")
    ann.share()
    ben.ademem("edit", id["cache"], "--content", "the cache is not thread safe in tests")
    ben.ademem("edit", id["retries"], "--content", "retries need a limit of five")
    ben.ademem("edit", id["ports"], "--content", "ports are in env files of each service")
    ben.ademem("archive", id["tokens"])
    ben.ademem("add", "written without stamps", "--category", "fact")
    ben.share()
    ben.pull(ann)
    said = ann.pull(ben)

    expected = {
        "builds need node 20": "promoted",
        "ports are in env files of each service": "promoted",
        "retries need a limit of five": "promoted",
        "the cache is not thread safe in tests": "promoted",
        "the cache is not thread safe under load": "candidate",
        "written with stamps": "promoted",
        "written without stamps": "promoted",
    }
    assert ann.texts() == expected
    assert ben.texts() == expected
    assert "came from an older ademem, which writes no stamps: update it there." in said
    ben.version = "new"
    ben.share()
    ben.pull(ann)
    ann.pull(ben)
    assert "up to date" in ann.share()
    assert ann.texts() == ben.texts() == expected
    assert (ann.root / LINES).read_text() == (ben.root / LINES).read_text()


def test_a_merge_by_the_upgraded_clone_loses_nothing(team):
    ann, ben = team
    id = ann.ids()
    ann.share()
    ann.ademem("edit", id["cache"], "--content", "the cache is not thread safe under load")
    ann.ademem("archive", id["ports"])
    ann.share()
    ben.ademem("edit", id["cache"], "--content", "the cache is not thread safe in tests")
    ben.ademem("edit", id["ports"], "--content", "ports are in env files of each service")
    ben.share()
    ann.pull(ben)
    ben.pull(ann)

    expected = {
        **dict.fromkeys((STARTED["retries"], STARTED["tokens"], STARTED["node"]), "promoted"),
        "the cache is not thread safe in tests": "promoted",
        "ports are in env files of each service": "promoted",
    }
    waits = {"the cache is not thread safe under load": "candidate"}
    assert ben.texts() == expected  # the other text waits in stamps, which it does not read
    ann.pull(ben)
    assert ann.texts() == expected | waits
    ben.version = "new"
    ben.pull(ann)
    assert ben.texts() == expected | waits


def test_a_line_of_a_newer_ademem_stays_as_it_is_and_is_reported(clone):
    row = gotcha(clone)
    clone.refresh()
    line = json.loads(clone.read(LINES))
    newer = json.dumps(line | {"content": "in new words", "stamps": {"votes": [1]}}) + "\n"
    clone.write(LINES, newer)
    problems = clone.taken().problems

    assert [problem.message for problem in problems] == [
        "was written by a newer ademem: update this one"
    ]
    assert clone.get(row).content == row.content
    assert newer in clone.read(LINES)
    assert newer.replace(": ", ":").replace(", ", ",") in merge_lines("", newer, clone.read(LINES))
