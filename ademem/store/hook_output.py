"""How much hooks put before the model."""

from __future__ import annotations

from ademem.clock import stamp

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime
    from typing import Any

    from ademem.store import Store

DAY_CHARS = len("2026-01-31")


def note(store: Store, event: str, characters: int, now: datetime) -> None:
    """Count what a hook printed; its answer is worth more than its count."""
    try:
        store.db.execute(
            "insert into hook_output (day, event, answers, characters) values (?, ?, 1, ?)"
            " on conflict do update set answers = answers + 1,"
            " characters = characters + excluded.characters",
            (stamp(now)[:DAY_CHARS], event, characters),
        )
    except store.db.Error:
        return


def noted(store: Store, since: datetime) -> list[dict[str, Any]]:
    """What hooks printed by day and event, newest day first."""
    rows = store.db.execute(
        "select day, event, answers, characters from hook_output where day >= ?"
        " order by day desc, event",
        (stamp(since)[:DAY_CHARS],),
    )
    return [dict(row) for row in rows]
