"""Start other programs: bounded in time, in a terminal, or detached from this process."""

from __future__ import annotations

import os
import select
import time

from ademem.core.clock import Deadline, TooLate
from ademem.core.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

_PART_BYTES = 65_536
_PAUSE_S = 0.0005
_NEVER = float("inf")
_SIGKILL, _SIGPIPE = 9, 13
"""The same on every Unix; importing `signal` takes a hook as long as reading the answer of git."""


class Finished(Value):
    code: int
    output: bytes
    errors: bytes

    @property
    def text(self) -> str:
        return self.output.decode("utf-8", "replace")

    @property
    def last_error(self) -> str:
        return "".join(self.errors.decode("utf-8", "replace").strip().splitlines()[-1:])


def _write_part(handle: int, text: memoryview) -> memoryview:
    """Write what the pipe takes and return the rest; what no process reads counts as written."""
    try:
        return text[os.write(handle, text[: select.PIPE_BUF]) :]
    except BrokenPipeError:
        return text[:0]


def run(
    command: Sequence[str],
    *,
    timeout_s: float | None,
    stdin: bytes = b"",
    environment: Mapping[str, str] | None = None,
) -> Finished:
    """Run *command* to its end; raises OSError, and TimeoutError (which is one) when late.

    *environment* replaces the environment of this process. `subprocess` would do the same, but a
    hook spends more on importing it than on all its other work.
    """
    clock = Deadline(time.monotonic, _NEVER if timeout_s is None else timeout_s)
    child, given, printed, failed = _start(
        command, os.environ if environment is None else environment
    )
    try:
        output, errors = _communicate(given, stdin, (printed, failed), clock)
        status = _wait(child, clock)
    except BaseException as error:
        os.kill(child, _SIGKILL)
        os.waitpid(child, 0)
        if isinstance(error, TooLate):
            raise TimeoutError(f"{command[0]} took longer than {timeout_s:g} s") from None
        raise
    return Finished(code=os.waitstatus_to_exitcode(status), output=output, errors=errors)


def _start(command: Sequence[str], environment: Mapping[str, str]) -> tuple[int, int, int, int]:
    """Start a child; returns its id, and our ends of its input, output and errors."""
    (read, given), (printed, write), (failed, write_errors) = os.pipe(), os.pipe(), os.pipe()
    theirs = (read, write, write_errors)
    try:
        child = os.posix_spawnp(
            command[0],
            list(command),
            environment,
            file_actions=[
                (os.POSIX_SPAWN_DUP2, handle, stream) for stream, handle in enumerate(theirs)
            ],
            setsigdef=[_SIGPIPE],  # which Python ignores
        )
    except BaseException:
        _close((given, printed, failed))
        raise
    finally:
        _close(theirs)
    return child, given, printed, failed


def _close(handles: Iterable[int]) -> None:
    for handle in handles:
        os.close(handle)


def _communicate(
    given: int, stdin: bytes, outputs: tuple[int, int], clock: Deadline
) -> tuple[bytes, bytes]:
    """Write the input of a child and read its outputs to their ends; closes the pipes."""
    unwritten = memoryview(stdin)
    parts: dict[int, list[bytes]] = {handle: [] for handle in outputs}
    pipes = {given, *outputs}
    waiting = select.poll()
    for handle in pipes:
        waiting.register(handle, select.POLLIN if handle in parts else select.POLLOUT)
    try:
        while pipes:
            clock.check()
            for handle, _ in waiting.poll(_left_ms(clock)):
                if handle in parts:
                    parts[handle].append(os.read(handle, _PART_BYTES))
                    is_over = not parts[handle][-1]
                else:
                    unwritten = _write_part(handle, unwritten)
                    is_over = not unwritten
                if is_over:
                    waiting.unregister(handle)
                    os.close(handle)
                    pipes.remove(handle)
    finally:
        _close(pipes)
    printed, failed = (b"".join(parts[handle]) for handle in outputs)
    return printed, failed


def _left_ms(clock: Deadline) -> float | None:
    return None if clock.left_s == _NEVER else max(clock.left_s, 0) * 1000


def _wait(child: int, clock: Deadline) -> int:
    """Return the status of a child; one that closed its outputs mostly has ended, too."""
    while True:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return status
        clock.check()
        time.sleep(_PAUSE_S)


def run_in_terminal(command: Sequence[str]) -> int:
    import subprocess

    return subprocess.run(command, check=False).returncode


FILES = 1 << 16


def detach(command: Sequence[str], environment: Mapping[str, str]) -> None:
    """Start *command* at low priority in a new session, which holds no lock or pipe of ours.

    Nor does it stay in the current folder, whose programs and modules are the project's.
    """
    if os.fork():
        return
    try:
        os.setsid()
        os.chdir("/")
        null = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(null, stream)
        os.closerange(3, FILES)
        os.nice(10)
        os.execve(command[0], list(command), environment)
    finally:
        os._exit(127)
