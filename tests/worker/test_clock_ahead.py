"""One run with a clock far ahead stops nothing of what is due by the clock afterwards."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from ademem.core.clock import stamp
from ademem.operations import searching
from ademem.store import jobs, maintenance, sessions
from ademem.synthesis.sweeping import sweep
from ademem.worker import running
from tests import builders

AHEAD = datetime(2262, 1, 1, tzinfo=UTC)
DAY = timedelta(days=1)


@pytest.fixture
def settings(world):
    return world.runtime.settings.lifecycle


def test_the_next_sweep_is_due_when_it_was(world, settings):
    world.store.db.execute("update projects set created_at = ?", (stamp(world.now),))
    sweep(world.store, settings, AHEAD)

    assert running.next_run(world.store, "sweep", world.now) <= world.now + DAY
    sweep(world.store, settings, world.now)
    assert maintenance.last(world.store, "sweep", "ok", until=stamp(world.now)) is not None
    assert world.now < running.next_run(world.store, "sweep", world.now) <= world.now + DAY


def test_a_project_that_began_in_the_future_is_swept(world):
    world.store.db.execute("update projects set created_at = '2262-01-01T00:00:00.000Z'")

    builders.insert(world.store, builders.memory())

    assert running.next_run(world.store, "sweep", world.now) == world.now + DAY
    assert running.next_run(world.store, "consolidation", world.now).year == world.now.year


def test_a_job_that_was_put_off_then_is_due_now(world):
    jobs.queue(world.store, "mirror", "project", AHEAD)
    jobs.count_failure(world.store, "embed", "project", "no model", AHEAD)

    assert jobs.any_due(world.store, world.now, but=("embed",))
    assert [job.key for job in jobs.list_due(world.store, "embed", world.now)] == ["project"]


def test_a_job_that_gave_up_then_gets_its_next_chance(world):
    for _ in range(jobs.ATTEMPTS):
        jobs.count_failure(world.store, "sweep", "project", "no space", AHEAD)
    assert not jobs.any_due(world.store, world.now)
    jobs.plan(world.store, "sweep", world.now)

    assert jobs.any_due(world.store, world.now)


def test_a_session_of_then_is_not_at_work_and_is_left(world):
    sessions.start(world.store, "ahead", source="startup", directory="/p", branch=None, now=AHEAD)

    assert not sessions.is_active(world.store, world.now)
    assert sessions.list_left_open(world.store, world.now, "mine") == ["ahead"]
    assert sessions.last_activity(world.store, world.now, but="mine") is None


def test_calls_of_then_do_not_use_up_today(world):
    maintenance.begin_call(world.store, "episode", "claude", AHEAD, daily_calls=1)

    assert maintenance.count_calls_today(world.store, world.now) == 0
    assert (
        maintenance.begin_call(world.store, "episode", "claude", world.now, daily_calls=1)
        is not None
    )


def test_a_memory_recalled_then_ages_by_its_last_change(world, settings):
    (row,) = builders.insert(world.store, builders.memory())
    world.store.db.execute(
        "update unified_memories set last_accessed_at = '2262-01-01T00:00:00.000Z'"
    )
    (found,) = maintenance.aging_rows(world.store)

    assert maintenance.idle_days(found, row.updated_at + 100 * DAY) == 100


def test_no_score_is_above_one(world):
    builders.insert(world.store, builders.memory(created_at=AHEAD, updated_at=AHEAD))
    (hit,) = searching.search(world.memories, "shared memory").hits

    assert hit.score <= 1
