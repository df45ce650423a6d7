"""The side that has the model: a request a connection, answered in the order they come."""

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
from ademem.core import clock, configuration, confined, failure_log
from ademem.core.errors import AdememError
from ademem.core.json_text import loads
from ademem.core.shared_files import locked
from ademem.core.value import Value
from ademem.search import embedding
from ademem.search import engine as search_
from ademem.search.engine import Filters
from ademem.search.parameters import DEFAULTS, Parameters
from ademem.store.runtime import open_runtime
from ademem.worker import warm
from ademem.worker.warm import PROTOCOL, socket_path, socket_root

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ademem.search.embedding import Embedder
    from ademem.store.runtime import Runtime

    Params = dict[str, Any]
    from collections.abc import Iterator, Mapping
    from datetime import datetime

    from ademem.core.project import Project


TEXTS = 16
"""Most texts of one `embed`: what one asker may keep the others waiting for."""
CHARS = 20_000
"""Longest text that is looked at; the model sees far less of it."""
HITS = 100


class Refused(ValueError):
    """The request asks for what this process does not give; the message says why."""


class Desk(Value):
    """What the methods may use."""

    runtime: Runtime
    embedder: Embedder
    role: str
    """serve | work: what the process is there for."""
    stop: Callable[[], None]


def ping(desk: Desk, params: Params) -> dict[str, Any]:
    """Who answers, for whom, and with which model."""
    return {
        "pid": os.getpid(),
        "role": desk.role,
        "model": desk.embedder.model_id,
        "database": desk.runtime.project.database,
    }


def embed(desk: Desk, params: Params) -> dict[str, Any]:
    """A unit vector a text, as hexadecimal little-endian float32."""
    texts = params.get("texts")
    if not isinstance(texts, list) or not 0 < len(texts) <= TEXTS:
        raise Refused(f"`texts` is a list of 1 to {TEXTS}")
    rows = desk.embedder.embed([_text(text) for text in texts])
    vectors = [row.astype("<f4").tobytes().hex() for row in rows]
    return {"model": desk.embedder.model_id, "vectors": vectors}


def search(desk: Desk, params: Params) -> dict[str, Any]:
    """Row numbers and scores; whoever asked, and waits, reads the rows that may be seen."""
    floor = params.get("floor", DEFAULTS.floor)
    limit = params.get("limit", desk.runtime.settings.search.limit)
    if type(floor) not in (int, float) or type(limit) is not int or not 0 < limit <= HITS:
        raise Refused(f"`floor` is a number, `limit` one from 1 to {HITS}")
    results = search_.search(
        _text(params.get("query")),
        desk.runtime.store,
        Filters(
            statuses=search_.UNARCHIVED,
            here=_text(params.get("here", "")) or None,
            mission=_text(params.get("mission", "")) or None,
            elsewhere=False,
        ),
        desk.runtime.now,
        limit=limit,
        embedder=desk.embedder,
        parameters=Parameters(floor=floor),
    )
    hits = [[hit.memory.seq, hit.score] for hit in search_.current(results)]
    return {"mode": results.mode, "hits": hits}


def stop(desk: Desk, params: Params) -> dict[str, Any]:
    """End a process that is there only to answer."""
    if desk.role != "serve":
        raise Refused("this process has other work to do, and ends by itself")
    desk.stop()
    return {"pid": os.getpid()}


METHODS: tuple[Callable[[Desk, Params], dict[str, Any]], ...] = (ping, embed, search, stop)


def _text(given: object) -> str:
    if not isinstance(given, str):
        raise Refused("a text is missing")
    return given[:CHARS]


REQUEST_S = 2.0
"""Longest that one connection is listened to."""
CONNECTIONS = 16
"""Served at once; who comes beyond that is turned away and does without."""
TICK_S = 0.25
"""How often a server looks whether it is still wanted, and still at its place."""
OWN = 0o600
"""The socket is its owner's alone."""


class Server:
    """Answers for one database, with one model, until it is told to stop."""

    def __init__(
        self,
        project: Project,
        environment: Mapping[str, str],
        embedder: Embedder,
        role: str,
        now: Callable[[], datetime] = clock.now,
    ) -> None:
        self.project = project
        self.environment = environment
        self.embedder = embedder
        self.role = role
        self.path = socket_path(project, environment)
        self.last_asked = time.monotonic()
        self._now = now
        self._stopped = Event()
        self._places = BoundedSemaphore(CONNECTIONS)
        self._ushers = ThreadPoolExecutor(CONNECTIONS, "usher")
        """They listen, each to one connection: who says nothing keeps nobody waiting."""
        self._clerk = ThreadPoolExecutor(1, "clerk")
        """The one thread that has the database open: answers do not overtake each other."""
        self._runtime: Runtime | None = None
        self._opened: tuple[object, ...] = ()

    def stop(self) -> None:
        self._stopped.set()

    def run(self, *, idle_s: float = 0, on_ready: Callable[[], None] = lambda: None) -> None:
        """Answer until stopped, or unasked for *idle_s* seconds; 0 means any.

        While another process is at the place this one waits for it to go.
        """
        while not self._over(idle_s):
            with listening(self.path, socket_root(self.project, self.path)) as listener:
                if listener is None:
                    self._stopped.wait(TICK_S)
                    continue
                on_ready()
                place = _inode(self.path)
                while not self._over(idle_s) and _inode(self.path) == place:
                    self.accept(listener)
        self.close()

    def accept(self, listener: sockets.socket) -> None:
        """Take one connection, if one comes before the next tick."""
        if not select.select([listener], [], [], TICK_S)[0]:
            return
        with suppress(OSError):  # it may have gone already
            handle, _ = listener._accept()  # type: ignore[attr-defined]
            connected = sockets.socket(fileno=handle)
            if self._places.acquire(blocking=False):
                self._ushers.submit(self._hear, connected)
            else:
                connected.close()

    def close(self) -> None:
        """Let the database go, once all have their answers."""
        for _ in range(CONNECTIONS):
            self._places.acquire(timeout=REQUEST_S)
        self._ushers.shutdown()
        self._clerk.submit(self._close_runtime)
        self._clerk.shutdown()

    def _over(self, idle_s: float) -> bool:
        idle = idle_s and time.monotonic() - self.last_asked > idle_s
        return self._stopped.is_set() or bool(idle)

    def _hear(self, connected: sockets.socket) -> None:
        deadline = time.monotonic() + REQUEST_S
        try:
            warm.check_peer(connected)
            request = warm.receive(connected, warm.REQUEST_BYTES, deadline)
        except (OSError, warm.BadFrame):
            self._part(connected)
        else:
            self.last_asked = time.monotonic()
            self._clerk.submit(self._reply, connected, request, deadline)

    def _reply(self, connected: sockets.socket, request: bytes, deadline: float) -> None:
        """The clerk sends it: replies are short, and one more thread would cost more time."""
        answer = self._answer(request, deadline)
        with suppress(OSError):
            warm.send(connected, answer, time.monotonic() + REQUEST_S)
        self._part(connected)

    def _part(self, connected: sockets.socket) -> None:
        connected.close()
        self._places.release()

    def _answer(self, request: bytes, deadline: float) -> bytes:
        """The reply to one request; nobody waits any more for one that comes too late."""
        said: dict[str, Any] = {"ademem": __version__, "protocol": PROTOCOL}
        try:
            if time.monotonic() > deadline:
                raise Refused("too late")
            said["result"] = self._result(request)
        except (Refused, AdememError) as error:
            said["error"] = str(error)
        except Exception as error:  # a request may fail, the process goes on
            failure_log.log(self.project, "serve", error, self.environment, self._now())
            said["error"] = type(error).__name__
        return json.dumps(said).encode()

    def _result(self, request: bytes) -> dict[str, Any]:
        asked = _read(request)
        runtime = self._current()
        if embedding.model_id(runtime.settings.embed) != self.embedder.model_id:
            raise Refused("the settings name another model")
        desk = Desk(runtime=runtime, embedder=self.embedder, role=self.role, stop=self.stop)
        for method in METHODS:
            if method.__name__ == asked["method"]:
                return method(desk, asked["params"])
        raise Refused(f"no method {asked['method']!r}")

    def _current(self) -> Runtime:
        """The project opened, anew when its database or its settings are others than before."""
        settings = configuration.load(self.project, self.environment).settings
        if self._runtime is None or (_inode(self.project.database), settings) != self._opened:
            self._close_runtime()
            self._runtime = open_runtime(self.project, self.environment, self._now())
            self._opened = (_inode(self.project.database), self._runtime.settings)
        self._runtime.now = self._now()
        return self._runtime

    def _close_runtime(self) -> None:
        if self._runtime is not None:
            self._runtime.close()
            self._runtime = None


@contextmanager
def offered(
    project: Project, environment: Mapping[str, str], embedder: Embedder, role: str
) -> Iterator[None]:
    """Answer others, in a thread, for as long as the work inside goes on."""
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
    """A socket at *path*, gone at the end; None while another process has the place.

    From *root* on no link leads to it.

    The lock is given up by the system when its process dies, so what lies there then is nobody's.
    """
    confined.make_folder(root, os.path.dirname(path), 0o700)
    private(os.path.dirname(path))
    with locked(path + ".lock", root=root, wait=False) as ours:
        if not ours:
            yield None
            return
        confined.remove(root, path)
        with closing(sockets.socket(sockets.AF_UNIX, sockets.SOCK_STREAM)) as listener:
            os.fchmod(listener.fileno(), OWN)  # on Linux it has the mode from its first moment
            listener.bind(path)
            os.chmod(path, OWN)
            listener.listen(CONNECTIONS)
            place = _inode(path)
            try:
                yield listener
            finally:
                if _inode(path) == place:
                    confined.remove(root, path)


def private(folder: str) -> None:
    """Make the folder; where everybody may write, it has to be ours."""
    os.makedirs(folder, 0o700, exist_ok=True)
    if os.lstat(folder).st_uid != os.geteuid():
        raise warm.Stranger(f"{folder} is somebody else's")


def _read(request: bytes) -> dict[str, Any]:
    """A request of this very version."""
    try:
        asked = loads(request.decode())
    except (ValueError, RecursionError) as error:
        raise Refused("that is no JSON") from error
    if not isinstance(asked, dict) or (asked.get("ademem"), asked.get("protocol")) != (
        __version__,
        PROTOCOL,
    ):
        raise Refused(f"this is ademem {__version__}, protocol {PROTOCOL}")
    if not isinstance(asked.get("params"), dict):
        raise Refused("`params` is an object")
    return {"method": asked.get("method"), "params": asked["params"]}


def _inode(path: str) -> int:
    try:
        return os.stat(path).st_ino
    except OSError:
        return 0
