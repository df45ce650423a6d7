"""The server of the hub: requests of clients, answered from PostgreSQL for the person of a token.

It knows rights, limits and numbers; its clients decide what two versions of a memory come to.
"""

from __future__ import annotations

import asyncio
import json
import math
import os
import sys
import time
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing, suppress
from pathlib import Path
from traceback import extract_tb
from typing import Any
from weakref import WeakValueDictionary

import psycopg
from anyio import move_on_after
from psycopg.rows import dict_row
from psycopg_pool import AsyncConnectionPool, PoolTimeout
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import Message, Receive, Scope, Send

from ademem import __version__
from ademem.core import clock, registers
from ademem.core.errors import UsageError
from ademem.core.value import Value
from ademem.plugins.http import loopback
from ademem.plugins.http.loopback import Refused
from ademem.plugins.hub import mutations
from ademem.plugins.hub.page import HubPage, Visit
from ademem.plugins.hub.store import administration, copies, database, requests
from ademem.plugins.hub.store.requests import Caller, Connection

PORT = 7440
CONNECTIONS = 8
DRAIN_S = 10
BODY_S = 60
"""Time in which a body arrives, so that no client keeps a place by sending single bytes."""
MOST_REQUESTS = 1_536
"""Requests that are answered or wait at once; those above are answered 503."""
PROJECT_REQUESTS = 256
LONGEST_WAIT_S = 10
"""Time after which a push that waits holds off further ones; clients wait twice as long."""
RETRY_S = 2
"""Seconds after which to ask again, in each answer 503."""
FULL_RETRY_S = 3600
"""Those where a person has to delete something first."""
DAY_S = 86_400
OPTIONS = "-c lock_timeout=10s -c statement_timeout=30s"
LEAST_FREE_BYTES = 1 << 28
"""Free bytes on the disk of the database below which the server is not ready."""
OPEN = ("/health", "/ready", "/metrics")
"""Paths without a token; they name no project and no person."""
NOT_THEIRS = mutations.Refusal(
    rule="role", why="a writer changes what is theirs, and a reviewer anything"
)


class Limits(Value):
    requests_per_minute: int = 600
    """Of one token."""
    project_requests_per_minute: int = 6_000
    hub_requests_per_minute: int = 60_000
    bytes_per_day: int = 200_000_000
    """That one device sends to one project."""
    project_bytes_per_day: int = 2_000_000_000
    hub_bytes_per_day: int = 20_000_000_000
    rows: int = 1_000_000
    """Live memories and relations of a project."""


class Rate:
    """Use by each key in the current minute or day, in this process."""

    def __init__(self, unit: str, window_s: int) -> None:
        self.unit, self.window_s = unit, window_s
        self.window, self.used = 0, Counter[str]()

    def check(self, key: str, most: int, amount: int = 1) -> None:
        """Count what a key uses; raises Refused beyond *most*."""
        window = int(time.time() // self.window_s)
        if window != self.window:
            self.window = window
            self.used.clear()
        self.used[key] += amount
        if self.used[key] > most:
            wait = _seconds_to_next(self.window_s)
            many = f"more than {most:,} {self.unit}"
            raise Refused("rate", many, f"try again in {wait} s", wait_s=wait)


def _seconds_to_next(window_s: int) -> int:
    return math.ceil(window_s - time.time() % window_s)


class Share:
    """The bounds of one project, whose many clients leave room for those of the others."""

    def __init__(self) -> None:
        self.connections = asyncio.Semaphore(CONNECTIONS // 2)
        self._turn = asyncio.Lock()
        self._since: list[float] = []
        """When each push arrived that is written or waits, the first one first."""

    @asynccontextmanager
    async def take_turn(self) -> AsyncIterator[None]:
        """Wait until no other push is written; raises Refused where clients would not wait."""
        now = time.monotonic()
        if self._since and now - self._since[0] > LONGEST_WAIT_S:
            raise Refused("busy", "pushes to the project wait for long", "try again", 503)
        self._since.append(now)
        try:
            async with self._turn:
                yield
        finally:
            self._since.remove(now)


class Hub:
    def __init__(
        self, dsn: str, limits: Limits, *, proxied: bool = False, folder: Path | None = None
    ) -> None:
        self.limits, self.proxied, self.folder = limits, proxied, folder
        self.rate = Rate("requests a minute", 60)
        self.bytes = Rate("bytes a day", DAY_S)
        self.figures = Counter[str]()
        self.is_ending = False
        self.under_way = Counter[str]()
        self.shares: WeakValueDictionary[str, Share] = WeakValueDictionary()
        self.log: Callable[[str], object] = lambda line: print(line, file=sys.stderr, flush=True)
        self.pool: AsyncConnectionPool[Connection] = AsyncConnectionPool(
            dsn,
            min_size=1,
            max_size=CONNECTIONS,
            open=False,
            timeout=10,
            kwargs={"row_factory": dict_row, "options": OPTIONS},
            check=AsyncConnectionPool.check_connection,
        )
        self.page = HubPage(self._read_page, scheme_of=self._check_tls)
        self.verdicts: dict[str, Counter[tuple[str, str]]] = defaultdict(Counter)
        """Of this process, by project, verdict and rule."""
        paths = (
            ("/health", self.health, "GET"),
            ("/ready", self.ready, "GET"),
            ("/metrics", self.metrics, "GET"),
            ("/v1/join", self.join, "POST"),
            ("/v1/projects/{project:uuid}", self.show, "GET"),
            ("/v1/projects/{project:uuid}/token", self.rotate, "POST"),
            ("/v1/projects/{project:uuid}/page", self.open_page, "POST"),
            ("/v1/projects/{project:uuid}/mutations", self.pull, "GET"),
            ("/v1/projects/{project:uuid}/mutations", self.push, "POST"),
        )
        routes = [Route(path, call, methods=[method]) for path, call, method in paths]
        self.app = Starlette(
            routes=[*routes, *self.page.routes],
            lifespan=self.lifespan,
            exception_handlers=dict.fromkeys(
                (Refused, psycopg.Error, PoolTimeout, Exception), _answer_failure
            ),
        )

    @asynccontextmanager
    async def lifespan(self, _app: Starlette) -> AsyncIterator[None]:
        async with self.pool:
            yield

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, count it and log it without any text."""
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        started, status = time.perf_counter(), 500
        failure: dict[str, str] = {}
        project = scope["path"].removeprefix("/v1/projects/").partition("/")[0]
        self.under_way[project] += 1
        is_free = self.under_way[project] <= PROJECT_REQUESTS
        is_free = is_free and self.under_way.total() <= MOST_REQUESTS
        app = self.app if is_free or scope["path"] in OPEN else _refuse_busy

        async def note(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                headers.setdefault("cache-control", "no-store")
                if status == 503:
                    headers.setdefault("retry-after", str(RETRY_S))
            await send(message)

        try:
            await app(scope, receive, note)
        except Exception as error:  # whose text may be that of a memory; the server goes on
            frame = extract_tb(error.__traceback__)[-1]
            where = f"{os.path.basename(frame.filename)}:{frame.lineno}"
            failure = {"error": type(error).__name__, "where": where}
        finally:
            self.under_way[project] -= 1
            self.under_way = +self.under_way  # without those of no request
            route = getattr(scope.get("route"), "path", "-")
            seconds = time.perf_counter() - started
            method = scope["method"]
            if method not in ("GET", "HEAD", "POST"):  # a stranger may send any other word
                method = "other"
            name = f'method="{method}",route="{route}"'
            self.figures[f'hub_requests_total{{{name},status="{status}"}}'] += 1
            self.figures[f"hub_request_seconds_sum{{{name}}}"] += seconds  # type: ignore[assignment]
            line = {"method": method, "route": route, "status": status}
            self.log(json.dumps(line | failure | {"ms": round(seconds * 1000, 1)}))

    @asynccontextmanager
    async def _entered(
        self, request: Request, least: str, token: bytes = b"", *, is_counted: bool = False
    ) -> AsyncIterator[tuple[Any, Caller]]:
        """Begin a transaction of a caller with at least this role; a request *is_counted* once."""
        token = token or self._check(request)
        project = str(request.path_params["project"])
        share = self._share(project)
        async with share.connections, self.pool.connection() as db:
            caller = await requests.enter(db, token, project)
            self._check_caller(caller, least)
            if not is_counted:
                self.rate.check(f"project {project}", self.limits.project_requests_per_minute)
            yield db, caller

    def _share(self, project: str) -> Share:
        return self.shares.setdefault(project, Share())

    def _check(self, request: Request) -> bytes:
        """Return the digest of the token; raises Refused."""
        self._check_tls(request)
        if request.headers.get("content-encoding", "identity") != "identity":
            raise Refused("encoding", "a compressed body is not read", "send it as it is", 415)
        protocol = request.headers.get("ademem-protocol", "")
        if not protocol.isdecimal() or int(protocol[:9]) < mutations.PROTOCOL - 1:
            hint = f"install ademem {__version__} or newer"
            raise Refused("protocol", "the client is too old for this hub", hint, 426)
        self.rate.check("hub", self.limits.hub_requests_per_minute)
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        if request.url.path != "/v1/join" and scheme.lower() != "bearer":
            raise Refused("token", "no token was sent", "`ademem hub join URL CODE`")
        found = administration.digest(token.strip())
        self.rate.check(found.hex(), self.limits.requests_per_minute)
        return found

    def _check_caller(self, caller: Caller, least: str) -> None:
        if caller.state != "valid":
            hint = "`ademem hub leave`, then `ademem hub join URL CODE` with a new invitation"
            raise Refused("token", f"the token is {caller.state}", hint)
        self._check_role(caller, least)

    def _check_role(self, caller: Caller, least: str) -> None:
        ranks = requests.ROLES
        if caller.role is None or ranks.index(caller.role) < ranks.index(least):
            raise Refused("role", f"this needs the role {least}", "ask an owner", 403)

    async def _project(self, db: Connection, request: Request) -> requests.Project:
        found = await requests.read_project(db, str(request.path_params["project"]))
        if found is None:
            raise Refused("not_found", "there is no such project", "ask an owner")
        if found.node == copies.ARRIVING:
            raise Refused("arriving", "the project is on its way here", "try again", 503)
        if found.node:
            raise Refused("moved", "the project is at another hub", found.node, 421)
        epoch = request.query_params.get("epoch")
        if epoch not in (None, found.epoch):
            raise Refused("epoch", "the hub was restored to an earlier state", found.epoch, 409)
        return found

    async def show(self, request: Request) -> Response:
        async with self._entered(request, "reader") as (db, caller):
            found = await self._project(db, request)
        facts = {name: getattr(found, name) for name in ("slug", "head", "floor", "epoch")}
        role = "reader" if found.is_closed else caller.role
        own = {"role": role, "protocol": mutations.PROTOCOL, "expires_at": caller.expires_at}
        return JSONResponse(facts | own)

    async def pull(self, request: Request) -> Response:
        after, project = _parse_position(request), str(request.path_params["project"])
        live = request.query_params.get("live") == "1"
        async with self._entered(request, "reader") as (db, caller):
            found = await self._project(db, request)
            known = None if live else request.query_params.get("mark")
            if after > found.head or await _is_other_mark(db, project, after, known):
                why = "its database was put back to an earlier state"
                raise Refused("epoch", why, found.epoch, 409)
            if after < found.floor and not live:
                raise Refused("snapshot", "what came next was compacted", "take the snapshot", 410)
            if not live:
                assert caller.device is not None
                await requests.note_cursor(db, project, caller.device, after)
            size = {"rows": mutations.PAGE, "size": mutations.PAGE_BYTES}
            rows, last, more = await requests.pull(db, project, after, **size, live=live)
            mark = await requests.mark(db, project, found.head if live else last)
        facts = {"head": found.head, "epoch": found.epoch, "more": more, "mark": mark}
        listed = ",".join(rows).encode()
        body = mutations.to_bytes(facts).removesuffix(b"}") + b',"mutations":[' + listed + b"]}"
        headers = {"content-digest": mutations.digest_body(body)}
        return Response(body, media_type="application/json", headers=headers)

    async def push(self, request: Request) -> Response:
        """Write a batch, and answer a verdict for each of its mutations.

        A caller who is not a writer is refused first, as judging a body takes seconds.
        """
        token = self._check(request)
        async with self._entered(request, "writer", token):
            pass
        body = await _read(request, mutations.BODY_BYTES)
        project = str(request.path_params["project"])
        share = self._share(project)
        async with share.take_turn():
            batch, refused = await run_in_threadpool(_judge, body, project)
            good = [one for one, why in zip(batch, refused, strict=True) if why is None]
            async with self._entered(request, "writer", token, is_counted=True) as (db, caller):
                found = await self._project(db, request)
                if found.live_rows + len(good) > self.limits.rows:
                    full = "the project has as many memories as it may"
                    raise Refused("rows", full, "delete some", 429, FULL_RETRY_S)
                await self._add_usage(db, project, caller, len(body))
                verdicts = iter(await requests.push(db, project, good) if good else [])
        now = clock.now()
        ahead = sum(registers.is_ahead(one["stamp"], now) for one in good)
        self.figures["hub_clock_ahead_total"] += ahead
        answers = [self._answer(project, why or next(verdicts)) for why in refused]
        return JSONResponse({"verdicts": answers, "epoch": found.epoch})

    async def _add_usage(self, db: Connection, project: str, caller: Caller, size: int) -> None:
        """Count the bytes of a batch; raises Refused beyond those of a day."""
        assert caller.device is not None
        own, all_ = await requests.add_usage(db, project, caller.device, size)
        if own > self.limits.bytes_per_day or all_ > self.limits.project_bytes_per_day:
            sent = "too many bytes for one day"
            raise Refused("rate", sent, "go on tomorrow", wait_s=_seconds_to_next(DAY_S))
        self.bytes.check("hub", self.limits.hub_bytes_per_day, size)

    def _answer(self, project: str, outcome: mutations.Refusal | str) -> dict[str, str]:
        """Return the answer for a mutation that was refused, or got the verdict, and count it."""
        if outcome == "refused":
            outcome = NOT_THEIRS
        if isinstance(outcome, mutations.Refusal):
            answer = {"verdict": "refused", "rule": outcome.rule, "why": outcome.why}
        else:
            answer = {"verdict": outcome, "rule": "", "why": ""}
        verdict, rule = answer["verdict"], answer["rule"]
        self.figures[f'hub_verdicts_total{{verdict="{verdict}",rule="{rule}"}}'] += 1
        self.verdicts[project][verdict, rule] += 1
        return answer

    async def join(self, request: Request) -> Response:
        """Make a token of an invitation; the client made it, and sends its digest."""
        self._check(request)
        asked = _parse(await _read(request, mutations.BODY_BYTES))
        code, token, device = (asked.get(name) for name in ("code", "token", "device"))
        if not isinstance(code, str) or not isinstance(device, str):
            raise Refused("argument", "the body is not a request to join", "update ademem")
        async with self.pool.connection() as db:
            hashes = administration.digest(code), _digest(token)
            row = await requests.redeem(db, *hashes, device[:80])
        if row is None:
            raise Refused("token", "the invitation was used, or is too old", "ask for another one")
        return JSONResponse({name: str(value) for name, value in row.items()})

    async def rotate(self, request: Request) -> Response:
        old = self._check(request)
        asked = _parse(await _read(request, mutations.BODY_BYTES))
        new = _digest(asked.get("token"))
        async with self._entered(request, "reader", old) as (db, _):
            await self._project(db, request)
            until = await requests.rotate(db, old, new)
        return JSONResponse({"expires_at": until})

    async def open_page(self, request: Request) -> Response:
        token = self._check(request)
        async with self._entered(request, "owner", token):
            pass
        project, host = str(request.path_params["project"]), request.headers.get("host", "")
        visit = Visit(token=token, project=project, host=host)
        return JSONResponse({"path": self.page.invite(visit)})

    def _check_tls(self, request: Request) -> str:
        """Return the scheme that the client used; raises Refused if the proxy took it plain."""
        if self.proxied and request.headers.get("x-forwarded-proto") != "https":
            raise Refused("tls", "the proxy did not take it over TLS", "use https", 403)
        return "https" if self.proxied else request.url.scheme

    async def _read_page(self, visit: Visit) -> dict[str, Any]:
        async with self.pool.connection() as db:
            caller = await requests.enter(db, visit.token, visit.project)
            self._check_caller(caller, "owner")
            self.rate.check(visit.token.hex(), self.limits.requests_per_minute)
            members = await requests.list_members(db, visit.project)
            return {
                "project": await requests.read_project(db, visit.project),
                "members": members,
                "person": next(each["name"] for each in members if each["id"] == caller.person),
                "devices": await requests.list_devices(db, visit.project),
                "audit": await requests.list_audit(db, visit.project, 100),
                "verdicts": sorted(self.verdicts[visit.project].items()),
            }

    async def health(self, _request: Request) -> Response:
        return JSONResponse({"status": "alive"})

    async def ready(self, _request: Request) -> Response:
        async with self.pool.connection() as db:
            is_served = database.is_served(await requests.schema_version(db))
        found = database.room(self.folder)
        is_full = found is not None and found[0] < LEAST_FREE_BYTES
        is_ready = is_served and not is_full and not self.is_ending
        return JSONResponse({"ready": is_ready}, 200 if is_ready else 503)

    async def metrics(self, _request: Request) -> Response:
        pool = {f"hub_pool_{name}": value for name, value in self.pool.get_stats().items()}
        found: dict[str, float] = {**self.figures, **pool}
        with suppress(psycopg.Error, PoolTimeout):  # the other figures stay readable without it
            async with self.pool.connection(timeout=1) as db:
                found |= await requests.read_figures(db)
        lines = [f"{name} {value:.12g}" for name, value in sorted(found.items())]
        return PlainTextResponse("\n".join(lines) + "\n")


def _word(error: Refused) -> JSONResponse:
    facts = {"error": error.rule, "why": str(error), "hint": error.hint}
    return JSONResponse(facts, error.status, error.headers)


async def _answer_failure(_request: Request, error: Exception) -> Response:
    if isinstance(error, Refused):
        return _word(error)
    if isinstance(error, psycopg.errors.InsufficientPrivilege):
        return _word(Refused("role", "the database refuses it", "", 403))
    if getattr(error, "sqlstate", "") == "HB409":
        return _word(Refused("closed", "the project is closed", "ask an owner", 403))
    if isinstance(error, psycopg.Error | PoolTimeout):
        return _word(Refused("store", "the database does not answer", "try again"))
    return _word(Refused("internal", "the hub failed", "its log names the line"))


_refuse_busy = _word(Refused("busy", "too many requests wait already", "try again", 503))


async def _read(request: Request, most: int) -> bytes:
    data = bytearray()
    with move_on_after(BODY_S):
        async for part in request.stream():
            data += part
            if len(data) > most:
                raise Refused("size", f"the body has more than {most:,} bytes", "send it in parts")
        return bytes(data)
    raise Refused("slow", "the body comes too slowly", "send it in parts", 408)


def _parse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _parse(body: bytes) -> dict[str, Any]:
    try:
        found = json.loads(body, parse_constant=_parse_constant)
    except (ValueError, RecursionError) as error:
        raise Refused("argument", "the body is not JSON", "send an object") from error
    if not isinstance(found, dict):
        raise Refused("argument", "the body is not an object", "send an object")
    return found


def _parse_position(request: Request) -> int:
    given = request.query_params.get("after", "0")
    if not given.isascii() or not given.isdecimal() or len(given) > 18:
        raise Refused("argument", "after is not a number", "send the last one that was received")
    return int(given)


async def _is_other_mark(db: Connection, project: str, after: int, known: str | None) -> bool:
    """Return True where a mutation has the number whose mark is not the one that is *known*."""
    mark = await requests.mark(db, project, after) if known else ""
    return mark not in ("", known)


def _judge(
    body: bytes, project: str
) -> tuple[list[mutations.Fields], list[mutations.Refusal | None]]:
    """Return the mutations of a push, and why each is refused, or None."""
    batch = _parse(body).get("mutations")
    if not isinstance(batch, list) or len(batch) > mutations.BATCH:
        most = f"a push has a list of up to {mutations.BATCH} mutations"
        raise Refused("argument", "the body is not a push", most)
    return batch, [mutations.refuse(one, project) for one in batch]


def _digest(text: object) -> bytes:
    try:
        found = bytes.fromhex(text) if isinstance(text, str) else b""
    except ValueError:
        found = b""
    if len(found) != 32:
        raise Refused("argument", "the token's digest is missing", "update ademem")
    return found


class Server(loopback.Server):
    """Tells its address once it listens, and lets requests end before it does."""

    def __init__(self, hub: Hub, on_ready: Callable[[str], None], **options: Any) -> None:
        bounds = {"limit_concurrency": 2 * MOST_REQUESTS, "timeout_graceful_shutdown": DRAIN_S}
        super().__init__(hub, **bounds, **options)
        self.hub, self.on_ready = hub, on_ready

    async def startup(self, sockets: Any = None) -> None:
        await super().startup(sockets)
        if self.started:
            host, port = self.servers[0].sockets[0].getsockname()[:2]
            place = f"[{host}]" if ":" in host else host
            self.on_ready(f"{'https' if self.config.is_ssl else 'http'}://{place}:{port}")

    def handle_exit(self, sig: int, frame: Any) -> None:
        self.hub.is_ending = True
        super().handle_exit(sig, frame)


def serve(
    dsn: str,
    bind: str,
    on_ready: Callable[[str], None],
    *,
    certificate: str | None = None,
    key: str | None = None,
    proxied: bool = False,
    limits: Limits | None = None,
) -> None:
    """Serve until a signal; raises AdememError where the database or the address is not safe."""
    host, _, port = bind.rpartition(":")
    if not port.isdecimal() or int(port) > 65_535:
        raise UsageError(f"{bind!r} is not an address", f"HOST:PORT, as {loopback.ADDRESS}:{PORT}")
    host = host.strip("[]") or loopback.ADDRESS
    if not (loopback.is_loopback(host) or certificate or proxied):
        raise UsageError(
            f"{host} can be reached from elsewhere, and would be without TLS",
            "give --tls-cert and --tls-key, or --proxied behind a proxy that has them",
        )
    with closing(database.connect(dsn)) as db:
        database.check_server(db)
        folder = database.data_folder(db)
    hub = Hub(dsn, limits or Limits(), proxied=proxied, folder=folder)
    tls = {"ssl_certfile": certificate, "ssl_keyfile": key} if certificate else {}
    Server(hub, on_ready, host=host, port=int(port), **tls).run()
