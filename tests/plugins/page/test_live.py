"""Events of the page: what other processes wrote, each once, in order, and after a break."""

import http.client
import json
import os
import signal
import subprocess
import sys
import threading
from contextlib import closing, contextmanager

import pytest

from ademem.core.memory import Draft, Origin, Trust
from ademem.operations import curation, reports, writing
from ademem.plugins.http.loopback import bind
from ademem.plugins.page.memory_threads import MOST
from ademem.plugins.page.server import Site, make
from tests.examples import FULL
from tests.plugins.page.conftest import QuietServer
from tests.world import World

WRITES = 1000 if FULL else 60
WRITER = """
import sys
from itertools import count
from ademem.operations import open_memories, writing
from ademem.core.memory import Draft
with open_memories(sys.argv[1]) as memories:
    for number in count():
        draft = Draft(content=f"Lesson {number} about subject {number * number}")
        assert writing.write(memories, draft).accepted
        print(number, flush=True)
"""


class Window:
    """The stream of events of one window."""

    def __init__(self, port, cookie, headers=(), query=""):
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
        self.connection.request(
            "GET", f"/events{query}", headers={"Cookie": cookie, **dict(headers)}
        )
        self.answer = self.connection.getresponse()
        assert self.answer.getheader("content-type").startswith("text/event-stream")
        assert self.answer.readline() == b": open\n"  # the server listens from here on
        assert self.answer.readline() == b"\n"

    def next(self):
        """Return the id, the kind and the values of the next event."""
        lines = [self.answer.readline().decode().rstrip("\n") for _ in range(4)]
        assert lines[3] == ""
        id, kind, text = (line.split(": ", 1)[1] for line in lines[:3])
        return int(id), kind, json.loads(text)

    def until(self, kind):
        while True:
            event = self.next()
            if event[1] == kind:
                return event

    def close(self):
        self.connection.sock.shutdown(2)
        self.connection.close()


class Served:
    """The page of projects, served by a thread."""

    def __init__(self, world, *others):
        self.world = world
        listener = bind(0)
        self.port = listener.getsockname()[1]
        environment = {
            name: value for name, value in world.environment.items() if name[:6] != "CLAUDE"
        }
        roots = [str(each.root) for each in (world, *others)]
        self.site = Site(roots, environment, port=self.port)
        self.cookie = f"{self.site.cookie}={self.site.entry.redeem(self.site.entry.new_code())}"
        self.live = next(iter(self.site.projects.values())).live
        self.server = QuietServer(make(self.site), 600, lifespan="off")
        self.site.is_ending = lambda: self.server.should_exit
        self.thread = threading.Thread(target=self.server.run, kwargs={"sockets": [listener]})
        self.thread.start()

    @contextmanager
    def window(self, last=None, **headers):
        query = "" if last is None else f"?last={last}"
        with closing(Window(self.port, self.cookie, headers, query)) as window:
            yield window

    def close(self):
        self.server.should_exit = True
        self.thread.join()
        self.site.close()


@pytest.fixture
def served(world):
    made = Served(world)
    yield made
    made.close()


@pytest.fixture
def beside(world, tmp_path):
    """The page of two projects, and the world of the second."""
    root = tmp_path / "beside"
    root.mkdir()
    other = World(root)
    made = Served(world, other)
    yield made, other
    made.close()


def learn(world, *texts):
    with world.memories() as memories:
        for text in texts:
            origin = Origin(trust=Trust.AGENT, session_id="s1")
            assert writing.write(memories, Draft(content=text, origin=origin)).accepted


def test_a_stranger_hears_nothing(served):
    connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=20)
    connection.request("GET", "/events")
    answer = connection.getresponse()

    assert answer.status == 401
    assert b"event:" not in answer.read()
    connection.close()


def test_a_window_hears_of_its_project_after_another_window_chose_the_other(beside):
    served, other = beside
    cookie = f"{served.cookie}; {served.site.cookie}_project=1"
    with closing(Window(served.port, cookie, query="?project=project")) as window:
        learn(other, "Images are resized by the worker", "Refunds are booked by the night job")
        learn(served.world, "Invoices are sent by the night job")

        assert window.until("memory")[2] == {"count": 1, "sessions": {"s1": 1}}


def test_what_a_session_does_is_announced_by_kind(served):
    served.world.know("Invoices are sent by the night job", pinned=True)
    with served.window() as window:
        served.world.fire("session_start", source="startup")
        told = {kind: values for _, kind, values in (window.next() for _ in range(2))}
        learn(served.world, "Images are resized by the worker")
        memory, review = window.until("memory"), window.until("review")
        served.world.fire("session_end", reason="exit")
        ended = window.until("session")

    assert told["session"]["count"] == 1
    assert told["injection"] == {"count": 1, "sessions": {"s1": 1}}
    assert memory[2] == {"count": 1, "sessions": {"s1": 1}}
    assert review[2]["count"] == 1
    assert ended[2]["count"] == 0


def test_a_decision_and_a_refusal_are_announced(served):
    learn(served.world, "Images are resized by the worker")
    with served.window() as window:
        with served.world.memories() as memories:
            (memory,) = curation.review(memories)
            curation.promote(memories, memory.id)
        changed = window.until("memory"), window.until("review")
        with served.world.memories() as memories:
            assert not writing.write(memories, Draft(content="--- !", origin=Origin())).accepted
        refused = window.until("guard")

    assert [values["count"] for _, _, values in changed] == [0, 0]
    assert refused[2] == {"count": 1, "sessions": {}}


def test_what_another_agent_keeps_to_itself_is_not_counted(served):
    with served.window() as window, served.world.memories() as memories:
        draft = Draft(content="Only the reviewer knows", scope="agent", owner="reviewer")
        assert writing.write(memories, draft).accepted

        assert window.until("memory")[2] == {"count": 0, "sessions": {}}


def test_a_window_that_comes_back_misses_nothing(served):
    with served.window() as window:
        learn(served.world, "Images are resized by the worker")
        first = window.until("memory")[0]
    learn(served.world, "Invoices are sent by the night job")
    learn(served.world, "Refunds are booked on the next day")
    with served.window(**{"Last-Event-ID": str(first)}) as window:
        rest = [window.next() for _ in range(2)]
        found = [rest[0][0], *[event[0] for event in rest]]
        count = sum(values["count"] for _, kind, values in rest if kind == "memory")
        while count < 2:
            id, kind, values = window.next()
            found.append(id)
            count += values["count"] if kind == "memory" else 0

    assert found[0] == first + 1
    assert found[1:] == list(range(first + 1, first + len(found)))


@pytest.mark.parametrize("last", [1, 10**18], ids=["of an earlier process", "of a later one"])
def test_an_unknown_id_reloads(served, last):
    with served.window(last) as window:
        id, kind, _ = window.next()

        assert kind == "reload"
        assert id == served.live.last


def test_events_that_were_dropped_reload(served, monkeypatch):
    monkeypatch.setattr("ademem.plugins.page.memory_threads.MOST", 2)
    with served.window() as window:
        start = served.live.last
        learn(served.world, "Images are resized by the worker")
        window.until("reload")  # three at once
        learn(served.world, "Invoices are sent by the night job")
        window.until("review")
    with served.window(start) as window:
        assert window.next()[1] == "reload"
    with served.window(served.live.last - 1) as window:
        assert window.next()[0] == served.live.last

    assert len(served.live.events) == 2 < MOST


def test_a_page_tells_up_to_where_it_is(browser):
    first = int(browser.get("/memories").headers["x-event"])
    learn(browser.world, "Images are resized by the worker")
    second = browser.get("/memories")

    assert int(second.headers["x-event"]) > first
    assert f'data-event="{second.headers["x-event"]}"' in second.text


def test_no_event_is_lost_when_the_writer_is_killed(served):
    with served.window() as window:
        process = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(served.world.root)],
            env=served.world.environment | {"PATH": os.environ["PATH"]},
            stdout=subprocess.PIPE,
        )
        last, count = served.live.last, 0
        for _ in range(WRITES // 4):
            process.stdout.readline()
        while not count:
            last, kind, values = window.next()
            count += values["count"] if kind == "memory" else 0
    for _ in range(WRITES // 4):
        process.stdout.readline()
    process.send_signal(signal.SIGKILL)
    process.communicate()
    stored = served.world.row("select count(*) from unified_memories")[0]
    with served.window(last) as window:
        while count < stored:
            id, kind, values = window.next()
            assert id == last + 1
            last = id
            count += values["count"] if kind == "memory" else 0

    assert WRITES // 2 <= count == stored
    assert served.world.row("pragma integrity_check")[0] == "ok"


def test_a_look_where_nothing_happened_is_one_pragma(world):
    with world.memories() as memories:
        position, changes = reports.find_changes(memories, None)
        asked = []
        memories.store.db.set_trace_callback(asked.append)

        assert reports.find_changes(memories, position) == (position, [])
        assert changes == []
        assert asked == ["pragma data_version"]
