"""Start other programs: bounded in time, in a terminal, or detached from this process."""

from __future__ import annotations

import os

from ademem.core.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class Finished(Value):
    """A program that ended."""

    code: int
    """Its exit status; negative: the signal that ended it."""
    output: bytes
    errors: bytes

    @property
    def text(self) -> str:
        return self.output.decode("utf-8", "replace")

    @property
    def last_error(self) -> str:
        """The last line of its standard error; empty when it wrote none."""
        return "".join(self.errors.decode("utf-8", "replace").strip().splitlines()[-1:])


def run(
    command: Sequence[str],
    *,
    timeout_s: float | None,
    stdin: bytes = b"",
    environment: Mapping[str, str] | None = None,
    folder: str | None = None,
) -> Finished:
    """Run *command* to its end; raises OSError when it cannot start, TimeoutError (one) when late.

    *environment* replaces the environment of this process.
    """
    import subprocess  # costs a hook more than its own work

    try:
        ran = subprocess.run(
            command,
            input=stdin,
            capture_output=True,
            timeout=timeout_s,
            env=None if environment is None else dict(environment),
            cwd=folder,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise TimeoutError(f"{command[0]} took longer than {timeout_s:g} s") from error
    return Finished(code=ran.returncode, output=ran.stdout, errors=ran.stderr)


def run_in_terminal(command: Sequence[str]) -> int:
    """Run *command* with this process's terminal and return its exit status; raises OSError."""
    import subprocess

    return subprocess.run(command, check=False).returncode


def detach(command: Sequence[str], environment: Mapping[str, str]) -> None:
    """Start *command* at low priority in a session of its own, with no file of ours open."""
    if os.fork():
        return
    try:
        os.setsid()
        null = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(null, stream)
        os.nice(10)
        os.execve(command[0], list(command), environment)
    finally:
        os._exit(127)
