"""What memory did: calls that it prevented, questions that it answered, and what it learned.

The first two are outcomes in `recall_log`; an effect counts once for a session and a memory.
"""

from __future__ import annotations

from ademem.core.clock import UTC, datetime, stamp, timedelta
from ademem.core.json_text import array
from ademem.core.memory import EVENTS, MERGE, Trust
from ademem.core.value import Value
from ademem.store import BROWSED, CURRENT, FOREVER, LIVE, TOLD
from ademem.store.logs import EFFECTS
from ademem.store.outcomes import ANSWERED, PREVENTED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from ademem.store import Store
    from ademem.store.runtime import Runtime

LEARNED = "learned"
KINDS = (PREVENTED, ANSWERED, LEARNED)
DAYS = 7
"""Local days of the sentence that tells what memory did."""


class Effect(Value):
    kind: str
    """prevented | answered | learned."""
    memory_id: str
    session_id: str
    at: str
    evidence: str = ""
    """What proves it, redacted; empty for what was learned."""
    call: str = ""
    instead: str = ""
    """The call that was denied, and what was done in its place; empty if nothing was."""
    row: int = 0
    """Of `recall_log`; 0 for what was learned."""


_WITHIN = "(:session = '' or {session} = :session) and (:memory = '' or {memory} = :memory)"
_ATTENDED = (
    "(:all or not exists (select 1 from sessions where id = {session} and is_unattended = 1))"
)
_SEEN = f"""
select outcome as kind, memory_id, session_id, max(created_at) as at,
  ifnull(evidence, '') as evidence, call, instead, id as row
from recall_log
where project_id = :project and session_id is not null and memory_id is not null
and outcome <> '' and outcome in ('{PREVENTED}', '{ANSWERED}')
and {_WITHIN.format(session="session_id", memory="memory_id")}
and {_ATTENDED.format(session="session_id")}
group by 1, 2, 3 having at >= :since and at < :until
"""
_LEARNED = f"""
select '{LEARNED}' as kind, id as memory_id, source_session_id as session_id, created_at as at
from unified_memories
where project_id = :project and source_session_id is not null
and created_at >= :since and created_at < :until
and {LIVE} and {CURRENT} and {BROWSED} and {TOLD} and rejected_at is null
and claimed_author is null and trust <> '{Trust.IMPORT.value}' and source_type <> '{MERGE}'
and category not in (select value from json_each(:events))
and {_WITHIN.format(session="source_session_id", memory="id")}
and {_ATTENDED.format(session="source_session_id")}
"""


class Effects(Value):
    rows: tuple[Effect, ...] = ()
    """The newest first."""

    @property
    def counts(self) -> dict[str, int]:
        return {kind: sum(row.kind == kind for row in self.rows) for kind in KINDS}

    def of_memory(self, id: str) -> dict[str, int]:
        """Count what the memory prevented and answered."""
        kinds = [row.kind for row in self.rows if row.memory_id == id]
        return {kind: kinds.count(kind) for kind in EFFECTS}


def collect(
    runtime: Runtime,
    since: datetime | None = None,
    until: datetime | None = None,
    *,
    session: str = "",
    memory: str = "",
    all: bool = False,
) -> Effects:
    """Return what memories prevented and answered, and what sessions learned, once a session each.

    Without *since* all there is. Of the person's own memories those count that sessions of this
    project learned. Sessions that a program started (print mode, CI) count where *all* is set.
    """
    about: dict[str, Any] = {"session": session, "memory": memory, "all": all}
    since = since or datetime.fromtimestamp(0, UTC)
    found = list_effects(runtime.store, since, until, learned=False, **about)
    found += list_effects(runtime.store, since, until, learned=True, **about)
    if own := runtime.open_personal():
        learned = list_effects(own.store, since, until, learned=True, **about)
        here = find_sessions(runtime.store, {each.session_id for each in learned}, all=all)
        found += [each for each in learned if each.session_id in here]
    return Effects(rows=tuple(sorted(found, key=lambda each: each.at, reverse=True)))


def begin_of(now: datetime, days: int) -> datetime:
    """Return the beginning of so many local days, the last of which is today."""
    first = now.astimezone() - timedelta(days=days - 1)
    return first.replace(hour=0, minute=0, second=0, microsecond=0)


def count_days(runtime: Runtime, days: int = DAYS) -> dict[str, int]:
    """Count the effects of so many local days, the last of which is today."""
    since = begin_of(runtime.clock(), days)
    return {"days": days, **collect(runtime, since).counts}


def list_effects(
    store: Store,
    since: datetime,
    until: datetime | None = None,
    *,
    learned: bool,
    session: str = "",
    memory: str = "",
    all: bool = False,
) -> list[Effect]:
    """Return what memories prevented and answered, by the log of what was shown.

    Where *learned* is set, return the memories that sessions made and that are neither dropped nor
    merged away today. Sessions that a program started count where *all* is set.
    """
    end = stamp(until) if until else FOREVER
    values = {"project": store.project_id, "since": stamp(since), "until": end, "all": all}
    values |= {"session": session, "memory": memory, "events": array(EVENTS)}
    query = _LEARNED if learned else _SEEN
    if session or memory:  # the index of these, and not that of moments
        query = query.replace("where project_id", "where +project_id")
    for name in ("session", "memory"):
        query = query.replace(f":{name} = '' or ", "") if values[name] else query
    rows = store.db.execute(query, values)
    return [Effect(**dict(row)) for row in rows]


class Sum(Value):
    """How often a memory prevented or answered something."""

    kind: str
    count: int
    at: str
    """The last time."""


def sum_up(store: Store, ids: Iterable[str]) -> dict[str, list[Sum]]:
    """Map memories that had an effect to their sums, the kind of the last effect first.

    They count as `collect` counts: once for a session, and none without a person.
    """
    seen = _SEEN.replace("where ", "where memory_id in (select value from json_each(:ids)) and ", 1)
    rows = store.db.execute(
        f"select memory_id, kind, count(*), max(at) from ({seen}) group by 1, 2 order by 4 desc",
        {"project": store.project_id, "since": stamp(datetime.fromtimestamp(0, UTC))}
        | {"until": FOREVER, "all": False, "session": "", "memory": "", "ids": array(ids)},
    )
    found: dict[str, list[Sum]] = {}
    for id, kind, count, at in rows:
        found.setdefault(id, []).append(Sum(kind=kind, count=count, at=at))
    return found


def count_shown(store: Store, ids: Iterable[str]) -> dict[str, int]:
    """Map memories to the number of sessions in which they were shown."""
    return store.pairs(
        "select memory_id, shown from memory_exposure"
        " where memory_id in (select value from json_each(?))",
        (array(ids),),
    )


def find_sessions(store: Store, ids: Iterable[str], *, all: bool) -> set[str]:
    """Return those of the ids that are sessions of the project, or only those of a person."""
    query = "select id from sessions where id in (select value from json_each(?))"
    return set(store.column(f"{query} and (? or not is_unattended)", (array(ids), all)))
