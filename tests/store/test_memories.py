"""Rows of memories: written, read back, found by id."""

from __future__ import annotations

import sqlite3
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ademem.core.errors import NoSuchMemory
from ademem.core.memory import Category, Importance, Scope, Status, Tier, Trust
from ademem.core.value import as_dict, replace
from ademem.store import memories
from ademem.store.memories import Change
from tests import builders
from tests.builders import NOW, memory
from tests.examples import examples
from tests.store.stores import in_memory

LATER = NOW + timedelta(hours=1)
CHANGE = Change(operation="edit", actor="user", at=LATER)

MOMENTS = st.datetimes(datetime(1970, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC)).map(
    lambda moment: moment.replace(microsecond=0)
)
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
MAYBE = st.none() | TEXT


def rows():
    return st.builds(
        memory,
        content=TEXT,
        scope=st.sampled_from(tuple(Scope)),
        scope_owner_id=MAYBE,
        tier=st.sampled_from(tuple(Tier)),
        category=st.sampled_from(tuple(Category)),
        importance=st.sampled_from(tuple(Importance)),
        status=st.sampled_from(tuple(Status)),
        trust=st.sampled_from(tuple(Trust)),
        title=MAYBE,
        tags=st.lists(st.text("abcdef", min_size=1), max_size=3).map(tuple),
        anchors=st.lists(TEXT, max_size=3).map(tuple),
        pinned=st.booleans(),
        confidence=st.floats(0, 1),
        created_at=MOMENTS,
        promoted_at=st.none() | MOMENTS,
        deleted_at=st.none() | MOMENTS,
    )


@settings(max_examples=examples(60))
@given(rows())
def test_a_row_comes_back_as_it_was_written(row):
    store = in_memory()
    (written,) = builders.insert(store, row)
    read = memories.get(store, row.id)
    store.close()

    assert read == written
    assert replace(read, seq=0, project_id=row.project_id) == row


@pytest.mark.parametrize(
    ("id", "wanted"),
    [
        pytest.param("abcd-1234", "first", id="whole"),
        pytest.param("abcd-1", "first", id="beginning with a dash"),
        pytest.param("zzzz", "last", id="beginning of letters after z"),
        pytest.param("sync-first", "first", id="sync id"),
    ],
)
def test_a_memory_is_known_by_its_id_and_its_beginning(store, id, wanted):
    builders.insert(
        store,
        memory("first", id="abcd-1234", sync_id="sync-first"),
        memory("second", id="abcd-5678", sync_id="sync-second"),
        memory("last", id="zzzzzz", sync_id="sync-last"),
    )

    assert memories.get(store, id).content == wanted


@pytest.mark.parametrize(
    "id",
    [
        pytest.param("abcd", id="two begin so"),
        pytest.param("zzz", id="too short to be a beginning"),
        pytest.param("", id="nothing"),
        pytest.param("bcd-1234", id="an end"),
        pytest.param("abc%", id="a pattern"),
    ],
)
def test_what_names_no_single_memory_is_refused(store, id):
    builders.insert(
        store,
        memory("first", id="abcd-1234"),
        memory("second", id="abcd-5678"),
        memory("last", id="zzzzzz"),
    )

    with pytest.raises(NoSuchMemory):
        memories.get(store, id)


def test_every_change_is_a_revision_with_the_row_as_it_was(store):
    (row,) = builders.insert(store, memory("one"))
    row = memories.update(store, replace(row, content="two"), CHANGE)
    memories.update(store, replace(row, content="three"), replace(CHANGE, reason="typo"))
    history = memories.revisions(store, row.id)

    assert [r["snapshot"]["content"] for r in history] == ["one", "two", "three"]
    assert [r["revision"] for r in history] == [1, 2, 3]
    assert history[2]["reason"] == "typo"
    assert not {"seq", "access_count", "access_score"} & history[0]["snapshot"].keys()


def test_an_update_hands_back_what_is_stored(store):
    (row,) = builders.insert(store, memory("one"))
    changed = memories.update(store, replace(row, content="two"), CHANGE)

    assert changed == memories.get(store, row.id)
    assert (changed.revision_count, changed.updated_at, changed.seq) == (2, LATER, row.seq)


def test_changes_of_one_act_share_an_event(store):
    a, b, c = builders.insert(store, memory("a"), memory("b"), memory("c"))
    event = memories.new_event()
    for row in (a, b):
        memories.update(store, row, replace(CHANGE, event_id=event))
    memories.update(store, c, CHANGE)
    events = [memories.revisions(store, row.id)[-1]["event_id"] for row in (a, b, c)]

    assert events[:2] == [event, event]
    assert events[2] not in ("", event)


def test_an_access_is_counted_and_scored(store):
    (row,) = builders.insert(store, memory(access_score=0.95))
    for _ in range(2):
        memories.touch(store, row, 1.0, LATER)
    read = memories.get(store, row.id)

    assert (read.access_count, read.access_score, read.last_accessed_at) == (2, 1.0, LATER)
    assert read.updated_at == row.updated_at


def test_only_this_projects_memories_are_found(store):
    builders.insert(store, memory("ours"))
    store.db.execute("insert into projects values ('other', '', '', '', '')")
    store.db.execute("update unified_memories set project_id = 'other'")

    assert memories.find(store, "true") == []


def test_found_memories_are_filtered_ordered_and_bounded(store):
    builders.insert(store, *(memory(name, confidence=n / 10) for n, name in enumerate("abc")))
    found = memories.find(
        store, "confidence > :least", "order by confidence desc limit 1", least=0.0
    )

    assert [row.content for row in found] == ["c"]


def test_two_live_memories_of_one_owner_cannot_say_the_same(store):
    builders.insert(store, memory("same", id="a", sync_id="a"))

    with pytest.raises(sqlite3.IntegrityError):
        builders.insert(store, memory("same", id="b", sync_id="b"))
    builders.insert(
        store,
        memory("same", id="c", sync_id="c", status=Status.ARCHIVED),
        memory("same", id="d", sync_id="d", deleted_at=NOW),
        memory("same", id="e", sync_id="e", superseded_by="a"),
        memory("same", id="f", sync_id="f", scope=Scope.AGENT, scope_owner_id="ann"),
    )
    assert as_dict(memories.get(store, "f"))["scope_owner_id"] == "ann"
