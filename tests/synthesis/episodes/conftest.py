"""A project whose sessions leave transcripts behind."""

from __future__ import annotations

from datetime import timedelta

import pytest

from ademem.core.settings import AISettings
from ademem.core.value import replace
from ademem.operations import searching
from ademem.store import sessions
from ademem.synthesis import ai
from ademem.synthesis.episode_building import build_session_episode
from tests.world import Open


class World(Open):
    """Whoever works in it, and the clock."""

    def session(self, talk, session="s1", source="startup"):
        """It starts, is talked, and ends; the path of its transcript."""
        path = talk.write(self.root / f"{session}.jsonl")
        self.now += timedelta(hours=1)
        sessions.start(
            self.store,
            session,
            source=source,
            directory="/p",
            branch=None,
            now=self.now,
            transcript=str(path),
        )
        self.now += timedelta(minutes=1)
        sessions.end(self.store, session, "other", self.now)
        return str(path)

    def build(self, key="s1"):
        return build_session_episode(key, self.runtime, self.now)

    def settings(self, section, **changes):
        settings = self.runtime.settings
        section_ = replace(getattr(settings, section), **changes)
        self.runtime.settings = replace(settings, **{section: section_})

    def answers(self, monkeypatch, answer):
        """An AI is there, and says this."""
        asked = []
        self.settings("ai", **{**AISettings()._defaults, "provider": "claude"})

        def ask(_runtime, purpose, prompt, schema):
            asked.append((purpose, prompt, schema))
            return answer

        monkeypatch.setattr(ai, "ask", ask)
        return asked

    def memory(self, episode):
        return searching.get(self.memories, episode.memory_id)


@pytest.fixture
def world(tmp_path):
    with World(tmp_path) as world:
        yield world
