"""Clones of a project that are in a hub, each with a clock."""

from datetime import timedelta

from ademem.core.settings import GateSettings
from ademem.core.value import replace
from ademem.plugins.hub import hub_state, rounds
from ademem.plugins.hub.settings import HubSettings
from ademem.store import memories
from ademem.store.opening import open_store
from tests.builders import project
from tests.store.replicas import NOON, act_of, learn


class Clone:
    def __init__(self, root, name, settings=None):
        root.mkdir(exist_ok=True)
        self.project = replace(project(root), home=str(root / ".ade"))
        self.name, self.minute = name, 0
        self.store = open_store(self.project, NOON)
        self.settings = settings or HubSettings()

    def now(self):
        return NOON + timedelta(minutes=self.minute)

    def join(self, served, role="reviewer"):
        code = served.invite(self.name, role)
        rounds.join(self.store, self.project, served.url, code, self.name)
        served.tokens[self.name] = rounds.read_tokens(self.project)[-1]
        return self

    def sync(self):
        self.minute += 1
        return self.round().run()

    def round(self):
        return rounds.Hub(self.store, self.project, GateSettings(), self.settings, self.now)

    def learn(self, content, **fields):
        self.minute += 1
        return learn(self.store, content, self.now(), **fields)

    @property
    def act(self):
        self.minute += 1
        return act_of(self.store, self.minute)

    @property
    def state(self):
        return hub_state.read(self.store)

    def memory(self, id):
        return memories.get(self.store, id)

    def waiting(self):
        (count,) = self.store.db.execute("select count(*) from sync_mutations").fetchone()
        return count
