"""`python -m tests.store.nobody FOLDER`: open a store without privileges, tell what that raised."""

from __future__ import annotations

import contextlib  # noqa: F401  (nobody may not be able to read where Python is)
import fcntl  # noqa: F401
import os
import sqlite3
import sys

from ademem.core.project import Project
from ademem.store import inspection  # noqa: F401
from ademem.store.opening import open_store
from tests.builders import NOW

NOBODY = 65534

if __name__ == "__main__":
    if os.getuid() == 0:
        os.setuid(NOBODY)
    try:
        open_store(Project(root=sys.argv[1], home=sys.argv[1]), NOW).close()
    except (sqlite3.Error, OSError) as error:
        print(type(error).__name__)
