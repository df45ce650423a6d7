"""Texts that hooks put before models, with the memories in them."""

from __future__ import annotations

from ademem.core.clock import datetime, stamp, timedelta
from ademem.core.json_text import array
from ademem.core.text import bytes_hex
from ademem.core.value import Value, as_dict

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any

    from ademem.core.client import TurnKey
    from ademem.core.memory import Memory
    from ademem.core.settings import CaptureSettings
    from ademem.store import Store
    from ademem.store.runtime import Runtime

    Placed = tuple[str, int, str, int, str]

MOST_LEFT_OUT = 20

SAVED = "saved"
"""Section of what the person dictated: the text only confirms it."""


def place(memory: Memory, section: str = "", characters: int = 0, left_out: str = "") -> Placed:
    """Return the row of a memory in a text, or *left_out* of it: `room`, `limit`, `seen`, `own`."""
    return memory.id, memory.revision_count, section, characters, left_out


def place_entries(
    memories: Iterable[Memory], entries: Iterable[str], section: str = ""
) -> list[Placed]:
    return [
        place(memory, section, len(entry)) for memory, entry in zip(memories, entries, strict=True)
    ]


def record(
    runtime: Runtime,
    event: str,
    text: str,
    key: TurnKey,
    placed: Iterable[Placed] = (),
    *,
    tool_use_id: str = "",
    keep_text: bool = True,
) -> None:
    """Record a text, in the transaction that logs its memories as shown."""
    if not text or not runtime.settings.capture.injections:
        return
    about = (*as_dict(key).values(), tool_use_id, event, stamp(runtime.now), len(text))
    with runtime.store.transaction() as db:
        id = db.execute(
            "insert into injections (session_id, agent_id, prompt_id, tool_use_id, event,"
            " created_at, characters, sha256, text) values (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (*about, bytes_hex(text.encode()), text if keep_text else None),
        ).lastrowid
        db.executemany(
            "insert into injection_memories"
            " (injection_id, rank, memory_id, revision, section, characters, left_out)"
            " values (?, ?, ?, ?, ?, ?, ?)",
            [(id, rank, *row) for rank, row in enumerate(placed, 1)],
        )


def prune(store: Store, settings: CaptureSettings, now: datetime) -> int:
    with store.transaction() as db:
        return db.execute(
            "delete from injections where created_at < :since or id <= ifnull((select max(id) from"
            " (select id, sum(length(cast(text as blob))) over (order by id desc) as held"
            "  from injections) where held > :most), 0)",
            {
                "since": stamp(now - timedelta(days=settings.injections_days)),
                "most": settings.injections_mb * 1_000_000,
            },
        ).rowcount


def sum_characters(store: Store, sessions: Iterable[str]) -> dict[str, int]:
    """Map sessions to the characters of all that hooks sent them."""
    return store.pairs(
        "select session_id, sum(characters) from injections"
        " where session_id in (select value from json_each(?)) group by session_id",
        (array(sessions),),
    )


def average_of_session(store: Store, since: datetime) -> int:
    """Return the characters that a session was sent on average since a time; 0 without one."""
    return store.number(
        "select ifnull(cast(avg(sent) as integer), 0) from (select sum(characters) as sent"
        " from injections where created_at >= ? group by session_id)",
        (stamp(since),),
    )


class Part(Value):
    memory_id: str
    memory: Memory | None
    revision: int | None
    section: str
    characters: int | None
    used: bool
    left_out: str


class Sent(Value):
    id: int | None = None
    created_at: str
    event: str = ""
    agent_id: str
    prompt_id: str
    tool_use_id: str = ""
    place: str
    """Of `recall_log`; empty for a text that no memory was looked up for."""
    query: str
    characters: int | None = None
    sha256: str = ""
    text: str | None = None
    parts: tuple[Part, ...]

    @property
    def reason(self) -> str:
        if self.place == "briefing" and self.query == "compact":
            return "after a compaction"
        about = self.query if self.place in ABOUT else ""
        reason = PLACES.get(self.place) or EVENTS.get(self.event, self.place)
        return f"{reason} {about}".strip()


PLACES = {
    "briefing": "when the session started",
    "agent": "to a subagent",
    "prompt": "with a prompt that it answers",
    "site": "at",
    "failure": "after the error",
    "guard": "before the change",
    "recall": "looked up:",
    "search": "looked up:",
    "mcp": "looked up:",
}
ABOUT = ("site", "failure", "recall", "search", "mcp")
EVENTS = {
    "session_start": "when the session started",
    "user_prompt_submit": "with a prompt",
    "pre_tool_use": "before the change",
    "subagent_start": "to a subagent",
    "pre_compact": "for the summary of the conversation",
    "stop": "at the end of a turn",
}

_SENT = """
select sent.*, ifnull(log.place, '') as place, ifnull(log.query, '') as query
from injections as sent left join recall_log as log on log.id =
  (select min(id) from recall_log where session_id = sent.session_id
   and agent_id = sent.agent_id and created_at = sent.created_at)
where sent.session_id = :session order by sent.id
"""
_PARTS = """
select injection_memories.* from injection_memories join injections on id = injection_id
where session_id = :session order by injection_id, rank
"""
_LOGGED = """
select created_at, agent_id, prompt_id, place, ifnull(query, '') as query, memory_id, used,
  null as revision, '' as section, null as characters, '' as left_out
from recall_log where session_id = :session and memory_id is not null
and created_at not in (select created_at from injections where session_id = :session)
order by id
"""
_MOMENT = ("created_at", "agent_id", "prompt_id", "place", "query")


def list_sent(runtime: Runtime, session_id: str) -> list[Sent]:
    """Return the texts of a session, with their memories of the project and of the person."""
    store = runtime.store
    session = {"session": session_id}
    parts = store.db.execute(_PARTS, session).fetchall()
    logged = store.db.execute(_LOGGED, session).fetchall()
    by_id = runtime.list_by_ids(row["memory_id"] for row in (*parts, *logged))
    found = []
    for row in store.db.execute(_SENT, session):
        values = {name: row[name] for name in Sent._fields if name != "parts"}
        mine = [part for part in parts if part["injection_id"] == row["id"]]
        found.append(Sent(**values, parts=tuple(_part(part, by_id) for part in mine)))
    found += _of_logged(logged, by_id)
    return sorted(found, key=lambda sent: sent.created_at)


def _of_logged(logged: Iterable[sqlite3.Row], by_id: Mapping[str, Memory]) -> Iterator[Sent]:
    """Yield a text for each moment at which memories were shown without one that was kept."""
    moments: dict[tuple[str, ...], list[sqlite3.Row]] = {}
    for row in logged:
        moments.setdefault(tuple(row[name] for name in _MOMENT), []).append(row)
    for moment, rows in moments.items():
        where: dict[str, Any] = dict(zip(_MOMENT, moment, strict=True))
        yield Sent(**where, parts=tuple(_part(row, by_id) for row in rows))


def _part(row: sqlite3.Row, by_id: Mapping[str, Memory]) -> Part:
    values = {name: row[name] for name in Part._fields if name != "memory"}
    values["used"] = bool(row["used"])
    return Part(**values, memory=by_id.get(row["memory_id"]))


def latest_session(store: Store) -> str:
    return store.first(
        "select session_id from (select session_id, max(created_at) as at from injections"
        " group by session_id union all select session_id, max(created_at) from recall_log"
        " where session_id is not null group by session_id) order by at desc limit 1",
        (),
        "",
    )


class Spent(Value):
    name: str
    texts: int
    characters: int
    shown: int
    shown_characters: int
    used: int
    used_characters: int


_WITHIN = "created_at >= :since and (:session = '' or session_id = :session)"
_SHOWN = """
select injection_id, count(*) as shown, sum(characters) as characters, sum(used) as used,
  sum(used * characters) as used_characters
from injection_memories where left_out = '' group by injection_id
"""
SPENT_BY = {
    "event": "event",
    "session": "session_id",
    "day": "substr(created_at, 1, 10) || ' ' || event",
}
_SPENT = f"""
select {{name}} as name, count(*) as texts, sum(text.characters) as characters,
  ifnull(sum(shown), 0) as shown, ifnull(sum(memories.characters), 0) as shown_characters,
  ifnull(sum(used), 0) as used, ifnull(sum(used_characters), 0) as used_characters
from injections as text left join ({_SHOWN}) as memories on injection_id = text.id
where {_WITHIN} group by 1 order by 3 desc, 1
"""


def spent_by(store: Store, what: str, since: datetime, session: str) -> list[Spent]:
    return _spent(store, _SPENT.format(name=SPENT_BY[what]), since, session)


def spent_on_memories(
    store: Store, since: datetime, session: str, *, now: datetime, unused: bool, limit: int
) -> list[Spent]:
    """Return the costliest memories; of *unused* ones those that did not work for long."""
    from ademem.store.logs import worked_since

    query = f"""
    select memory_id as name, count(distinct injection_id) as texts,
      sum(part.characters) as characters, count(*) as shown,
      sum(part.characters) as shown_characters, sum(used) as used,
      sum(used * part.characters) as used_characters
    from injection_memories as part join injections on injections.id = injection_id
    where left_out = '' and {_WITHIN} group by 1
    having :unused = 0 or (sum(used) = 0 and memory_id not in (
      select memory_id from memory_exposure where last_used_at >= :worked
      union all select memory_id from recall_log  -- a personal memory has no exposure here
      where used and created_at >= :worked and memory_id is not null))
    order by 3 desc, 1 limit :most
    """
    worked = worked_since(now)
    return _spent(store, query, since, session, unused=unused, most=limit, worked=worked)


def _spent(
    store: Store, query: str, since: datetime, session: str, **values: int | str
) -> list[Spent]:
    rows = store.db.execute(query, {"since": stamp(since), "session": session, **values})
    return [Spent(**{name: row[name] for name in Spent._fields}) for row in rows]
