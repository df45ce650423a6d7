"""What a door changed is worked on at once: other programs have no hooks that would start it."""

import json
import os
import subprocess
import sys
import time

import anyio
import pytest

from ademem import operations, worker
from ademem.core import project
from ademem.core.memory import Draft
from ademem.operations import reports, searching, writing
from ademem.plugins.page.memory_threads import OpenProject
from ademem.worker import running
from tests import persons

RULE = "Releases are cut on Mondays, because the mirror syncs on Sunday"
PROGRAM = [sys.executable, "-c", "from ademem.doors.cli import program; program()"]
CLIENT = {"name": "test", "version": "1"}
HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": CLIENT}
QUIET = {"ADEMEM_JOBS_AUTO": "false"}
START_WORKER = operations.start_worker


@pytest.fixture
def enrolled(tmp_path):
    """A project and an environment in which jobs run."""
    root = tmp_path / "project"
    root.mkdir()
    environment = {"HOME": str(tmp_path), "PATH": os.environ["PATH"], "PYTHONPATH": os.getcwd()}
    operations.init(str(root), environment=environment)
    return root, environment


def by_command(root, environment):
    added = persons.type_command([*PROGRAM, "add", RULE], environment, root)
    assert added.returncode == 0


SAVED = {"content": RULE, "category": "fact"}


def by_tool(root, environment, tool="memory_add", arguments=SAVED):
    call = {"name": tool, "arguments": arguments}
    lines = (
        {"id": 1, "method": "initialize", "params": HELLO},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/call", "params": call},
    )
    text = "".join(json.dumps({"jsonrpc": "2.0"} | line) + "\n" for line in lines)
    server = [*PROGRAM, "mcp", "--project", str(root)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(server, text=True, cwd=root, env=environment, **pipes) as running:
        running.stdin.write(text)
        running.stdin.flush()
        answers = [json.loads(running.stdout.readline()) for _ in range(2)]
        running.stdin.close()
    assert "error" not in answers[1]


def wait_for(root, job):
    until = time.monotonic() + 60
    while (job, "done") not in [(run["job"], run["outcome"]) for run in runs(root)]:
        assert time.monotonic() < until
        time.sleep(0.05)


def runs(root):
    return running.recent_runs(project.at(str(root)))


@pytest.mark.slow
@pytest.mark.parametrize("change", [by_command, by_tool])
def test_what_was_learned_without_a_hook_is_worked_on_at_once(enrolled, change):
    root, environment = enrolled
    change(root, environment)

    wait_for(root, "mirror")
    is_confirmed = change is by_command
    assert (RULE in (root / ".ade/memory/knowledge.jsonl").read_text()) is is_confirmed


@pytest.mark.slow
def test_what_a_program_without_hooks_saved_has_a_vector_when_it_ends(enrolled, models):
    root, environment = enrolled
    by_tool(root, environment | models)

    wait_for(root, "embed")
    with operations.open_memories(str(root), environment=environment | models | QUIET) as memories:
        assert reports.vectors(memories)["embedded"] == 1


@pytest.fixture
def started(monkeypatch):
    """Projects for which a worker was started, instead of a worker."""
    projects = []
    monkeypatch.setattr(operations, "start_worker", START_WORKER)
    monkeypatch.setattr(worker, "_detach", lambda command: projects.append(command[-1]))
    return projects


def test_only_what_changes_something_starts_a_worker(enrolled, started):
    root, environment = enrolled
    started.clear()

    with operations.open_memories(str(root), environment=environment) as memories:
        writing.write(memories, Draft(content=RULE))
    assert started == [str(root)]
    with operations.open_memories(str(root), environment=environment) as memories:
        searching.list_memories(memories)
    assert started == [str(root)]


def test_where_jobs_are_off_a_change_starts_none(enrolled, started):
    root, environment = enrolled
    started.clear()

    with operations.open_memories(str(root), environment=environment | QUIET) as memories:
        writing.write(memories, Draft(content=RULE))
    assert started == []


def test_an_act_on_the_page_starts_one_while_the_page_is_open(enrolled, started):
    root, environment = enrolled
    page = OpenProject(str(root), environment)
    started.clear()

    async def act():
        await page.reads.call(searching.list_memories)
        assert started == []
        await page.acts.call(lambda memories: writing.write(memories, Draft(content=RULE)))
        assert started == [str(root)]

    anyio.run(act)
    page.close()


@pytest.mark.slow
def test_what_was_pulled_is_imported_for_a_program_without_hooks(enrolled):
    root, environment = enrolled
    (root / ".ade/memory/facts.md").write_text(f"# Facts\n\n- {RULE}\n")
    by_tool(root, environment, "memory_search", {"query": "releases"})

    wait_for(root, "mirror")
    with operations.open_memories(str(root), environment=environment | QUIET) as memories:
        assert [memory.content for memory in searching.list_memories(memories)] == [RULE]
