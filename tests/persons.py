"""People, agents and others before a command or a hook: as values, and as real processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from ademem.core import who
from ademem.core.actor import CALLED_BY_MODEL, NOT_ASKED, Who

PERSON = Who(by=who.By.PERSON, why="a test says so")
AGENT = Who(by=who.By.AGENT, why="a test says so")
UNKNOWN = Who(by=who.By.UNKNOWN, why="a test says so")
UNPROVEN = Who(by=who.By.UNKNOWN, why="a test says so", is_proven=False)


def acting(environment: Mapping[str, str]) -> Who:
    """The agent whose client's variables are set; else a person."""
    return CALLED_BY_MODEL if any(map(environment.get, who.CLIENT_VARIABLES)) else PERSON


class By:
    """`Runtime.by` where no door asked: what the environment of the memories says."""

    def __get__(self, runtime, _owner=None):
        given = runtime.__dict__.get("by", NOT_ASKED)
        return acting(runtime.environment) if given is NOT_ASKED else given

    def __set__(self, runtime, value):
        runtime.__dict__["by"] = value


def set_who(monkeypatch, by: Who) -> None:
    """Let the commands of this process be those of *by*."""
    monkeypatch.setattr(who, "of_process", lambda: by)


LINE = """
import fcntl, json, os, pty, socket, subprocess, sys, termios

given = json.loads(sys.argv[1])
if os.fork():
    os._exit(0)  # what follows is an orphan, with nothing of the test above it
os.setsid()
if given["terminal"]:
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
    given["environment"]["PTY"] = os.ttyname(slave)  # which tmux wants by its own name
for name in given["line"][:-1]:
    open("/proc/self/comm", "w").write(name)
    if child := os.fork():
        os.waitpid(child, 0)
        os._exit(0)
open("/proc/self/comm", "w").write(given["line"][-1])
text = sys.stdin.buffer.read()
stdin = subprocess.PIPE
if given["socket"]:
    ours, stdin = socket.socketpair()
ran = subprocess.Popen(given["command"], stdin=stdin, env=given["environment"], cwd=given["folder"])
if given["socket"]:
    stdin.close()
    try:
        ours.sendall(text)
        ours.shutdown(socket.SHUT_WR)
    except OSError:
        pass  # it ended without reading
    ran.wait()
else:
    ran.communicate(text)
open(given["status"], "w").write(str(ran.returncode))
"""


def run_below(
    *line: str,
    command: Sequence[str],
    environment: Mapping[str, str],
    folder: Path | str,
    text: bytes = b"",
    terminal: bool = True,
    socket: bool = False,
    started_with: Mapping[str, str] | None = None,
    within_s: float = 120,
) -> subprocess.CompletedProcess[bytes]:
    """Run the command below processes with the names of *line*, the first at the top.

    With *socket* the last of them makes a socket for its standard input, as a client does.
    """
    with TemporaryDirectory() as place:
        status = os.path.join(place, "status")
        given = {
            "line": line,
            "command": list(command),
            "environment": dict(environment),
            "folder": str(folder),
            "terminal": terminal,
            "socket": socket,
            "status": status,
        }
        ran = subprocess.run(
            [sys.executable, "-IS", "-c", LINE, json.dumps(given)],
            input=text,
            capture_output=True,
            env=dict(started_with or {}),
            check=False,
            timeout=within_s,
        )
        code = int(Path(status).read_text()) if os.path.exists(status) else -1
        return subprocess.CompletedProcess(list(command), code, ran.stdout, ran.stderr)


def type_command(command, environment, folder, **options):
    """Run a command as a person types it in a terminal."""
    return run_below(
        "sshd", "bash", command=command, environment=environment, folder=folder, **options
    )


def type_prompt(command, payload, environment, folder, **options):
    """Start a hook as a client does in which a person typed the prompt."""
    environment = {"CLAUDE_CODE_ENTRYPOINT": "cli", **environment}
    return run_below(
        *("sshd", "bash", "claude"),
        command=command,
        environment=environment,
        folder=folder,
        text=payload,
        socket=True,
        **options,
    )
