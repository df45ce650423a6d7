"""Doing by hand what is due, while somebody else may be at it."""

import os
import subprocess
import sys

import pytest

from ademem.core.shared_files import locked
from ademem.operations import model

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


@pytest.mark.parametrize(
    ("stopped", "said"),
    [
        (None, "no process serves this project"),
        ({"pid": 7, "others": 0}, "process 7 ends"),
        (
            {"pid": 7, "others": 1},
            "process 7 serves this project no more, and goes on for 1 other project",
        ),
    ],
)
def test_stop_tells_whether_the_process_ends(ademem, monkeypatch, stopped, said):
    monkeypatch.setattr(model, "stop_server", lambda project: stopped)

    assert ademem("serve", "--stop") == f"{said}\n"
    assert ademem.json("serve", "--stop") == (stopped or {"pid": None, "others": 0})
