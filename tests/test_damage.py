"""One bad value, or one flipped bit, stops no command and no hook, and `doctor --fix` mends it."""

from __future__ import annotations

import _sqlite3
import functools
import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

import ademem
from ademem.core.errors import UnusableStore
from ademem.doors import cli
from ademem.operations import doctor, install, searching
from ademem.operations.doctor import rehearse
from ademem.store import full_text, repair
from ademem.worker import read_only
from tests.examples import FULL, examples, some
from tests.session import payloads
from tests.store import damage

VALUES, FLIPS, LOGGED = examples(150, 25), examples(40, 20), examples(10, 10)
LATEST = "Releases are tagged by the pipeline"
"""What only the log beside the database holds."""
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
    world = damage.build(root)
    install.install(
        str(root), install.Where.LOCAL, python=sys.executable, hooks=install.hooks_folder()
    )
    return world


@pytest.fixture(scope="module")
def logged(whole, tmp_path_factory):
    copy = damage.copied(whole, tmp_path_factory.mktemp("logged") / "project")
    return damage.with_log(copy, tmp_path_factory.mktemp("with log") / "project", LATEST)


@pytest.fixture(scope="module")
def rehearsed():
    """The doctor's rehearsal in a throw-away project, once for all: no damage here reaches it."""
    report = functools.cache(lambda: rehearse(install.own_commands(), os.environ))
    return lambda *_: report()


@pytest.fixture
def damaged(whole, logged, rehearsed, tmp_path, monkeypatch):
    """A copy of the project with one damage in its database, and this process inside it."""
    monkeypatch.setattr(doctor, "rehearse", rehearsed)
    for name in [name for name in os.environ if name.startswith(("ADEMEM_", "CLAUDE"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setenv("CLAUDE_PROJECT_DIR", str(tmp_path / "project"))
    monkeypatch.setenv("ADEMEM_JOBS_AUTO", "false")

    def damaged(kind, number):
        before = logged if kind == "log" else whole
        path = before.root / ".ade" / "ade.db"
        chance = random.Random(f"{kind} {number}")
        if kind == "value":
            one = chance.choice(damage.damages(path))
        else:
            one = damage.flip(path, chance, "-wal" if kind == "log" else "")
        world = damage.copied(before, tmp_path / "project")
        if (
            number % 4 == 3
        ):  # in a home that knows nothing of the database, as after a restored backup
            world.environment["HOME"] = str(tmp_path / "home")
        monkeypatch.setenv("HOME", world.environment["HOME"])
        if kind != "sound":
            one.inflict(world.root / ".ade" / "ade.db")
        monkeypatch.chdir(world.root)
        return world, one

    return damaged


def run(command, monkeypatch, capsys):
    """Exit code and output of a command that is typed."""
    monkeypatch.setattr(sys, "argv", ["ademem", *command.split()])
    with pytest.raises(SystemExit) as stopped:
        cli.main()
    said = capsys.readouterr()
    return stopped.value.code or 0, said.out + said.err


def check_hooks(world, one):
    for event, recorded in payloads.RECORDED.items():
        for payload in recorded if FULL else recorded[:1]:
            raw = json.dumps(payload | {"cwd": str(world.root), "session_id": "s1"}).encode()
            said = world.fire(event, raw=raw)
            assert payloads.understood(event, said), f"{one.name}: {event} said {said!r}"


def check_commands(world, one, number, monkeypatch, capsys):
    id = json.loads((world.root / ".ade/memory/knowledge.jsonl").read_text().splitlines()[0])["id"]
    for command in COMMANDS if FULL else COMMANDS[number % 6 :: 6]:
        code, said = run(command.replace("ID", id), monkeypatch, capsys)
        assert code in (0, 1, 2, 4, 6), f"{one.name}: {command}: {said[-200:]}"


def check_repair(world, one, texts, monkeypatch, capsys):
    code, done = run("doctor --fix", monkeypatch, capsys)
    assert code == 0, f"{one.name}: {done}"
    assert "FAIL" not in done, f"{one.name}: {done}"
    check_soundness(world, one, texts, done)


def check_soundness(world, one, texts, done):
    with closing(sqlite3.connect(world.root / ".ade" / "ade.db")) as db:
        assert db.execute("pragma integrity_check").fetchall() == [("ok",)], one.name
        assert db.execute("pragma foreign_key_check").fetchall() == [], one.name
        assert repair.find_bad_rows(db) == [], one.name
    with world.memories() as memories:
        assert full_text.find_broken(memories.store) == []
        assert texts <= {memory.content for memory in searching.list_memories(memories)}, (
            f"{one.name}: {done}"
        )
        assert searching.search(memories, "staging").hits


@pytest.mark.parametrize(
    ("kind", "number"),
    [("value", number) for number in range(VALUES)]
    + [("bit", number) for number in range(FLIPS)]
    + [("log", number) for number in range(LOGGED)],
)
def test_everything_answers_and_the_doctor_mends(
    kind, number, whole, damaged, monkeypatch, capsys, tmp_path
):
    world, one = damaged(kind, number)
    check_hooks(world, one)
    if kind == "value":
        assert world.failures() == [], one.name
    check_commands(world, one, number, monkeypatch, capsys)
    check_repair(world, one, texts_of(kind), monkeypatch, capsys)
    check_hooks(world, one)
    shutil.rmtree(world.root)


def texts_of(kind):
    return {text for text, _ in damage.TEXTS} | ({LATEST} if kind == "log" else set())


def typed(world, *command):
    """A command as a process of its own."""
    return subprocess.run(
        [sys.executable, "-c", "from ademem.doors.cli import program; program()", *command],
        cwd=world.root,
        env=os.environ | {"PYTHONPATH": str(Path(ademem.__file__).parents[1])},
        capture_output=True,
        text=True,
    )


@pytest.mark.parametrize(
    ("kind", "number"), some([("value", 0), ("value", 1), ("bit", 0), ("bit", 1), ("log", 0)], 2)
)
def test_a_process_of_the_doctor_mends(kind, number, damaged):
    world, one = damaged(kind, number)
    done = typed(world, "doctor", "--fix")

    assert done.returncode == 0, f"{one.name}: {done.stdout}{done.stderr}"
    check_soundness(world, one, texts_of(kind), done.stdout)


HOLD = """
import sqlite3, sys
db = sqlite3.connect(sys.argv[1], isolation_level=None)
db.execute(f"pragma locking_mode = {sys.argv[2]}")
db.execute("begin exclusive")
db.execute("update projects set display_name = 'held'")
print("held", flush=True)
sys.stdin.read()
"""


def impatient(connect):
    def connect_soon(*arguments, timeout=5.0, **options):
        return connect(*arguments, timeout=min(timeout, 0.1), **options)

    return connect_soon


@pytest.fixture
def locked(whole, damaged, monkeypatch):
    """A sound project whose database another process holds; this one waits a moment for it."""
    for module in (sqlite3, _sqlite3):
        monkeypatch.setattr(module, "connect", impatient(module.connect))
    holders = []

    def locked(mode):
        world, _ = damaged("sound", 0)
        arguments = [sys.executable, "-c", HOLD, str(world.root / ".ade" / "ade.db"), mode]
        pipe = subprocess.PIPE
        holders.append(subprocess.Popen(arguments, stdin=pipe, stdout=pipe, text=True))
        assert holders[0].stdout.readline() == "held\n"
        return world

    yield locked
    for holder in holders:
        holder.communicate()


def test_a_database_that_another_process_writes_is_read(locked, monkeypatch, capsys):
    world = locked("normal")
    check_hooks(world, damage.Damage())
    for command in ("recall staging", "list", "search staging", "status"):
        code, said = run(command, monkeypatch, capsys)
        assert code == 0, f"{command}: {said}"


@pytest.mark.parametrize("mode", ["normal", "exclusive"])
def test_what_needs_a_database_that_is_held_tells_the_next_step(locked, mode, monkeypatch, capsys):
    locked(mode)
    code, said = run("add a-lesson-that-waits", monkeypatch, capsys)
    assert code == 6, said
    assert "another program holds it; try again" in said


def test_a_database_that_another_process_holds_alone_is_read_from_a_copy(
    locked, monkeypatch, capsys
):
    world = locked("exclusive")
    for command in ("recall staging", "list", "status"):
        code, said = run(command, monkeypatch, capsys)
        assert (code, read_only.LOCKED_LINE in said) == (0, True), f"{command}: {said}"
    done = typed(world, "recall", "staging")
    assert (done.returncode, done.stderr.strip()) == (0, read_only.LOCKED_LINE)
    assert "staging" in done.stdout


def test_a_database_that_changes_while_it_is_copied_is_not_read(locked, monkeypatch):
    world = locked("exclusive")
    states = iter(range(99))
    monkeypatch.setattr(read_only, "_state", lambda *_: str(next(states)))
    with pytest.raises(UnusableStore, match="changes while it is copied") as raised:
        world.memories()
    assert raised.value.hint == "another program holds it; try again"


def test_every_hook_answers_though_another_process_holds_the_database_alone(locked):
    check_hooks(locked("exclusive"), damage.Damage())


@pytest.mark.parametrize("mode", ["normal", "exclusive"])
def test_the_doctor_leaves_a_database_that_is_held_where_it_is(locked, mode, monkeypatch, capsys):
    world = locked(mode)
    code, said = run("doctor --fix", monkeypatch, capsys)

    assert code == 1
    assert "nothing in the database: database is locked (another program holds it" in said
    assert "does not agree with" not in said
    assert [name for name in os.listdir(world.root / ".ade") if "damaged" in name] == []
