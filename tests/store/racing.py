"""Processes of their own: several at the same database, or one that is killed."""

from __future__ import annotations

import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TextIO

ROOT = Path(__file__).parents[2]


def race(count: int, *arguments: str) -> list[list[str]]:
    """What each of so many `tests.store.writer` says, all let go at once; none may fail."""
    with ExitStack() as running:
        writers = [
            running.enter_context(_start("tests.store.writer", *arguments, str(number)))
            for number in range(count)
        ]
        for writer in writers:
            assert _open(writer.stdout).readline() == "ready\n", writer.communicate()[1]
        for writer in writers:
            _open(writer.stdin).write("go\n")
            _open(writer.stdin).flush()
        return [_said(writer) for writer in writers]


def said(module: str, *arguments: str) -> list[str]:
    """The lines that a program of ours prints."""
    with _start(module, *arguments) as process:
        return _said(process)


def _start(module: str, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", module, *arguments],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def _said(process: subprocess.Popen[str]) -> list[str]:
    out, complaint = process.communicate()
    assert process.returncode == 0, complaint
    return out.splitlines()


def _open(stream: TextIO | None) -> TextIO:
    assert stream is not None
    return stream
