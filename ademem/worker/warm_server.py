"""Answer hooks from a process that has the model loaded: one request a connection, in order."""

from __future__ import annotations

import _socket as sockets
import json
import os
import select
import time
from contextlib import closing, contextmanager, suppress
from functools import partial
from threading import Event, Lock, Thread

from ademem import __version__
from ademem.core import clock, confined, failure_log
from ademem.core.errors import AdememError
from ademem.core.json_text import loads
from ademem.core.project import at
from ademem.core.settings import load_configuration
from ademem.core.shared_files import locked
from ademem.search import embedding, engine, statement_search
from ademem.store.runtime import Runtime, open_runtime
from ademem.worker import warm
from ademem.worker.warm import PROTOCOL, socket_path, socket_root

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from typing import Any

    from ademem.core.project import Project
    from ademem.search.embedding import Embedder

CHARS = 20_000
"""Longest text that is searched for; the model sees far less of it."""
TEXTS = 3
"""Most texts of a statement that are compared: itself, its heading and its occasions."""
REQUEST_S = 0.25
"""Longest time for which one connection is read, while the others wait."""
CONNECTIONS = 16
TICK_S = 0.25
"""Interval at which a server checks that it is needed and that its socket exists."""
OWN = 0o600


class Refused(ValueError):
    """The request cannot be answered here; the message gives the reason."""


class Server:
    def __init__(
        self,
        project: Project,
        environment: Mapping[str, str],
        embedder: Embedder,
        role: str,
        turn: Lock | None = None,
        count_others: Callable[[], int] = lambda: 0,
    ) -> None:
        """Servers with one *turn* answer one after the other, as they share model and vectors.

        *count_others* counts the other projects for which this process answers.
        """
        self.project = project
        self.environment = environment
        self.embedder = embedder
        self.role = role
        """`serve`, or `work` for a worker that embeds."""
        self.path = socket_path(project, environment)
        self.last_request = time.monotonic()
        self._stopped = Event()
        self._turn = turn or Lock()
        self.count_others = count_others
        self._runtime: Runtime | None = None
        self._opened: tuple[object, ...] = ()

    def stop(self) -> None:
        self._stopped.set()

    def is_stopped(self) -> bool:
        return self._stopped.is_set()

    def run(self, *, idle_s: float = 0, on_ready: Callable[[], None] = lambda: None) -> None:
        """Answer until stopped, or until *idle_s* seconds pass without a request; 0: no limit."""
        while not self._is_over(idle_s):
            with listening(self.path, socket_root(self.project, self.path)) as listener:
                if listener is None:  # another process has the socket
                    self._stopped.wait(TICK_S)
                    continue
                on_ready()
                inode = _inode(self.path)
                while not self._is_over(idle_s) and _inode(self.path) == inode:
                    if select.select([listener], [], [], TICK_S)[0]:
                        with suppress(OSError):  # the client may have left
                            handle, _ = listener._accept()  # type: ignore[attr-defined]
                            with closing(sockets.socket(fileno=handle)) as connection:
                                self._reply(connection)
        self._close_runtime()

    def _is_over(self, idle_s: float) -> bool:
        idle = idle_s and time.monotonic() - self.last_request > idle_s
        return self._stopped.is_set() or bool(idle)

    def _reply(self, connection: sockets.socket) -> None:
        warm.check_peer(connection)
        request = warm.receive(connection, warm.REQUEST_BYTES, time.monotonic() + REQUEST_S)
        self.last_request = time.monotonic()
        answer: dict[str, Any] = {"ademem": __version__, "protocol": PROTOCOL}
        try:
            with self._turn:
                answer["result"] = self._answer(request)
        except (Refused, AdememError) as error:
            answer["error"] = str(error)
        except Exception as error:  # a request may fail, the process goes on
            failure_log.log(self.project, "serve", error, self.environment, clock.now())
            answer["error"] = type(error).__name__
        connection.settimeout(REQUEST_S)
        connection.sendall(json.dumps(answer).encode())

    def _answer(self, request: bytes) -> dict[str, Any]:
        try:
            message = loads(request.decode())
            sender = message["ademem"], message["protocol"]
        except (ValueError, RecursionError, KeyError, TypeError) as error:
            raise Refused("that is not a request") from error
        if sender != (__version__, PROTOCOL):
            raise Refused(f"this is ademem {__version__}, protocol {PROTOCOL}")
        settings = load_configuration(self.project, self.environment).settings
        if self._runtime is None or (_inode(self.project.database), settings) != self._opened:
            self._close_runtime()
            self._runtime = open_runtime(self.project, self.environment, clock.now())
            self._opened = (_inode(self.project.database), self._runtime.settings)
        self._runtime.now = clock.now()
        if embedding.model_id(self._runtime.settings.embed) != self.embedder.model_id:
            raise Refused("the settings name another model")
        method = {each.__name__: each for each in METHODS}[message["method"]]
        return method(self, self._runtime, message["params"])

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
    """Return row numbers, scores and evidence; the client reads rows that it may see."""
    hits = engine.suggest(
        params["query"][:CHARS],
        runtime.store,
        engine.Filters(
            statuses=engine.UNARCHIVED,
            here=params["here"] or None,
            mission=params["mission"] or None,
            elsewhere=False,
            awake=True,
        ),
        runtime.now,
        most=params["most"],
        embedder=server.embedder,
    )
    return {"hits": [[hit.memory.seq, hit.score, hit.signals["helps"]] for hit in hits]}


def search(server: Server, runtime: Runtime, params: dict[str, Any]) -> dict[str, Any]:
    values: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in params["filters"].items()
    }
    for name in ("since", "until"):
        values[name] = clock.parse(values[name]) if values[name] else None
    found = engine.search(
        params["query"][:CHARS],
        runtime.store,
        engine.Filters(**values),
        runtime.now,
        params["limit"],
        server.embedder,
    )
    hits = [(hit.memory.seq, hit.score, bool(hit.signals["whole"]), hit.weak) for hit in found.hits]
    return {"mode": found.mode, "hits": hits}


def nearest(server: Server, runtime: Runtime, params: dict[str, Any]) -> dict[str, Any]:
    """Return row numbers, best first; the client reads rows that it may see."""
    texts = [text[:CHARS] for text in params["texts"][:TEXTS]]
    return {"rows": statement_search.by_meaning(texts, runtime.store, server.embedder)}


def stop(server: Server, runtime: Runtime, params: dict[str, Any]) -> dict[str, Any]:
    if server.role != "serve":
        raise Refused("this process has other work to do, and ends by itself")
    server.stop()
    return {"pid": os.getpid(), "others": server.count_others()}


METHODS = (ping, suggest, search, nearest, stop)


@contextmanager
def serve_while(
    project: Project, environment: Mapping[str, str], embedder: Embedder, role: str
) -> Iterator[None]:
    server = Server(project, environment, embedder, role)
    thread = Thread(target=server.run, daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.stop()
        thread.join()


def serve_all(
    first: Project,
    environment: Mapping[str, str],
    embedder: Embedder,
    take_asked: Callable[[], Iterable[str]],
    *,
    idle_s: float,
) -> None:
    """Answer for the *first* project, and for those that are asked for, until all are idle.

    *take_asked* returns the roots of projects that were asked for since its last call.
    """
    turn, servers = Lock(), dict[str, tuple[Server, Thread]]()
    places = [first]

    def is_served(root: str) -> bool:
        if root not in servers:
            return False
        server, thread = servers[root]
        return thread.is_alive() and not server.is_stopped()  # its thread may live a moment longer

    def count_others(root: str) -> int:
        return sum(is_served(other) for other in list(servers) if other != root)

    while places or any(thread.is_alive() for _, thread in servers.values()):
        for place in places:
            if place.has_home and not is_served(place.root):
                others = partial(count_others, place.root)
                server = Server(place, environment, embedder, "serve", turn, others)
                thread = Thread(target=server.run, kwargs={"idle_s": idle_s}, daemon=True)
                servers[place.root] = server, thread
                thread.start()
        time.sleep(TICK_S)
        places = [at(root) for root in take_asked()]


@contextmanager
def listening(path: str, root: str) -> Iterator[sockets.socket | None]:
    """Listen at *path*, reached from *root* without links; None while another process does.

    The system releases the lock of a process that dies, so a socket without it is left over.
    """
    folder = os.path.dirname(path)
    confined.make_folder(root, folder, 0o700)
    if os.lstat(folder).st_uid != os.geteuid():
        raise warm.Stranger(f"{folder} belongs to another user")
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


def _inode(path: str) -> int:
    try:
        return os.stat(path).st_ino
    except OSError:
        return 0
