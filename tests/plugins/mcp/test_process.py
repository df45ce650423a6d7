"""The server as a process: its lines, its errors and its end."""

import json
import os
import random
import select
import signal
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from hashlib import sha256
from threading import Thread

import anyio
import pytest
from mcp import Client, StdioServerParameters

from ademem.doors import calls
from ademem.plugins.mcp import process
from tests.examples import FULL, examples
from tests.plugins.mcp.conftest import unpack

pytestmark = pytest.mark.slow

LESSON = "Releases are cut on Mondays, because the mirror syncs on Sunday"
COMMAND = ["-c", "from ademem.doors.cli import program; program()", "mcp"]
WAITING = """
import os, time
from ademem.operations import reports
status = reports.get_status
def wait(memories):
    while not os.path.exists(os.path.join(memories.project.root, "go")):
        time.sleep(0.01)
    return status(memories)
reports.get_status = wait
from ademem.doors.cli import program; program()
"""
"""A server whose memory_status waits for a file."""
HELLO = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "test", "version": "1"},
}
TOLD = {"_meta": {"progressToken": "t1"}}
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
        bufsize=0,  # else a line may wait in a buffer that no `select` sees
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


def test_a_cancelled_request_gets_no_answer_and_a_late_cancellation_changes_nothing(world):
    def cancel(number):
        return {
            "jsonrpc": "2.0",
            "method": "notifications/cancelled",
            "params": {"requestId": number},
        }

    with started(world, sys.executable, "-c", WAITING, "mcp") as server:
        shake(server)
        send(server, call(1, "memory_status"), cancel(1), call(2, "memory_search", query="x"))
        first = read(server)
        (world.root / "go").touch()
        send(server, cancel(2), call(3, "memory_status"))
        second = read(server)
        server.stdin.close()
        rest = server.stdout.read()

    assert [first["id"], second["id"], rest] == [2, 3, b""]
    assert not second["result"].get("isError")


def test_a_long_call_tells_that_it_is_under_way(world):
    with started(world, sys.executable, "-c", WAITING, "mcp") as server:
        shake(server)
        send(server, call(1, "memory_status") | {"params": {"name": "memory_status"} | TOLD})
        under_way = read(server)
        (world.root / "go").touch()
        answers = [read(server)]
        while "id" not in answers[-1]:
            answers.append(read(server))

    assert under_way["method"] == "notifications/progress"
    assert under_way["params"]["progressToken"] == "t1"
    assert answers[-1]["id"] == 1


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
        until = time.monotonic() + calls.PARENT_S + TO_END_S
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


def numbered(writer, number):
    """A lesson that no other one is near to."""
    words = [sha256(f"{writer} {number} {at}".encode()).hexdigest()[:8] for at in range(5)]
    return f"The service {' '.join(words)} listens on port {number}"


def serve_writes(world, writer, count):
    """Write through a server that is ended by a signal; return how many were acknowledged."""
    with started(world) as server:
        send(server, request(0, "initialize", **HELLO))
        send(server, {"jsonrpc": "2.0", "method": "notifications/initialized"})
        for number in range(count):
            send(server, call(number + 1, "memory_add", content=numbered(writer, number)))
        answers = [json.loads(server.stdout.readline()) for _ in range(count + 1)]
        server.send_signal(signal.SIGTERM)
        server.wait(TO_END_S)
    results = [answer["result"]["structuredContent"] for answer in answers if answer["id"]]
    return sum(result.get("accepted", False) for result in results)


def hook_writes(world, writer, count):
    """Write by hooks, each a process; return how many ended well."""
    ended = 0
    for number in range(count):
        command = f'bd comment BD-1 "LEARNED: {numbered(writer, number)}"'
        payload = {
            "session_id": f"s-{writer}",
            "cwd": str(world.root),
            "hook_event_name": "PostToolUse",
            "tool_name": "Bash",
            "tool_input": {"command": command},
            "tool_response": {"stdout": "", "stderr": "", "interrupted": False},
            "tool_use_id": f"{writer}-{number}",
        }
        done = subprocess.run(
            [sys.executable, "hooks/post_tool_use.py"],
            input=json.dumps(payload).encode(),
            capture_output=True,
            env=world.environment | {"PYTHONPATH": os.getcwd()},
        )
        ended += (done.returncode, done.stderr) == (0, b"")
    return ended


def test_what_servers_and_hooks_acknowledge_at_once_is_there(world):
    world.configure("[doors]\nwrites_per_minute = 100000\n")
    writers = [(serve_writes, f"server {each}") for each in range(4 if FULL else 2)]
    writers += [(hook_writes, f"hook {each}") for each in range(8 if FULL else 2)]
    count = examples(200, share=50)

    with ThreadPoolExecutor(len(writers)) as pool:
        done = [pool.submit(write, world, name, count) for write, name in writers]
    acknowledged = sum(each.result() for each in done)

    assert acknowledged == count * len(writers)
    assert world.failures() == []
    assert world.row("select sum(observation_count) from unified_memories")[0] == acknowledged


def save(server, number, writer):
    """Save by Engram's tool; return True where it is acknowledged."""
    words = numbered(writer, number)
    send(server, call(number + 1, "mem_save", title=words.split()[2], content=words))
    answer = read(server)
    return bool(answer) and not answer["result"].get("isError")


def test_sixteen_servers_save_at_once_and_lose_nothing(world):
    """Row E34 of safe storage."""

    world.configure("[doors]\nwrites_per_minute = 100000\n")
    servers, count = (16, 200) if FULL else (4, 10)

    def serve(writer):
        with started(world, sys.executable, *COMMAND, "--tools", "engram") as server:
            shake(server)
            return sum(save(server, number, f"saver {writer}") for number in range(count))

    with ThreadPoolExecutor(servers) as pool:
        saved = sum(pool.map(serve, range(servers)))

    assert saved == servers * count
    assert world.row("select sum(observation_count) from unified_memories")[0] == saved


def test_what_a_killed_server_acknowledged_is_there(world):
    """Row E34 of safe storage."""

    world.configure("[doors]\nwrites_per_minute = 100000\n")
    rng, kept = random.Random(11), 0
    for writer in range(examples(30, share=10)):
        with started(world, sys.executable, *COMMAND, "--tools", "engram") as server:
            shake(server)
            kept += sum(save(server, number, f"killed {writer}") for number in range(3))
            words = numbered(f"killed {writer}", 9)
            send(server, call(9, "mem_save", title="last", content=words))
            time.sleep(rng.random() / 50)
            server.kill()
            server.wait()

        assert world.row("select count(*) from unified_memories")[0] >= kept
        assert world.row("pragma integrity_check")[0] == "ok"


def test_mutated_messages_stop_nothing_and_no_request_is_answered_twice(world):
    rng = random.Random(5)
    line = json.dumps(call(1, "memory_search", query="login tokens")).encode()
    answers = []
    asked = Counter(["last"])
    with started(world) as server:
        shake(server)
        listener = Thread(target=lambda: answers.extend(map(json.loads, server.stdout)))
        listener.start()
        for number in range(examples(10_000, share=100)):
            mutated = bytearray(line)
            for _ in range(rng.randint(1, 4)):
                mutated[rng.randrange(len(mutated))] = rng.randrange(32, 127)
            sent = bytes(mutated).replace(b'"id": 1', b'"id": %d' % (number + 10))
            with suppress(ValueError, AttributeError):
                asked[str(json.loads(sent).get("id"))] += 1
            send(server, sent)
        send(server, request("last", "ping"))
        while not any(answer.get("id") == "last" for answer in list(answers)):
            assert server.poll() is None
            time.sleep(0.05)
        server.stdin.close()
        listener.join()

    answered = Counter(str(answer["id"]) for answer in answers if answer.get("id") is not None)
    assert answered.total() > 1
    assert answered - asked == Counter()
