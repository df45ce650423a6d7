"""Fill the disk of a project through each door in turn; print a JSON line for each round."""

import json
import os
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

from ademem import operations
from tests.plugins.test_faults import lesson
from tests.plugins.three import Doors

SPARE = 320 * 1024
"""Bytes that are left when the doors begin to write."""


def main(root, rounds):
    folder = root / "project"
    folder.mkdir()
    environment = {
        "CLAUDE_PROJECT_DIR": str(folder),
        "HOME": os.environ["HOME"],
        "PATH": os.environ["PATH"],
        "ADEMEM_JOBS_AUTO": "false",
    }
    operations.init(str(folder), environment=environment)
    number = 0
    with Doors(folder, environment) as doors:
        for turn in range(rounds):
            door = doors.names[turn % len(doors.names)]
            fill(root)
            acknowledged, id = [], ""
            while id is not None:
                number += 1
                id, facts = doors.write(door, lesson(number))
                if id is not None:
                    acknowledged.append(lesson(number))
            (root / "filler").unlink()
            number += 1
            after, _ = doors.write(door, lesson(number))
            with closing(sqlite3.connect(folder / ".ade/ade.db")) as db:
                there = {text for (text,) in db.execute("select content from unified_memories")}
                assert db.execute("pragma integrity_check").fetchone() == ("ok",)
            lost = [text for text in acknowledged if text not in there]
            found = {"door": door, "acknowledged": len(acknowledged), "refusal": facts}
            print(json.dumps(found | {"lost": lost, "after": after}), flush=True)


def fill(root):
    free = os.statvfs(root)
    (root / "filler").write_bytes(bytes(max(0, free.f_bavail * free.f_frsize - SPARE)))


main(Path(sys.argv[1]), int(sys.argv[2]))
