"""Logs of decisions, of shown memories and of hook output, and counts of impressions."""

from __future__ import annotations

from ademem.core.clock import datetime, stamp, timedelta
from ademem.core.json_text import array
from ademem.core.value import Value, as_dict

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Mapping
    from typing import Any

    from ademem.core.client import Turn, TurnKey
    from ademem.store import Store

DAY_CHARS = len("2026-01-31")
OUTPUT = "hook_output/"

PLACES = frozenset({"briefing", "agent", "prompt", "site", "failure", "guard"})
"""Places in `recall_log` at which memories are shown unasked."""
PATIENCE = 10
"""Unused impressions that cost a memory nothing; more of them lower its worth."""
WORKED_DAYS = 180
"""Days after a use in which no impression counts as unused: what worked is not ranked lower."""
SINKING = f"select memory_id from memory_exposure where unused > {PATIENCE}"

EFFECTS = ("prevented", "answered")
"""Outcomes that are use of a memory, and their counters in `memory_exposure`."""
_ONE_MORE = "min(max(cast({} as integer), 0), 999999) + 1"
"""SQL for a counter after one more, also where it holds an impossible value."""


class Shown(Value):
    """A memory that was shown, or None for a search without results."""

    memory_id: str | None = None
    score: float | None = None
    binding: str = ""
    """The place that a denied call met."""


class Seen(Value):
    in_turn: bool
    """Not in the briefing of the session or subagent, as of the next."""
    is_said: bool
    in_context: bool
    carried: bool


OVERDUE_S = 30
"""Seconds after which a memory in a denial counts as shown, for clients without PostToolBatch."""

_COMPACTED = """ifnull((
  select max(id) from recall_log where session_id = :session and agent_id in ('', :agent)
  and place = 'briefing' and query = 'compact' and memory_id is null), 0)"""
"""SQL for the row that records the last compaction; without an agent it may be a subagent's."""
_SEEN = f"""
select memory_id, max(not carried and id > :turn and place not in ('briefing', 'agent')),
  max(not carried and place not in ('briefing', 'agent')), max(not carried), max(carried)
from (select *, pending and created_at > :overdue as carried from recall_log)
where session_id = :session and agent_id = :agent and memory_id is not null
and (:ids is null or memory_id in (select value from json_each(:ids)))
and (:off = '[]' or prompt_id not in (select value from json_each(:off)))
and id > {_COMPACTED}
group by memory_id
"""


def log_decision(store: Store, part: str, now: datetime, **columns: str | None) -> None:
    row = {"project_id": store.project_id, "part": part, "created_at": stamp(now)} | columns
    marks = ", ".join(f":{name}" for name in row)
    store.db.execute(f"insert into decision_log ({', '.join(row)}) values ({marks})", row)


def _count_impressions(
    db: sqlite3.Connection, turn: dict[str, Any], items: Iterable[Shown], now: datetime
) -> None:
    """Count each memory once for a session or subagent, however often it was shown unasked."""
    rows = db.execute(
        "select distinct memory_id, place from recall_log"
        " where session_id = ? and agent_id = ? and memory_id is not null",
        (turn["session_id"], turn["agent_id"]),
    )
    shown_before = {row[0] for row in rows if row[1] in PLACES}
    db.execute(
        "insert into memory_exposure (memory_id, shown, unused)"
        " select id, 1, 1 from unified_memories"
        " where id in (select value from json_each(?))"
        f" on conflict do update set shown = {_ONE_MORE.format('shown')}, unused ="
        f" iif(ifnull(last_used_at, '') >= ?, unused, {_ONE_MORE.format('unused')})",
        (
            array({item.memory_id for item in items if item.memory_id} - shown_before),
            worked_since(now),
        ),
    )


def log_shown(
    store: Store,
    place: str,
    items: Iterable[Shown],
    now: datetime,
    *,
    key: TurnKey | None = None,
    query: str | None = None,
    pending: bool = False,
    call: str = "",
) -> None:
    """Add the memories that a search, a briefing or a denial showed, in order.

    Each memory shown unasked counts as one impression for a session or subagent. Those of a denial
    are *pending* until the model has read it, and have the *call*, redacted.
    """
    items = list(items)
    if query:
        from ademem.core.redaction import redact

        query = redact(query).text
    turn = as_dict(key) if key else {"session_id": None, "agent_id": "", "prompt_id": ""}
    turn |= {"project": store.project_id, "place": place, "query": query}
    turn |= {"now": stamp(now), "pending": pending, "call": call}
    with store.transaction() as db:
        if items and place in PLACES:
            _count_impressions(db, turn, items, now)
        db.executemany(
            "insert into recall_log (project_id, session_id, agent_id, prompt_id, place, query,"
            " memory_id, rank, score, created_at, pending, binding, call) values (:project,"
            " :session_id, :agent_id, :prompt_id, :place, :query, :memory_id, :rank, :score, :now,"
            " :pending, :binding, :call)",
            [turn | as_dict(item) | {"rank": at} for at, item in enumerate(items or [Shown()], 1)],
        )


def note_compaction(store: Store, key: TurnKey, now: datetime) -> bool:
    from ademem.store.sessions import TWIN_WINDOW_S

    twin = store.db.execute(
        "select 1 from recall_log where session_id = ? and agent_id = ? and place = 'briefing'"
        " and query = 'compact' and memory_id is null and created_at > ?",
        (key.session_id, key.agent_id, stamp(now - timedelta(seconds=TWIN_WINDOW_S))),
    ).fetchone()
    if twin is None:
        log_shown(store, "briefing", (), now, key=key, query="compact")
    return twin is None


def find_seen(
    store: Store,
    key: TurnKey,
    now: datetime,
    ids: Iterable[str] | None = None,
    after: int = 0,
    off: Iterable[str] = (),
) -> dict[str, Seen]:
    """Return what was seen since the last compaction; the turn has the rows *after* this one.

    What was shown to a prompt in *off* is not in the conversation any more.
    """
    rows = store.db.execute(
        _SEEN,
        {
            "session": key.session_id,
            "agent": key.agent_id,
            "ids": None if ids is None else array(ids),
            "turn": after,
            "off": array(off),
            "overdue": stamp(now - timedelta(seconds=OVERDUE_S)),
        },
    )
    return {
        id: Seen(
            in_turn=bool(in_turn),
            is_said=bool(is_said),
            in_context=bool(in_context),
            carried=bool(carried),
        )
        for id, in_turn, is_said, in_context, carried in rows
    }


def list_in_context(store: Store, key: TurnKey, now: datetime) -> set[str]:
    return {id for id, seen in find_seen(store, key, now).items() if seen.in_context}


def list_said(store: Store, key: TurnKey, now: datetime, off: Iterable[str] = ()) -> set[str]:
    """Return what was said at prompts, calls and failures; a briefing does not count."""
    return {id for id, seen in find_seen(store, key, now, off=off).items() if seen.is_said}


def was_denied(store: Store, turn: Turn, target: str) -> bool:
    key = turn.key
    return store.has_row(
        "select 1 from recall_log where session_id = :session and agent_id = :agent"
        f" and place = 'guard' and query = :target and id > max(:turn, {_COMPACTED}) limit 1",
        {
            "session": key.session_id,
            "agent": key.agent_id,
            "target": target,
            "turn": turn.begins_after,
        },
    )


def mark_read(store: Store, key: TurnKey) -> None:
    query = "update recall_log set pending = 0 where session_id = ? and agent_id = ? and pending"
    store.db.execute(query, (key.session_id, key.agent_id))


def any_pending(store: Store) -> bool:
    return store.has_row("select 1 from recall_log where pending limit 1")


def assign_searches(store: Store, key: TurnKey, since: datetime) -> None:
    """Assign searches that a subagent ran in its shell, which knows the session alone."""
    store.db.execute(
        "update recall_log set agent_id = ? where session_id = ? and agent_id = ''"
        " and place in ('recall', 'search') and created_at >= ?",
        (key.agent_id, key.session_id, stamp(since)),
    )


def was_briefed(store: Store, session_id: str) -> bool:
    query = "select 1 from recall_log where session_id = ? and place = 'briefing' limit 1"
    return store.has_row(query, (session_id,))


def list_first_shown(store: Store, session_id: str) -> dict[str, str]:
    return store.pairs(
        "select memory_id, min(created_at) from recall_log"
        " where session_id = ? and memory_id is not null group by memory_id",
        (session_id,),
    )


def worked_since(now: datetime) -> str:
    return stamp(now - timedelta(days=WORKED_DAYS))


def list_moments(store: Store, session_id: str) -> list[sqlite3.Row]:
    """Return what the session was shown at prompts and failures."""
    return store.db.execute(
        "select memory_id, place, created_at from recall_log"
        " where session_id = ? and agent_id = '' and memory_id is not null"
        " and place in ('prompt', 'failure') order by id",
        (session_id,),
    ).fetchall()


def list_overruled(store: Store, session_id: str) -> set[str]:
    """Return memories whose denial a call of the session overruled, and that prevented nothing."""
    return set(
        store.column(
            "select memory_id from recall_log where session_id = ? and place = 'guard'"
            " and memory_id is not null group by memory_id"
            " having max(outcome = 'overruled') and not max(outcome = 'prevented')",
            (session_id,),
        )
    )


def log_use(store: Store, session_id: str, found: Mapping[str, str], now: datetime) -> int:
    """Store that a session used memories, each with what proves it; return how many are new.

    Those that were shown elsewhere than in a denial were an answer.
    """
    listed = array(found)
    with store.transaction() as db:
        rows = db.execute(
            "select memory_id from recall_log"
            " where session_id = ? and memory_id in (select value from json_each(?))"
            " group by memory_id having max(used) = 0",
            (session_id, listed),
        )
        fresh = [row[0] for row in rows]
        answered = store.column(
            "select distinct memory_id from recall_log where session_id = ? and place <> 'guard'"
            " and memory_id in (select value from json_each(?))",
            (session_id, listed),
        )
        count_effect(store, "answered", session_id, answered, now)
        count_use(store, set(fresh) - set(answered), now)
        db.executemany(
            "update recall_log set used = 1, evidence = ifnull(evidence, :evidence),"
            " outcome = iif(place <> 'guard' and outcome = '', 'answered', outcome)"
            " where session_id = :session and memory_id = :memory",
            [
                {"evidence": evidence, "session": session_id, "memory": id}
                for id, evidence in found.items()
            ],
        )
        mark_sent_used(store, session_id, found)
    return len(fresh)


def mark_sent_used(store: Store, session_id: str, ids: Iterable[str]) -> None:
    """Note that what the session was sent of these memories was of use."""
    store.db.execute(
        "update injection_memories set used = 1 where left_out = ''"
        " and memory_id in (select value from json_each(?))"
        " and injection_id in (select id from injections where session_id = ?)",
        (array(ids), session_id),
    )


def count_effect(
    store: Store, name: str, session_id: str, ids: Iterable[str], now: datetime
) -> None:
    """Count an effect and its use, once for a session; before the rows have the outcome."""
    ids = set(ids)
    had = "select memory_id from recall_log where session_id = ? and memory_id is not null"
    counted = set(store.column(f"{had} and outcome = ?", (session_id, name)))
    used = set(store.column(f"{had} and used", (session_id,)))
    count_use(store, ids - used, now)
    store.db.execute(
        f"update memory_exposure set {name} = {_ONE_MORE.format(name)}"
        " where memory_id in (select value from json_each(?))",
        (array(ids - counted),),
    )


def discount_effect(store: Store, session_id: str, memory_id: str, name: str) -> None:
    """Take back an effect, and its use unless the session used the memory otherwise."""
    if name not in EFFECTS:
        raise ValueError(name)
    store.db.execute(
        f"update memory_exposure set {name} = max({name} - 1, 0),"
        " used = max(used - not exists (select 1 from recall_log where session_id = ?"
        "  and memory_id = memory_exposure.memory_id and used), 0) where memory_id = ?",
        (session_id, memory_id),
    )


def list_uses(store: Store, memory_id: str, limit: int) -> list[dict[str, Any]]:
    return store.dicts(
        "select created_at, session_id, agent_id, place, ifnull(query, '') as query, rank, score,"
        " used, ifnull(evidence, '') as evidence, outcome, call, instead, id as row from recall_log"
        " where memory_id = ? order by id desc limit ?",
        (memory_id, limit),
    )


def has_searched(store: Store, key: TurnKey) -> bool:
    """Return True if `ademem recall` or `search` ran in the turn's session since it began.

    Rows tell the order, for clocks are set back: a turn begins with what its last prompt or its
    agent was shown, and begins anew with what was shown after a compaction.
    """
    return store.has_row(
        "select 1 from recall_log where session_id = :session and place in ('recall', 'search')"
        " and id > max("
        "  (select max(id) from recall_log where session_id = :session"
        "   and agent_id = :agent and prompt_id = :prompt and place in ('prompt', 'agent')),"
        "  ifnull((select max(id) from recall_log where session_id = :session and :agent = ''"
        "   and place = 'briefing' and query = 'compact'), 0)"
        " ) limit 1",
        {"session": key.session_id, "agent": key.agent_id, "prompt": key.prompt_id},
    )


def list_refusals(store: Store, limit: int = 20, before: int | None = None) -> list[dict[str, Any]]:
    return store.dicts(
        "select id, project_id, rule, reason, category, text_hash, preview, source_type,"
        " session_id, created_at from gate_log where ?1 is null or id < ?1"
        " order by id desc limit ?2",
        (before, limit),
    )


def list_decisions(
    store: Store, limit: int = 20, session: str | None = None, before: int | None = None
) -> list[dict[str, Any]]:
    return store.dicts(
        "select id, project_id, session_id, agent_id, prompt_id, tool_use_id, kind as tool,"
        " subject as target, decision, reason, created_at from decision_log"
        " where part = 'guard' and (?1 is null or session_id = ?1)"
        " and (?2 is null or id < ?2) order by id desc limit ?3",
        (session, before, limit),
    )


def count_decisions(store: Store, sessions: Iterable[str], since: str) -> dict[str, dict[str, int]]:
    return store.counts(
        "select session_id, decision, count(*) from decision_log"
        " where part = 'guard' and created_at >= ?"
        " and session_id in (select value from json_each(?)) group by 1, 2",
        (since, array(sessions)),
    )


def count_output(store: Store, event: str, characters: int, now: datetime) -> None:
    """Add to the day's sums of what hooks printed; a failure must not cost the hook's answer."""
    try:
        store.db.execute(
            "insert into store_values values (:name, json_array(1, :characters))"
            " on conflict do update set value ="
            " json_array(json_extract(value, '$[0]') + 1,"
            " json_extract(value, '$[1]') + :characters)",
            {"name": f"{OUTPUT}{stamp(now)[:DAY_CHARS]}/{event}", "characters": characters},
        )
    except store.db.Error:
        return


def output(store: Store, since: datetime) -> list[dict[str, Any]]:
    return store.dicts(
        "select substr(name, 13, 10) as day, substr(name, 24) as event,"
        " json_extract(value, '$[0]') as answers, json_extract(value, '$[1]') as characters"
        " from store_values where name >= ? and name < ?"
        " and iif(json_valid(value), json_type(value), '') = 'array' order by day desc, event",
        (f"{OUTPUT}{stamp(since)[:DAY_CHARS]}", f"{OUTPUT}~"),
    )


def discount(unused: int, patience: int = PATIENCE) -> float:
    return 1.0 if unused <= patience else patience / unused


def count_unused(store: Store, ids: Iterable[str]) -> dict[str, int]:
    return store.pairs(
        "select memory_id, cast(unused as integer) from memory_exposure"
        " where memory_id in (select value from json_each(?))",
        (array(ids),),
    )


def count_use(store: Store, ids: Iterable[str], now: datetime) -> None:
    store.db.execute(
        "insert into memory_exposure (memory_id, used, last_used_at)"
        " select id, 1, :now from unified_memories where id in (select value from json_each(:ids))"
        f" on conflict do update set used = {_ONE_MORE.format('used')}, unused = 0,"
        " last_used_at = :now",
        {"ids": array(ids), "now": stamp(now)},
    )


def weekly_uses(store: Store) -> dict[str, dict[str, int]]:
    return store.counts(
        "select memory_id, week, count(*) from ("
        "  select memory_id, date(min(created_at), 'weekday 0', '-6 days') as week from recall_log"
        "  where project_id = ? and used and memory_id is not null and session_id is not null"
        "  group by memory_id, session_id)"
        " group by memory_id, week order by memory_id, week",
        (store.project_id,),
    )


def add_uses(store: Store, id: str, count: int, last: str) -> None:
    store.db.execute(
        "insert into memory_exposure (memory_id, used, last_used_at)"
        " values (:id, min(:count, 1000000), :last)"
        " on conflict do update set used = min(max(cast(used as integer), 0) + :count, 1000000),"
        " unused = 0, last_used_at = max(ifnull(last_used_at, ''), :last)",
        {"id": id, "count": count, "last": last},
    )


def impression_totals(store: Store) -> sqlite3.Row:
    row: sqlite3.Row = store.db.execute(
        "select count(*) as memories, ifnull(sum(shown), 0) as shown, ifnull(sum(used), 0) as used,"
        f" ifnull(sum(used > 0), 0) as used_memories, ifnull(sum(case when unused > {PATIENCE} then"
        "  (select not pinned from unified_memories where id = memory_id) end), 0) as sinking"
        # Those of other projects are few, which an index tells; so none of ours is read.
        " from memory_exposure where memory_id not in (select id from unified_memories"
        "  where project_id < :project or project_id > :project)",
        {"project": store.project_id},
    ).fetchone()
    return row


def list_most_shown(store: Store, limit: int) -> list[sqlite3.Row]:
    return store.db.execute(
        "select id, category, title, content, pinned, quarantine_reason, shown, used, unused,"
        " prevented, answered,"
        # Sorted before the memories are read: the cross join walks them in this order to the limit.
        " last_used_at from (select * from memory_exposure"
        "  order by shown desc, used, memory_id limit -1)"
        " cross join unified_memories on id = memory_id"
        " where +project_id = ? and deleted_at is null limit ?",
        (store.project_id, limit),
    ).fetchall()
