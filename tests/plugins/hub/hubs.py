"""A hub that serves in a thread, and members that ask it."""

import json
import threading
import time
from contextlib import contextmanager, nullcontext
from http.client import HTTPConnection

from ademem.core import record_json, registers
from ademem.plugins.hub import mutations, server
from ademem.plugins.hub.store import administration, database


class Answer:
    def __init__(self, response):
        self.status, self.headers = response.status, dict(response.getheaders())
        self.body = response.read()

    def json(self):
        return json.loads(self.body)


class Served:
    """A hub with the project `team`, and the tokens of who joined it."""

    def __init__(self, found, limits=None):
        self.database = found
        self.hub = server.Hub(found.server, limits or server.Limits())
        self.lines = []
        self.hub.log = self.lines.append
        self.tokens = {}
        self.projects = {"team": self.add_project("team")} if not self.slugs() else self.slugs()

    def slugs(self):
        with database.connect(self.database.owner) as db:
            return {row["slug"]: row["id"] for row in administration.list_projects(db)}

    @property
    def project(self):
        return self.projects["team"]

    def add_project(self, slug):
        with database.connect(self.database.owner) as db:
            found = administration.add_project(db, slug)["id"]
        return found

    def invite(self, name, role="writer", slug="team"):
        with database.connect(self.database.owner) as db:
            return administration.invite(db, slug, name, role, existing=True)

    def join(self, name, role="writer", slug="team"):
        code, token = self.invite(name, role, slug), administration.new_secret("adh_")
        asked = {"code": code, "token": administration.digest(token).hex(), "device": "laptop"}
        assert self.ask("POST", "/v1/join", asked).status == 200
        self.tokens[name] = token
        return token

    @contextmanager
    def serving(self):
        ready = threading.Event()
        self.server = server.Server(
            self.hub, lambda url: (setattr(self, "url", url), ready.set()), host="127.0.0.1", port=0
        )
        self.server.capture_signals = nullcontext
        thread = threading.Thread(target=self.server.run)
        thread.start()
        assert ready.wait(20)
        try:
            yield self
        finally:
            self.server.should_exit = True
            thread.join(20)

    def ask(self, method, path, body=None, who=None, headers=None, token=None):
        host = self.url.removeprefix("http://")
        connection = HTTPConnection(host, timeout=30)
        token = token or self.tokens.get(who)
        sent = {"Ademem-Protocol": str(mutations.PROTOCOL)}
        sent |= {"Authorization": f"Bearer {token}"} if token else {}
        data = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        connection.request(method, path, data, sent | (headers or {}))
        try:
            return Answer(connection.getresponse())
        finally:
            connection.close()

    def path(self, slug="team", rest="/mutations"):
        return f"/v1/projects/{self.projects[slug]}{rest}"

    def push(self, who, *batch, slug="team", **more):
        return self.ask("POST", self.path(slug), {"mutations": list(batch)}, who, **more)

    def verdicts(self, who, *batch):
        return [one["verdict"] for one in self.push(who, *batch).json()["verdicts"]]

    def pull(self, who, after=0, slug="team", more=""):
        return self.ask("GET", self.path(slug) + f"?after={after}{more}", who=who)

    def rows(self, query, *values):
        with database.connect(self.database.owner) as db:
            return db.execute(query, values).fetchall()

    def execute(self, query, *values, role="owner"):
        with database.connect(getattr(self.database, role)) as db:
            db.execute(query, values)


def fields(id="m1", content="Deploys run at noon", minute=0, year=2026):
    at = f"{year}-01-31T12:{minute:02}:00.000Z"
    values = {
        "content": content,
        "category": "fact",
        "status": "candidate",
        "importance": "medium",
        "confidence": 0.5,
        "pinned": False,
        "trust": None,
        "path": None,
        "topic_key": None,
        "key": None,
        "source": "cli",
        "bead": None,
    }
    bare = registers.Record(id=id, sync_id=id, created_at=at)
    return record_json.to_json(registers.write(bare, values, f"{at}-0000-1a2b3c4d"))


def mutation(project, id="m1", content="Deploys run at noon", minute=0, **more):
    found = {
        "project": project,
        "entity": "memory",
        "heard": 0,
        "fields": fields(id, content, minute),
        "shows_promoted": False,
        "by": "ann",
        "replica": "1a2b3c4d",
        "schema": mutations.SCHEMA,
    }
    found |= {name: value for name, value in more.items() if name in found}
    found |= mutations.describe(found["entity"], found["fields"]) or {}
    found["mutation_id"] = mutations.content_id(found)
    return found | more


def wait_until(question, seconds=20):
    end = time.monotonic() + seconds
    while not question():
        assert time.monotonic() < end
        time.sleep(0.02)
