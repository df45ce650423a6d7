"""The Messages API on loopback, with a model that says what a test wrote down.

It also stands as the client's proxy, so that whatever wants to leave the machine is refused and
remembered.
"""

from __future__ import annotations

import json
import sys
import threading
from collections import deque
from collections.abc import Iterable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

from . import stream
from .request import Request
from .script import Reply, Speaker, model

SUMMARY = "SUMMARY OF THE CONVERSATION SO FAR"
IDLE_WITHIN_S = 20.0


class ScriptedModel:
    """Answers each request with the next line of whoever asks; keeps what it was asked."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.unscripted: list[Request] = []
        """Requests that came when there was nothing left to say."""
        self.asides: list[Request] = []
        """What the client asked for its own purposes."""
        self.outside: list[str] = []
        """Places that somebody tried to reach."""
        self.main_thread_is_idle = threading.Event()
        self._lines: dict[Speaker, deque[Reply]] = {"model": deque(), "helper": deque()}
        self._lock = threading.Lock()
        self._server = _Server(("127.0.0.1", 0), _handler(self))
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._server.server_close()

    def learn(self, replies: Iterable[Reply]) -> None:
        """Take the lines of one conversation, in the order each speaker says them."""
        for lines in self._lines.values():
            lines.clear()
        for reply in replies:
            self._lines[reply.speaker].append(reply)

    @property
    def unspoken(self) -> list[Reply]:
        return [reply for lines in self._lines.values() for reply in lines]

    def answer(self, request: Request) -> Reply:
        aside = _aside(request)
        if aside is not None:
            self.asides.append(request)
            return model(aside)
        with self._lock:
            self.requests.append(request)
            reply = self.choose(request)
            if reply is None:
                self.unscripted.append(request)
        if reply is not None and reply.late:
            self.main_thread_is_idle.wait(IDLE_WITHIN_S)
        return reply or model("[nothing was scripted]")

    def choose(self, request: Request) -> Reply | None:
        """Return the next line of the speaker who is asked; None if there is none."""
        lines = self._lines["helper" if request.agent else "model"]
        return lines.popleft() if lines else None


def _aside(request: Request) -> str | None:
    """What the client asks for its own purposes: a title, a quota, a summary to go on from."""
    if "create a detailed summary" in request.last_prompt.lower():
        return f"<summary>{SUMMARY}</summary>"
    if request.body.get("tools"):
        return None
    return json.dumps({"title": "A scripted session"})


class _Server(ThreadingHTTPServer):
    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up is no news; a mistake of ours is."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


def _handler(script: ScriptedModel) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True  # a delayed acknowledgement costs 40 ms a request

        def do_CONNECT(self) -> None:
            script.outside.append(self.path)
            self._send(403, "application/json", b"{}")

        def do_GET(self) -> None:
            if self.path.startswith("http"):
                script.outside.append(self.path)
            self._send(404, "application/json", b"{}")

        do_HEAD = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = do_GET

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            if self.path.partition("?")[0] != "/v1/messages":
                return self.do_GET()
            self._answer(Request(json.loads(body), self.headers.get("x-claude-code-agent-id")))

        def _answer(self, request: Request) -> None:
            whole = stream.message(script.answer(request), request.body["model"])
            if request.body.get("stream"):
                self._send(200, "text/event-stream", stream.events(whole))
            else:
                self._send(200, "application/json", json.dumps(whole).encode())

        def _send(self, status: int, kind: str, body: bytes) -> None:
            self.send_response(status)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """The requests are kept; nothing needs saying on stderr."""

    return Handler
