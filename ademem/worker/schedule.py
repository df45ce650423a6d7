"""Times at which sweeps and consolidations are due."""

from __future__ import annotations

from ademem import store as store_
from ademem.core.clock import parse, stamp, timedelta
from ademem.store import ageing, consolidating

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime

    from ademem.core.settings import LifecycleSettings
    from ademem.store import Store
    from ademem.worker.job_context import JobContext


CROWDED = 0.8
"""Share of a limit above which a sweep queues a consolidation."""


def next_sweep(store: Store, settings: LifecycleSettings, now: datetime) -> datetime:
    """Return one period after the last successful sweep, or after the database was created."""
    last = ageing.last(store, "ok", until=stamp(now))
    period = timedelta(hours=settings.sweep_hours)
    return _next(last.completed_at if last else None, period, store, now)


def sweep_is_due(context: JobContext) -> bool:
    now = context.now()
    return now >= next_sweep(context.store, context.runtime.settings.lifecycle, now)


def sweep_period(context: JobContext) -> timedelta:
    return timedelta(hours=context.runtime.settings.lifecycle.sweep_hours)


def next_consolidation(store: Store, settings: LifecycleSettings, now: datetime) -> datetime:
    """Return one period after the last consolidation, or after the database was created."""
    last = consolidating.last(store, until=stamp(now))
    period = timedelta(days=settings.merge_days)
    return _next(last.completed_at if last else None, period, store, now)


def consolidation_is_due(context: JobContext) -> bool:
    now = context.now()
    return now >= next_consolidation(context.store, context.runtime.settings.lifecycle, now)


def consolidation_period(context: JobContext) -> timedelta:
    return timedelta(days=context.runtime.settings.lifecycle.merge_days)


def is_crowded(store: Store, settings: LifecycleSettings) -> bool:
    """Tell whether a project, an agent or a mission is near its limit."""
    return any(
        count > CROWDED * limit
        for scope, count in ageing.fullest(store).items()
        if (limit := getattr(settings, f"{scope}_limit"))
    )


def _next(last: str | None, period: timedelta, store: Store, now: datetime) -> datetime:
    """Ignore a creation time in the future: count from the oldest memory that is not."""
    began = last or store_.made_at(store)
    if began > stamp(now):
        began = ageing.oldest(store, now) or began
    return parse(began) + period
