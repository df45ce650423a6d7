"""A bug of ours at the terminal: one line for the person, and a log of bounded size."""

from __future__ import annotations

import os

import pytest

from ademem import api
from ademem.core import failure_log


def crash(ademem, message):
    def fail(*_, **__):
        raise RuntimeError(message)

    ademem.monkeypatch.setattr(api, "open_memories", fail)
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


@pytest.mark.parametrize("command", ["get", "recall", "search"])
def test_an_argument_in_another_encoding_is_a_mistake_not_a_crash(ademem, command):
    said = ademem(command, "caf\udce9")

    assert ademem.exit_code in (1, 2)
    assert "unexpected" not in said
