"""The server as a process: its lines, its errors and its end."""

import json
import os
import random
import select
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import anyio
import pytest
from mcp import Client, StdioServerParameters

from ademem.doors.mcp import process
from tests.doors.mcp.conftest import unpack
from tests.examples import examples

pytestmark = pytest.mark.slow

LESSON = "Releases are cut on Mondays, because the mirror syncs on Sunday"
COMMAND = ["-c", "from ademem.doors.cli import program; program()", "mcp"]
HELLO = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "test", "version": "1"},
}
TO_END_S = 10.0
"""Time for a second's work on a machine that is busy."""


@contextmanager
def started(world, *command, **options):
    """A server after its handshake."""
    environment = world.environment | {"PYTHONPATH": os.getcwd()}
    with subprocess.Popen(
        command or [sys.executable, *COMMAND],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=world.root,
        env=environment,
        **options,
    ) as running:
        try:
            yield running
        finally:
            running.kill()


def send(running, *lines):
    for line in lines:
        text = line if isinstance(line, bytes) else json.dumps(line).encode()
        running.stdin.write(text + b"\n")
    running.stdin.flush()


def read(running, wait_s=30.0):
    """The next line; None without one."""
    ready, _, _ = select.select([running.stdout], [], [], wait_s)
    return json.loads(running.stdout.readline()) if ready else None


def request(number, method, **params):
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def shake(running):
    send(running, request(0, "initialize", **HELLO))
    answer = read(running)
    send(running, {"jsonrpc": "2.0", "method": "notifications/initialized"})
    return answer


def call(number, name, **arguments):
    return request(number, "tools/call", name=name, arguments=arguments)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_the_client_of_the_sdk_talks_to_the_process(world, mode):
    async def scenario():
        parameters = StdioServerParameters(
            command=sys.executable,
            args=COMMAND,
            env=world.environment | {"PYTHONPATH": os.getcwd()},
            cwd=world.root,
        )
        async with Client(parameters, mode=mode) as client:
            status = unpack(await client.call_tool("memory_status", {}))
            return client.server_info.name, client.server_capabilities, status

    name, capabilities, status = anyio.run(scenario)
    assert (name, status.project, status.session) == ("ademem", "project", "s1")
    assert not capabilities.tools.list_changed


def test_what_is_no_request_is_refused_with_its_code_and_the_server_goes_on(world):
    with started(world) as server:
        send(server, request(1, "tools/list"))
        early = read(server)["error"]["code"]
        shaken = shake(server)["result"]["protocolVersion"]
        codes = []
        for line in (
            b"{no json",
            b'[{"jsonrpc":"2.0","id":7,"method":"ping"}]',
            b'{"id":7}',
            b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"%s"}}'
            % (b"y" * process.LINE_BYTES),
            json.dumps(request(2, "no/such")).encode(),
            json.dumps(call(3, "no_such_tool")).encode(),
        ):
            send(server, line)
            codes.append(read(server)["error"]["code"])
        send(server, request(4, "ping"))
        alive = read(server)

    assert (early, shaken) == (-32602, "2025-11-25")
    assert codes == [-32700, -32600, -32600, -32600, -32601, -32602]
    assert alive == {"jsonrpc": "2.0", "id": 4, "result": {}}


def test_nothing_but_messages_is_on_standard_output_and_errors_are_silent(world):
    with started(world) as server:
        shake(server)
        send(server, call(1, "memory_add", content=LESSON), call(2, "memory_search", query="x"))
        ids = {read(server)["id"], read(server)["id"]}
        server.stdin.close()
        rest, complaints = server.stdout.read(), server.stderr.read()

    assert (ids, rest, complaints) == ({1, 2}, b"", b"")
    assert world.row("select count(*) from unified_memories")[0] == 1


@pytest.mark.parametrize("how", ["end of input", signal.SIGINT, signal.SIGTERM])
def test_a_server_ends_with_its_input_and_by_a_signal(world, how):
    with started(world) as server:
        shake(server)
        if how == "end of input":
            server.stdin.close()
        else:
            server.send_signal(how)
        began = time.monotonic()
        code = server.wait(TO_END_S)

        assert code in (0, -how if how != "end of input" else 0)
        assert time.monotonic() - began < TO_END_S


def test_a_server_ends_after_its_parent_whoever_holds_the_pipe(world):
    shell = 'exec 3<&0; "$@" <&3 & echo $! >&2; wait $!'  # our end of the pipe stays open
    with started(world, "sh", "-c", shell, "sh", sys.executable, *COMMAND) as parent:
        pid = int(parent.stderr.readline())
        shake_through = shake(parent)
        parent.kill()
        parent.wait()
        until = time.monotonic() + process.PARENT_S + TO_END_S
        while time.monotonic() < until and is_running(pid):
            time.sleep(0.05)

        assert shake_through["result"]["serverInfo"]["name"] == "ademem"
        assert not is_running(pid)


def is_running(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_what_several_servers_acknowledge_is_there(world):
    world.configure("[doors]\nwrites_per_minute = 1000\n")

    def write(number):
        with started(world) as server:
            shake(server)
            lines = [
                call(n, "memory_add", content=f"Service {number}-{n} listens on port {n * 7}")
                for n in range(1, 9)
            ]
            send(server, *lines)
            answers = [read(server) for _ in lines]
            server.send_signal(signal.SIGTERM)
            server.wait(TO_END_S)
            return answers

    with ThreadPoolExecutor(2) as pool:
        answers = [answer for each in pool.map(write, range(2)) for answer in each]
    ids = {answer["result"]["structuredContent"]["id"] for answer in answers}

    assert not any(answer["result"]["isError"] for answer in answers)
    with world.memories() as memories:
        stored = {row[0] for row in memories.store.db.execute("select id from unified_memories")}
    assert ids <= stored


def test_mutated_messages_stop_nothing_and_no_request_is_answered_twice(world):
    rng = random.Random(5)
    line = json.dumps(call(1, "memory_search", query="login tokens")).encode()
    with started(world) as server:
        shake(server)
        for number in range(examples(300)):
            mutated = bytearray(line)
            for _ in range(rng.randint(1, 4)):
                mutated[rng.randrange(len(mutated))] = rng.randrange(32, 127)
            send(server, bytes(mutated).replace(b'"id": 1', b'"id": %d' % (number + 10)))
        send(server, request("last", "ping"))
        answers = []
        while not answers or answers[-1].get("id") != "last":
            answers.append(read(server))
        server.stdin.close()
        answers += map(json.loads, server.stdout.read().splitlines())

    ids = [answer["id"] for answer in answers if answer.get("id") is not None]
    assert len(ids) == len(set(map(str, ids)))
    assert answers
