"""Answer hooks from a process that has the model loaded: one request a connection, in order."""

from __future__ import annotations

import _socket as sockets
import json
import os
import select
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from threading import BoundedSemaphore, Event, Thread

from ademem import __version__
from ademem.core import clock, confined, failure_log
from ademem.core.errors import AdememError
from ademem.core.json_text import loads
from ademem.core.settings import load_configuration
from ademem.core.shared_files import locked
from ademem.search import embedding, engine, evidence
from ademem.store.runtime import open_runtime
from ademem.worker import warm
from ademem.worker.warm import PROTOCOL, socket_path, socket_root

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any

    from ademem.core.project import Project
    from ademem.search.embedding import Embedder
    from ademem.store.runtime import Runtime

CHARS = 20_000
"""Longest accepted text; the model sees far less of it."""
HITS = 20
RANKED = 100
"""Most hits of a suggestion, and of a search."""
REQUEST_S = 2.0
"""Longest time for which one connection is read."""
CONNECTIONS = 16
"""Connections served at once; further ones are closed."""
TICK_S = 0.25
"""Interval at which a server checks that it is needed and that its socket exists."""
OWN = 0o600
"""Mode of the socket, for its owner alone."""


class Refused(ValueError):
    """The request is invalid or cannot be answered here; the message gives the reason."""


class Server:
    """Answer for one database with one model until stopped."""

    def __init__(
        self,
        project: Project,
        environment: Mapping[str, str],
        embedder: Embedder,
        role: str,
    ) -> None:
        self.project = project
        self.environment = environment
        self.embedder = embedder
        self.role = role
        """`serve`, or `work` for a worker that embeds."""
        self.path = socket_path(project, environment)
        self.last_request = time.monotonic()
        self._stopped = Event()
        self._places = BoundedSemaphore(CONNECTIONS)
        self._readers = ThreadPoolExecutor(CONNECTIONS, "reader")
        """One thread a connection, so that a silent client blocks no other."""
        self._answerer = ThreadPoolExecutor(1, "answerer")
        """The one thread that has the database open."""
        self._runtime: Runtime | None = None
        self._opened: tuple[object, ...] = ()

    def stop(self) -> None:
        self._stopped.set()

    def run(self, *, idle_s: float = 0, on_ready: Callable[[], None] = lambda: None) -> None:
        """Answer until stopped, or until *idle_s* seconds pass without a request; 0: no limit.

        While another process has the socket, wait for its end.
        """
        while not self._is_over(idle_s):
            with listening(self.path, socket_root(self.project, self.path)) as listener:
                if listener is None:
                    self._stopped.wait(TICK_S)
                    continue
                on_ready()
                inode = _inode(self.path)
                while not self._is_over(idle_s) and _inode(self.path) == inode:
                    self._accept(listener)
        for _ in range(CONNECTIONS):
            self._places.acquire(timeout=REQUEST_S)
        self._readers.shutdown()
        self._answerer.submit(self._close_runtime)
        self._answerer.shutdown()

    def _is_over(self, idle_s: float) -> bool:
        idle = idle_s and time.monotonic() - self.last_request > idle_s
        return self._stopped.is_set() or bool(idle)

    def _accept(self, listener: sockets.socket) -> None:
        """Accept one connection, if one comes before the next tick."""
        if not select.select([listener], [], [], TICK_S)[0]:
            return
        with suppress(OSError):  # the client may have left
            handle, _ = listener._accept()  # type: ignore[attr-defined]
            connection = sockets.socket(fileno=handle)
            if self._places.acquire(blocking=False):
                self._readers.submit(self._read, connection)
            else:
                connection.close()

    def _read(self, connection: sockets.socket) -> None:
        deadline = time.monotonic() + REQUEST_S
        try:
            warm.check_peer(connection)
            request = warm.receive(connection, warm.REQUEST_BYTES, deadline)
        except (OSError, warm.BadFrame):
            self._disconnect(connection)
        else:
            self.last_request = time.monotonic()
            self._answerer.submit(self._reply, connection, request, deadline)

    def _reply(self, connection: sockets.socket, request: bytes, deadline: float) -> None:
        answer: dict[str, Any] = {"ademem": __version__, "protocol": PROTOCOL}
        try:
            if time.monotonic() > deadline:
                raise Refused("too late")
            answer["result"] = self._answer(request)
        except (Refused, AdememError) as error:
            answer["error"] = str(error)
        except Exception as error:  # a request may fail, the process goes on
            failure_log.log(self.project, "serve", error, self.environment, clock.now())
            answer["error"] = type(error).__name__
        with suppress(OSError):
            warm.send(connection, json.dumps(answer).encode(), time.monotonic() + REQUEST_S)
        self._disconnect(connection)

    def _disconnect(self, connection: sockets.socket) -> None:
        connection.close()
        self._places.release()

    def _answer(self, request: bytes) -> dict[str, Any]:
        try:
            message = loads(request.decode())
        except (ValueError, RecursionError) as error:
            raise Refused("that is no JSON") from error
        if not isinstance(message, dict) or (
            (message.get("ademem"), message.get("protocol")) != (__version__, PROTOCOL)
        ):
            raise Refused(f"this is ademem {__version__}, protocol {PROTOCOL}")
        name, params = message.get("method"), message.get("params")
        if not isinstance(params, dict):
            raise Refused("`params` is an object")
        settings = load_configuration(self.project, self.environment).settings
        if self._runtime is None or (_inode(self.project.database), settings) != self._opened:
            self._close_runtime()
            self._runtime = open_runtime(self.project, self.environment, clock.now())
            self._opened = (_inode(self.project.database), self._runtime.settings)
        runtime = self._runtime
        runtime.now = clock.now()
        if embedding.model_id(runtime.settings.embed) != self.embedder.model_id:
            raise Refused("the settings name another model")
        for method in METHODS:
            if method.__name__ == name:
                return method(self, runtime, params)
        raise Refused(f"no method {name!r}")

    def _close_runtime(self) -> None:
        if self._runtime is not None:
            self._runtime.close()
            self._runtime = None


def ping(server: Server, runtime: Runtime, params: dict[str, Any]) -> dict[str, Any]:
    return {
        "pid": os.getpid(),
        "role": server.role,
        "model": server.embedder.model_id,
        "database": runtime.project.database,
    }


def suggest(server: Server, runtime: Runtime, params: dict[str, Any]) -> dict[str, Any]:
    """Return row numbers, scores and evidence of hits; the client reads rows that it may see."""
    floor, most = params.get("floor", evidence.PROMPT), params.get("most", evidence.MOST)
    if type(floor) not in (int, float) or type(most) is not int or not 0 < most <= HITS:
        raise Refused(f"`floor` is a number, `most` one from 1 to {HITS}")
    hits = engine.suggest(
        _text(params.get("query")),
        runtime.store,
        engine.Filters(
            statuses=engine.UNARCHIVED,
            here=_text(params.get("here", "")) or None,
            mission=_text(params.get("mission", "")) or None,
            elsewhere=False,
        ),
        runtime.now,
        floor=floor,
        most=most,
        embedder=server.embedder,
    )
    return {"hits": [[hit.memory.seq, hit.score, hit.signals["evidence"]] for hit in hits]}


def search(server: Server, runtime: Runtime, params: dict[str, Any]) -> dict[str, Any]:
    """Return the mode and the hits of a search, for a server that loads no model."""
    limit = params.get("limit")
    if type(limit) is not int or not 0 < limit <= RANKED:
        raise Refused(f"`limit` is a number from 1 to {RANKED}")
    query = _text(params.get("query"))
    try:
        values: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in params["filters"].items()
        }
        for name in ("since", "until"):
            values[name] = clock.parse(values[name]) if values.get(name) else None
        filters = engine.Filters(**values)
    except (KeyError, AttributeError, TypeError, ValueError) as error:
        raise Refused("`filters` are those of a search") from error
    found = engine.rank(query, runtime.store, filters, runtime.now, limit, server.embedder)
    hits = [(hit.memory.seq, hit.score, bool(hit.signals["whole"]), hit.weak) for hit in found.hits]
    return {"mode": found.mode, "hits": hits}


def stop(server: Server, runtime: Runtime, params: dict[str, Any]) -> dict[str, Any]:
    if server.role != "serve":
        raise Refused("this process has other work to do, and ends by itself")
    server.stop()
    return {"pid": os.getpid()}


METHODS = (ping, suggest, search, stop)


@contextmanager
def serve_while(
    project: Project, environment: Mapping[str, str], embedder: Embedder, role: str
) -> Iterator[None]:
    """Answer hooks in a thread while the context lasts."""
    server = Server(project, environment, embedder, role)
    thread = Thread(target=server.run, daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.stop()
        thread.join()


@contextmanager
def listening(path: str, root: str) -> Iterator[sockets.socket | None]:
    """Listen at *path*, reached from *root* without links; None while another process does.

    The system releases the lock of a process that dies, so a socket without it is left over.
    """
    folder = os.path.dirname(path)
    confined.make_folder(root, folder, 0o700)
    if os.lstat(folder).st_uid != os.geteuid():
        raise warm.Stranger(f"{folder} is somebody else's")
    with locked(path + ".lock", root=root, wait=False) as is_ours:
        if not is_ours:
            yield None
            return
        confined.remove(root, path)
        with closing(sockets.socket(sockets.AF_UNIX, sockets.SOCK_STREAM)) as listener:
            os.fchmod(listener.fileno(), OWN)  # on Linux the mode holds from the first moment
            listener.bind(path)
            os.chmod(path, OWN)
            listener.listen(CONNECTIONS)
            inode = _inode(path)
            try:
                yield listener
            finally:
                if _inode(path) == inode:
                    confined.remove(root, path)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise Refused("a text is missing")
    return value[:CHARS]


def _inode(path: str) -> int:
    try:
        return os.stat(path).st_ino
    except OSError:
        return 0
