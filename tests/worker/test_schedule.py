"""What is due by the clock: once, for whoever asks, however many they are."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ademem import worker
from ademem.core import clock
from ademem.core.shared_files import locked
from ademem.core.value import replace
from ademem.operations import reports
from ademem.store import backup_files, jobs
from ademem.synthesis import sweeping
from ademem.worker import running
from tests import builders
from tests.builders import memory
from tests.synthesis.sweeps import aged, candidate, sweep

ROOT = Path(__file__).parents[2]
START = """
import runpy, sys
sys.path.insert(0, sys.argv[1])
runpy.run_path(sys.argv[1] + "/hooks/session_start.py")
"""
"""A session begins, as the client tells it."""


@pytest.fixture
def world(world):
    """A project that is as old as its memories."""
    world.store.db.execute("update projects set created_at = ?", ("2026-01-31T12:00:00.000Z",))
    return world


def sweeps(world):
    return world.store.db.execute(
        "select outcome from maintenance_log where kind = 'sweep'"
    ).fetchall()


def test_the_first_sweep_is_due_a_day_after_the_project_began(world):
    world.later(hours=23)
    assert world.due() == []

    world.later(hours=1)
    assert world.due() == ["sweep"]
    assert world.work() == ["sweep"]
    assert world.due() == []


def test_the_next_one_is_due_a_day_after_the_last_whoever_did_it(world):
    sweep(world.store, world.now)
    world.later(hours=23)
    assert world.due() == []

    world.later(hours=1)
    assert world.due() == ["sweep"]


def test_looking_makes_it_due_once(world):
    world.later(days=2)
    for _ in range(10):
        world.due()

    ((asked,),) = world.store.db.execute("select asked from jobs where kind = 'sweep'")
    assert asked == 1


def test_one_that_was_asked_for_and_done_by_hand_since_does_nothing(world):
    world.later(days=2)
    assert world.due() == ["sweep"]
    sweep(world.store, world.now)
    world.work()

    assert len(sweeps(world)) == 1


def test_what_it_did_is_reported_in_the_log_of_work_and_in_the_status(world):
    builders.insert(world.store, aged("a", 100), candidate("b", 200))
    world.later(days=1)
    world.work()

    run = next(run for run in running.recent_runs(world.runtime.project) if run["job"] == "sweep")
    assert (run["outcome"], run["demoted"], run["archived"]) == ("done", 1, 1)
    told = reports.get_status(world.memories)["lifecycle"]
    assert (told["last_sweep"]["outcome"], told["last_sweep"]["archived"]) == ("ok", 1)
    assert told["last_sweep"]["trigger"] == "schedule"
    assert told["next_sweep"] == "2026-02-02T12:00:00.000Z"


def test_one_that_fails_is_tried_again_and_given_up_until_a_day_is_over(world, monkeypatch):
    def fail(*_):
        raise OSError("no space left")

    world.later(days=1)
    with monkeypatch.context() as broken:
        broken.setattr(sweeping, "enforce_limits", fail)
        for minutes in (1, 2, 4, 8, 16):
            world.work()
            world.later(minutes=minutes)
        assert [job[0] for job in jobs.list_parked(world.store)] == ["sweep"]
        assert reports.get_status(world.memories)["lifecycle"]["last_sweep"]["outcome"] == "failed"
        assert world.due() == []

    world.later(days=1)
    assert world.work() == ["sweep"]
    assert jobs.list_parked(world.store) == []


def test_a_backup_is_due_a_week_after_the_last_one(world):
    def kinds():
        found = backup_files.list_all(world.runtime.project, world.runtime.environment)
        return [(each.kind, each.at[:10]) for each in found]

    world.later(days=6)
    world.work()
    assert kinds() == []

    world.later(days=1)
    assert "backup" in world.due()
    world.work()
    assert kinds() == [("weekly", "2026-02-07")]

    world.later(days=6)
    world.work()
    assert len(kinds()) == 1
    world.later(days=1)
    world.work()
    assert kinds() == [("weekly", "2026-02-14"), ("weekly", "2026-02-07")]


def test_ten_workers_at_once_sweep_once(world):
    builders.insert(world.store, *(memory(f"note {number}") for number in range(40)))
    command = [sys.executable, "-m", "tests.worker.fake", str(world.root)]
    workers = [subprocess.Popen(command, cwd=ROOT) for _ in range(10)]

    assert [worker.wait(timeout=120) for worker in workers] == [0] * 10
    assert [tuple(row) for row in sweeps(world)] == [("ok",)]


def test_ten_sessions_that_start_at_once_start_no_more_than_one_sweep(world, monkeypatch):
    started = []
    monkeypatch.setattr(worker, "_detach", started.append)
    world.later(days=1)
    world.runtime.now = world.now
    for _ in range(10):
        worker.start(world.runtime)
    for _ in started:
        world.work()

    assert started
    assert len(sweeps(world)) == 1


def consolidations(world):
    query = "select trigger_reason, outcome from maintenance_log where kind = 'consolidation'"
    return [tuple(row) for row in world.store.db.execute(query)]


def test_a_consolidation_is_due_a_week_after_the_project_began_and_after_the_last(world):
    world.later(days=6, hours=23)
    world.work()
    assert consolidations(world) == []

    world.later(hours=1)
    world.work()
    assert consolidations(world) == [("schedule", "ok")]
    world.later(days=7)
    world.work()
    assert len(consolidations(world)) == 2


def test_a_sweep_asks_for_one_when_a_scope_is_nearly_full(world):
    lifecycle = replace(world.runtime.settings.lifecycle, project_limit=10)
    world.runtime.settings = replace(world.runtime.settings, lifecycle=lifecycle)
    builders.insert(world.store, *(memory(f"note {number}") for number in range(8)))
    world.later(days=1)
    world.work()
    assert consolidations(world) == []

    builders.insert(world.store, memory("note 8"))
    world.later(days=1)
    assert "crowded" in world.work()
    assert consolidations(world) == [("auto", "ok")]


def test_without_a_model_it_says_why_nothing_was_merged(world):
    world.keep("Tokens expire in UTC")
    world.later(days=7)
    world.work(model=None)

    told = reports.get_status(world.memories)["lifecycle"]
    assert told["last_consolidation"]["outcome"] == "embeddings-unavailable"
    assert told["next_consolidation"] == "2026-02-14T12:00:00.000Z"


@pytest.mark.slow
def test_ten_sessions_that_start_as_processes_sweep_once(world):
    builders.insert(world.store, *(memory(f"note {number}") for number in range(40)))
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(world.root),
        "TMPDIR": str(world.root),
        "ADEMEM_MODELS_DIR": str(world.root / "none"),
        "CLAUDE_PROJECT_DIR": str(world.root),
    }
    command = [sys.executable, "-I", "-S", "-c", START, str(ROOT)]
    hooks = [
        subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, text=True, cwd=world.root)
        for _ in range(10)
    ]
    for number, hook in enumerate(hooks):
        hook.communicate(json.dumps({"session_id": f"s{number}", "source": "startup"}), timeout=120)
    for _ in hooks:  # whoever was started is at it, or has left it to us
        with locked(os.path.join(world.runtime.project.home, "run", "work.lock")):
            pass
    world.now = clock.now()
    world.work(model=None)

    assert [tuple(row) for row in sweeps(world)] == [("ok",)]
