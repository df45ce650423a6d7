"""What memory did: calls that it prevented, questions that it answered, and what it learned.

The first two are evidence in `recall_log`; an effect counts once for a session and a memory.
"""

from __future__ import annotations

from ademem.core.clock import stamp
from ademem.core.json_text import array
from ademem.core.memory import EVENTS, MERGE, Trust
from ademem.core.value import Value
from ademem.store import BROWSED, CURRENT, FOREVER, LIVE, TOLD

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from ademem.store import Store

PREVENTED, ANSWERED, LEARNED = "prevented", "answered", "learned"
KINDS = (PREVENTED, ANSWERED, LEARNED)


class Effect(Value):
    kind: str
    """prevented | answered | learned."""
    memory_id: str
    session_id: str
    at: str
    evidence: str
    """What proves it, redacted; empty for what was learned."""


_WITHIN = "(:session = '' or {session} = :session) and (:memory = '' or {memory} = :memory)"
_SEEN = f"""
select iif(place = 'guard', '{PREVENTED}', '{ANSWERED}') as kind, memory_id, session_id,
  max(created_at) as at, max(evidence) as evidence
from recall_log
where project_id = :project and used and session_id is not null and memory_id is not null
and (place = 'guard' and evidence glob '{PREVENTED} *'
  or place in ('prompt', 'failure') and evidence glob '{ANSWERED} *')
and {_WITHIN.format(session="session_id", memory="memory_id")}
group by 1, 2, 3 having at >= :since and at < :until
"""
_LEARNED = f"""
select '{LEARNED}' as kind, id as memory_id, source_session_id as session_id, created_at as at,
  '' as evidence
from unified_memories
where project_id = :project and source_session_id is not null
and created_at >= :since and created_at < :until
and {LIVE} and {CURRENT} and {BROWSED} and {TOLD} and rejected_at is null
and claimed_author is null and trust <> '{Trust.IMPORT.value}' and source_type <> '{MERGE}'
and category not in (select value from json_each(:events))
and {_WITHIN.format(session="source_session_id", memory="id")}
"""


def list_effects(
    store: Store,
    since: datetime,
    until: datetime | None = None,
    *,
    learned: bool,
    session: str = "",
    memory: str = "",
) -> list[Effect]:
    """Return what memories prevented and answered, by the log of what was shown.

    Where *learned* is set, return the memories that sessions made and that are neither dropped nor
    merged away today.
    """
    end = stamp(until) if until else FOREVER
    values = {"project": store.project_id, "since": stamp(since), "until": end}
    values |= {"session": session, "memory": memory, "events": array(EVENTS)}
    rows = store.db.execute(_LEARNED if learned else _SEEN, values)
    return [Effect(**dict(row)) for row in rows]


def find_sessions(store: Store, ids: Iterable[str]) -> set[str]:
    """Return those of the ids that are sessions of the project."""
    query = "select id, id from sessions where id in (select value from json_each(?))"
    return set(store.pairs(query, (array(ids),)))
