"""A process that ends at one of its operations on files or of its journal."""

from __future__ import annotations

import os

from ademem.core import confined
from ademem.store import journal

OPERATIONS = ("open", "replace", "unlink", "mkdir", "fsync", "rename")


def run_until_killed(act, limit):
    """Act in a process that ends at its operation number *limit*; return the count of them."""
    reader, writer = os.pipe()
    child = os.fork()
    if child:
        os.close(writer)
        with open(reader) as file:
            count = file.read()
        os.waitpid(child, 0)
        return int(count or limit)
    done = 0

    def counted(operation):
        def run(*arguments, **options):
            nonlocal done
            done += 1
            if done == limit:
                os._exit(9)
            return operation(*arguments, **options)

        return run

    try:
        for name in OPERATIONS:
            setattr(confined.os, name, counted(getattr(os, name)))
        journal.note_chunk = counted(journal.note_chunk)
        journal.advance = counted(journal.advance)
        act()
        os.write(writer, str(done).encode())
    finally:
        os._exit(0)
