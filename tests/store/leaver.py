"""Writes as much as it is told and ends as a hook does: without closing the database."""

import os
import sys
from pathlib import Path

from tests.builders import insert, memory, open_project

root, name, chars = sys.argv[1:]
store = open_project(Path(root))
insert(store, memory(f"{name} {'x' * int(chars)}"))
store.leave()
os._exit(0)
