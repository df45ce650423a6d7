"""The server over HTTP: the client of the SDK, and requests that are not let in."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from urllib.parse import urlsplit

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from tests.plugins.mcp.conftest import unpack

pytestmark = pytest.mark.slow

PROGRAM = "from ademem.doors.cli import program; program()"
LESSONS = {
    "auto": "Releases are cut on Mondays, because the mirror syncs on Sunday",
    "legacy": "Invoices are kept in euro, as the importer knows no other currency",
}
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
JSON = {"content-type": "application/json", "accept": "application/json, text/event-stream"}


@contextmanager
def started(world, *command):
    """A server over HTTP of the world's project: its process and its address."""
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *command],
        stderr=subprocess.PIPE,
        cwd=world.root,
        env=world.environment | {"PYTHONPATH": os.getcwd()},
        text=True,
    ) as running:
        try:
            yield running, running.stderr.readline().split()[1]
        finally:
            running.kill()


def post(address, body, **headers):
    """The status of a request as `curl` sends it."""
    parts = urlsplit(address)
    with closing(HTTPConnection(parts.hostname, parts.port, timeout=20)) as connection:
        connection.request("POST", parts.path, body, {**JSON, **headers})
        return connection.getresponse().status


async def use(address, token, mode):
    lesson = LESSONS[mode]
    async with (
        httpx2.AsyncClient(headers={"authorization": f"Bearer {token}"}) as http,
        Client(streamable_http_client(address, http_client=http), mode=mode) as client,
    ):
        added = unpack(await client.call_tool("memory_add", {"content": lesson}))
        found = unpack(
            await client.call_tool(
                "memory_search", {"query": lesson, "candidates": True, "limit": 1}
            )
        )
        tools = await client.list_tools()
        briefing = await client.read_resource("memory://briefing")
        return added.id, [each["id"] for each in found.memories], len(tools.tools), briefing


def test_clients_over_http_are_served_and_others_are_not(world):
    with started(world, "mcp", "--http", "0") as (server, address):
        token = (world.root / ".ade/run/http.token").read_text().strip()
        used = {mode: anyio.run(use, address, token, mode) for mode in LESSONS}
        hello, bearer = json.dumps(LIST), {"authorization": f"Bearer {token}"}
        codes = [
            post(address, hello, **bearer),
            post(address, hello),
            post(address, hello, authorization="Bearer guess"),
            post(address, hello, host="memory.example", **bearer),
            post(address, hello, origin="http://memory.example", **bearer),
            post(address, hello, **bearer | {"sec-fetch-site": "cross-site"}),
            post(address, "{no json", **bearer),
            post(address, "x" * (5 << 20), **bearer),
            post(address.replace("/mcp", "/"), hello, **bearer),
        ]
        server.send_signal(signal.SIGTERM)
        began = time.monotonic()
        code = server.wait(10)

    for id, found, tools, briefing in used.values():
        assert (found, tools) == ([id], 13)
        assert briefing.contents
    assert codes == [200, 401, 401, 421, 403, 403, 400, 413, 404]
    assert (code, time.monotonic() - began < 10) == (0, True)
    rows = world.rows(
        "select source_type, source_run_id, trust from unified_memories order by rowid"
    )
    assert {row[0] for row in rows} == {"mcp"}
    assert [row[1].partition("/")[0] for row in rows] == ["mcp", "python-httpx2"]
    assert {row[2] for row in rows} == {"agent"}
    (session, ended) = world.row("select id, ended_at from sessions where id like 'mcp-%'")
    assert session
    assert ended
