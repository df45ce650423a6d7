"""A search that counts."""

from __future__ import annotations

from datetime import timedelta

import pytest

from ademem.core.client import TurnKey
from ademem.search.engine import Filters, recall, search
from ademem.store import memories
from tests.builders import NOW

LATER = NOW + timedelta(hours=1)


def rows(store, columns: str) -> list[tuple[object, ...]]:
    return [tuple(row) for row in store.db.execute(f"select {columns} from recall_log order by id")]


def test_recall_returns_what_search_does(store, keep):
    keep("the cache is flushed at night")
    expected = search("cache", store, Filters(), NOW)

    assert recall("cache", store, Filters(), NOW) == expected


def test_each_memory_returned_counts_one_access_and_no_other(store, keep):
    returned = [keep(f"the cache of shard {number}") for number in range(2)]
    other = keep("lunch is at noon")

    recall("cache", store, Filters(), LATER)
    for memory in returned:
        after = memories.get(store, memory.id)
        assert (after.access_count, after.last_accessed_at) == (1, LATER)
        assert (after.updated_at, after.revision_count) == (NOW, 1)
    assert memories.get(store, other.id) == other


def test_what_was_shown_is_logged_in_its_order_and_its_turn(store, keep):
    for number in range(2):
        keep(f"the cache of shard {number}")
    turn = TurnKey(session_id="s", prompt_id="p")

    found = recall("cache", store, Filters(), NOW, key=turn)
    assert rows(store, "session_id, prompt_id, place, query, memory_id, rank, score") == [
        ("s", "p", "recall", "cache", hit.memory.id, rank, hit.score)
        for rank, hit in enumerate(found.hits, 1)
    ]


def test_a_recall_that_found_nothing_is_logged_too(store):
    recall("cache", store, Filters(), NOW)

    assert rows(store, "place, query, memory_id") == [("recall", "cache", None)]


def test_the_log_keeps_no_secret_and_no_paste(store):
    recall("<private>hush</private> why? " + "x" * 10_000, store, Filters(), NOW)

    ((query,),) = rows(store, "query")
    assert "hush" not in query
    assert len(query) == 500


def test_accesses_and_log_are_written_together_or_not_at_all(store, keep):
    kept = keep("the cache is flushed at night")
    store.db.execute("drop table recall_log")

    with pytest.raises(Exception, match="recall_log"):
        recall("cache", store, Filters(), NOW)
    assert memories.get(store, kept.id).access_count == 0


def test_a_weak_hit_counts_no_access_and_is_not_logged(store, keep):
    kept = keep("the cache of shard 7 is flushed at night")
    for number in range(30):
        keep(f"the nightly report {number} is sent at noon")

    found = recall(
        "could we mail invoices and receipts of last summer to shard owners and accountants",
        store,
        Filters(),
        NOW,
    )
    weak = [hit.memory.id for hit in found.hits if hit.weak]
    assert kept.id in weak
    assert memories.get(store, kept.id).access_count == 0
