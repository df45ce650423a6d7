"""A project with somebody to ask: a program called `claude`, or an API on this machine."""

import json
import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from ademem import operations
from ademem.core.settings import AISettings, Settings
from ademem.core.value import replace
from ademem.synthesis import ai
from tests.builders import NOW

SCHEMA = {
    "type": "object",
    "properties": {
        "task": {"type": "string", "minLength": 1, "maxLength": 40},
        "steps": {"type": "array", "items": {"type": "string"}, "maxItems": 3},
    },
    "required": ["task"],
}


class Asker:
    """One enrolled project that asks; its calls are what `ademem cost` counts."""

    def __init__(self, root):
        self.root = root
        self.bin = root / "bin"
        self.bin.mkdir()
        operations.init(str(root))
        self.memories = operations.open_memories(str(root), environment={}, now=lambda: NOW)
        self.runtime = self.memories
        self.runtime.environment = {
            "PATH": f"{self.bin}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(root / "home"),
            "CLAUDE_CODE_SESSION_ID": "s1",
            "CLAUDECODE": "1",
        }

    def settings(self, **changes):
        self.runtime.settings = replace(
            Settings(), ai=replace(AISettings(), **({"timeout_s": 60.0} | changes))
        )

    def claude(self, body, **changes):
        """A program of this body, in Python, is the client from now on."""
        program = self.bin / "claude"
        program.write_text(f"#!{sys.executable} -I\n{body}\n", encoding="utf-8")
        program.chmod(0o755)
        self.settings(provider="claude", **changes)

    def __call__(self, prompt="What happened?", purpose="episode", schema=SCHEMA):
        return ai.ask(self.runtime, purpose, prompt, schema)

    def calls(self):
        rows = self.runtime.store.db.execute("select * from ai_calls order by id")
        return [dict(row) for row in rows]

    def outcomes(self):
        return [(call["outcome"], call["error"]) for call in self.calls()]


@pytest.fixture
def ask(tmp_path):
    asker = Asker(tmp_path)
    yield asker
    asker.memories.close()


class Api:
    """Answers as it is told to, and keeps what it was asked."""

    def __init__(self):
        self.answers = []
        """What it says next: a status and a body, or a function that writes to the socket."""
        self.asked = []
        """Path, headers and body of each request."""
        self.done = threading.Event()
        """Set when the test is over: who is kept waiting need not wait longer."""
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/v1"

    def _handler(self):
        api = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["content-length"]))
                api.asked.append((self.path, dict(self.headers), json.loads(body)))
                answer = api.answers.pop(0)
                if callable(answer):
                    answer(self)
                    return
                status, body = answer
                raw = body if isinstance(body, bytes) else json.dumps(body).encode()
                self.send_response(status)
                self.send_header("content-length", str(len(raw)))
                self.end_headers()
                self.wfile.write(raw)

            def do_GET(self):
                api.asked.append((self.path, dict(self.headers), None))
                self.send_error(404)

            def log_message(self, *_):
                """Nothing needs saying on stderr."""

        return Handler


@pytest.fixture
def served(ask):
    """An API that the project asks."""
    api = Api()
    thread = threading.Thread(target=api.server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    ask.settings(provider="openai", model="small", url=api.url)
    yield api
    api.done.set()
    api.server.shutdown()
    api.server.server_close()


def said(content, **changes):
    """A whole answer of such an API."""
    return 200, {
        "model": "small-1",
        "choices": [{"message": {"role": "assistant", "content": content}} | changes],
        "usage": {"prompt_tokens": 12, "completion_tokens": 5},
    }
