"""The queue of jobs: a row is deleted when its work is done and was not requested again."""

from __future__ import annotations

from ademem.core.clock import datetime, stamp, timedelta
from ademem.core.json_text import array
from ademem.core.value import Value
from ademem.store import Store, database

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

ATTEMPTS = 5
PARKED = timedelta(days=1)
"""Time after which work that is due by itself is tried again."""
LONGEST = timedelta(days=2)
"""Longer than any delay of a job."""
ERROR_CHARS = 500
ABANDONED = "the process that did it ended in the middle"
"""The error of work from its start until it ends."""
FOLLOWING = ("mirror", "embed")


class Job(Value):
    kind: str
    key: str
    attempts: int
    asked: int
    """Number of requests; a higher one at the end of the work means more to do."""
    since: str


def follow(store: Store, now: datetime) -> None:
    """Make due what follows from a changed memory, in the transaction that changed it."""
    for kind in FOLLOWING:
        queue(store, kind, "project", now)


def queue(store: Store, kind: str, key: str, now: datetime) -> None:
    """Make work due, once a key; what failed waits for its next try, what gave up gets one."""
    store.db.execute(
        "insert into jobs (project_id, kind, key, due_at, created_at)"
        " values (:project, :kind, :key, :now, :now)"
        " on conflict do update set"
        " asked = min(max(cast(asked as integer), 0), 999999) + 1, parked_at = null,"
        " attempts = iif(parked_at is null and typeof(attempts) = 'integer', max(attempts, 0), 0),"
        " due_at = iif(parked_at is null and due_at glob '[0-9]*T*Z'"
        "  and (attempts > 0 or due_at < :now), due_at, :now)",
        {"project": store.project_id, "kind": kind, "key": key, "now": stamp(now)},
    )


def plan(store: Store, kind: str, now: datetime) -> None:
    """Make work due that does not wait already; what gave up gets another try after a day."""
    values = {"project": store.project_id, "kind": kind, "now": stamp(now)}
    values["before"] = stamp(now - PARKED)
    waiting = store.has_row(
        "select 1 from jobs where project_id = :project and kind = :kind and key = 'project'"
        " and (parked_at is null or parked_at > :before and parked_at <= :now)",
        values,
    )
    if not waiting:  # a hook that finds it waiting needs no write
        store.db.execute(
            "insert into jobs (project_id, kind, key, due_at, created_at)"
            " values (:project, :kind, 'project', :now, :now)"
            " on conflict do update set parked_at = null, attempts = 0, due_at = :now"
            " where parked_at <= :before or parked_at > :now",
            values,
        )


def list_due(store: Store, kind: str, now: datetime) -> list[Job]:
    rows = store.db.execute(
        "select kind, key, attempts, asked, created_at as since from jobs"
        " where project_id = ? and kind = ? and parked_at is null"
        " and (due_at <= ? or due_at > ?) order by id",
        (store.project_id, kind, stamp(now), _too_late(now)),
    )
    return [Job(**dict(row)) for row in rows]


def list_postponed(store: Store, now: datetime) -> list[str]:
    """List the kinds that go on later, though nothing failed."""
    query = (
        "select distinct kind from jobs where project_id = ? and parked_at is null"
        " and attempts = 0 and due_at > ? and due_at <= ? order by kind"
    )
    return store.column(query, (store.project_id, stamp(now), _too_late(now)))


def any_due(store: Store, now: datetime, *, but: tuple[str, ...] = ()) -> bool:
    return store.has_row(
        "select 1 from jobs where project_id = ? and parked_at is null"
        " and (due_at <= ? or due_at > ?)"
        " and kind not in (select value from json_each(?)) limit 1",
        (store.project_id, stamp(now), _too_late(now), array(but)),
    )


def _too_late(now: datetime) -> str:
    """Return the stamp after which a due time comes from a clock that was ahead."""
    return stamp(now + LONGEST)


def exists(store: Store, kind: str) -> bool:
    query = "select 1 from jobs where project_id = ? and kind = ? limit 1"
    return store.has_row(query, (store.project_id, kind))


def finish(store: Store, job: Job) -> None:
    query = "delete from jobs where project_id = ? and kind = ? and key = ? and asked = ?"
    store.db.execute(query, (store.project_id, job.kind, job.key, job.asked))
    _set(store, job, "last_error = null, attempts = 0", {})


def postpone(store: Store, job: Job, at: datetime) -> None:
    _set(
        store,
        job,
        "last_error = null, attempts = 0, due_at = iif(asked = :asked, :at, due_at)",
        {"asked": job.asked, "at": stamp(at)},
    )


def fail(store: Store, job: Job, error: str, now: datetime) -> None:
    """Retry after 1, 2, 4 … minutes; park the job after ATTEMPTS tries."""
    _set(
        store,
        job,
        "attempts = :attempts, last_error = :last_error, due_at = :due_at, parked_at = :parked_at",
        _failure(job.attempts, error, now),
    )


def count_failure(store: Store, kind: str, key: str, error: str, now: datetime) -> None:
    keys = {"project_id": store.project_id, "kind": kind, "key": key}
    query = "select attempts from jobs where project_id = ? and kind = ? and key = ?"
    attempts = store.first(query, tuple(keys.values()), 0)
    row = keys | _failure(attempts, error, now) | {"created_at": stamp(now)}
    database.upsert(store.db, "jobs", row, list(keys), kept=["created_at"])


def delete_others(store: Store, kinds: Sequence[str]) -> None:
    """Delete what was queued for a part that is gone; no process would ever do it."""
    others = "project_id = ? and kind not in (select value from json_each(?))"
    values = (store.project_id, array(kinds))
    if store.has_row(f"select 1 from jobs where {others}", values):
        store.db.execute(f"delete from jobs where {others}", values)


def next_try(store: Store, kind: str, now: datetime) -> str | None:
    return store.first(
        "select min(due_at) from jobs"
        " where project_id = ? and kind = ? and parked_at is null and due_at > ?",
        (store.project_id, kind, stamp(now)),
        None,
    )


def list_parked(store: Store) -> list[tuple[str, str, str]]:
    return _errors(store, "parked_at is not null")


def list_failing(store: Store) -> list[tuple[str, str, str]]:
    return _errors(store, f"parked_at is null and attempts > 0 and last_error <> '{ABANDONED}'")


def _errors(store: Store, where: str) -> list[tuple[str, str, str]]:
    query = f"select kind, key, ifnull(last_error, '') from jobs where project_id = ? and {where}"
    return store.tuples(query, (store.project_id,))


def unpark(store: Store, now: datetime) -> None:
    query = "update jobs set parked_at = null, attempts = 0, due_at = ? where project_id = ?"
    store.db.execute(query, (stamp(now), store.project_id))


def _failure(attempts: int, error: str, now: datetime) -> dict[str, object]:
    from ademem.core.redaction import redact

    return {
        "attempts": attempts + 1,
        "last_error": redact(error).text[:ERROR_CHARS],
        "due_at": stamp(now + timedelta(minutes=2**attempts)),
        "parked_at": stamp(now) if attempts + 1 >= ATTEMPTS else None,
    }


def _set(store: Store, job: Job, changes: str, values: dict[str, object]) -> None:
    store.db.execute(
        f"update jobs set {changes} where project_id = :project and kind = :kind and key = :key",
        values | {"project": store.project_id, "kind": job.kind, "key": job.key},
    )
