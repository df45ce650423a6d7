"""Serve HTTP on the loopback address, and refuse requests that another site caused."""

from __future__ import annotations

import ipaddress
import os
import secrets
import signal
import socket as sockets
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ademem.core import confined
from ademem.core.errors import AdememError, UsageError
from ademem.core.project import Project
from ademem.doors.calls import describe_refusal

ADDRESS = "127.0.0.1"
NAMES = (ADDRESS, "localhost")
REQUESTS = 64
"""Connections that are served at once; further ones are refused."""
TOKEN = os.path.join("run", "http.token")
"""File of the token below `.ade/`, for its owner alone."""
TOKEN_DIGITS = 64
HEADERS = {
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'; base-uri 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
STATUSES = {
    "argument": 400,
    "token": 401,
    "site": 403,
    "read_only": 403,
    "not_found": 404,
    "method": 405,
    "size": 413,
    "host": 421,
    "rate": 429,
    "internal": 500,
    "store": 503,
}
"""Status codes of refusals by their rule; of all others it is 409."""


class Refused(AdememError):
    def __init__(self, rule: str, why: str, hint: str, status: int = 0, wait_s: int = 0) -> None:
        super().__init__(why, hint)
        self.rule, self.status = rule, status or STATUSES.get(rule, 409)
        self.headers = {"www-authenticate": "Bearer"} if rule == "token" else {}
        if wait_s:
            self.headers["retry-after"] = str(wait_s)


def answer_facts(_: Scope, status: int, facts: dict[str, str]) -> Response:
    return JSONResponse({"error": facts["why"], **facts}, status)


class Loopback:
    """Middleware that lets in requests to this host from its own pages or from no page.

    A name of another site that resolves to this machine (DNS rebinding) has another Host. A *token*
    is asked for where there is one. What is not let in, and what fails, is answered by *on_error*.
    """

    def __init__(
        self,
        app: ASGIApp,
        port: int,
        largest_body: int,
        *,
        token: str = "",
        headers: dict[str, str] = HEADERS,
        on_error: Callable[[Scope, int, dict[str, str]], Response] = answer_facts,
    ) -> None:
        self.app, self.largest_body, self.token = app, largest_body, token.encode()
        self.headers, self.on_error = headers, on_error
        self.hosts = {f"{name}:{port}" for name in NAMES}
        self.last_request = time.monotonic()

    @property
    def idle_s(self) -> float:
        return time.monotonic() - self.last_request

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return
        self.last_request = time.monotonic()
        is_answered = False

        async def send_safe(message: Message) -> None:
            nonlocal is_answered
            if message["type"] == "http.response.start":
                is_answered = True
                answered = MutableHeaders(scope=message)
                for name, value in self.headers.items():
                    answered.setdefault(name, value)
            await send(message)

        scope.setdefault("app", self.app)  # without it routers answer in plain text by themselves
        try:
            self._check(Headers(scope=scope))
            body = await self._read(scope, receive)
            await self.app(scope, body, send_safe)
        except Exception as error:  # logged where it is not a refusal; the server goes on
            facts = describe_refusal(_refuse_unrouted(error) or error)
            if not is_answered:
                status = getattr(error, "status", 0) or STATUSES.get(facts["rule"], 409)
                answer = self.on_error(scope, status, facts)
                answer.headers.update(getattr(error, "headers", None) or {})
                await answer(scope, receive, send_safe)

    def _check(self, headers: Headers) -> None:
        hosts = [host.lower() for host in headers.getlist("host")]
        if len(hosts) != 1 or hosts[0] not in self.hosts:
            raise Refused("host", "this address is not the server's own", f"ask {ADDRESS}")
        check_site(headers, {f"http://{host}" for host in self.hosts})
        if self.token:
            scheme, _, given = headers.get("authorization", "").partition(" ")
            known = secrets.compare_digest(given.strip().encode(), self.token)
            if scheme.lower() != "bearer" or not known:
                raise Refused(
                    "token", "the token is missing or wrong", "send `Authorization: Bearer TOKEN`"
                )

    async def _read(self, scope: Scope, receive: Receive) -> Receive:
        data, more = b"", scope["method"] not in ("GET", "HEAD")
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise Refused("argument", "the body ends early", "send it again")
            data += message.get("body", b"")
            more = message.get("more_body", False)
            if len(data) > self.largest_body:
                most = f"the body has more than {self.largest_body} bytes"
                raise Refused("size", most, "send it in parts")
        body: list[Message] = [{"type": "http.request", "body": data, "more_body": False}]

        async def replay() -> Message:
            return body.pop() if body else await receive()

        return replay


def check_site(headers: Headers, own: set[str]) -> None:
    """Raise Refused for a request of a page that is of none of our *own* origins."""
    origins = {origin.lower() for origin in headers.getlist("origin")}
    sites = {site.strip().lower() for site in headers.getlist("sec-fetch-site")}
    if sites == {"same-origin"}:
        origins.discard("null")  # of our own forms, as our pages send no referrer
    if origins - own or sites & {"cross-site", "same-site"}:  # another port is the same site
        raise Refused("site", "a page of another site made this request", "type the address")


def _refuse_unrouted(error: Exception) -> Refused | None:
    if not isinstance(error, HTTPException):
        return None
    if error.status_code == STATUSES["method"]:
        return Refused("method", "this address takes no such request", "see the header `Allow`")
    return Refused("not_found", "there is no such address", "the documentation lists them")


def is_loopback(host: str) -> bool:
    try:
        return host in NAMES or ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def parse_port(text: str, default: int) -> int:
    """Return the port of `PORT` or `HOST:PORT`; raises UsageError for any host but `NAMES`."""
    host, _, port = text.rpartition(":")
    port = port or str(default)
    if not port.isdecimal() or int(port) > 65_535:
        raise UsageError(f"{text!r} is not a port", f"a number, as {default}")
    if host in ("", *NAMES):
        return int(port)
    if is_loopback(host):
        raise UsageError(
            f"memory is served at {ADDRESS} alone, not at {host}", "leave the host out"
        )
    name = "HOST" if host.strip("[]") in ("0.0.0.0", "::") else host
    raise UsageError(
        f"{host} can be reached from elsewhere, and memory is served to this machine alone",
        f"on the other machine: ssh -L {port}:{ADDRESS}:{port} {name}",
    )


def bind(port: int) -> sockets.socket:
    """Listen on a port of this machine alone, on a free one for 0; raises UsageError if taken."""
    listener = sockets.socket(sockets.AF_INET, sockets.SOCK_STREAM)
    listener.setsockopt(sockets.SOL_SOCKET, sockets.SO_REUSEADDR, 1)
    try:
        listener.bind((ADDRESS, port))
        listener.listen(REQUESTS)
    except (OSError, OverflowError) as error:
        listener.close()
        raise UsageError(f"port {port} cannot be used: {error}", "give another port") from error
    return listener


class Server(uvicorn.Server):
    """A silent server. It ends with code 0, also where *idle_s* (0: any time) had no request."""

    def __init__(self, app: Any, idle_s: float = 0, **options: Any) -> None:
        usual = {
            "log_config": None,
            "log_level": "error",  # requests that are not HTTP would fill the terminal
            "access_log": False,
            "server_header": False,
            "date_header": False,
            "proxy_headers": False,
            "http": "h11",
            "ws": "none",
            "limit_concurrency": REQUESTS,
            "timeout_graceful_shutdown": 1,  # of open streams, in seconds
        }
        super().__init__(uvicorn.Config(app, **(usual | options)))
        self.app, self.idle_limit_s = app, idle_s

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """End with code 0 by a signal, which uvicorn would raise again at its end."""
        numbers = (signal.SIGINT, signal.SIGTERM)
        before = {each: signal.signal(each, self.handle_exit) for each in numbers}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    async def on_tick(self, counter: int) -> bool:
        is_idle = bool(self.idle_limit_s) and self.idle_limit_s < self.app.idle_s
        return is_idle or await super().on_tick(counter)


def read_token(project: Project) -> str:
    """Return the token in `.ade/run/`; a new one where none is there, or others can read it."""
    path, root = os.path.join(project.home, TOKEN), project.home_root
    there = confined.status(root, path)
    if there and stat.S_IMODE(there.st_mode) == 0o600 and there.st_uid == os.geteuid():
        token = (confined.read_text(root, path) or "").strip()
        if len(token) == TOKEN_DIGITS:
            return token
    confined.remove(root, path)
    token = secrets.token_hex(TOKEN_DIGITS // 2)
    confined.write_text(root, path, f"{token}\n", mode=0o600)
    return token
