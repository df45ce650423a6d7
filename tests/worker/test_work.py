"""Due work: done once, by one process, and due again when it fails."""

import os
import subprocess
import sys

import pytest

from ademem import worker
from ademem.core.memory import Draft
from ademem.core.project import files_changed
from ademem.core.shared_files import locked
from ademem.core.value import replace
from ademem.operations import reports, searching, writing
from ademem.store import embeddings, inspection, jobs, memories
from ademem.worker import running
from ademem.worker.running import Kind
from tests.test_architecture import PACKAGE, ROOT

LOOKED = """
import sys
sys.path.insert(0, sys.argv[1])
from ademem.core import clock, project
from ademem import worker as work
from ademem.store.runtime import open_runtime

work._detach = lambda command: print("started", "ademem.worker.running" in sys.modules)
work.start(open_runtime(project.at(sys.argv[2]), {}, clock.now()))
"""


@pytest.fixture
def broken(monkeypatch):
    """The files cannot be written, for this reason."""

    def broken(error):
        def fail(_shift, _job):
            raise error

        kinds = [
            replace(kind, run=fail) if kind.name == "mirror" else kind for kind in running.JOBS
        ]
        monkeypatch.setattr(running, "JOBS", tuple(kinds))

    return broken


@pytest.fixture
def started(monkeypatch):
    """The command lines of workers that would have been started."""
    commands = []
    monkeypatch.setattr(worker, "_detach", commands.append)
    return commands


def page(world):
    path = world.root / ".ade/memory/conventions.md"
    return path.read_text(encoding="utf-8") if path.exists() else ""


def lock(world):
    return os.path.join(world.runtime.project.home, "run", "work.lock")


def test_a_memory_makes_the_files_due_and_the_work_writes_them(world):
    world.keep("Tabs are forbidden in this code")
    assert "Tabs" not in page(world)

    assert world.work(model=None) == ["mirror"]
    assert "Tabs" in page(world)
    assert world.work(model=None) == []


def test_a_page_that_a_program_empties_before_it_writes_it_keeps_its_memories(world):
    ids = world.keep("Tabs are forbidden in this code", "Names of tables are plural")
    world.work(model=None)
    whole, path = page(world), world.root / ".ade/memory/conventions.md"
    for text in ("", whole):
        path.write_text(text, encoding="utf-8")
        os.utime(path, (world.now.timestamp(), world.now.timestamp()))
        jobs.queue(world.store, "mirror", "project", world.now)
        assert world.work(model=None) == ["mirror"]

        assert page(world) == text
        assert not any(memories.get(world.store, id).deleted_at for id in ids)
        waits = files_changed(world.runtime.project)
        assert waits == (not text)
        assert world.due(model=None) == []
        world.later(minutes=1)
        assert world.due(model=None) == ["mirror"] * waits


def test_a_detached_worker_does_the_same(world):
    world.keep("Tabs are forbidden in this code")
    command = [sys.executable, "-m", "ademem.worker", world.runtime.project.root]
    environment = os.environ | {"ADEMEM_MODELS_DIR": str(world.root / "none")}
    ran = subprocess.run(
        command, capture_output=True, text=True, timeout=60, check=False, env=environment
    )

    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")
    assert "Tabs" in page(world)


def test_a_second_worker_leaves_the_work_to_the_first(world):
    world.keep("Tabs are forbidden in this code")
    with locked(lock(world)):
        assert world.work(model=None) == []

    assert world.work(model=None) == ["mirror"]


def test_what_becomes_due_while_a_worker_is_at_it_is_done_by_the_same(world, monkeypatch):
    def busy(_shift, job):
        if job.asked == 1:
            world.keep("Blanks are, too")

    kinds = [replace(kind, run=busy) if kind.name == "mirror" else kind for kind in running.JOBS]
    monkeypatch.setattr(running, "JOBS", tuple(kinds))
    world.keep("Tabs are forbidden in this code")

    assert world.work(model=None) == ["mirror"]
    assert world.due(model=None) == []
    assert len(running.recent_runs(world.runtime.project)) == 2


def test_work_that_fails_keeps_its_error_and_waits(world, broken):
    broken(OSError("no space left"))
    world.keep("Tabs are forbidden in this code")
    assert world.work(model=None) == []

    (error,) = world.store.db.execute(
        "select last_error from jobs where kind = 'mirror'"
    ).fetchone()
    assert error == "OSError: no space left"
    assert world.due(model=None) == []
    world.later(minutes=1)
    assert world.due(model=None) == ["mirror"]


def test_the_status_names_what_is_due_and_what_failed_before_it_is_given_up(world, broken):
    world.keep("Tabs are forbidden in this code")
    waiting = reports.get_status(world.memories)["jobs"]
    assert (waiting["due"], waiting["kinds"], waiting["failing"]) == (1, ["mirror (1)"], [])

    broken(OSError("no space left"))
    world.work(model=None)
    failed = reports.get_status(world.memories)["jobs"]
    assert (failed["due"], failed["kinds"]) == (0, [])
    assert failed["failing"] == ["mirror project: OSError: no space left"]
    assert failed["parked"] == []


def test_each_run_is_logged_without_secrets(world, broken):
    world.keep("Tabs are forbidden in this code")
    world.work(model=None)
    broken(OSError("cannot reach https://user:hunter2hunter2@example.com/x\nnot at all"))
    world.keep("Blanks are, too")
    world.work(model=None)

    done, failed = running.recent_runs(world.runtime.project)
    assert (done["job"], done["outcome"], done["error"]) == ("mirror", "done", None)
    assert failed["outcome"] == "failed"
    assert "OSError: cannot reach" in failed["error"]
    assert "hunter2hunter2" not in failed["error"]


def test_the_log_of_runs_is_bounded_and_lives_with_a_line_cut_short(world, monkeypatch):
    monkeypatch.setattr(running, "LOG_BYTES", 500)
    for number in range(12):
        world.keep(f"Rule number {number} says something of its own about topic{number}")
        world.work(model=None)
    log = world.root / ".ade/log/work.log"
    log.write_text(log.read_text() + '{"at": "2026')

    assert log.stat().st_size + log.with_name("work.log.1").stat().st_size < 1600
    assert 3 < len(running.recent_runs(world.runtime.project)) < 12


def test_no_worker_is_started_where_nothing_is_due_or_the_project_says_no(world, started):
    world.work(model=None)
    worker.start(world.runtime)
    assert started == []

    world.keep("Tabs are forbidden in this code")
    world.runtime.settings = replace(
        world.runtime.settings, jobs=replace(world.runtime.settings.jobs, auto=False)
    )
    world.runtime.now = world.now
    worker.start(world.runtime)
    assert started == []


def test_a_worker_is_started_for_due_work_alone_in_its_interpreter(world, started):
    world.keep("Tabs are forbidden in this code")
    world.runtime.now = world.now
    worker.start(world.runtime)

    assert [command[1:] for command in started] == [
        ["-I", "-c", worker.RUN.format("main"), str(PACKAGE.parent), world.runtime.project.root]
    ]


@pytest.mark.parametrize("why", ["a worker is at it", "we are the worker"])
def test_no_worker_is_started_when(world, started, why):
    world.keep("Tabs are forbidden in this code")
    world.runtime.now = world.now
    if why == "we are the worker":
        world.runtime.environment = {"ADEMEM_DISABLE": "1"}
        worker.start(world.runtime)
    else:
        with locked(lock(world)):
            worker.start(world.runtime)

    assert started == []


def test_what_was_asked_of_a_part_that_is_gone_is_forgotten(world):
    jobs.queue(world.store, "of_a_part", "project", world.now)
    world.work()

    assert not jobs.exists(world.store, "of_a_part")


def test_every_kind_of_work_is_in_the_table_once():
    names = [kind.name for kind in running.kinds()]

    assert len(set(names)) == len(names)


def test_what_hooks_start_a_worker_for_at_once_has_no_conditions():
    bound = [kind for kind in running.kinds() if kind.able is not Kind.able or kind.patience_s]

    assert {*(kind.name for kind in bound), embeddings.FAILURES} == set(worker.CONDITIONAL)


def test_a_hook_that_finds_something_asked_for_looks_no_further(world):
    world.keep("Tabs are forbidden in this code")
    command = [sys.executable, "-I", "-S", "-c", LOOKED, ROOT, str(world.root)]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)

    assert ran.stdout == "started False\n"


def test_the_worker_renews_word_indexes_of_an_earlier_checkout(world):
    draft = Draft(content="Trains are counted by position", category="gotcha", promoted=True)
    occasion = replace(draft, anchors=("@when 新しい貨物列車を追加する",))
    known = writing.write(world.memories, occasion).memory
    world.store.db.executescript(
        "drop table unified_memories_trigram;"
        "create virtual table unified_memories_trigram using fts5(title, content,"
        "  content='unified_memories', content_rowid='seq', tokenize='trigram')"
    )
    assert not searching.search(world.memories, "貨物列車").hits
    assert "index" in world.work()

    assert [hit.memory.id for hit in searching.search(world.memories, "貨物列車").hits] == [
        known.id
    ]
    assert inspection.has_shipped_schema(world.store.db)
    assert "index" not in world.work()
