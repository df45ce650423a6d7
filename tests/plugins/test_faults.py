"""A disk that is full, a database that is held or damaged: a clear refusal through every door."""

import _sqlite3
import json
import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from hashlib import sha256

import pytest

from ademem.store.database import SIDECARS
from tests.examples import examples
from tests.plugins.three import Doors

BEFORE = "Releases are cut on Mondays, because the mirror syncs on Sunday"
HELD, DAMAGED, ROOM = "another program holds it; try again", "doctor", "make room"
PRIVATE_MOUNTS = ["unshare", "--map-root-user", "--mount"]
DISK = 'mount -t tmpfs -o size=6m tmpfs "$1" && exec "$2" -m tests.plugins.filling "$1" "$3"'
PAGE = 4096


def lesson(number):
    """A text that no other is near to."""
    words = [sha256(f"{number} {at}".encode()).hexdigest()[:8] for at in range(6)]
    return f"The service {' '.join(words)} listens on port {number}"


def wait_little(connect):
    def connect_soon(*arguments, timeout=5.0, **options):
        return connect(*arguments, timeout=min(timeout, 0.1), **options)

    return connect_soon


@pytest.fixture
def doors(world, monkeypatch):
    for module in (sqlite3, _sqlite3):
        monkeypatch.setattr(module, "connect", wait_little(module.connect))
    with Doors(world.root, world.environment) as doors:
        for door in doors.names:
            assert doors.write(door, f"{BEFORE} for {door}")[0]
        yield doors


def check_refusals(doors, hint):
    for door in doors.names:
        id, facts = doors.write(door, lesson(door))
        assert id is None, door
        assert facts["rule"] == "store", door
        assert hint in facts["next"], door


def check_all_is_well(doors):
    for number, door in enumerate(doors.names):
        assert BEFORE in doors.find(door, "mirror releases")
        assert doors.write(door, lesson(number))[0], door
    for number, _ in enumerate(doors.names):
        for door in doors.names:
            assert lesson(number).split()[2] in doors.find(door, lesson(number).split()[2])


def test_while_another_process_writes_doors_read_and_tell_when_to_write(doors, world):
    with closing(sqlite3.connect(world.root / ".ade/ade.db", isolation_level=None)) as other:
        other.execute("begin exclusive")
        for door in doors.names:
            assert BEFORE in doors.find(door, "mirror releases"), door
        check_refusals(doors, HELD)
        other.execute("rollback")

    check_all_is_well(doors)


def test_a_damaged_database_is_named_and_the_doors_go_on_once_it_is_whole(doors, world, tmp_path):
    database = world.root / ".ade/ade.db"
    with closing(sqlite3.connect(database)) as db:
        db.execute("vacuum into ?", (str(tmp_path / "whole.db"),))
    damaged = bytearray((tmp_path / "whole.db").read_bytes())
    damaged[PAGE:] = b"\xff" * (len(damaged) - PAGE)
    (tmp_path / "damaged.db").write_bytes(damaged)
    put(tmp_path / "damaged.db", database)

    check_refusals(doors, DAMAGED)
    for door in doors.names:
        assert "Traceback" not in doors.find(door, "mirror releases")

    put(tmp_path / "whole.db", database)
    check_all_is_well(doors)


def put(file, database):
    """Let a file take the place of the database, without its log."""
    for suffix in SIDECARS:
        database.with_name(database.name + suffix).unlink(missing_ok=True)
    os.replace(file, database)


@pytest.mark.slow
def test_on_a_full_disk_what_was_acknowledged_is_there(tmp_path):
    if not shutil.which("unshare"):
        pytest.skip("needs unshare")
    if subprocess.call([*PRIVATE_MOUNTS, "mount", "-t", "tmpfs", "t", "/mnt"]):
        pytest.skip("needs the right to mount")
    (tmp_path / "disk").mkdir()
    rounds = examples(8, 2)
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "TMPDIR": str(tmp_path)}
    environment |= {"PYTHONPATH": os.pathsep.join([os.getcwd(), *sys.path])}
    command = ["sh", "-c", DISK, "sh", str(tmp_path / "disk"), sys.executable, str(rounds)]
    done = subprocess.run(
        [*PRIVATE_MOUNTS, *command], env=environment, capture_output=True, text=True
    )
    found = [json.loads(line) for line in done.stdout.splitlines()]

    assert len(found) == rounds, done.stderr
    for each in found:
        assert each["refusal"]["rule"] == "store", each
        assert ROOM in each["refusal"]["next"], each
        assert each["acknowledged"] > 0
        assert each["lost"] == []
        assert each["after"], "it writes again once there is room"
