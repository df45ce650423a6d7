"""What the files said when they and the store last agreed, in this worktree."""

from __future__ import annotations

import json
import os

from ademem import confined
from ademem.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from ademem.project import Project


class Base(Value):
    database: str = ""
    """Which one agreed: with a new one, made because the old was lost, nothing is agreed yet."""
    commit: str | None = None
    """Checked out at the time; None: nothing committed, or no git."""
    branch: str | None = None
    """The one that was checked out; empty when none was, None when nobody noted it."""
    texts: Mapping[str, str] = {}
    """By the path in the project."""
    refused: tuple[str, ...] = ()
    """Lines in it that could not be taken over."""


def load(project: Project, database: str) -> Base:
    """Empty before the first agreement, and when the record of it cannot be read."""
    try:
        recorded = json.loads(confined.read_text(project.root, _path(project)) or "")
        if recorded["database"] == database:
            return Base(
                database=database,
                commit=recorded["commit"],
                branch=recorded.get("branch"),
                texts=dict(recorded["texts"]),
                refused=tuple(recorded.get("refused", ())),
            )
    except (ValueError, KeyError, TypeError):
        pass
    return Base(database=database)


def save(project: Project, base: Base) -> None:
    recorded = {
        "database": base.database,
        "commit": base.commit,
        "branch": base.branch,
        "texts": dict(sorted(base.texts.items())),
        "refused": sorted(base.refused),
    }
    text = json.dumps(recorded, ensure_ascii=False) + "\n"
    confined.write_text(project.root, _path(project), text)


def _path(project: Project) -> str:
    return os.path.join(project.run, "agreed.json")
