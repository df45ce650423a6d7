"""Work that is due: a mark a worker removes only when it has done what the mark asked for."""

from __future__ import annotations

from ademem.core.clock import stamp, timedelta
from ademem.core.json_text import array
from ademem.core.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime

    from ademem.store import Store

ATTEMPTS = 5
"""Tries after which a job is parked until a person looks."""
LONGEST = timedelta(days=2)
"""No job is put off for so long."""
ERROR_CHARS = 500
ABANDONED = "the process that did it ended in the middle"
"""The error of a job that was begun, until it tells its own end."""
FOLLOWING = ("mirror", "embed")
"""Kinds that are due whenever a memory changes."""


class Job(Value):
    kind: str
    key: str
    attempts: int
    asked: int
    """Number of requests; more by the end of the work means that there is more to do."""
    since: str
    """When it was first asked for, as a stamp."""
    abandoned: bool
    """True if the process that began it last never finished."""


def follow(store: Store, now: datetime) -> None:
    """Make due what follows from a changed memory; inside the transaction that changed it."""
    _queue(store, FOLLOWING, "project", now)


def queue(store: Store, kind: str, key: str, now: datetime) -> None:
    """Make work due; one waiting job a key, and one that gave up gets another chance.

    Work that failed keeps waiting for its next try.
    """
    _queue(store, (kind,), key, now)


def _queue(store: Store, kinds: tuple[str, ...], key: str, now: datetime) -> None:
    store.db.execute(
        "insert into jobs (project_id, kind, key, due_at, created_at)"
        " select :project, value, :key, :now, :now from json_each(:kinds) where true"
        " on conflict do update set"
        " asked = min(max(cast(asked as integer), 0), 999999) + 1, parked_at = null,"
        " attempts = iif(parked_at is null and typeof(attempts) = 'integer', max(attempts, 0), 0),"
        " due_at = iif(parked_at is null and due_at glob '[0-9]*T*Z'"
        "  and (attempts > 0 or due_at < :now), due_at, :now)",
        {"project": store.project_id, "kinds": array(kinds), "key": key, "now": stamp(now)},
    )


def plan(store: Store, kind: str, now: datetime, *, period: timedelta) -> None:
    """Make work due that nobody asked for, once; after a *period* also what gave up."""
    before = stamp(now - period)
    values = {"project": store.project_id, "kind": kind, "now": stamp(now), "before": before}
    waiting = store.db.execute(
        "select 1 from jobs where project_id = :project and kind = :kind and key = 'project'"
        " and (parked_at is null or parked_at > :before and parked_at <= :now)",
        values,
    ).fetchone()
    if waiting is None:  # a hook that finds it waiting needs no write
        store.db.execute(
            "insert into jobs (project_id, kind, key, due_at, created_at)"
            " values (:project, :kind, 'project', :now, :now)"
            " on conflict do update set parked_at = null, attempts = 0, due_at = :now"
            " where parked_at <= :before or parked_at > :now",
            values,
        )


def due(store: Store, kind: str, now: datetime) -> list[Job]:
    """The waiting jobs of one kind, oldest first."""
    rows = store.db.execute(
        "select key, attempts, asked, created_at, last_error from jobs"
        " where project_id = ? and kind = ? and parked_at is null"
        " and (due_at <= ? or due_at > ?) order by id",
        (store.project_id, kind, stamp(now), _too_late(now)),
    )
    return [
        Job(
            kind=kind,
            key=row[0],
            attempts=row[1],
            asked=row[2],
            since=row[3],
            abandoned=row[4] == ABANDONED,
        )
        for row in rows
    ]


def any_due(store: Store, kinds: tuple[str, ...], now: datetime) -> bool:
    """Return True if a job of one of the kinds waits for nothing but a worker."""
    query = (
        "select 1 from jobs where project_id = ? and parked_at is null"
        " and (due_at <= ? or due_at > ?)"
        " and kind in (select value from json_each(?)) limit 1"
    )
    values = (store.project_id, stamp(now), _too_late(now), array(kinds))
    return store.db.execute(query, values).fetchone() is not None


def _too_late(now: datetime) -> str:
    """A stamp after which no job waits, unless a clock was ahead when it was put off."""
    return stamp(now + LONGEST)


def is_known(store: Store, kind: str) -> bool:
    """Return True if a job of this kind is due, waits for its time, or gave up."""
    query = "select 1 from jobs where project_id = ? and kind = ? limit 1"
    return store.db.execute(query, (store.project_id, kind)).fetchone() is not None


def begun(store: Store, job: Job) -> None:
    """Note that somebody is at it, for whoever finds it unfinished."""
    _set(store, job, "last_error = :error", {"error": ABANDONED})


def done(store: Store, job: Job) -> None:
    """The work succeeded; what was asked for meanwhile stays due."""
    store.db.execute(
        "delete from jobs where project_id = ? and kind = ? and key = ? and asked = ?",
        (store.project_id, job.kind, job.key, job.asked),
    )
    _set(store, job, "last_error = null, attempts = 0", {})


def later(store: Store, job: Job, at: datetime) -> None:
    """The work succeeded as far as it goes now; what was asked for meanwhile stays due."""
    _set(
        store,
        job,
        "last_error = null, attempts = 0, due_at = iif(asked = :asked, :at, due_at)",
        {"asked": job.asked, "at": stamp(at)},
    )


def failed(store: Store, job: Job, error: str, now: datetime) -> None:
    """Due again after 1, 2, 4 … minutes, parked after ATTEMPTS tries."""
    _set(
        store,
        job,
        "attempts = :attempts, last_error = :error, due_at = :due, parked_at = :parked",
        _failure(job.attempts, error, now),
    )


def count_failure(store: Store, kind: str, key: str, error: str, now: datetime) -> None:
    """One more failed try of work that has no mark of its own while all is well."""
    values = {"project": store.project_id, "kind": kind, "key": key}
    row = store.db.execute(
        "select attempts from jobs where project_id = :project and kind = :kind and key = :key",
        values,
    ).fetchone()
    store.db.execute(
        "insert into jobs"
        " (project_id, kind, key, due_at, attempts, last_error, parked_at, created_at)"
        " values (:project, :kind, :key, :due, :attempts, :error, :parked, :now)"
        " on conflict do update set"
        " attempts = :attempts, last_error = :error, due_at = :due, parked_at = :parked",
        values | {"now": stamp(now)} | _failure(row[0] if row else 0, error, now),
    )


def next_try(store: Store, kind: str, now: datetime) -> str | None:
    """The stamp at which, after *now*, the first job of the kind is due; None: none is."""
    row = store.db.execute(
        "select min(due_at) from jobs"
        " where project_id = ? and kind = ? and parked_at is null and due_at > ?",
        (store.project_id, kind, stamp(now)),
    ).fetchone()
    return row[0] if row[0] else None


def parked(store: Store) -> list[tuple[str, str, str]]:
    """Kind, key and error of the jobs that gave up."""
    return _errors(store, "parked_at is not null")


def failing(store: Store) -> list[tuple[str, str, str]]:
    """Kind, key and error of the jobs that failed and wait to be tried again."""
    return _errors(store, "parked_at is null and attempts > 0")


def _errors(store: Store, where: str) -> list[tuple[str, str, str]]:
    query = f"select kind, key, ifnull(last_error, '') from jobs where project_id = ? and {where}"
    return [(row[0], row[1], row[2]) for row in store.db.execute(query, (store.project_id,))]


def unpark(store: Store, now: datetime) -> None:
    """Make every job due again, also those that gave up."""
    store.db.execute(
        "update jobs set parked_at = null, attempts = 0, due_at = ? where project_id = ?",
        (stamp(now), store.project_id),
    )


def _failure(attempts: int, error: str, now: datetime) -> dict[str, object]:
    from ademem.core.redaction import redact

    return {
        "attempts": attempts + 1,
        "error": redact(error).text[:ERROR_CHARS],
        "due": stamp(now + timedelta(minutes=2**attempts)),
        "parked": stamp(now) if attempts + 1 >= ATTEMPTS else None,
    }


def _set(store: Store, job: Job, changes: str, values: dict[str, object]) -> None:
    store.db.execute(
        f"update jobs set {changes} where project_id = :project and kind = :kind and key = :key",
        values | {"project": store.project_id, "kind": job.kind, "key": job.key},
    )
