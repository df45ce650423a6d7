"""A program run within bounds: of time, of what it prints, and of what it leaves running."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import tempfile
import time
from contextlib import suppress

from ademem.core.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

CHUNK = 1 << 16
LOOK_S = 0.05
"""How often we look whether it has ended, while it says nothing."""
ERROR_BYTES = 4_000
"""What is kept of its complaints."""


class Ran(Value):
    exit_code: int
    """Negative: the signal that ended it."""
    output: bytes
    complaints: bytes
    stopped: str = ""
    """Why we ended it: timeout | length."""


def run(
    command: Sequence[str],
    text: str,
    *,
    environment: Mapping[str, str],
    timeout_s: float,
    max_bytes: int,
) -> Ran:
    """Give it *text* to read, in an empty folder; nothing that it started outlives it.

    Raises OSError when it cannot be started.
    """
    with tempfile.TemporaryDirectory(prefix="ademem-") as folder, tempfile.TemporaryFile() as given:
        given.write(text.encode("utf-8", "replace"))
        given.seek(0)
        process = subprocess.Popen(
            command,
            stdin=given,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=folder,
            env=dict(environment),
            start_new_session=True,  # a group of its own, to be ended as a whole
        )
        with process:
            try:
                output, complaints, stopped = _heard(process, timeout_s, max_bytes)
            finally:
                _end_group(process)
    return Ran(exit_code=process.returncode, output=output, complaints=complaints, stopped=stopped)


def _heard(
    process: subprocess.Popen[bytes], timeout_s: float, max_bytes: int
) -> tuple[bytes, bytes, str]:
    """What it says until it ends or has to be stopped, and why it had to.

    A child of its may hold the streams open after its end; nobody waits for that one.
    """
    assert process.stdout is not None
    assert process.stderr is not None
    output, complaints = bytearray(), bytearray()
    deadline = time.monotonic() + timeout_s
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ, output)
        selector.register(process.stderr, selectors.EVENT_READ, complaints)
        while True:
            ended = process.poll() is not None
            ready = selector.select(0 if ended else LOOK_S)
            for key, _ in ready:
                chunk = os.read(key.fd, CHUNK)
                key.data.extend(chunk)
                if not chunk:
                    selector.unregister(key.fileobj)
            del complaints[:-ERROR_BYTES]
            stopped = "length" if len(output) > max_bytes else ""
            if not ended and time.monotonic() > deadline:
                stopped = stopped or "timeout"
            if stopped or (ended and not ready):
                return bytes(output), bytes(complaints), stopped


def _end_group(process: subprocess.Popen[bytes]) -> None:
    """Also what it left behind: such a group keeps its number."""
    with suppress(ProcessLookupError, PermissionError):  # nobody is left, as macOS says it
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
