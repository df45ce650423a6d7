"""The process of the page: where its address is shown, and how it ends."""

import json
import os
import subprocess
import sys
import time
from types import SimpleNamespace

import pytest

from ademem.core.errors import UsageError
from ademem.core.project import at
from ademem.doors.http.loopback import bind
from ademem.doors.web import server

RUN = "from ademem.doors.cli import program; program()"


@pytest.fixture
def start(world):
    """Start `ademem web` with its output in a pipe, and wait until it serves."""
    started = []

    def start(*options, **variables):
        environment = {
            name: value for name, value in world.environment.items() if name[:6] != "CLAUDE"
        }
        process = subprocess.Popen(
            [sys.executable, "-c", RUN, "web", "--no-open", *options],
            cwd=world.root,
            env=environment | {"PATH": os.environ["PATH"]} | variables,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        started.append(process)
        end = time.monotonic() + 30
        while not server.find_running(at(str(world.root))) and time.monotonic() < end:
            assert process.poll() is None, process.stdout.read()
            time.sleep(0.02)
        return process

    yield start
    for process in started:
        process.kill()
        process.wait()
        process.stdout.close()


def test_a_pipe_gets_no_code_and_stop_ends_it(start, world):
    process = start()
    project = at(str(world.root))
    found = server.find_running(project)
    written = (world.root / ".ade/run/web.json").read_text()

    assert found["pid"] == process.pid
    assert set(json.loads(written)) == {"pid", "port"}
    assert server.stop(project) == process.pid
    assert process.wait(20) == 0
    assert "code=" not in process.stdout.read()
    assert server.find_running(project) is None
    assert server.stop(project) is None


def test_it_ends_when_nothing_was_asked(start, world):
    process = start("--idle", "0.01")

    assert process.wait(20) == 0
    assert server.find_running(at(str(world.root))) is None


def test_in_the_shell_of_an_agent_it_decides_nothing(world, monkeypatch):
    served = []
    monkeypatch.setattr(server.signal, "signal", lambda *_: None)

    def end(sockets):
        for each in sockets:
            each.close()

    monkeypatch.setattr(server, "Server", lambda *_, **__: SimpleNamespace(run=end))
    monkeypatch.setattr(server, "make", served.append)
    environment = {"HOME": world.environment["HOME"], "PATH": "/usr/bin", "CLAUDECODE": "1"}
    said = []
    server.serve([str(world.root)], environment, echo=said.append)
    (site,) = served

    assert "CLAUDECODE" in site.read_only
    assert site.show_digits is None
    assert not any("code=" in line for line in said)


def test_a_taken_port_is_told():
    taken = bind(0)
    taken.listen()
    try:
        with pytest.raises(UsageError, match="cannot be used"):
            bind(taken.getsockname()[1])
    finally:
        taken.close()
