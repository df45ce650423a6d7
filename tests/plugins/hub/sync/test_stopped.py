"""Clients that are stopped for longer than their lease, and a server that is asked to end."""

import os
import signal
import threading
from contextlib import suppress
from itertools import count

import pytest

from ademem.plugins.hub import hub_state, server
from ademem.plugins.hub.store import requests
from ademem.plugins.hub.transport import Client
from tests.examples import FULL
from tests.plugins.hub.hubs import Served, mutation, wait_until
from tests.plugins.hub.sync.test_killed import Mortal, Pair, acknowledging, check_told, forked
from tests.plugins.hub.sync.test_rounds import told
from tests.postgres import make_database


class Stopping(Mortal):
    """A process that stops itself, as by SIGSTOP, before or after one of its requests."""

    def step(self, *_):
        self.done += 1
        if self.done == self.limit:
            os.kill(os.getpid(), signal.SIGSTOP)


def state_of(child):
    """Return T for a process that is stopped, Z for one that has ended."""
    with open(f"/proc/{child}/stat") as file:
        return file.read().rpartition(")")[2].split()[0]


def test_a_lease_holder_that_is_stopped_and_goes_on_applies_and_tells_nothing_twice(tmp_path, hub):
    pair = Pair(tmp_path, hub)

    def sync(limit):
        stopping = Stopping(limit)
        with pair.open("ann") as ann, pytest.MonkeyPatch.context() as patch:
            patch.setattr(Client, "ask", stopping.around(acknowledging(pair.noted)))
            with suppress(hub_state.LeaseHeld):
                ann.sync()

    stops = 0
    for limit in count(1, 1 if FULL else 3):
        pair.work()
        child = forked(lambda limit=limit: sync(limit))
        wait_until(lambda child=child: state_of(child) in "TZ", 60)
        has_stopped = state_of(child) == "T"
        if has_stopped:
            stops += 1
            with pair.open("ann") as ann, pytest.raises(hub_state.LeaseHeld):
                ann.sync()  # it is not dead yet
            pair.minute += 3  # longer than its lease
            pair.sync("ann")
            os.kill(child, signal.SIGCONT)
        os.waitpid(child, 0)
        pair.check()
        check_told(told(hub), pair.noted)
        if not has_stopped:
            break
    assert stops >= (9 if FULL else 3)


def test_requests_under_way_end_before_the_server_does(cluster, monkeypatch):
    push, entered, leave = requests.push, threading.Event(), threading.Event()

    async def slow_push(*given):
        from starlette.concurrency import run_in_threadpool

        entered.set()
        await run_in_threadpool(leave.wait, 20)
        return await push(*given)

    monkeypatch.setattr(requests, "push", slow_push)
    answers = []
    with Served(make_database(cluster)).serving() as hub:
        hub.join("ann")

        def tell():
            answers.append(hub.push("ann", mutation(hub.project)))

        telling = threading.Thread(target=tell)
        telling.start()
        assert entered.wait(20)
        hub.server.handle_exit(signal.SIGTERM, None)
        with suppress(OSError):
            wait_until(lambda: hub.pull("ann") is None)  # until nobody listens
        leave.set()
        telling.join(20)

    assert [answer.status for answer in answers] == [200]
    assert len(hub.rows("select from hub.mutations")) == 1
    assert server.DRAIN_S == 10
