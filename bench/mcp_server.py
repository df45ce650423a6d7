"""What `ademem mcp` costs, next to `python -I -c "import json, sqlite3"` and to an empty server.

    python bench/mcp_server.py [--runs N] [--size N]

Every round runs the yardstick, the empty server of the SDK and ours in turn, so that a slow moment
of the machine hits all of them. Figures are ratios of medians.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from typing import Any, NamedTuple

from ademem import operations
from hooks import QUIET, fill, sentence, timed

YARDSTICK = [sys.executable, "-I", "-c", "import json, sqlite3"]
OURS = [sys.executable, "-I", "-c", "from ademem.doors.cli import program; program()", "mcp"]
EMPTY = """
import anyio, mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
async def tools(_, __):
    return types.ListToolsResult(tools=[types.Tool(name="t", input_schema={"type": "object"})])
async def call(_, __):
    return types.CallToolResult(content=[types.TextContent(type="text", text="{}")])
async def main():
    server = Server("empty", on_list_tools=tools, on_call_tool=call)
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())
anyio.run(main)
"""
HELLO = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "bench", "version": "1"},
}


class Goal(NamedTuple):
    name: str
    ratio: float
    most: float


class Server:
    def __init__(self, command: list[str], root: str) -> None:
        given = {"ADEMEM_DOORS_WRITES_PER_MINUTE": "100000", "CLAUDE_PROJECT_DIR": root}
        environment = os.environ | QUIET | given
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        self.began = time.perf_counter()
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=root, env=environment
        )
        self.number = 0

    def ask(self, method: str, params: dict[str, Any]) -> float:
        assert self.process.stdin
        assert self.process.stdout
        self.number += 1
        request = {"jsonrpc": "2.0", "id": self.number, "method": method, "params": params}
        started = time.perf_counter()
        self.process.stdin.write(json.dumps(request).encode() + b"\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        assert not answer["result"].get("isError"), answer
        return time.perf_counter() - started

    def start(self) -> float:
        """Seconds from the start to the list of tools."""
        assert self.process.stdin
        self.ask("initialize", HELLO)
        self.process.stdin.write(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
        self.ask("tools/list", {})
        return time.perf_counter() - self.began

    def call(self, name: str, **arguments: Any) -> float:
        return self.ask("tools/call", {"name": name, "arguments": arguments})

    def resident_mib(self) -> float:
        with open(f"/proc/{self.process.pid}/status") as status:
            (line,) = (line for line in status if line.startswith("VmRSS"))
        return int(line.split()[1]) / 1024

    def end(self) -> None:
        self.process.kill()
        self.process.communicate()


def measure(root: str, runs: int) -> list[Goal]:
    rng = random.Random(7)
    seconds: dict[str, list[float]] = {
        name: [] for name in ("yardstick", "empty", "ours", "first", "later", "add")
    }
    for _ in range(runs):
        seconds["yardstick"].append(timed(YARDSTICK, "", root))
        for name, command in (("empty", [sys.executable, "-I", "-c", EMPTY]), ("ours", OURS)):
            server = Server(command, root)
            seconds[name].append(server.start())
            if name == "ours":
                seconds["first"].append(server.call("memory_search", query=sentence(rng)))
                for _ in range(10):
                    seconds["later"].append(server.call("memory_search", query=sentence(rng)))
                    seconds["add"].append(server.call("memory_add", content=sentence(rng)))
            server.end()
    resident = []
    for command, calls in (([sys.executable, "-I", "-c", EMPTY], 0), (OURS, 1000)):
        server = Server(command, root)
        server.start()
        for _ in range(calls):
            server.call("memory_search", query=sentence(rng))
        resident.append(server.resident_mib())
        server.end()
    middle = {name: statistics.median(each) for name, each in seconds.items()}
    yardstick = middle["yardstick"]
    print(f"yardstick {yardstick * 1000:.0f} ms, empty server {middle['empty'] * 1000:.0f} ms")
    print(f"resident: empty {resident[0]:.0f} MiB, ours after 1,000 calls {resident[1]:.0f} MiB")
    return [
        Goal("start to tools/list, to the empty server", middle["ours"] / middle["empty"], 1.15),
        Goal("first memory_search", middle["first"] / yardstick, 3),
        Goal("later memory_search", middle["later"] / yardstick, 0.4),
        Goal("memory_add", middle["add"] / yardstick, 1),
        Goal("MiB above the empty server", resident[1] - resident[0], 16),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--size", type=int, default=20_000)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as root:
        subprocess.run(["git", "init", "-q", root], check=True)
        operations.init(root)
        with operations.open_memories(root, environment=QUIET) as memories:
            fill(memories, given.size, random.Random(given.size))
        for goal in measure(root, given.runs):
            verdict = "ok" if goal.ratio <= goal.most else "MISSED"
            print(f"{goal.name:<42} {goal.ratio:6.2f}  (at most {goal.most:g})  {verdict}")


if __name__ == "__main__":
    main()
