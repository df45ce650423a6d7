"""Hooks, counts and a new memory read no more where there are ten times as many memories.

What SQLite does is counted in steps of its virtual machine, which no other load changes.
"""

from __future__ import annotations

import itertools

import pytest

from ademem.core.memory import Draft, Origin, Trust
from ademem.operations import overview, reports, writing
from ademem.store import database
from tests.world import World

FEW, MANY = 100, 1000
STEP = 10
"""Steps between two calls of the counter."""
ALLOWED = 1.2
"""Growth for ten times as many memories; a walk through all of them would be ten."""
FILL = """
insert into unified_memories (id, sync_id, project_id, scope, category, content, status, stage,
  dedupe_key, created_at, updated_at, last_accessed_at)
with recursive number(n) as (select 1 union all select n + 1 from number where n < :size)
select printf('%016x', n), printf('%032x', n), :project, 'project', 'convention',
  'Alpha' || n || ' beta' || n || ' in src/module' || n || '.py',
  iif(n % 10, 'promoted', 'candidate'), iif(n % 10, 'confirmed', 'candidate'), printf('%x', n),
  :at, :at, :at from number
"""
BIND = """
insert into memory_bindings (memory_seq, kind, key, strength, source)
select seq, 'path', 'src/module' || seq || '.py', 'named', 'text' from unified_memories
"""


@pytest.fixture(scope="module")
def steps():
    """A counter of the steps of every connection."""
    counter, connect = itertools.count(), database.connect

    def connect_counted(*given, **options):
        db = connect(*given, **options)
        db.set_progress_handler(lambda: next(counter) < 0, STEP)
        return db

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(database, "connect", connect_counted)
        yield counter


@pytest.fixture(scope="module")
def places(tmp_path_factory):
    return [fill(tmp_path_factory.mktemp("growth") / "project", size) for size in (FEW, MANY)]


def fill(root, size):
    world = World(root)
    with world.memories() as memories:
        values = {"size": size, "project": memories.store.project_id}
        memories.store.db.execute(FILL, values | {"at": "2026-01-31T12:00:00.000Z"})
        memories.store.db.execute("delete from memory_bindings")
        memories.store.db.execute(BIND)
    world.know("Use pnpm, never npm", origin=Origin(trust=Trust.USER, source_type="user"))
    return world


def turn(world):
    return {"session_id": f"{world.now:%H-%M-%S}", "prompt_id": "p", "tool_name": "Bash"}


def start(world):
    world.fire("session_start", source="startup", **turn(world))


def deny(world):
    now = turn(world)
    world.fire("user_prompt_submit", prompt="Fix the login", **now)
    call = {"tool_input": {"command": "npm ci"}, "tool_use_id": "t"}
    assert "pnpm" in world.denial(**call, **now)


def state(world):
    now = turn(world)
    prompt = f"Modular trams always use pnpm on line {world.now:%M%S}, never yarn."
    assert "Nearest known" in world.context("user_prompt_submit", prompt=prompt, **now)


def fail(world):
    call = {"tool_input": {"command": "make frobnicate"}, "tool_use_id": "t"}
    world.fire("post_tool_use_failure", error="No rule to make it", **call, **turn(world))


def stop(world):
    world.fire("stop", last_assistant_message="Done.", **turn(world))


def report(world):
    with world.memories() as memories:
        assert reports.get_status(memories)["memories"]["promoted"] > FEW / 2


def look(world):
    with world.memories() as memories:
        assert overview.get_overview(memories).waiting


def add(world):
    with world.memories() as memories:
        draft = Draft(content=f"Trams stop {world.now:%H-%M-%S}", category="fact")
        assert writing.write(memories, draft).accepted


@pytest.mark.parametrize("act", [start, deny, state, fail, stop, report, look, add])
def test_ten_times_as_many_memories_are_read_no_longer(act, places, steps):
    spent = []
    for world in places:
        world.fire("stop", last_assistant_message="Done.")  # moves the clock
        act(world)
        before = next(steps)
        act(world)
        spent.append(next(steps) - before)

    assert spent[1] <= ALLOWED * spent[0]
