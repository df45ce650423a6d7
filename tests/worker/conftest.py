"""A project, a clock that moves when told to, and a model that costs nothing."""

from __future__ import annotations

from datetime import timedelta

import pytest

from ademem import operations
from ademem.core.client import TurnKey
from ademem.core.memory import Draft
from ademem.operations import writing
from ademem.store import jobs, sessions, turns
from ademem.worker import running
from tests.builders import NOW
from tests.worker import fake


class World:
    """One enrolled project and those who work in it."""

    def __init__(self, root):
        self.root = root
        self.now = NOW
        self.memories = operations.open_memories(str(root), environment={}, now=lambda: self.now)
        self.runtime = self.memories
        self.store = self.runtime.store
        self.embedder = fake.FakeEmbedder()

    def shift(self, **changes):
        options = {"model": fake.model(self.embedder)} | changes
        return running.JobContext(self.runtime, lambda: self.now, **options)

    def work(self, *, retry=False, **changes):
        return running.run_due(self.shift(**changes), retry=retry)

    def due(self, **changes):
        shift = self.shift(**changes)
        return [kind.name for kind in running.kinds() if running.due(shift, kind)]

    def later(self, **delta):
        self.now += timedelta(**delta)

    def keep(self, *texts):
        """Their ids, in the order of the texts."""
        return [self._keep(text).id for text in texts]

    def _keep(self, text):
        draft = Draft(content=text, category="convention", promoted=True)
        return writing.write(self.memories, draft).memory

    def prompt(self, session="s1"):
        """A person types something in an open session."""
        sessions.start(
            self.store, session, source="startup", directory="", branch=None, now=self.now
        )
        key = TurnKey(session_id=session, prompt_id=self.now.isoformat())
        turns.begin(self.store, key, "soft", "", "", self.now)

    def leave(self, session="s1"):
        sessions.end(self.store, session, "exit", self.now)

    def vectors(self):
        """Model by id of the memories that have a vector."""
        query = "select memory_id, embedding_model from unified_memory_embeddings"
        return dict(map(tuple, self.store.db.execute(query)))

    def parked(self):
        """Ids and errors of memories that were given up."""
        return {key.split()[0]: error for _, key, error in jobs.list_parked(self.store)}


@pytest.fixture
def world(tmp_path):
    operations.init(str(tmp_path))
    world = World(tmp_path)
    yield world
    world.memories.close()
