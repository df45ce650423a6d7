"""How often memories were shown, and what came of it."""

import random

import pytest

from ademem.core.client import TurnKey
from ademem.core.clock import stamp
from ademem.store import logs
from tests.builders import NOW, insert, memory


def show(store, memory, place="briefing", session="s1", agent=""):
    key = TurnKey(session_id=session, agent_id=agent)
    logs.log_shown(store, place, [logs.Shown(memory_id=memory.id)], NOW, key=key)


@pytest.mark.parametrize("place", sorted(logs.PLACES))
def test_what_nobody_asked_for_counts_as_shown_once_a_session(store, place):
    (known,) = insert(store, memory("known"))
    show(store, known, place)
    show(store, known, place)
    show(store, known, "briefing")
    assert logs.count_unused(store, [known.id]) == {known.id: 1}

    show(store, known, place, session="s2")
    show(store, known, place, agent="a1")
    assert logs.count_unused(store, [known.id]) == {known.id: 3}


@pytest.mark.parametrize("place", ["recall", "search"])
def test_what_was_asked_for_is_no_showing(store, place):
    (known,) = insert(store, memory("known"))
    show(store, known, place)
    assert logs.count_unused(store, [known.id]) == {}

    show(store, known, "prompt")
    assert logs.count_unused(store, [known.id]) == {known.id: 1}


def test_a_memory_that_is_gone_is_shown_without_a_count(store):
    show(store, memory("never stored"))

    assert store.db.execute("select count(*) from memory_exposure").fetchone()[0] == 0


@pytest.mark.parametrize("value", [9e99, -7, "zzz", b"\xff"])
def test_an_impossible_count_stops_no_further_one(store, value):
    (known,) = insert(store, memory("known"))
    show(store, known)
    store.db.execute("pragma ignore_check_constraints = on")
    store.db.execute("update memory_exposure set shown = ?1, unused = ?1, used = ?1", (value,))
    store.db.execute("pragma ignore_check_constraints = off")
    show(store, known, session="s2")
    counts = store.db.execute("select shown, unused from memory_exposure").fetchone()
    logs.count_use(store, [known.id], NOW)

    assert all(1 <= count <= 1_000_000 for count in counts)
    assert logs.count_unused(store, [known.id]) == {known.id: 0}


def test_what_was_shown_most_is_listed_and_all_that_the_project_showed_is_summed(store):
    choice, rows = random.Random(3), []
    store.db.execute("insert into projects values ('other', '/o', 'o', '', '')")
    for each in insert(store, *(memory(f"fact {at}", pinned=at % 7 == 0) for at in range(60))):
        project = choice.choice((*(store.project_id,) * 4, "other"))
        deleted_at = choice.choice((None, None, stamp(NOW)))
        shown, unused, used = (choice.randrange(most) for most in (6, 20, 3))
        store.db.execute(
            "update unified_memories set project_id = ?, deleted_at = ? where id = ?",
            (project, deleted_at, each.id),
        )
        store.db.execute(
            "insert into memory_exposure (memory_id, shown, unused, used) values (?, ?, ?, ?)",
            (each.id, shown, unused, used),
        )
        if project != "other":
            sinks = unused > logs.PATIENCE and not each.pinned
            rows.append((-shown, used, each.id, sinks, not deleted_at))

    listed = [id for _, _, id, _, is_there in sorted(rows) if is_there]
    assert [row["id"] for row in logs.list_most_shown(store, 20)] == listed[:20]
    assert dict(logs.impression_totals(store)) == {
        "memories": len(rows),
        "shown": -sum(shown for shown, *_ in rows),
        "used": sum(used for _, used, *_ in rows),
        "used_memories": sum(used > 0 for _, used, *_ in rows),
        "sinking": sum(sinks for *_, sinks, _ in rows),
    }
