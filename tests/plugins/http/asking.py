"""Ask an application over HTTP without a server."""

import asyncio
import json


class Answer:
    def __init__(self, messages):
        start, *parts = messages
        self.status = start["status"]
        self.headers = {name.decode(): value.decode() for name, value in start["headers"]}
        self.body = b"".join(part.get("body", b"") for part in parts)

    @property
    def text(self):
        return self.body.decode()

    def json(self):
        return json.loads(self.body)


def ask(app, path="/", method="GET", headers=(), body=(), host="127.0.0.1:8000"):
    """Send one request, whose *body* may have several parts; return the answer."""
    target, _, query = path.partition("?")
    pairs = list(headers.items() if isinstance(headers, dict) else headers)
    if host and not any(name == "host" for name, _ in pairs):
        pairs.append(("host", host))
    scope = {
        "type": "http",
        "method": method,
        "path": target,
        "raw_path": target.encode(),
        "query_string": query.encode(),
        "headers": [(name.encode(), value.encode("latin-1")) for name, value in pairs],
        "server": ("127.0.0.1", 8000),
        "scheme": "http",
        "root_path": "",
    }
    parts = [body] if isinstance(body, bytes) else list(body)
    parts = parts or [b""]
    waiting = [
        {"type": "http.request", "body": part, "more_body": number < len(parts)}
        for number, part in enumerate(parts, 1)
    ]
    sent = []

    async def receive():
        return waiting.pop(0) if waiting else {"type": "http.disconnect"}

    async def send(message):
        sent.append(message)

    asyncio.run(app(scope, receive, send))
    return Answer(sent)
