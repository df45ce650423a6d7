"""Bringing back what a database says that was set aside: as imported drafts, through the gate."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing

from ademem.capture.gate import write
from ademem.core import confined
from ademem.core.memory import Category, Draft, Importance, Origin, Trust
from ademem.core.text import counted
from ademem.store import admission, inspection
from ademem.store.ade.values import text, word
from ademem.store.runtime import open_runtime

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import datetime

    from ademem.core.project import Project

TABLES = ("unified_memories", "memories")
"""Tables of memories, ours or ADE's; the first that is there is read."""
DONE = ".imported"
"""What is appended to the name of a database when its rows were brought back."""


def restore(project: Project, environment: Mapping[str, str], now: datetime) -> list[str]:
    """Import the memories of each database that was set aside, and tell what became of them.

    Of a row only text, title, category, importance and tags count, and the gate judges them like
    any text from somebody else.
    """
    done = []
    runtime = open_runtime(project, environment, now)
    try:
        for path in admission.foreign(project):
            name = os.path.basename(path)
            if not confined.is_file(project.home_root, path):
                done.append(f"left {name} alone, which is no regular file")
                continue
            try:
                drafts = list(_drafts(path, name))
            except (sqlite3.Error, inspection.TooMuch) as error:
                done.append(f"left {name} alone, which cannot be read ({error})")
                continue
            with runtime.store.transaction():
                written = [
                    write(each, runtime.store, runtime.settings.gate, now) for each in drafts
                ]
            held = [each for each in written if each.memory and each.memory.quarantine_reason]
            taken = counted(sum(each.accepted for each in written), "memory")
            confined.rename(project.home_root, path, name + DONE)
            done.append(f"imported {taken} from {name}, {len(held)} of them held back for review")
    finally:
        runtime.close()
    return done


def _drafts(path: str, name: str) -> Iterator[Draft]:
    with closing(inspection.open_read_only(path, 1.0, inspection.COPY_S)) as db:
        tables = inspection.plain_tables(db)
        table = next((each for each in TABLES if each in tables), None)
        if table is None:
            return
        columns = tables[table]
        origin = Origin(trust=Trust.IMPORT, source_type="import", source_id=name)
        for values in inspection.read_rows(db, table, columns):
            row = dict(zip(map(str.lower, columns), values, strict=True))
            content = text(row.get("content"))
            is_past = row.get("status") == "archived" or row.get("deleted_at")
            if content and not is_past and row.get("scope") in (None, "project"):
                yield Draft(
                    content=content,
                    title=text(row.get("title")),
                    category=word(Category, row.get("category"), Category.FACT),
                    importance=word(Importance, row.get("importance"), Importance.MEDIUM),
                    tags=tuple((text(row.get("tags")) or "").split()),
                    origin=origin,
                )
