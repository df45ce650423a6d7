"""Doing by hand what is due, while somebody else may be at it."""

import os
import subprocess
import sys

import pytest

from ademem.core.shared_files import locked

COMMAND = [sys.executable, "-c", "from ademem.doors.cli import main; main()", "work", "--once"]


@pytest.fixture
def lock(ademem):
    """What a worker holds that is at it."""
    ademem("work")
    ademem("add", "Tabs are forbidden in this code", "--category", "convention")
    return str(ademem.root / ".ade" / "run" / "work.lock")


def test_work_that_is_not_waited_for_is_reported_as_that_of_another(ademem, lock):
    with locked(lock):
        assert "another worker is running" in ademem("work", "--no-wait")
        assert ademem.exit_code == 0

    assert "done: " in ademem("work", "--no-wait")


@pytest.mark.parametrize("left", [True, False])
def test_another_worker_is_waited_for_and_what_it_left_is_done(ademem, lock, left):
    if not left:
        ademem("work")
    with locked(lock):
        process = subprocess.Popen(
            COMMAND,
            cwd=ademem.root,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        )
        said = process.stderr.readline()
    told, _ = process.communicate(timeout=120)

    assert said.startswith("another worker is running; waiting")
    assert ("done: mirror" in told) is left
    assert ("the other worker did it all" in told) is not left
    assert process.returncode == 0


def test_without_another_worker_none_is_mentioned(ademem):
    ademem("work")

    assert ademem("work") == "nothing was due\n"
