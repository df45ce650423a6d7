"""The steps of the action for pull requests, with a `gh` that writes down what it is asked."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.plugins.verify.test_change_verification import CODE, CONNECT, World

ACTION = Path(__file__).parents[3] / ".github/actions/verify"
GH = """#!/bin/sh
printf '%s\\n' "$*" >> {log}
case $* in *--paginate*) printf '%s' {known} ;; esac
"""


@pytest.fixture
def pull(tmp_path, monkeypatch):
    """A pull request that changes the timeout of which a memory speaks."""
    monkeypatch.chdir(tmp_path)
    world = World(tmp_path / "work")
    world.keep(CONNECT, "src/net.py:4")
    world.write("src/net.py", CODE.replace("timeout=10", "timeout=25"))
    world.record()
    return world


def run(pull, *, known="", commits="HEAD~1..HEAD", **given):
    programs, log = pull.root.parent / "bin", pull.root.parent / "gh.log"
    programs.mkdir(exist_ok=True)
    (programs / "gh").write_text(GH.format(log=log, known=f"'{known}'"))
    (programs / "gh").chmod(0o755)
    environment = {
        "PATH": os.pathsep.join([str(programs), os.environ["PATH"]]),
        "HOME": os.environ["HOME"],
        "ADEMEM": str(Path(sys.executable).parent / "ademem"),
        "RANGE": commits,
        "PULL": "7",
        **given,
    }
    done = subprocess.run(
        ["bash", ACTION / "verify.sh"],
        cwd=pull.root,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    return done, log.read_text() if log.exists() else ""


def test_a_memory_that_is_no_longer_true_is_annotated_and_fails_the_check(pull):
    done, asked = run(pull, SARIF=str(pull.root / "log.sarif"))

    assert done.returncode == 1, done.stderr
    assert done.stdout.startswith("::warning file=src/net.py,line=4")
    assert '"stale-memory"' in (pull.root / "log.sarif").read_text()
    assert asked == ""


def test_the_check_may_pass_nevertheless(pull):
    assert run(pull, FAIL="false")[0].returncode == 0


def test_a_change_that_makes_nothing_false_says_nothing(pull):
    done, asked = run(pull, commits="HEAD..HEAD", COMMENT="true")

    assert (done.returncode, done.stdout) == (0, "")
    assert "pr comment" not in asked


def test_one_comment_is_written_and_the_next_run_replaces_it(pull):
    assert "pr comment 7 --body <!-- ademem verify -->" in run(pull, COMMENT="true")[1]
    asked = run(pull, COMMENT="true", known="99")[1]

    assert "--method PATCH repos/{owner}/{repo}/issues/comments/99" in asked
    assert "is no longer true" in asked


def test_a_range_that_git_does_not_have_is_an_error_of_its_own(pull):
    done, _ = run(pull, commits="nowhere..HEAD", FAIL="false")

    assert done.returncode not in (0, 1)
    assert "compares two commits that git has" in done.stderr


def test_the_action_gives_each_variable_that_its_script_reads():
    action = yaml.safe_load((ACTION / "action.yml").read_text())
    given = action["runs"]["steps"][-1]["env"]

    assert set(given) == {"ADEMEM", "RANGE", "FAIL", "COMMENT", "SARIF", "PULL", "GH_TOKEN"}
