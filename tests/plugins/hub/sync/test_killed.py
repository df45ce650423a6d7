"""Killed clients, servers and databases of the hub: nothing acknowledged is lost or doubled."""

from __future__ import annotations

import json
import os
import random
import signal
import time
import traceback
from contextlib import closing, contextmanager, suppress
from itertools import count

import psycopg
import pytest

from ademem.core.value import replace
from ademem.plugins.hub import hub_state, leaving, server
from ademem.plugins.hub.store import administration, database
from ademem.plugins.hub.transport import Client, HubError
from tests import postgres
from tests.examples import FULL, examples
from tests.plugins.hub.hubs import Served, mutation, wait_until
from tests.plugins.hub.sync.clients import Clone
from tests.plugins.hub.sync.test_rounds import told
from tests.postgres import make_database
from tests.store.replicas import exported

NEVER = 1 << 30


class Mortal:
    """A process that ends, as by `kill -9`, at one of the steps that it counts."""

    def __init__(self, limit=NEVER):
        self.limit, self.done = limit, 0

    def step(self, *_):
        self.done += 1
        if self.done == self.limit:
            os.kill(os.getpid(), signal.SIGKILL)

    def around(self, call):
        """Count a step before the call and one after it."""

        def run(*given, **named):
            self.step()
            answer = call(*given, **named)
            self.step()
            return answer

        return run

    def around_async(self, call):
        async def run(*given, **named):
            self.step()
            answer = await call(*given, **named)
            self.step()
            return answer

        return run


def forked(act):
    """Run in a process of its own that ends with it; return its id."""
    if child := os.fork():
        return child
    try:
        act()
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(0)


def was_killed(child):
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL


def acknowledging(path):
    """Client.ask that notes the mutations which the hub acknowledged."""
    ask = Client.ask

    def noting(client, method, address, body=None):
        answer = ask(client, method, address, body)
        if "/mutations" in address and method == "POST":
            sent = json.loads(body)["mutations"]
            with path.open("a") as file:
                for one, verdict in zip(sent, answer["verdicts"], strict=True):
                    if verdict["verdict"] != "refused":
                        file.write(f"{one['mutation_id']}\n")
        return answer

    return noting


def acknowledged(path):
    return set(path.read_text().split()) if path.exists() else set()


def check_told(rows, path):
    """Each number and each mutation is there once, and all that were acknowledged."""
    assert [row["seq"] for row in rows] == [*range(1, len(rows) + 1)]
    ids = [str(row["mutation_id"]) for row in rows]
    assert len(set(ids)) == len(ids)
    assert acknowledged(path) <= set(ids)


@contextmanager
def opened(root, name, minute):
    made = Clone(root / name, name)
    made.minute = minute
    with closing(made.store):
        yield made


class Pair:
    """Two clones that are opened anew for each act, as by two people's commands."""

    def __init__(self, root, hub):
        self.root, self.minute, self.number = root, 0, 0
        self.noted = root / "acknowledged"
        self.url = hub.url
        for name in ("ann", "bob"):
            with opened(root, name, 0) as clone:
                clone.join(hub)

    @contextmanager
    def open(self, name):
        self.minute += 1
        with opened(self.root, name, self.minute) as clone:
            hub_state.write(clone.store, replace(clone.state, url=self.url, retry_at=""))
            yield clone
            self.minute = clone.minute

    def work(self):
        """Both learn something; Bob's is told, and Ann's waits."""
        self.number += 1
        for name in ("ann", "bob"):
            with self.open(name) as clone:
                for at in range(2):
                    clone.learn(
                        f"{name} deploys at {self.number}.{at}", id=f"{name}{self.number}{at}"
                    )
        self.sync("bob")

    def sync(self, name):
        with self.open(name) as clone:
            clone.sync()

    def check(self):
        """After a round of each both have the same, and nothing waits."""
        self.minute += 9  # longer than a lease
        for name in ("ann", "bob", "ann"):
            self.sync(name)
        with self.open("ann") as ann, self.open("bob") as bob:
            assert exported(ann.store) == exported(bob.store)
            assert len(exported(ann.store)) == 4 * self.number
            assert ann.waiting() == bob.waiting() == 0
            assert ann.sync().sent == 0


@pytest.fixture
def pair(tmp_path, hub, monkeypatch):
    limits = server.Limits(requests_per_minute=NEVER, project_requests_per_minute=NEVER)
    monkeypatch.setattr(hub.hub, "limits", limits)
    return Pair(tmp_path, hub)


def test_a_client_killed_at_any_statement_and_request_loses_and_doubles_nothing(pair, hub):
    def sync(limit):
        mortal = Mortal(limit)
        with pair.open("ann") as ann, pytest.MonkeyPatch.context() as patch:
            patch.setattr(Client, "ask", mortal.around(acknowledging(pair.noted)))
            ann.store.db.set_trace_callback(mortal.step)
            ann.sync()

    for limit in count(1, 1 if FULL else 13):
        pair.work()
        dead = was_killed(forked(lambda limit=limit: sync(limit)))
        pair.check()
        check_told(told(hub), pair.noted)
        if not dead:
            break
    assert limit > 60


class Process:
    """A server in a process of its own, which may be killed at one of its steps."""

    def __init__(self, found, port=0):
        self.database, self.port = found, port

    def start(self, limit=NEVER):
        reader, writer = os.pipe()
        self.id = forked(lambda: self._serve(Mortal(limit), writer))
        os.close(writer)
        with open(reader) as file:
            self.url = file.read()
        self.port = int(self.url.rpartition(":")[2])
        return self

    def _serve(self, mortal, writer):
        hub = server.Hub(self.database.server, server.Limits())
        hub.log = lambda _: None

        def tell(url):
            os.write(writer, url.encode())
            os.close(writer)
            if mortal.limit < NEVER:
                psycopg.AsyncCursor.execute = mortal.around_async(psycopg.AsyncCursor.execute)
                psycopg.AsyncConnection.commit = mortal.around_async(psycopg.AsyncConnection.commit)

        async def application(scope, receive, send):
            is_request = scope["type"] == "http"
            await hub(scope, receive, mortal.around_async(send) if is_request else send)

        made = server.Server(hub, tell, host="127.0.0.1", port=self.port)
        made.config.app = application
        made.run()

    def kill(self):
        os.kill(self.id, signal.SIGKILL)
        os.waitpid(self.id, 0)


def test_a_server_killed_at_any_statement_and_answer_loses_and_doubles_nothing(pair, hub):
    for limit in count(1, 1 if FULL else 9):
        pair.url = hub.url
        pair.work()
        process = Process(hub.database).start(limit)
        pair.url = process.url
        with pair.open("ann") as ann, pytest.MonkeyPatch.context() as patch:
            patch.setattr(Client, "ask", acknowledging(pair.noted))
            with suppress(HubError):
                ann.sync()
            lifecycle = ann.state.lifecycle
        if lifecycle == "healthy":
            process.kill()
        else:
            os.waitpid(process.id, 0)
        pair.url = hub.url
        pair.check()
        check_told(told(hub), pair.noted)
        if lifecycle == "healthy":
            break
    assert limit > 25


class Writer:
    """A client in a process of its own that tells batches, again and again until each is heard."""

    def __init__(self, served, process, folder, name):
        self.served, self.process, self.name = served, process, name
        self.token = served.join(name)
        self.noted = folder / name
        self.numbers = count(1)

    def start(self):
        first = next(self.numbers)
        self.id = forked(lambda: self._tell(first))

    def _tell(self, first):
        client = Client(f"http://127.0.0.1:{self.process.port}", self.token)
        patched = acknowledging(self.noted)
        for number in count(first * 10_000):
            batch = [
                mutation(self.served.project, f"{self.name}-{number}-{at}", f"Text {at}")
                for at in range(5)
            ]
            while True:
                with suppress(HubError):
                    patched(client, "POST", self.served.path(), leaving.body(batch))
                    break
                time.sleep(0.01)

    kill = Process.kill


def sessions_of_servers(db):
    query = (
        "select pid from pg_stat_activity"
        " where datname = current_database() and usename = 'hub_server'"
    )
    return db.execute(query).fetchall()


def test_of_what_was_acknowledged_nothing_is_lost_whoever_is_killed(tmp_path):
    choice = random.Random(1)
    with postgres.serving() as cluster:
        served = Served(found := make_database(cluster))
        with served.serving():
            process = Process(found).start()
            writers = [Writer(served, process, tmp_path, f"w{at}") for at in range(3)]
        for writer in writers:
            writer.start()
        try:
            for _ in range(examples(200, share=20)):
                time.sleep(choice.uniform(0, 0.3))
                victim = choice.choice((process, cluster, *writers))
                victim.kill()
                victim.start()
            heard = [len(acknowledged(writer.noted)) for writer in writers]
            for writer, before in zip(writers, heard, strict=True):
                wait_until(lambda w=writer, b=before: len(acknowledged(w.noted)) > b, 60)
        finally:
            for each in (*writers, process):
                each.kill()
        with database.connect(found.owner) as db:
            wait_until(lambda: not sessions_of_servers(db))  # the last of them may still commit
            rows = told(served)
            for writer in writers:
                check_told(rows, writer.noted)
            assert administration.broken_audit(db, "team") == []
            (project,) = administration.list_projects(db)
        assert project["head"] == len(rows) == project["memories"]
