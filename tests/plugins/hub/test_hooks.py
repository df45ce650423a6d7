"""Hooks in a project that is in a hub, whose rounds background work does."""

import json
import socket
import subprocess
import sys
from contextlib import closing

import pytest

from ademem.core import project
from ademem.core.clock import now
from ademem.plugins.hub import hub_state, rounds
from ademem.store.opening import open_store
from tests.test_architecture import DAY, NETWORK, ROOT, Day

FIRE = """
import sys
sys.path.insert(0, sys.argv[1])
asked, started = [], []
sys.addaudithook(lambda name, _: asked.append(name) if name.startswith("socket.") else None)
from os import environ

from ademem import worker
from ademem.core.clock import now
from ademem.session import answer
from ademem.session.{event} import handle

worker._detach = started.append
answer(handle, sys.stdin.buffer.read(), environ, now())
import json
print(json.dumps([asked, sorted(sys.modules), len(started)]))
"""


@pytest.fixture
def listener():
    """A hub that takes connections and never answers."""
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        server.setblocking(False)
        yield server


@pytest.fixture
def day(tmp_path, listener):
    """A day in a project whose last round is old."""
    day = Day(tmp_path)
    day.environment.pop("ADEMEM_JOBS_AUTO")
    with closing(open_store(project.at(str(tmp_path)), now())) as store:
        state = hub_state.HubState(
            url=f"http://127.0.0.1:{listener.getsockname()[1]}",
            **dict.fromkeys(("project", "slug", "person", "role", "epoch"), "x"),
            pulled_at="2026-01-01T00:00:00.000Z",
        )
        hub_state.join(store, state)
        store.db.execute("delete from jobs")
    return day


def test_no_hook_opens_a_connection(day, listener):
    started = {}
    for event, keys in DAY:
        ran = subprocess.run(
            [sys.executable, "-I", "-S", "-c", FIRE.format(event=event), str(ROOT)],
            input=day.payload(event, keys),
            capture_output=True,
            env=day.environment,
            timeout=20,
            check=True,
        )
        asked, modules, count = json.loads(ran.stdout)
        assert asked == [], event
        assert NETWORK.isdisjoint(modules), event
        assert rounds.__name__ not in modules, event
        assert "importlib.metadata" not in modules, event
        started[event] = count

    assert started["session_start"] == 1
    with closing(open_store(project.at(str(day.root)), now())) as store:
        query = "select count(*) from jobs where kind = 'hub'"
        assert store.db.execute(query).fetchone()[0] == 1
    with pytest.raises(BlockingIOError):
        listener.accept()
    assert not (day.root / ".ade/log/hooks.log").exists()
