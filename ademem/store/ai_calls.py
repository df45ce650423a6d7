"""Calls of an AI: purpose, outcome and price."""

from __future__ import annotations

from ademem.core.clock import stamp
from ademem.core.redaction import redact
from ademem.core.value import Value, as_dict

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime
    from typing import Any

    from ademem.store import Store

ERROR_CHARS = 300
DAY_CHARS = len("2026-01-31")


class Price(Value):
    """US dollars; None where the provider names no price."""

    model: str = ""
    tokens_in: int = 0
    tokens_out: int = 0
    cost_usd: float | None = None


def begin(
    store: Store, purpose: str, provider: str, now: datetime, *, daily_calls: int
) -> int | None:
    """Add a call before it is made, so that an aborted one counts as well.

    None when the day, in UTC, has had its calls.
    """
    with store.transaction() as db:
        if today(store, now) >= daily_calls:
            return None
        entered = db.execute(
            "insert into ai_calls (project_id, at, purpose, provider, outcome)"
            " values (?, ?, ?, ?, 'asked')",
            (store.project_id, stamp(now), purpose, provider),
        )
        return entered.lastrowid


def end(store: Store, call: int, outcome: str, price: Price, *, ms: int, error: str = "") -> None:
    store.db.execute(
        "update ai_calls set outcome = :outcome, error = :error, ms = :ms, model = :model,"
        " tokens_in = :tokens_in, tokens_out = :tokens_out, cost = :cost_usd where id = :id",
        as_dict(price)
        | {"id": call, "outcome": outcome, "ms": ms, "model": redact(price.model).text}
        | {"error": redact(error).text[:ERROR_CHARS] or None},
    )


def today(store: Store, now: datetime) -> int:
    return store.number(
        "select count(*) from ai_calls where project_id = :project and at >= :day"
        " and at < :day || 'T~'",  # not those that a clock ahead noted
        {"project": store.project_id, "day": stamp(now)[:DAY_CHARS]},
    )


def last(store: Store) -> dict[str, Any] | None:
    row = store.db.execute(
        "select at, purpose, provider, model, outcome, error from ai_calls order by id desc limit 1"
    ).fetchone()
    return dict(row) if row else None


def spent(store: Store, since: datetime) -> list[dict[str, Any]]:
    """Sums by day and purpose, newest day first; `usd` is None where no call has a price."""
    rows = store.db.execute(
        "select substr(at, 1, 10) as day, purpose, count(*) as calls,"
        " sum(outcome = 'ok') as answered, sum(tokens_in) as tokens_in,"
        " sum(tokens_out) as tokens_out, round(sum(cost), 6) as usd, sum(ms) as ms"
        " from ai_calls where at >= ? group by day, purpose order by day desc, purpose",
        (stamp(since)[:DAY_CHARS],),
    )
    return [dict(row) for row in rows]
