"""A project that cannot be written is read from a copy, and nothing is learned there."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest

from ademem.core import client, errors
from ademem.core.memory import Trust
from ademem.operations import files, reports, searching, sessions, writing
from ademem.store import database
from ademem.worker import read_only
from tests.store import filled
from tests.world import World

TEXT = "Deploys go through the staging branch"
MOUNT = shutil.which("mount") and shutil.which("unshare")


@pytest.fixture
def world(tmp_path):
    (tmp_path / "project").mkdir()
    world = World(tmp_path / "project")
    world.environment |= {"HOME": str(tmp_path / "home")}
    world.know(TEXT)
    with world.memories() as memories:
        files.refresh_files(memories)
    return world


@pytest.fixture
def locked_up(world, monkeypatch):
    lock_up(world, monkeypatch)
    return world


def lock_up(world, monkeypatch):
    """As on a read-only medium: what would write there is refused by the system's word."""
    usual = os.access

    def access(path, mode, **options):
        inside = str(path).startswith(str(world.root))
        return not (inside and mode & os.W_OK) and usual(path, mode, **options)

    monkeypatch.setattr(os, "access", access)


def tree(root):
    return {
        str(path): path.stat().st_mtime_ns for path in root.rglob("*") if path.name != "ade.db-shm"
    }


def test_what_is_known_is_found_and_no_file_is_touched(locked_up):
    before = tree(locked_up.root)
    with locked_up.memories() as memories:
        assert memories.is_read_only
        assert [hit.memory.content for hit in searching.recall(memories, "staging").hits]
        assert len(searching.list_memories(memories)) == 1
        assert reports.get_status(memories)["memories"]["promoted"] == 1

    assert tree(locked_up.root) == before


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda memories: writing.write(memories, "Tabs are forbidden"), id="a memory"),
        pytest.param(lambda memories: sessions.start_session(memories, "s2"), id="a session"),
        pytest.param(lambda memories: sessions.end_session(memories, "s9"), id="an end"),
        pytest.param(lambda memories: sessions.delete_session(memories, "s9"), id="a deletion"),
        pytest.param(
            lambda memories: sessions.delete_prompt(
                memories, sessions.search_prompts(memories)[0]["id"]
            ),
            id="the deletion of a prompt",
        ),
    ],
)
def test_a_change_is_refused_with_the_next_step(world, monkeypatch, change):
    world.fire("session_start", source="startup", session_id="s9")
    world.fire("user_prompt_submit", session_id="s9", prompt="Fix the parser")
    lock_up(world, monkeypatch)
    with world.memories() as memories, pytest.raises(sqlite3.Error) as raised:
        change(memories)

    told = errors.explain_machine_error(raised.value)
    assert "read-only" in str(told)
    assert "copy the project" in told.hint


def test_what_changed_in_the_original_is_seen(world, monkeypatch):
    with closing(read_only.open_copy(project_of(world), world.environment, world.now)) as first:
        assert first.store.db.execute("select count(*) from unified_memories").fetchone()[0] == 1
    world.know("Tabs are forbidden here")
    with closing(read_only.open_copy(project_of(world), world.environment, world.now)) as second:
        assert second.store.db.execute("select count(*) from unified_memories").fetchone()[0] == 2


def project_of(world):
    from ademem.core import project

    return project.at(str(world.root))


def test_a_database_from_before_the_release_is_taken_over_in_the_copy_alone(locked_up):
    path = locked_up.root / ".ade" / "ade.db"
    with closing(sqlite3.connect(path)) as db:
        db.executescript(filled.EARLIER)
        db.execute(f"pragma user_version = {database.EARLIER[-1]}")
    before = path.read_bytes()

    assert TEXT in locked_up.context("session_start", source="startup")
    assert path.read_bytes() == before


def test_without_a_database_the_copy_is_built_from_the_files(locked_up):
    for path in (locked_up.root / ".ade").glob("ade.db*"):
        path.unlink()

    with locked_up.memories() as memories:
        assert [memory.content for memory in searching.list_memories(memories)] == [TEXT]
    assert not (locked_up.root / ".ade" / "ade.db").exists()


def test_a_session_is_briefed_and_the_person_hears_of_it_once(locked_up):
    said = json.loads(locked_up.fire("session_start", source="startup"))

    assert TEXT in said["hookSpecificOutput"]["additionalContext"]
    assert said["systemMessage"] == f"{client.MARK} {read_only.LINE}"
    later = json.loads(locked_up.fire("session_start", source="resume"))
    assert "systemMessage" not in later


def test_a_prompt_recalls_and_teaches_nothing(locked_up):
    said = locked_up.context(
        "user_prompt_submit", prompt="fix how deploys reach the staging branch"
    )
    assert TEXT in said

    locked_up.fire("user_prompt_submit", prompt="remember: tabs are forbidden here")
    assert len(locked_up.live()) == 1


@pytest.mark.parametrize("event", ["pre_tool_use", "stop", "session_end", "post_tool_use"])
def test_every_other_hook_is_silent(locked_up, event):
    assert locked_up.fire(event, tool_name="Write", tool_input={"file_path": "a"}) == ""
    assert locked_up.failures() == []


@pytest.mark.skipif(os.getuid() != 0 or not MOUNT, reason="needs the right to mount")
def test_the_command_line_reads_on_a_read_only_mount(world):
    command = (
        f'mount --bind "{world.root}" "{world.root}" && mount -o remount,bind,ro "{world.root}"'
        f' && exec "{sys.executable}" -c'
        ' "import sys; from ademem.doors import cli; cli.main()" recall staging --json'
    )
    environment = os.environ | world.environment | {"PYTHONPATH": os.getcwd()}
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-c", command],
        cwd=world.root.parent,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if "mount" in done.stderr and not done.stdout:
        pytest.skip(done.stderr)

    assert done.returncode == 0, done.stderr
    assert TEXT in done.stdout
    assert done.stderr.strip() == read_only.LINE


def test_a_locked_store_answers_without_counting(world):
    with world.memories() as memories:
        memories.store.db.execute("pragma busy_timeout = 0")
        with closing(sqlite3.connect(world.root / ".ade" / "ade.db")) as other:
            other.execute("begin immediate")
            assert searching.recall(memories, "staging").hits
        assert searching.list_memories(memories)[0].access_count == 0


def test_a_database_that_came_with_git_is_not_read(locked_up, monkeypatch):
    monkeypatch.setattr(read_only.admission, "why_foreign", lambda project: "ade.db came with git")
    with locked_up.memories() as memories:
        (memory,) = searching.list_memories(memories)
    assert memory.trust == Trust.IMPORT
