"""`python -m tests.operations.killed_restore PROJECT BACKUP STRIDE`: kill processes that restore.

Each process restores the backup into a copy of the project, and is killed at one of the moments at
which it opens, renames or removes a file, or opens a database: at the first, at the one STRIDE
later, and so on, until one reaches its end. A line has the texts of the database after it, and
those of each backup of the copy.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from ademem.core import project
from ademem.operations import recovery
from ademem.store import backup_files
from tests.builders import NOW

if TYPE_CHECKING:
    from ademem.core.project import Project

MOMENTS = ("open", "os.rename", "os.remove", "sqlite3.connect")


def texts(path: Path) -> list[str]:
    """All texts of a sound database."""
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("pragma integrity_check").fetchone() == ("ok",)
        return [row[0] for row in db.execute("select content from unified_memories order by 1")]


def is_killed(place: Project, backup: str, after: int) -> bool:
    """Restore in a process that is killed after so many moments; False if it reached its end."""
    child = os.fork()
    if child == 0:
        left = after

        def count(event: str, _arguments: object) -> None:
            nonlocal left
            if event in MOMENTS:
                left -= 1
                if left < 0:
                    os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(count)
        recovery.restore_backup(place, os.environ, backup, NOW, force=True)
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    assert os.WIFSIGNALED(status) or status == 0, status
    return os.WIFSIGNALED(status)


if __name__ == "__main__":
    origin, backup, stride = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    place = project.at(f"{origin}-killed")
    ended, after = False, 0
    while not ended:
        for folder in (place.root, backup_files.folder(place, os.environ)):
            shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(origin, place.root)
        ended = not is_killed(place, backup, after)
        after += stride
        kept = [texts(Path(each.path)) for each in backup_files.list_all(place, os.environ)]
        print(json.dumps([texts(Path(place.database)), kept]), flush=True)
