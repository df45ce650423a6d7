"""Deletion by the operator of the hub, which every clone hears of like any other."""

from __future__ import annotations

from ademem.core import registers
from ademem.core.clock import stamp
from ademem.store.hub import administration
from ademem.sync.hub import mutations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from ademem.store.hub.database import Connection


def purge(db: Connection, slug: str, ids: Sequence[str], now: datetime) -> list[str]:
    """Delete memories for good, and rewrite the tables; return the ids that were still there."""
    with db.transaction():
        project, found = administration.project_id(db, slug), administration.sync_ids(db, slug, ids)
        administration.append(db, project, _removals(project, found, now))
    administration.vacuum(db, slug)
    return list(found)


def purge_person(
    db: Connection, slug: str, name: str, now: datetime, *, keep_texts: bool
) -> list[str]:
    """Delete what is a person's, and take their name off the rest; return the deleted ids.

    In memories of others that they changed, their words stay without the name.
    """
    with db.transaction():
        project, person = administration.project_id(db, slug), administration.person_id(db, name)
        rows = [] if keep_texts else administration.written_by(db, slug, name)
        found = administration.sync_ids(db, slug, (row["id"] for row in rows))
        forgetting = mutations.forgetting(project, name, registers.old_stamp(stamp(now)))
        administration.append(db, project, [*_removals(project, found, now), forgetting])
        administration.forget_person(db, project, person)
    administration.vacuum(db, slug)
    return list(found)


def _removals(project: str, found: dict[str, str], now: datetime) -> list[mutations.Fields]:
    at = registers.old_stamp(stamp(now))
    return [mutations.removal(project, id, sync_id, at) for id, sync_id in found.items()]
