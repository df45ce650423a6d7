"""The process of the page: where its address is shown, and how it ends."""

import json
import os
import pty
import re
import signal
import socket
import subprocess
import sys
import time
from types import SimpleNamespace

import httpx2
import pytest

from ademem.core.errors import UsageError
from ademem.core.project import at
from ademem.plugins.http.loopback import bind
from ademem.plugins.page import server
from tests import persons

RUN = "from ademem.doors.cli import program; program()"
AS_PERSON = (
    "from ademem.core import who; who.of_process = lambda: who.Who(by=who.By.PERSON, why='');"
)


@pytest.fixture
def start(world):
    """Start `ademem web` in a terminal, by default one of its own, and wait until it serves."""
    started, opened = [], []

    def start(*options, output=None, by="", **variables):
        environment = {
            name: value for name, value in world.environment.items() if name[:6] != "CLAUDE"
        }
        if output is None:
            opened.extend(pty.openpty())
        process = subprocess.Popen(
            [sys.executable, "-c", by + RUN, "web", "--no-open", *options],
            cwd=world.root,
            env=environment | {"PATH": os.environ["PATH"]} | variables,
            stdin=subprocess.DEVNULL,
            stdout=output or opened[-1],
            stderr=output or opened[-1],
        )
        process.terminal = opened[-2] if output is None else None
        started.append(process)
        end = time.monotonic() + 30
        while not server.find_running(at(str(world.root))) and time.monotonic() < end:
            assert process.poll() is None
            time.sleep(0.02)
        return process

    yield start
    for process in started:
        process.kill()
        process.wait()
    for each in opened:
        os.close(each)


def test_stop_ends_it(start, world):
    process = start()
    project = at(str(world.root))
    found = server.find_running(project)
    written = (world.root / ".ade/run/web.json").read_text()

    assert found["pid"] == process.pid
    assert set(json.loads(written)) == {"pid", "port"}
    assert server.stop(project) == process.pid
    assert process.wait(20) == 0
    assert server.find_running(project) is None
    assert server.stop(project) is None


def test_without_a_terminal_it_does_not_start_and_names_the_next_step(world):
    command = [sys.executable, "-c", AS_PERSON + RUN, "web"]
    environment = {k: v for k, v in world.environment.items() if "DISPLAY" not in k}
    ended = subprocess.run(
        command, cwd=world.root, env=environment, capture_output=True, text=True, timeout=60
    )

    assert ended.returncode == 4
    assert ended.stderr == (
        "ademem: the page's address has a code, which only a terminal shows, and this is none"
        " (run `ademem web` in a terminal of yours)\n"
    )
    assert server.find_running(at(str(world.root))) is None


def test_the_address_of_the_terminal_lets_a_person_in_who_acts(start, world):
    world.know("Money is stored in cents")
    (memory,) = world.live()
    terminal, its_own = pty.openpty()
    start(output=its_own, by=AS_PERSON)
    os.close(its_own)
    shown = ""
    while not (found := re.search(r"(http://127\.0\.0\.1:\d+)(/enter\?code=[\w-]+)\s", shown)):
        shown += os.read(terminal, 4096).decode()
    with httpx2.Client(base_url=found[1]) as client:
        page = client.get(found[2], follow_redirects=True).text
        token = re.search(r'name="csrf" value="([^"]+)"', page)[1]
        answers = [
            client.post(f"/memory/{memory.id}/{verb}", data={"csrf": token})
            for verb in ("pin", "unpin", "archive")
        ]
    os.close(terminal)

    assert [answer.status_code for answer in answers] == [303] * 3
    assert world.live() == []


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
    monkeypatch.setattr(server.sys, "stderr", SimpleNamespace(isatty=lambda: True))
    environment = {"HOME": world.environment["HOME"], "PATH": "/usr/bin"}
    said = []
    server.serve([str(world.root)], environment, echo=said.append, by=persons.AGENT)
    (site,) = served

    assert "a coding agent" in site.read_only
    assert site.show_digits is None


@pytest.mark.parametrize(
    ("host", "way"), [("0.0.0.0", "HOST"), ("192.168.1.7", "192.168.1.7"), ("::", "HOST")]
)
def test_an_address_that_others_reach_is_refused_with_the_line_that_forwards(world, host, way):
    command = [sys.executable, "-c", RUN, "web", "--no-open", "--host", host, "--port", "8200"]
    ended = subprocess.run(
        command, cwd=world.root, env=world.environment, capture_output=True, text=True, check=False
    )

    assert ended.returncode == 2
    assert f"ssh -L 8200:127.0.0.1:8200 {way}" in ended.stderr
    assert server.find_running(at(str(world.root))) is None


def test_a_taken_port_is_reported():
    taken = bind(0)
    taken.listen()
    try:
        with pytest.raises(UsageError, match="cannot be used"):
            bind(taken.getsockname()[1])
    finally:
        taken.close()


def test_after_wrong_codes_the_terminal_shows_no_address_that_cannot_open(start, world):
    terminal, its_own = pty.openpty()
    process = start(output=its_own)
    os.close(its_own)
    found = server.find_running(at(str(world.root)))
    for _ in range(5):
        httpx2.get(f"http://127.0.0.1:{found['port']}/enter?code=guess")
    os.kill(process.pid, signal.SIGUSR1)
    shown = ""
    while "start it again" not in shown:
        shown += os.read(terminal, 4096).decode()
    os.close(terminal)

    assert shown.count("/enter?code=") == 1


def test_what_is_no_http_writes_nothing_to_the_terminal(start, world):
    process = start()
    found = server.find_running(at(str(world.root)))
    with socket.create_connection(("127.0.0.1", found["port"])) as other:
        other.sendall(b"\x16\x03\x01 hello\r\n\r\n")
        assert b"400" in other.recv(100)
    process.terminate()

    assert process.wait(20) == 0
    assert b"Invalid" not in os.read(process.terminal, 65_536)
