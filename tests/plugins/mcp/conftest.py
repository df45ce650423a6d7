"""The official SDK's client in front of our server, in this process or in one of its own."""

import json
from types import SimpleNamespace

import anyio
import pytest
from mcp import Client

from ademem.plugins.mcp.server import Session, make_server
from ademem.plugins.mcp.tools import choose


@pytest.fixture
def serve(world):
    """Run a scenario with a client of a server in the world's project."""
    del world.environment["CLAUDE_CODE_SESSION_ID"]

    def run(scenario, *, tools="core", read_only=False, root=None, cwd=None, named=True, **options):
        environment = {
            name: value
            for name, value in world.environment.items()
            if named or name != "CLAUDE_PROJECT_DIR"
        }
        session = Session(
            choose(tools, read_only=read_only),
            root,
            environment=environment,
            cwd=str(cwd or world.root),
        )

        async def hold():
            async with Client(make_server(session), **options) as client:
                return await scenario(client)

        try:
            return anyio.run(hold)
        finally:
            session.close()

    return run


@pytest.fixture
def call(serve):
    """Call one tool: its result as values, after a look at its text."""

    def once(name, arguments, *, meta=None, **options):
        async def scenario(client):
            return await client.call_tool(name, arguments, meta=meta)

        return unpack(serve(scenario, **options))

    return once


def unpack(result):
    (block,) = result.content
    compact = json.dumps(result.structured_content, ensure_ascii=False, separators=(",", ":"))

    assert block.text == compact
    assert len(compact) <= 10_000
    return SimpleNamespace(is_error=result.is_error, **result.structured_content)
