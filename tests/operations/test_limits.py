"""A first import of many notes never leaves the rest of them to a sweep."""

from __future__ import annotations

from pathlib import Path

import pytest

from ademem import operations
from ademem.core.settings import LifecycleSettings, Settings
from ademem.operations import configuring, reports
from tests.builders import insert, memory


@pytest.fixture
def memories(world):
    with operations.open_memories(str(world.root), environment=world.environment) as memories:
        insert(memories.store, *(memory(f"note {number}") for number in range(5)))
        memories.settings = Settings(lifecycle=LifecycleSettings(project_limit=3))
        yield memories


def never(limit):
    raise AssertionError(f"nobody is asked for {limit}, which nobody limited")


def test_a_limit_that_nobody_set_is_raised_for_the_project(memories):
    raised = configuring.raise_project_limit(memories, never)
    assert (raised.limit, raised.path) == (1000, ".ade/config.toml")
    assert "project_limit = 1000" in (Path(memories.project.root) / ".ade/config.toml").read_text()

    memories.settings = Settings(lifecycle=LifecycleSettings(project_limit=1000))
    assert reports.find_overfull(memories) is None
    assert configuring.raise_project_limit(memories, never) is None


def test_a_limit_that_somebody_set_stays_or_is_raised_on_this_machine_as_they_say(memories, world):
    given = {"root": str(world.root), "environment": world.environment}
    configuring.set_value("lifecycle.project_limit", "3", **given)
    asked = []

    assert configuring.raise_project_limit(memories, asked.append) is None
    assert asked == [1000]
    raised = configuring.raise_project_limit(memories, lambda limit: True)
    assert (raised.limit, raised.path) == (1000, ".ade/config.local.toml")
