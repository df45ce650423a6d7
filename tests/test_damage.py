"""One bad value, or one flipped bit, stops no command and no hook, and `doctor --fix` mends it."""

from __future__ import annotations

import json
import os
import random
import shutil
import sqlite3
import sys
from contextlib import closing

import pytest

from ademem.api import recovery
from ademem.core import project
from ademem.doors import cli
from ademem.store import bad_rows, indexes
from tests.session import payloads
from tests.store import damage

FULL = os.environ.get("ADEMEM_EXAMPLES") == "full"
VALUES, FLIPS = (150, 50) if FULL else (40, 20)
COMMANDS = """
recall parser
recall --stats
recall parser --json
search staging --all
get ID
list --all
candidates
review --list
history ID
log
at 2026-03-01
sweep --dry-run
consolidate --dry-run
mission status
mission list
episodes
procedures list --all
skills list --all
digest
stats
agents list
agents show reviewer
files refresh --dry-run
files diff
files check
core show
export -
verify
status
guard status
guard log
refusals
cost
scrub --dry-run
propose --dry-run
undo nothing --dry-run
""".strip().splitlines()
"""The commands that read."""


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    root = tmp_path_factory.mktemp("whole") / "project"
    root.mkdir()
    return damage.build(root)


@pytest.fixture
def damaged(whole, tmp_path, monkeypatch):
    """A copy of the project with one damage in its database, and this process inside it."""
    for name in [name for name in os.environ if name.startswith(("ADEMEM_", "CLAUDE"))]:
        monkeypatch.delenv(name)
    for name, value in {"HOME": "home", "TMPDIR": "", "CLAUDE_PROJECT_DIR": "project"}.items():
        monkeypatch.setenv(name, str(tmp_path / value))
    monkeypatch.setenv("ADEMEM_JOBS_AUTO", "false")

    def damaged(kind, number):
        path = whole.root / ".ade" / "ade.db"
        chance = random.Random(f"{kind} {number}")
        one = chance.choice(damage.damages(path)) if kind == "value" else damage.flip(path, chance)
        world = damage.copied(whole, tmp_path / "project")
        one.inflict(world.root / ".ade" / "ade.db")
        monkeypatch.chdir(world.root)
        return world, one

    return damaged


def run(command, monkeypatch, capsys):
    """Exit code and last line of what a command says."""
    monkeypatch.setattr(sys, "argv", ["ademem", *command.split()])
    with pytest.raises(SystemExit) as stopped:
        cli.main()
    said = capsys.readouterr()
    return stopped.value.code or 0, (said.err or said.out).strip().rpartition("\n")[2]


def check_hooks(world, one):
    for event, recorded in payloads.RECORDED.items():
        for payload in recorded:
            raw = json.dumps(payload | {"cwd": str(world.root), "session_id": "s1"}).encode()
            said = world.fire(event, raw=raw)
            assert payloads.understood(event, said), f"{one.name}: {event} said {said!r}"


def check_commands(world, one, number, monkeypatch, capsys):
    id = json.loads((world.root / ".ade/memory/knowledge.jsonl").read_text().splitlines()[0])["id"]
    for command in COMMANDS if FULL else COMMANDS[number % 6 :: 6]:
        code, line = run(command.replace("ID", id), monkeypatch, capsys)
        assert code in (0, 1, 2), f"{one.name}: {command}: {line}"


def check_repair(world, one, texts):
    done = recovery.recover(project.at(str(world.root)), world.environment, world.now)
    with closing(sqlite3.connect(world.root / ".ade" / "ade.db")) as db:
        assert db.execute("pragma integrity_check").fetchall() == [("ok",)], one.name
        assert db.execute("pragma foreign_key_check").fetchall() == [], one.name
        assert bad_rows.find(db) == [], one.name
    with world.memories() as memories:
        assert indexes.astray(memories.runtime.store) == []
        assert texts <= {memory.content for memory in memories.list()}, f"{one.name}: {done}"
        assert memories.search("staging").hits


@pytest.mark.parametrize(
    ("kind", "number"),
    [("value", number) for number in range(VALUES)] + [("bit", number) for number in range(FLIPS)],
)
def test_everything_answers_and_the_doctor_mends(
    kind, number, whole, damaged, monkeypatch, capsys, tmp_path
):
    world, one = damaged(kind, number)
    check_hooks(world, one)
    if kind == "value":
        assert world.failures() == [], one.name
    check_commands(world, one, number, monkeypatch, capsys)
    check_repair(world, one, {text for text, _ in damage.TEXTS})
    check_hooks(world, one)
    shutil.rmtree(world.root)
