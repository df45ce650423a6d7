"""A scripted model for other coding agents, by the protocols of OpenAI and Gemini, on loopback."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Step = str | dict[str, Any] | tuple[str, dict[str, Any]]
"""A text, the arguments of a call of the client's shell, or a tool of a server and its arguments.

ID among these is the first id of a memory that the model read.
"""
SHELLS = ("exec_command", "run_shell_command", "bash")
Events = list[tuple[str, Any]]


class OtherModel(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.steps: list[Step] = []
        self.requests: list[str] = []
        """Bodies of the requests that offered a shell, in which stands what the model read."""

    def next(self, body: str) -> tuple[Step, str]:
        """Return the step, and the name of the client's shell; requests without one get a text."""
        shell = next((name for name in SHELLS if f'"{name}"' in body), "")
        if not shell:
            return "ok", ""
        self.requests.append(body)
        step = self.steps.pop(0) if self.steps else "done"
        if not isinstance(step, tuple):
            return step, shell
        name, given = step
        tool = next(iter(re.findall(rf'"(\w*{name})"', body)), name)
        if id := re.search(r"id\W{2,9}([0-9a-f]{12})\b", body):
            given = {key: id[1] if value == "ID" else value for key, value in given.items()}
        return given, tool


class Handler(BaseHTTPRequestHandler):
    server: OtherModel

    def log_message(self, *arguments: object) -> None:
        pass

    def do_GET(self) -> None:
        self._json({"data": [], "models": []})

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"] or 0)).decode()
        step, shell = self.server.next(body)
        if self.path.partition("?")[0].endswith("/responses"):
            self._events(_responses(step, shell))
        elif "chat/completions" in self.path:
            self._events(_completions(step, shell))
        elif "streamGenerateContent" in self.path:
            self._events([("", _gemini(step, shell))])
        else:
            self._json(_gemini(step, shell))

    def _json(self, value: Any) -> None:
        self._send("application/json", json.dumps(value))

    def _events(self, events: Events) -> None:
        text = ""
        for name, data in events:
            text += f"event: {name}\n" if name else ""  # which Gemini CLI does not read
            text += f"data: {_data(data)}\n\n"
        self._send("text/event-stream", text)

    def _send(self, kind: str, text: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(text.encode())))
        self.end_headers()
        self.wfile.write(text.encode())


def _data(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _responses(step: Step, shell: str) -> Events:
    if isinstance(step, str):
        part = {"type": "output_text", "text": step, "annotations": []}
        item = {"type": "message", "id": "m", "role": "assistant", "content": [part]}
    else:
        given = {"cmd": step["command"]} if "command" in step else step
        arguments = json.dumps(given)
        item = {"type": "function_call", "id": "f", "name": shell, "arguments": arguments}
        if shell not in SHELLS:
            item["namespace"] = "mcp__ademem"
        item["call_id"] = f"call_{id(step)}"
    usage = {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}
    response = {"id": "r", "output": [item], "usage": usage}
    events = (
        ("response.created", {"response": {"id": "r"}}),
        ("response.output_item.done", {"output_index": 0, "item": item}),
        ("response.completed", {"response": response}),
    )
    return [(name, {"type": name} | data) for name, data in events]


def _completions(step: Step, shell: str) -> Events:
    base = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    delta: dict[str, Any] = {"role": "assistant"}
    if isinstance(step, str):
        delta["content"] = step
    else:
        called = {"name": shell, "arguments": json.dumps(step)}
        delta["tool_calls"] = [
            {"index": 0, "id": f"call_{id(step)}", "type": "function", "function": called}
        ]
    reason = "stop" if isinstance(step, str) else "tool_calls"
    return [
        ("", base | {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]}),
        ("", base | {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}),
        ("", "[DONE]"),
    ]


def _gemini(step: Step, shell: str) -> dict[str, Any]:
    part = (
        {"text": step} if isinstance(step, str) else {"functionCall": {"name": shell, "args": step}}
    )
    content = {"role": "model", "parts": [part]}
    return {
        "candidates": [{"content": content, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {"totalTokenCount": 15},
        "totalTokens": 10,
    }


@contextmanager
def other_model() -> Iterator[OtherModel]:
    model = OtherModel()
    thread = threading.Thread(target=model.serve_forever, daemon=True)
    thread.start()
    try:
        yield model
    finally:
        model.shutdown()
        model.server_close()
