"""Requests to the hub; the one way from a store to another machine's server."""

from __future__ import annotations

import http.client
import json
import socket
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any
from urllib.parse import SplitResult, urlsplit

from ademem.core.errors import AdememError, UsageError
from ademem.core.text import preview
from ademem.core.untrusted import visible
from ademem.plugins.hub.mutations import PROTOCOL, digest_body

TIMEOUT_S = 20
"""Longest wait for the next bytes of an answer."""
ANSWER_S = 120
"""Longest wait for the whole of it."""
MOST_BYTES = 16_000_000
MOST_RETRY_S = 86_400
FACT_CHARS = 500
"""Longest text of an answer that is shown or stored."""
_HERE = ("127.0.0.1", "localhost", "::1")


class HubError(AdememError):
    """The hub refused a request, or did not answer (status 0).

    Its words are shown in a terminal, so nothing in them moves the cursor there.
    """

    def __init__(
        self, status: int, rule: str, why: str, hint: str = "", retry_s: float = 0
    ) -> None:
        why, hint = (preview(visible(text), FACT_CHARS) for text in (why, hint))
        super().__init__(f"the hub: {why}", hint)
        self.status, self.rule, self.retry_s = status, rule, retry_s

    @property
    def needs_person(self) -> bool:
        return self.status in (400, 401, 403, 404, 426)


def check_url(url: str) -> str:
    """Return the address without a slash at its end; raises UsageError for an unsafe one."""
    parts = _split(url)
    if parts is None or parts.scheme not in ("http", "https") or parts.query:
        raise UsageError(f"{url!r} is not an address of a hub", "https://HOST:PORT")
    if parts.scheme == "http" and parts.hostname not in _HERE:
        way = "take the hub's address with https"
        raise UsageError(f"{url} would send memories without TLS", way)
    if parts.username or parts.password:
        raise UsageError("the address of a hub has no password", "https://HOST:PORT")
    return url.rstrip("/")


def _split(url: str) -> SplitResult | None:
    """Return the parts of an address; None for other texts."""
    try:
        parts = urlsplit(url)
        is_address = bool(parts.hostname) and parts.port != 0  # the port is read here
    except ValueError:
        return None
    return parts if is_address and url.isprintable() and " " not in url else None


def certificate_days(url: str) -> int:
    """Raise HubError without a valid certificate."""
    parts = urlsplit(check_url(url))
    address = parts.hostname or "", parts.port or 443
    try:
        with (
            socket.create_connection(address, TIMEOUT_S) as plain,
            ssl.create_default_context().wrap_socket(plain, server_hostname=address[0]) as found,
        ):
            end = ssl.cert_time_to_seconds(str((found.getpeercert() or {})["notAfter"]))
    except OSError as error:
        raise HubError(0, "certificate", f"{url} shows no valid certificate: {error}") from error
    return int((end - time.time()) // 86_400)


class Client:
    """Requests to one hub, those that may be repeated over one connection until `close`."""

    def __init__(self, url: str, token: str = "") -> None:
        self.url, self.token = url, token
        parts = urlsplit(url)
        is_tls = parts.scheme == "https"
        kind = http.client.HTTPSConnection if is_tls else http.client.HTTPConnection
        self._folder = parts.path
        self._connection = kind(parts.hostname or "", parts.port, timeout=TIMEOUT_S)

    def close(self) -> None:
        self._connection.close()

    def ask(self, method: str, path: str, body: bytes | None = None) -> dict[str, Any]:
        """Return the object that the hub answers; raises HubError.

        The server may have closed the connection since the last request: the next one is then sent
        again over a new one. What counts twice where it comes twice has a connection for itself.
        """
        is_repeatable = method == "GET" or path.partition("?")[0].endswith("/mutations")
        if not is_repeatable:
            self.close()
        try:
            response, data = self._exchange_again(method, path, body)
        except (OSError, http.client.HTTPException) as error:
            why = f"{self.url} does not answer: {error}"
            raise HubError(0, "unreachable", why, "`ademem sync` tries again") from error
        if not is_repeatable:
            self.close()
        if response.getheader("Content-Digest", "") not in ("", digest_body(data)):
            raise HubError(502, "digest", "its answer changed on the way", "look at the proxy")
        return _read_answer(response, data)

    def _exchange_again(
        self, method: str, path: str, body: bytes | None
    ) -> tuple[http.client.HTTPResponse, bytes]:
        """Send a request, and again over a new connection where an old one does not hold."""
        is_first = self._connection.sock is None
        try:
            return self._exchange(method, path, body)
        except (ConnectionError, ssl.SSLError):
            if is_first:
                raise
            return self._exchange(method, path, body)

    def _exchange(
        self, method: str, path: str, body: bytes | None
    ) -> tuple[http.client.HTTPResponse, bytes]:
        headers = {"Ademem-Protocol": str(PROTOCOL), "Content-Type": "application/json"}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        is_whole = False
        try:
            with self._ending():
                self._connection.request(method, self._folder + path, body, headers)
                response = self._connection.getresponse()
                data = response.read(MOST_BYTES)
            is_whole = len(data) < MOST_BYTES
        finally:
            if not is_whole:
                self.close()
        return response, data

    @contextmanager
    def _ending(self) -> Iterator[None]:
        """End the connection after ANSWER_S, as an answer of single bytes may go on for ever."""
        is_late = threading.Event()

        def end() -> None:
            is_late.set()
            with suppress(OSError, AttributeError):
                self._connection.sock.shutdown(socket.SHUT_RDWR)

        timer = threading.Timer(ANSWER_S, end)
        timer.daemon = True
        timer.start()
        try:
            yield
        except (OSError, http.client.HTTPException):
            if not is_late.is_set():
                raise
        finally:
            timer.cancel()
        if is_late.is_set():
            raise TimeoutError("its answer takes too long")


def _read_answer(response: http.client.HTTPResponse, data: bytes) -> dict[str, Any]:
    """Return the object of an answer with status 200; raises HubError with the facts of others."""
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        found = None
    if response.status == 200 and isinstance(found, dict):
        return found
    facts = found if isinstance(found, dict) else {}
    wait = response.getheader("Retry-After", "")[:9]
    status = 502 if response.status == 200 else response.status
    raise HubError(
        status,
        str(facts.get("error", "answer")),
        str(facts.get("why", f"answered {response.status}, which is not an answer of a hub")),
        str(facts.get("hint", "")),
        min(int(wait), MOST_RETRY_S) if wait.isdecimal() else 0,
    )
