"""Due work: done once, by one process, and due again when it fails."""

import os
import subprocess
import sys

import pytest

from ademem import api, clock, work
from ademem.locks import locked


@pytest.fixture
def memories(tmp_path):
    api.init(str(tmp_path))
    with api.open_memories(str(tmp_path), environment={}) as memories:
        yield memories


def page(memories):
    path = os.path.join(memories.runtime.project.memory, "conventions.md")
    with open(path, encoding="utf-8") as file:
        return file.read()


def keep(memories, text="Tabs are forbidden in this code"):
    memories.write(api.Draft(content=text, category="convention", promoted=True))


def test_a_memory_makes_the_files_due_and_the_work_writes_them(memories):
    keep(memories)
    assert "Tabs" not in page(memories)

    assert memories.work() == ["mirror"]
    assert "Tabs" in page(memories)
    assert memories.work() == []


def test_a_detached_worker_does_the_same(memories):
    keep(memories)
    command = [sys.executable, "-m", "ademem.work", memories.runtime.project.root]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)

    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")
    assert "Tabs" in page(memories)


def test_a_second_worker_leaves_the_work_to_the_first(memories):
    keep(memories)
    with locked(os.path.join(memories.runtime.project.run, "work.lock")):
        assert memories.work() == []

    assert memories.work() == ["mirror"]


def test_work_that_fails_keeps_its_error_and_waits(memories, monkeypatch):
    def fail(_runtime):
        raise OSError("no space left")

    monkeypatch.setitem(work.JOBS, "mirror", fail)
    keep(memories)
    assert memories.work() == []

    (last_error,) = memories.runtime.store.db.execute("select last_error from jobs").fetchone()
    assert "no space left" in last_error
    assert memories.work() == []


def test_no_worker_is_started_where_nothing_is_due_or_the_project_says_no(memories, monkeypatch):
    started = []
    monkeypatch.setattr(work, "_detach", started.append)
    memories.work()
    work.start(memories.runtime)
    assert started == []

    keep(memories)
    memories.runtime.now = clock.now()
    work.start(memories.runtime)
    assert [command[1:] for command in started] == [
        ["-I", "-m", "ademem.work", memories.runtime.project.root]
    ]
