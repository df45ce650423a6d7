"""Memory by MCP in the real client: its search lifts the guard, what it saves can be confirmed."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest

from tests.examples import FULL

from .product import Product, watched
from .script import Call, delegate, helper, model, person, write
from .world import World, opened

pytestmark = [pytest.mark.e2e, pytest.mark.contract(full_only=True)]

RULE = "Never edit src/auth.py by hand; `make auth` writes it"
LESSON = "Login tokens expire in UTC, because the gateway has no time zone"
AGENTS = "Session ids are random, because counters leaked how many users there are"
NOTED = "Rates are read once a day, because the bank limits calls"
OWN, SHARED, HTTP = "of the person", "of the project", "over HTTP"
PROGRAM = str(Path(sys.executable).parent / "ademem")


@pytest.fixture
def armed(claude: Path, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Product]:
    """The product with its server: in the person's file or the project's, or over HTTP."""
    with opened(claude, tmp_path) as world, watched(world) as product, ExitStack() as ending:
        product.enrol()
        product.install()
        if request.param == HTTP:
            servers = {"mcpServers": {"ademem": serve_http(world, ending)}}
            world.options += ("--mcp-config", json.dumps(servers))
        else:
            product("install", "--mcp", "claude", *["--shared"] * (request.param == SHARED))
        if request.param == SHARED:  # the person has said yes to it
            world.options += ("--settings", '{"enableAllProjectMcpServers": true}')
        product.know(RULE)
        yield product


def serve_http(world: World, ending: ExitStack) -> dict[str, Any]:
    """Start the server over HTTP; return the entry of a client."""
    server = ending.enter_context(
        subprocess.Popen(
            [PROGRAM, "mcp", "--http", "0"],
            stderr=subprocess.PIPE,
            cwd=world.project,
            env=world.environment,
            text=True,
        )
    )
    ending.callback(server.terminate)
    assert server.stderr
    url = server.stderr.readline().split()[1]
    token = (world.project / ".ade/run/http.token").read_text().strip()
    return {"type": "http", "url": url, "headers": {"Authorization": f"Bearer {token}"}}


def rows(world: World) -> dict[str, tuple[str, str | None, str]]:
    """Session, subagent and source of each memory, by its text."""
    with closing(sqlite3.connect(world.project / ".ade/ade.db")) as db:
        found = db.execute(
            "select content, source_session_id, agent_id, source_type from unified_memories"
        ).fetchall()
    return {content: (session, agent, kind) for content, session, agent, kind in found}


@pytest.mark.parametrize(
    ("armed", "mode"),
    [
        (OWN, "strict"),
        *([(OWN, "consult")] if FULL else []),
        *([(SHARED, "strict"), (HTTP, "strict")] if FULL else []),
    ],
    indirect=["armed"],
)
def test_a_search_by_mcp_precedes_a_write_and_what_is_saved_briefs_once_confirmed(
    armed: Product, mode: str
) -> None:
    world = armed.world
    server = "mcp__ademem__"
    world.configure(f'[guard]\nmode = "{mode}"\n')
    file = world.project / "src/auth.py"
    file.parent.mkdir()
    session = world.chat(
        person("Fix the login bug"),  # names no file, so that no rule is said with it
        model(write(file, "early\n")),
        model(Call(f"{server}memory_search", {"query": "login auth"})),
        model(write(file)),
        model(Call(f"{server}memory_add", {"content": LESSON, "category": "gotcha"})),
        model(delegate("Look at the session ids.")),
        helper(Call(f"{server}memory_add", {"content": AGENTS})),
        helper("Done."),
        model("Fixed."),
        person("/clear"),
        person("Note what we know of rates"),
        model(Call(f"{server}memory_add", {"content": NOTED})),
        model("Noted."),
    )
    denied, found, written, saved, *_ = (request.results for request in session.requests[1:])

    assert [denied[0].is_error, found[0].is_error, written[0].is_error] == [True, False, False]
    assert json.loads(found[0].text)["memories"][0]["text"] == RULE
    assert json.loads(saved[0].text)["accepted"]
    assert file.read_text() == "written\n"
    by_mcp = rows(world)
    assert by_mcp[LESSON] == (session.id, None, "mcp")
    assert by_mcp[AGENTS][0] == session.id
    assert by_mcp[AGENTS][1]
    assert by_mcp[NOTED] == (session.events[-1].data["session_id"], None, "mcp")
    assert by_mcp[NOTED][0] != session.id, "after /clear"

    before = world.chat(person("Hello"), model("Hello."))
    armed("promote", armed.memories("candidate")[LESSON]["id"])
    after = world.chat(person("Hello"), model("Hello."))
    assert not [text for text in (LESSON, AGENTS, NOTED) if text in before.requests[0].text]
    assert [text for text in (LESSON, AGENTS, NOTED) if text in after.requests[0].text] == [LESSON]
