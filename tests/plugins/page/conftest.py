"""The page of a project, asked in this process as a browser asks it."""

import contextlib
import re

import pytest
from starlette.testclient import TestClient

from ademem.operations import searching
from ademem.plugins.http.loopback import Server
from ademem.plugins.page.entry import Entry
from ademem.plugins.page.server import Site, make
from ademem.plugins.procedures import records
from ademem.plugins.procedures.records import Wording
from tests import builders
from tests.world import World

PORT = 8123
HOST = f"127.0.0.1:{PORT}"


class Clock:
    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now


class QuietServer(Server):
    """A server in a thread, which may take no signals."""

    def capture_signals(self):
        return contextlib.nullcontext()


class Browser:
    """A browser at the page of one project, or of others besides; `enter` lets it in."""

    def __init__(self, world, *others, **options):
        self.world, self.clock = world, Clock()
        self.digits = []
        environment = {
            name: value
            for name, value in world.environment.items()
            if not name.startswith("CLAUDE")
        }
        site = {"show_digits": lambda id, digits: self.digits.append((id, digits))} | options
        site["now"] = lambda: world.now
        roots = [str(each.root) for each in (world, *others)]
        self.site = Site(roots, environment, port=PORT, entry=Entry(self.clock), **site)
        self.client = TestClient(make(self.site), base_url=f"http://{HOST}", follow_redirects=False)
        self.token = ""

    def enter(self):
        answer = self.client.get("/enter", params={"code": self.site.entry.new_code()})
        assert answer.status_code == 303
        self.token = re.search(r"name=\"csrf\" value=\"([^\"]+)\"", self.get("/").text)[1]
        return self

    def get(self, path, **options):
        return self.client.get(path, **options)

    def post(self, path, /, **fields):
        """Post a form of the page."""
        return self.client.post(path, data={"csrf": self.token} | fields)

    def memory(self, id):
        with self.world.memories() as memories:
            return searching.get(memories, id)


def teach_procedure(world, steps):
    """Insert a candidate that one session taught; return its id."""
    with world.memories() as memories:
        episode = builders.memory("Released 1.2", category="episode", source_session_id="s7")
        builders.insert(memories.store, episode)
        made = records.insert(
            Wording(title="Cut a release", trigger="a version is ready", markdown=steps),
            memories.store,
            memories.now,
            sources=[episode.id, "0" * 32],
            successes=1,
            failures=0,
        )
    return made.id


@pytest.fixture
def world(tmp_path):
    root = tmp_path / "project"
    root.mkdir()
    return World(root)


@pytest.fixture
def browser(world):
    made = Browser(world)
    yield made.enter()
    made.site.close()


@pytest.fixture(scope="module")
def chromium():
    from tests.plugins.page.window import CHROMIUM, player

    with player.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def shown(world, chromium):
    """The page of a project in windows; fails for each problem that an open window tells of.

    A window that closes aborts the requests under way, and htmx tells of them as errors.
    """
    from tests.plugins.page.window import Shown

    made = Shown(world, chromium)
    yield made
    problems = list(made.problems)
    for context in chromium.contexts:
        context.close()
    made.close()
    assert problems == []
