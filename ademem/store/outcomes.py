"""Outcomes of what was shown: what came of a denial, and which places are overruled.

A denial has none until its turn ends, as another call of the turn may overrule it.
"""

from __future__ import annotations

from ademem.core.json_text import array
from ademem.core.value import Value
from ademem.store import logs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    from ademem.core.client import TurnKey
    from ademem.store import Store

PREVENTED, ANSWERED = logs.EFFECTS
OVERRULED, OPEN, WRONG = "overruled", "open", "wrong"
CALL_CHARS = 120
PATIENCE = 3
"""Times that a place is overruled until a person is asked whether the memory belongs there."""
_WAITING = (
    "session_id = :session and place = 'guard' and agent_id = :agent and outcome = ''"
    " and memory_id is not null"
)


class Denied(Value):
    memory_id: str
    call: str


class Doubted(Value):
    """A place at which a memory was overruled."""

    memory_id: str
    binding: str
    calls: tuple[str, ...]
    """The newest first."""


def list_waiting(store: Store, key: TurnKey) -> set[str]:
    """Return memories that calls were denied with, whose turn goes on."""
    return set(store.column(f"select memory_id from recall_log where {_WAITING}", _values(key)))


def note_passed(
    store: Store, key: TurnKey, met: Iterable[tuple[str, str]], change: str = ""
) -> None:
    """Note a call that runs: it overrules the memories that it *met*, each with its binding.

    A *change* to anything else is what was done in the place of the denied calls.
    """
    store.db.execute(
        f"update recall_log set outcome = '{OVERRULED}' where {_WAITING}"
        " and memory_id || ' ' || binding in (select value from json_each(:met))",
        _values(key) | {"met": array(map(" ".join, met))},
    )
    if change:
        store.db.execute(
            f"update recall_log set instead = :change where {_WAITING} and instead = ''",
            _values(key) | {"change": line(change)},
        )


def waits_for_change(store: Store, key: TurnKey) -> bool:
    query = f"select 1 from recall_log where {_WAITING} and instead = '' limit 1"
    return store.has_row(query, _values(key))


def end_turn(store: Store, key: TurnKey, now: datetime) -> list[str]:
    """Count the denials that no call of the turn overruled as prevented, and return their calls."""
    waiting = list_waiting(store, key)
    if not waiting:
        return []
    with store.transaction() as db:
        query = f"select call from recall_log where {_WAITING} order by id"
        calls = store.column(query, _values(key))
        logs.count_effect(store, PREVENTED, key.session_id, waiting, now)
        logs.mark_sent_used(store, key.session_id, waiting)
        db.execute(
            f"update recall_log set outcome = '{PREVENTED}', used = 1,"
            f" evidence = '{PREVENTED} ' || call where {_WAITING}",
            _values(key),
        )
    return [*dict.fromkeys(filter(None, calls))]


def leave_open(store: Store, session_id: str, agent_id: str | None = "") -> None:
    """Note that turns did not come to their end; without an agent those of all."""
    store.db.execute(
        f"update recall_log set outcome = '{OPEN}' where session_id = ? and place = 'guard'"
        " and outcome = '' and memory_id is not null and agent_id = ifnull(?, agent_id)",
        (session_id, agent_id),
    )


def mark_wrong(store: Store, row: int) -> Denied | None:
    """Take an effect out of the counts, as a person says; None if there is none in this row."""
    found = store.db.execute(
        "select outcome, memory_id, session_id, call from recall_log"
        f" where id = ? and outcome in ('{PREVENTED}', '{ANSWERED}')",
        (row,),
    ).fetchone()
    if found is None:
        return None
    with store.transaction() as db:
        same = (found["session_id"], found["memory_id"], found["outcome"])
        db.execute(
            f"update recall_log set outcome = '{WRONG}', used = 0, evidence = null"
            " where session_id = ? and memory_id = ? and outcome = ?",
            same,
        )
        logs.discount_effect(store, *same)
    return Denied(memory_id=found["memory_id"], call=found["call"])


def list_doubted(store: Store, ids: Iterable[str] | None = None) -> list[Doubted]:
    """Return places at which memories were overruled PATIENCE times, or called wrong once.

    What lies before a person's `accept_place` does not count.
    """
    rows = store.db.execute(
        "select memory_id, binding, outcome, call from recall_log"
        f" where outcome <> '' and outcome in ('{OVERRULED}', '{WRONG}') and binding <> ''"
        " and (:ids is null or memory_id in (select value from json_each(:ids)))"
        " order by id desc",
        {"ids": None if ids is None else array(ids)},
    )
    calls: dict[tuple[str, str], list[str]] = {}
    wrong = set()
    for id, place, outcome, call in rows:
        calls.setdefault((id, place), []).append(call)
        if outcome == WRONG:
            wrong.add((id, place))
    return [
        Doubted(memory_id=id, binding=place, calls=tuple(found))
        for (id, place), found in calls.items()
        if len(found) >= PATIENCE or (id, place) in wrong
    ]


def list_unwanted(store: Store, memory_id: str) -> set[str]:
    """Return calls that overruled the memory, or at which a person called it wrong."""
    return set(
        store.column(
            "select call from recall_log where outcome <> '' and memory_id = ?"
            f" and outcome in ('{OVERRULED}', '{WRONG}') and call <> ''",
            (memory_id,),
        )
    )


def accept_place(store: Store, memory_id: str, binding: str = "") -> dict[int, str]:
    """Note that the memory belongs there, as a person says: what came before counts no more.

    Without a binding all places of the memory are meant. Return the outcomes that stood before,
    by row, for `restore`.
    """
    before: dict[int, str] = store.pairs(
        "select id, outcome from recall_log where outcome <> '' and memory_id = :memory"
        f" and outcome in ('{OVERRULED}', '{WRONG}') and (:binding = '' or binding = :binding)",
        {"memory": memory_id, "binding": binding},
    )
    restore(store, dict.fromkeys(before, OPEN))
    return before


def restore(store: Store, before: Mapping[int, str]) -> None:
    store.db.executemany(
        "update recall_log set outcome = ? where id = ?",
        [(outcome, row) for row, outcome in before.items()],
    )


def line(text: str) -> str:
    from ademem.core.redaction import redact
    from ademem.core.text import preview

    return preview(redact(text).text, CALL_CHARS)


def _values(key: TurnKey) -> dict[str, str]:
    return {"session": key.session_id, "agent": key.agent_id}
