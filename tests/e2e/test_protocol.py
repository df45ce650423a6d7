"""The MCP server before official clients, inspector and conformance suite; in full runs alone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from ademem.plugins.http.loopback import Server, bind
from ademem.plugins.mcp import streamable
from ademem.plugins.mcp.server import Session
from ademem.plugins.mcp.tools import CORE, choose
from tests.command_line import ademem

from .test_agents import AGENTS

pytestmark = pytest.mark.e2e
HERE = Path(__file__).parent
PACKAGES = AGENTS / "node_modules"
BIN = PACKAGES / ".bin"
NODE, PYTHON_1 = str(BIN / "node"), str(AGENTS / "sdk-1/bin/python")
SDK_1, SDK_2 = "@modelcontextprotocol/sdk/dist/esm/client", "@modelcontextprotocol/client/dist"
LESSON = "Releases are cut on Mondays, because the mirror syncs on Sunday"
OTHER = "Invoices are kept in euro, as the importer knows no other currency"
STEPS: list[tuple[str, dict[str, Any]]] = [
    ("memory_add", {"content": LESSON}),
    ("memory_add", {"content": OTHER, "category": "decision"}),
    ("memory_search", {"query": "mirror", "candidates": True}),
    ("memory_timeline", {"id": "ID0"}),
    ("memory_get", {"id": "ID0", "history": True}),
    ("memory_context", {"max_chars": 2000}),
    ("memory_status", {}),
    ("memory_update", {"id": "ID0", "find": "Mondays", "replace": "Tuesdays"}),
    ("memory_judge", {"relation": "related", "id": "ID0", "other": "ID1"}),
    ("memory_update_core", {"projectSummary": "A shop", "version": 0}),
    ("memory_reject", {"id": "ID1", "reason": "The importer was replaced"}),
    ("memory_restore", {"id": "ID1"}),
    ("memory_remove", {"id": "ID1"}),
    ("memory_pin", {"id": "ID0"}),
]
CLIENTS = {
    "Python 2, auto": [sys.executable, "sdk_client.py", "auto"],
    "Python 2, legacy": [sys.executable, "sdk_client.py", "legacy"],
    "Python 1": [PYTHON_1, "sdk_client.py"],
    "TypeScript 1": [
        NODE,
        "sdk_client.mjs",
        *(f"{PACKAGES}/{SDK_1}/{name}.js" for name in ("index", "stdio")),
    ],
    **{
        f"TypeScript 2, {mode}": [
            NODE,
            "sdk_client.mjs",
            *(f"{PACKAGES}/{SDK_2}/{name}.mjs" for name in ("index", "stdio")),
            mode,
        ]
        for mode in ("auto", "legacy")
    },
}


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """A project with a memory; no client's session is open."""
    folders = {"HOME": tmp_path / "home", "CLAUDE_PROJECT_DIR": tmp_path / "project"}
    for folder in folders.values():
        folder.mkdir()
    environment = {name: str(folder) for name, folder in folders.items()}
    environment |= {"PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}", "ADEMEM_JOBS_AUTO": "false"}
    ademem("init", environment=environment, folder=tmp_path / "project")
    return environment


def run(
    command: list[str], environment: dict[str, str], given: str = "", folder: str | Path = HERE
) -> str:
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment,
        input=given,
        capture_output=True,
        text=True,
        timeout=170,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


def server() -> list[str]:
    return [str(Path(sys.executable).parent / "ademem"), "mcp"]


@pytest.mark.parametrize("client", CLIENTS.values(), ids=CLIENTS)
def test_the_clients_of_the_official_sdks_use_all_there_is(
    client: list[str], environment: dict[str, str]
) -> None:
    given = json.dumps({"command": server(), "steps": STEPS})
    found = json.loads(run(client, environment, given))

    schemas = {tool["name"]: tool["outputSchema"] for tool in found["tools"]}
    assert list(schemas) == [tool.name for tool in CORE]
    assert {name for name, _ in STEPS} == schemas.keys()
    for (name, _), result in zip(STEPS, found["calls"], strict=True):
        (block,) = result["content"]
        shown = result["structuredContent"]
        compact = json.dumps(shown, ensure_ascii=False, separators=(",", ":"))
        assert block == {"type": "text", "text": compact}
        is_refused = name == "memory_pin"  # of a candidate
        assert result.get("isError", False) == is_refused, shown
        jsonschema.validate(shown, schemas[name])
    assert [row["id"] for row in found["calls"][2]["structuredContent"]["memories"]] == [
        found["ids"][0]
    ]
    assert found["calls"][-1]["structuredContent"]["rule"]
    assert [each["uri"] for each in found["resources"]] == [
        f"memory://{name}" for name in ("briefing", "core", "candidates")
    ]
    assert len(found["templates"]) == 3
    assert "A shop" in found["core"][0]["text"]
    assert len(found["prompts"]) == 4
    assert "mirror" in found["prompt"]["messages"][0]["content"]["text"]
    assert found["completion"]["values"] == [found["ids"][0]]


def test_the_inspector_lists_and_calls(environment: dict[str, str]) -> None:
    def inspect(method: str, *words: str) -> Any:
        command = [str(BIN / "mcp-inspector"), "--cli", *server(), "--method", method, *words]
        # The inspector hands its server few variables, so the project is the folder.
        return json.loads(run(command, environment, folder=environment["CLAUDE_PROJECT_DIR"]))

    tools = inspect("tools/list")["tools"]
    added = inspect("tools/call", "--tool-name", "memory_add", "--tool-arg", f"content={LESSON}")
    (read,) = inspect(
        "resources/read", "--uri", f"memory://item/{added['structuredContent']['id']}"
    )["contents"]

    assert [tool["name"] for tool in tools] == [tool.name for tool in CORE]
    assert LESSON in read["text"]


@contextmanager
def served(environment: dict[str, str]) -> Iterator[str]:
    """The server over HTTP without a token, which the suite cannot send."""
    root = environment["CLAUDE_PROJECT_DIR"]
    session = Session(choose("core", read_only=False), root, environment=environment, cwd=root)
    with bind(0) as listener:
        port = listener.getsockname()[1]
        pid = os.fork()
        if not pid:
            Server(streamable.make_app(session, port, ""), 600).run([listener])
            os._exit(0)
        try:
            yield f"http://127.0.0.1:{port}/mcp"
        finally:
            os.kill(pid, 9)
            os.waitpid(pid, 0)


def test_the_conformance_suite_fails_where_it_is_expected_to(
    environment: dict[str, str], tmp_path: Path
) -> None:
    with served(environment) as url:
        expected = ["--expected-failures", str(HERE / "conformance.yml"), "-o", str(tmp_path)]
        told = run([str(BIN / "conformance"), "server", "--url", url, *expected], environment)

    for name in ("server-initialize", "tools-list", "resources-list", "prompts-list"):
        assert f"✓ {name}: 1 passed, 0 failed" in told
    assert "✓ dns-rebinding-protection: 2 passed, 0 failed" in told
