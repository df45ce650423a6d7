"""Databases that somebody else put below a project's folder."""

from __future__ import annotations

import os
import sqlite3
import subprocess
from contextlib import closing
from typing import TYPE_CHECKING

from tests.store import filled

if TYPE_CHECKING:
    from pathlib import Path

ENDLESS = "with recursive n(x) as (select 1 union all select x + 1 from n) select count(*) from n"
"""A query that never ends."""

SCRIPTS = {
    "a trigger on our table": (
        "create trigger evil after update on unified_memories begin"
        f" insert into decision_log (id) {ENDLESS}; end"
    ),
    "a trigger on an adopted table": (
        "create table ade_notes (x); create trigger evil after insert on ade_notes begin"
        " delete from unified_memories; end"
    ),
    "a view of another name": "create view mine as select 1",
    "an index that calls a function": (
        "create index evil on unified_memories(hex(zeroblob(length(content))))"
    ),
    "a partial index": "create index evil on unified_memories(id) where abs(tier) > 1",
    "a table beside ours": "create table notes (x); insert into notes values (1)",
    "a virtual table": "create virtual table evil using fts5(x)",
    "a generated column": (
        "alter table unified_memories add column evil text"
        " generated always as (hex(zeroblob(100000000)))"
    ),
    "a view in the place of our table": (
        f"alter table projects rename to theirs; create view projects as {ENDLESS}"
    ),
    "another table for the secret": (
        "drop table store_values;"
        " create table store_values (name, value blob generated always as (zeroblob(16)))"
    ),
}
"""What makes a schema of ours another's, by what it is."""


def build(path: Path, script: str = "") -> Path:
    """A database of ours, made elsewhere, changed by the script."""
    filled.build(path)
    with closing(sqlite3.connect(path)) as db:
        db.executescript(script)
    return path


def plain(path: Path, script: str) -> Path:
    """A database of the script alone."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path)) as db:
        db.executescript(script)
    return path


def git(root: Path, *arguments: str) -> None:
    subprocess.run(
        ["git", "-c", "user.name=A", "-c", "user.email=a@b.c", *arguments],
        cwd=root,
        check=True,
        capture_output=True,
        env=dict(os.environ) | {"GIT_CONFIG_NOSYSTEM": "1"},
    )


def commit(root: Path, *paths: str) -> None:
    """A repository in which these paths are committed."""
    if not (root / ".git").exists():
        git(root, "init", "-q", ".")
    git(root, "add", "-f", *paths)
    git(root, "commit", "-qm", "all")
