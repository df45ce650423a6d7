"""A bug of ours at the terminal: one line for the person, and a log of bounded size."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from ademem import operations
from ademem.core import failure_log

MAIN = "from ademem.doors.cli import program; program()"


def crash(ademem, message):
    def fail(*_, **__):
        raise RuntimeError(message)

    ademem.monkeypatch.setattr(operations, "open_memories", fail)
    said = ademem("list")
    assert ademem.exit_code == 3
    return said


def logs(ademem):
    folder = ademem.root.parent / f"ademem-{os.getuid()}"
    return {path.name: path for path in folder.iterdir()}


def test_a_crash_is_logged_with_its_traceback(ademem):
    said = crash(ademem, "it broke")

    assert said.startswith("ademem: unexpected RuntimeError: it broke (see ")
    assert "Traceback" in logs(ademem)["crash.log"].read_text()


def test_a_message_of_any_length_is_shown_and_logged_in_part(ademem):
    said = crash(ademem, "word " * 1_000_000)

    assert len(said) < 1000
    assert logs(ademem)["crash.log"].stat().st_size < 30_000


def test_no_secret_is_shown_or_logged(ademem):
    key = "ghp_" + "a1B2c3D4e5" * 4

    assert key not in crash(ademem, f"no access with {key}")
    assert key not in logs(ademem)["crash.log"].read_text()


def test_many_crashes_fill_two_files_of_a_bounded_size(ademem):
    ademem.monkeypatch.setattr(failure_log, "LOG_BYTES", 4_000)
    for number in range(30):
        crash(ademem, f"it broke for the {number}th time")

    assert sorted(set(logs(ademem)) - {"crash.log.lock"}) == ["crash.log", "crash.log.1"]
    assert all(path.stat().st_size < 10_000 for path in logs(ademem).values())
    assert "for the 29th time" in logs(ademem)["crash.log"].read_text()


@pytest.mark.parametrize(
    ("command", "code"),
    [
        pytest.param("list --json > /dev/full", 6, id="a full disk"),
        pytest.param("status > /dev/full", 6, id="a full disk for text"),
        pytest.param("get nope 2>&-", 1, id="no error stream"),
        pytest.param("add - <&-", 4, id="no input"),
        pytest.param("list <&- >&- 2>&-", 0, id="no stream at all"),
    ],
)
def test_streams_that_cannot_be_used_are_no_bug(ademem, monkeypatch, command, code):
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)
    run = f"exec {sys.executable} -c '{MAIN}' {command}"
    done = subprocess.run(["sh", "-c", run], capture_output=True, text=True, check=False)

    assert (done.returncode, "Traceback" in done.stderr) == (code, False)
    assert ("No space left" in done.stderr) is (code == 6)


@pytest.mark.parametrize(
    "command",
    ["status", "list --json", "recall it --json", "export -", "--help", "--version"],
)
def test_a_reader_that_ends_first_is_no_answer(ademem, command):
    ademem("add", "It is closed", "--category", "fact")
    reading, writing = os.pipe()
    os.close(reading)
    with open(writing, "wb") as closed:
        run = [sys.executable, "-c", MAIN, *command.split()]
        done = subprocess.run(run, stdout=closed, stderr=subprocess.PIPE, check=False)

    assert (done.returncode, done.stderr) == (141, b"")


@pytest.mark.parametrize("command", ["add", "get", "learn", "recall", "search"])
def test_an_argument_in_another_encoding_is_a_mistake_not_a_crash(ademem, command):
    said = ademem(command, "caf\udce9")

    assert ademem.exit_code in (1, 2)
    assert "unexpected" not in said
    assert ademem("list") == "no memories\n"
