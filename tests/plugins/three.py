"""Three doors that stay open: the command line, MCP and JSON-RPC."""

import io
import json
import os
import sys
from contextlib import ExitStack, chdir, redirect_stderr, redirect_stdout
from unittest.mock import patch

from anyio.from_thread import start_blocking_portal
from mcp import Client

from ademem.core import project
from ademem.doors import cli
from ademem.plugins.ade.server import Server
from ademem.plugins.mcp.server import Session, make_server
from ademem.plugins.mcp.tools import choose


class Doors(ExitStack):
    """Each door writes a text and finds texts, or returns the facts of its refusal."""

    names = ("cli", "mcp", "rpc")

    def __init__(self, root, environment, tools="core"):
        super().__init__()
        self.tools = tools
        self.root = root
        self.environment = environment | {"ADEMEM_DOORS_WRITES_PER_MINUTE": "100000"}

    def __enter__(self):
        found = project.at(str(self.root))
        session = Session(
            choose(self.tools, read_only=False), environment=self.environment, cwd=str(self.root)
        )
        self.callback(session.close)
        self.portal = self.enter_context(start_blocking_portal())
        opened = self.portal.wrap_async_context_manager(Client(make_server(session)))
        self.client = self.enter_context(opened)
        self.server = Server(found, self.environment)
        return self

    def write(self, door, text):
        """Return the id that acknowledges the text, and the facts of a refusal."""
        return getattr(self, f"_write_{door}")(text)

    def find(self, door, words):
        """Return what a search answers, as text."""
        return json.dumps(getattr(self, f"_find_{door}")(words), ensure_ascii=False)

    def _cli(self, *words):
        with (
            patch.dict(os.environ, self.environment, clear=True),
            patch.object(sys, "argv", ["ademem", *words]),
            chdir(self.root),
            redirect_stdout(io.StringIO()) as printed,
            redirect_stderr(printed),
        ):
            try:
                cli.main()
            except SystemExit as end:
                return end.code or 0, printed.getvalue()
        return 0, printed.getvalue()

    def _write_cli(self, text):
        code, printed = self._cli("add", text, "--json")
        assert "Traceback" not in printed
        if code == 0:
            return json.loads(printed)["memory"]["id"], {}
        return None, {"rule": {6: "store"}.get(code, code), "next": printed}

    def _find_cli(self, words):
        return self._cli("recall", words, "--all")

    def _mcp(self, name, **arguments):
        answer = self.portal.call(self.client.call_tool, name, arguments)
        return answer.structured_content

    def _write_mcp(self, text):
        answer = self._mcp("memory_add", content=text)
        return answer.get("id"), answer

    def _find_mcp(self, words):
        return self._mcp("memory_search", query=words, candidates=True)

    def _rpc(self, method, **params):
        asked = {"jsonrpc": "2.0", "id": 1, "method": f"ade.memory.{method}", "params": params}
        out = io.BytesIO()
        self.server.serve(io.BytesIO(json.dumps(asked).encode() + b"\n"), out)
        return json.loads(out.getvalue())

    def _write_rpc(self, text):
        answer = self._rpc("add", content=text, category="fact")
        if "error" in answer:
            return None, answer["error"]["data"]
        return answer["result"]["memory"]["id"], {}

    def _find_rpc(self, words):
        return self._rpc("search", query=words, status="all")
