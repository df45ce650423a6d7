"""The side that answers: what it says, to whom, and where it can be found."""

import _socket as sockets
import json
import os
import signal
import stat
import tempfile
import time
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from threading import Event, Thread

import pytest

from ademem import __version__, operations
from ademem.core import clock, project, trust
from ademem.core.errors import AdememError
from ademem.operations import browsing, model, searching
from ademem.search import embedding, engine
from ademem.worker import warm
from ademem.worker import warm_server as server_
from ademem.worker.warm_server import Server, listening, serve_all, serve_while
from tests.store import racing
from tests.worker.warm import conftest as world_
from tests.worker.warm.fake import Synonyms


@contextmanager
def answering(world, embedder=None, role="serve"):
    """A server in a thread of this process, at its place."""
    with serve_while(world.project, world.environment, embedder or Synonyms(), role):
        until(lambda: world.ask("ping") is not None)
        yield


def until(is_so):
    """Wait for it, at most as long as a loaded machine may need."""
    deadline = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < deadline
        os.sched_yield()


def said(world, raw):
    """The reply to these very bytes; nothing when the other side hangs up."""
    parts = []
    with closing(connected(world)) as asking, suppress(ConnectionError):
        asking.sendall(raw)
        asking.shutdown(sockets.SHUT_WR)
        while part := asking.recv(65536):
            parts.append(part)
    return b"".join(parts)


def message(**request):
    return json.dumps({"ademem": __version__, "protocol": warm.PROTOCOL} | request).encode()


def test_it_says_who_it_is(world):
    with answering(world):
        assert world.ask("ping") == {
            "pid": os.getpid(),
            "role": "serve",
            "model": embedding.model_id(world.runtime.settings.embed),
            "database": world.project.database,
        }


def test_it_searches_and_hands_out_row_numbers_scores_and_evidence(world):
    world.know("We moved to passkeys in March", "Invoices are rounded half to even")
    (known,) = searching.search(world.memories, "passkeys").hits
    with answering(world):
        answer = world.suggest("sign-in", most=3)

    ((seq, score, evidence),) = answer["hits"]
    assert seq == known.memory.seq
    assert 0 < score < 2
    assert -2.0 <= evidence < 10


def test_it_ranks_what_is_nearest_to_a_statement_by_meaning(world):
    world.know("Invoices are rounded half to even", "We moved to passkeys in March")
    (known,) = searching.search(world.memories, "passkeys").hits
    with answering(world):
        nearest = warm.rank_nearest(world.runtime, ["sign-in"])

    assert nearest[0] == known.memory.seq


def test_of_a_request_it_embeds_no_more_texts_than_a_statement_has(world):
    heard = []
    with answering(world, Synonyms(heard.append)):
        world.know("We moved to passkeys in March")
        warm.rank_nearest(world.runtime, ["sign-in"] * 300)

    assert heard.count("sign-in") == 3


def test_a_server_without_a_model_searches_by_meaning_through_it(world):
    def find(model, **filters):
        page = browsing.find(world.memories, "sign-in", engine.Filters(**filters), model=model)
        return page["mode"], [row["text"] for row in page["memories"]]

    text = "We moved to passkeys in March"
    world.know(text, "Invoices are rounded half to even")
    assert find("shared") == ("lexical", [])
    with answering(world):
        shared, alone = find("shared"), find("off")
        none = find("shared", categories=("gotcha",), since=clock.now())

    assert (shared[0], shared[1][0]) == ("hybrid", text)
    assert alone == ("lexical", [])
    assert none == ("hybrid", [])


def test_it_sees_what_was_written_since(world):
    with answering(world):
        assert world.suggest("sign-in")["hits"] == []
        world.know("We moved to passkeys in March")
        assert len(world.suggest("sign-in")["hits"]) == 1


def test_it_sees_a_database_and_settings_that_took_the_place_of_others(world):
    world.know("We moved to passkeys in March")
    with answering(world):
        assert len(world.suggest("passkeys")["hits"]) == 1
        for path in Path(world.project.home).glob("ade.db*"):
            path.unlink()
        assert world.suggest("passkeys")["hits"] == []

        own = Path(trust.config_path(world.environment))
        own.parent.mkdir(parents=True)
        own.write_text('[embed]\ndtype = "fp32"\n')
        assert world.suggest("passkeys") is None
        assert world.ask("ping") is None


@pytest.mark.parametrize(
    ("request_", "error"),
    [
        pytest.param(
            message(method="ping", params={}, ademem="0.0.0"),
            "this is ademem",
            id="another version",
        ),
        pytest.param(
            message(method="ping", params={}, protocol=0),
            f"protocol {warm.PROTOCOL}",
            id="another protocol",
        ),
        pytest.param(b"oops", "not a request", id="no JSON"),
        pytest.param(b"[]", "not a request", id="no object"),
        pytest.param(b"[" * 1024, "not a request", id="deep"),
        pytest.param(b"GET / HTTP/1.1\r\n\r\n", "not a request", id="HTTP"),
        pytest.param(bytes(range(256)) * 64, "not a request", id="noise"),
        pytest.param(b"", "not a request", id="nothing"),
    ],
)
def test_a_bad_request_gets_an_error_and_does_no_harm(world, request_, error):
    with answering(world):
        reply = json.loads(said(world, request_))
        assert world.ask("ping") is not None

    assert error in reply["error"]
    assert "result" not in reply
    assert world.failures() == ""


def test_a_request_without_end_gets_no_answer_and_does_no_harm(world):
    with answering(world):
        assert said(world, b"x" * (warm.REQUEST_BYTES + 1)) == b""
        assert world.ask("ping") is not None
    assert world.failures() == ""


@pytest.mark.parametrize(
    "params", [{}, {"query": 3, "limit": 1, "filters": {}}, {"query": "x", "filters": {"x": 1}}]
)
def test_a_request_without_what_it_needs_gets_an_error(world, params):
    with answering(world):
        assert "error" in json.loads(said(world, message(method="search", params=params)))
        assert world.ask("ping") is not None


def test_a_failure_of_its_own_is_reported_logged_and_survived(world, monkeypatch):
    def broken(_server, _runtime, _params):
        raise RuntimeError("out of paper")

    monkeypatch.setattr(server_, "METHODS", (*server_.METHODS, broken))
    with answering(world):
        reply = json.loads(said(world, message(method="broken", params={})))
        assert world.ask("ping") is not None

    assert reply["error"] == "RuntimeError"
    assert "out of paper" in world.failures()


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param({"result": {"hits": []}}, id="no version"),
        pytest.param({"ademem": "9", "protocol": 1, "result": {"hits": []}}, id="another version"),
        pytest.param({"ademem": __version__, "protocol": 1, "error": "no"}, id="an error"),
        pytest.param([], id="no object"),
        pytest.param("x" * (warm.REPLY_BYTES + 1), id="too long"),
    ],
)
def test_an_answer_that_is_none_counts_as_none(world, reply):
    body = json.dumps(reply).encode()
    with impostor(world, body):
        assert world.suggest("sign-in") is None


@contextmanager
def impostor(world, raw):
    """Somebody at the place of the socket who says the same to everybody."""
    listener = sockets.socket(sockets.AF_UNIX, sockets.SOCK_STREAM)
    listener.bind(world.socket)
    listener.listen()

    def answer():
        handle, _ = listener._accept()
        with closing(sockets.socket(fileno=handle)) as asking:
            asking.recv(65536)
            with suppress(OSError):
                asking.sendall(raw)

    thread = Thread(target=answer)
    thread.start()
    yield
    thread.join()
    listener.close()


def test_a_client_that_says_nothing_blocks_others_for_a_moment(world, monkeypatch):
    monkeypatch.setattr(server_, "REQUEST_S", 0.01)
    with answering(world):
        silent = [connected(world) for _ in range(4)]
        assert world.ask("ping") is not None
        for connection in silent:
            connection.close()


def connected(world):
    connection = sockets.socket(sockets.AF_UNIX, sockets.SOCK_STREAM)
    connection.settimeout(60)
    until(lambda: connection.connect_ex(world.socket) == 0)  # its queue may be full for a moment
    return connection


def test_the_socket_is_its_owners_alone_and_goes_with_the_server(world):
    with answering(world):
        assert stat.S_IMODE(os.stat(world.socket).st_mode) == 0o600
    assert not os.path.exists(world.socket)


def test_a_socket_left_by_the_dead_is_replaced(world):
    with world.server() as killed:
        killed.kill()
        killed.wait()
    assert os.path.exists(world.socket)

    with answering(world):
        assert world.ask("ping")["pid"] == os.getpid()


def test_of_several_servers_one_answers_and_another_takes_over(world):
    with answering(world, role="work"):
        with listening(world.socket, world.project.home_root) as place:
            assert place is None
        with serve_while(world.project, world.environment, Synonyms(), "serve"):
            assert world.ask("ping")["role"] == "work"
    with answering(world, role="serve"):
        assert world.ask("ping")["role"] == "serve"


def test_a_server_that_waits_takes_the_place_of_the_one_that_ends(world):
    second = serve_while(world.project, world.environment, Synonyms(), "serve")
    with world.server("work") as first, second:
        assert world.ask("ping")["role"] == "work"
        first.kill()
        first.wait()
        until(lambda: (world.ask("ping") or {}).get("role") == "serve")


def test_a_server_whose_folder_was_swept_away_comes_back(world):
    with answering(world):
        (world.root / ".ade/run").rename(world.root / "swept")  # at once: it may be back any moment
        until(lambda: world.ask("ping") is not None)
        assert os.path.exists(world.socket)


@pytest.mark.parametrize("where", ["XDG_RUNTIME_DIR", "TMPDIR"])
def test_a_path_too_long_for_a_socket_gets_one_in_a_private_folder(world, tmp_path, where):
    deep = tmp_path.joinpath(*["a-folder-with-a-long-name"] * 4)
    (deep / ".ade").mkdir(parents=True)
    with tempfile.TemporaryDirectory() as short:
        found = project.at(str(deep))
        environment = {where: short}
        path = warm.socket_path(found, environment)
        with serve_while(found, environment, Synonyms(), "serve"):
            until(lambda: warm.ask(found, environment, "ping", "{}", 60) is not None)
            assert path.startswith(short)
            assert stat.S_IMODE(os.stat(os.path.dirname(path)).st_mode) == 0o700


def test_a_folder_of_somebody_else_is_not_used(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 4242)

    place = listening(str(tmp_path / "x.sock"), str(tmp_path.parent))
    with pytest.raises(warm.Stranger, match="another user"), place:
        pass


def test_another_user_gets_no_answer_and_is_none(world, monkeypatch):
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        path = os.path.join(folder, "warm.sock")
        for module in (server_, warm):
            monkeypatch.setattr(module, "socket_path", lambda _project, _environment: path)
        with answering(world):
            os.chmod(path, 0o666)
            says = racing.said("tests.worker.warm.nobody", path)

    assert says == ["Stranger", "answered" if os.geteuid() else "hung up"]


class TestServing:
    def test_it_can_be_stopped_from_elsewhere(self, world):
        with world.server() as process:
            found = model.find_server(str(world.root), environment=world.environment)
            assert found["pid"] == process.pid
            stopped = model.stop_server(str(world.root), environment=world.environment)
            assert (stopped, process.wait()) == ({"pid": process.pid, "others": 0}, 0)
        assert not os.path.exists(world.socket)
        assert model.find_server(str(world.root), environment=world.environment) is None

    def test_a_worker_is_not_stopped(self, world):
        with answering(world, role="work"):
            assert model.stop_server(str(world.root), environment=world.environment) is None
            assert world.ask("ping") is not None

    def test_a_signal_ends_it_and_leaves_nothing_behind(self, world):
        with world.server() as process:
            process.send_signal(signal.SIGTERM)
            assert process.wait() == 0
        assert not os.path.exists(world.socket)

    def test_a_second_one_is_refused(self, world):
        with answering(world), pytest.raises(AdememError, match="serves this project already"):
            model.serve(str(world.root), environment=world.environment)

    def test_without_a_model_it_says_how_to_get_one(self, world):
        with pytest.raises(AdememError, match="no model is installed") as refused:
            model.serve(str(world.root), environment=world.environment)
        assert "model install" in refused.value.hint

    def test_one_process_answers_for_each_project_that_asks_until_all_are_idle(
        self, world, tmp_path
    ):
        world.know("We moved to passkeys in March")
        (tmp_path / "other").mkdir()
        operations.init(str(tmp_path / "other"))
        other = world_.World(tmp_path / "other")
        other.know("Invoices are rounded half to even")
        asked = [[str(other.root)], [str(tmp_path / "gone")]]
        serving = Thread(
            target=serve_all,
            args=(world.project, world.environment, Synonyms()),
            kwargs={"take_asked": lambda: asked.pop() if asked else [], "idle_s": 5},
        )
        serving.start()
        until(lambda: world.ask("ping") and other.ask("ping"))

        assert world.ask("ping")["database"] == world.project.database
        assert other.ask("ping")["database"] == other.project.database
        stopped = world.ask("stop")
        until(lambda: not world.ask("ping"))
        assert (stopped["others"], other.ask("ping")["pid"]) == (1, os.getpid())
        assert other.ask("stop")["others"] == 0
        serving.join(60)
        other.memories.close()
        assert not serving.is_alive()

    def test_a_project_whose_server_was_stopped_is_not_counted_and_is_served_when_it_asks_again(
        self, world, tmp_path, monkeypatch
    ):
        (tmp_path / "other").mkdir()
        operations.init(str(tmp_path / "other"))
        other = world_.World(tmp_path / "other")
        may_end, run = Event(), Server.run

        def run_and_linger(server, **limits):
            run(server, **limits)
            may_end.wait(60)

        monkeypatch.setattr(Server, "run", run_and_linger)
        asked = [[str(other.root)]]
        serving = Thread(
            target=serve_all,
            args=(world.project, world.environment, Synonyms()),
            kwargs={"take_asked": lambda: asked.pop() if asked else [], "idle_s": 60},
        )
        serving.start()
        until(lambda: world.ask("ping") and other.ask("ping"))
        world.ask("stop")
        stopped = other.ask("stop")
        asked.append([str(other.root)])
        until(lambda: other.ask("ping"))
        until(lambda: other.ask("stop"))
        may_end.set()
        serving.join(60)
        other.memories.close()

        assert stopped["others"] == 0
        assert not serving.is_alive()

    def test_it_ends_by_itself_when_nobody_asks(self, world):
        Server(world.project, world.environment, Synonyms(), "serve").run(idle_s=0.01)

        assert not os.path.exists(world.socket)
