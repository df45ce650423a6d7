"""Stores that are swept: memories of any age, a clock that moves when told to."""

from __future__ import annotations

from datetime import timedelta

from ademem.core.settings import LifecycleSettings
from ademem.core.value import replace
from ademem.store import memories
from ademem.synthesis import sweeping
from tests import builders
from tests.builders import NOW, memory

SETTINGS = LifecycleSettings()


def aged(text, days, **changes):
    """A memory nobody asked for in so many days."""
    then = NOW - timedelta(days=days)
    given = {"access_score": 0.8, "created_at": then, "updated_at": then, "last_accessed_at": then}
    return memory(text, **(given | changes))


def candidate(text, days=0, **changes):
    given = {"status": "candidate", "tier": 3, "promoted_at": None, "confidence": 0.6}
    return aged(text, days, **(given | changes))


def sweep(store, now=NOW, **changes):
    return sweeping.sweep(store, replace(SETTINGS, **changes), now)


def state(store):
    """What a sweep may change, by id."""
    return {
        row.id: (row.status.value, int(row.tier), round(row.access_score, 9))
        for row in memories.find(store, "true")
    }


def standing(store, row):
    """Status and tier of one memory."""
    now = memories.get(store, row.id)
    return now.status.value, int(now.tier)


def run_mission(store, id, *, ended=None):
    store.db.execute(
        "insert into memory_missions (id, project_id, goal, status, started_at, ended_at)"
        " values (?, ?, '', 'running', '', ?)",
        (id, store.project_id, ended),
    )


def heard(store, row, session, actor="agent"):
    """The memory was said in this session, too."""
    change = memories.Change(operation="merge", actor=actor, at=NOW, session_id=session)
    again = memories.get(store, row.id)
    count = again.observation_count + 1
    return memories.update(store, replace(again, observation_count=count), change)


__all__ = ["NOW", "builders"]
