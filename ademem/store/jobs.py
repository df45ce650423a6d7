"""Work that is due: a mark a worker removes only when it has done what the mark asked for."""

from __future__ import annotations

from datetime import timedelta

from ademem.clock import stamp
from ademem.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime

    from ademem.store import Store

ATTEMPTS = 5
"""Tries after which a job is parked until a person looks."""
ERROR_CHARS = 500


class Job(Value):
    kind: str
    key: str
    attempts: int
    asked: int
    """How often it was asked for; more by the end of the work means there is more to do."""


def queue(store: Store, kind: str, key: str, now: datetime) -> None:
    """Make work due; one waiting job a key, and one that gave up gets another chance."""
    store.db.execute(
        "insert into jobs (project_id, kind, key, due_at, created_at)"
        " values (:project, :kind, :key, :now, :now)"
        " on conflict do update set asked = asked + 1, parked_at = null,"
        " attempts = iif(parked_at is null, attempts, 0),"
        " due_at = iif(parked_at is null, due_at, :now)",
        {"project": store.project_id, "kind": kind, "key": key, "now": stamp(now)},
    )


def due(store: Store, kind: str, now: datetime) -> list[Job]:
    """The waiting jobs of one kind, oldest first."""
    rows = store.db.execute(
        "select key, attempts, asked from jobs where project_id = ? and kind = ?"
        " and parked_at is null and due_at <= ? order by id",
        (store.project_id, kind, stamp(now)),
    )
    return [Job(kind=kind, key=row[0], attempts=row[1], asked=row[2]) for row in rows]


def done(store: Store, job: Job) -> None:
    """The work succeeded; what was asked for meanwhile stays due."""
    store.db.execute(
        "delete from jobs where project_id = ? and kind = ? and key = ? and asked = ?",
        (store.project_id, job.kind, job.key, job.asked),
    )


def failed(store: Store, job: Job, error: str, now: datetime) -> None:
    """Due again after 1, 2, 4 … minutes, parked after ATTEMPTS tries."""
    store.db.execute(
        "update jobs set attempts = :attempts, last_error = :error, due_at = :due,"
        " parked_at = :parked where project_id = :project and kind = :kind and key = :key",
        {
            "project": store.project_id,
            "kind": job.kind,
            "key": job.key,
            "attempts": job.attempts + 1,
            "error": error[:ERROR_CHARS],
            "due": stamp(now + timedelta(minutes=2**job.attempts)),
            "parked": stamp(now) if job.attempts + 1 >= ATTEMPTS else None,
        },
    )


def parked(store: Store) -> list[tuple[str, str, str]]:
    """Kind, key and error of the jobs that gave up."""
    rows = store.db.execute(
        "select kind, key, ifnull(last_error, '') from jobs"
        " where project_id = ? and parked_at is not null",
        (store.project_id,),
    )
    return [(row[0], row[1], row[2]) for row in rows]


def unpark(store: Store, now: datetime) -> None:
    """Make every job due again, also those that gave up."""
    store.db.execute(
        "update jobs set parked_at = null, attempts = 0, due_at = ? where project_id = ?",
        (stamp(now), store.project_id),
    )
