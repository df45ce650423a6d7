"""Which memories a search reads, and when."""

from __future__ import annotations

from threading import Event

import pytest

from ademem.core.memory import Status
from ademem.core.settings import SearchSettings
from ademem.search import index
from ademem.search.engine import Filters, search
from ademem.search.entry_cache import AtHand
from ademem.search.query_vector import Vector
from ademem.store import memories
from tests.builders import NOW, insert, memory
from tests.search.spelling import Spelling, embed


@pytest.fixture
def read(monkeypatch):
    """What is read from the store, reading by reading."""
    readings = []
    entries = memories.entries

    def noted(store, seqs):
        readings.append(list(seqs))
        return entries(store, seqs)

    monkeypatch.setattr(memories, "entries", noted)
    return readings


@pytest.fixture
def caches(store):
    """More notes than a pool holds; they have vectors, and there is an index of them."""
    told = [
        memory(f"cache {number} is flushed at night", status=Status.PROMOTED)
        for number in range(80)
    ]
    embed(store, *insert(store, *told))
    index.build(store, Spelling.model_id)
    return store


def ask(store, model, query="cache flushed at night", limit=5):
    return search(query, store, SearchSettings(), Filters(), NOW, limit, model)


def test_a_memory_is_read_once_and_comes_in_the_order_it_is_asked_for(store, keep, read):
    first, second, third = (keep(text).seq for text in ("one", "two", "three"))
    at_hand = AtHand(store)
    at_hand.read([second])

    assert [one.seq for one in at_hand.these([third, second, first])] == [third, second, first]
    assert read == [[second], [third, first]]


def test_a_memory_that_is_gone_is_left_out(store, keep):
    known = keep("one")

    (found,) = AtHand(store).these([known.seq + 1, known.seq])
    assert found.id == known.id


def test_what_has_the_words_is_read_while_the_model_reads_the_question(caches, read, monkeypatch):
    begun = Event()
    entries = memories.entries
    monkeypatch.setattr(memories, "entries", lambda *asked: begun.set() or entries(*asked))

    class Slow(Spelling):
        def embed(self, texts):
            assert begun.wait(60)
            return super().embed(texts)

    found = ask(caches, Slow())
    assert (found.mode, len(found.hits)) == ("hybrid", 5)
    assert len(read) > 1
    assert ask(caches, Spelling()) == found


def test_nothing_is_read_ahead_of_a_model_that_is_done(caches, read, monkeypatch):
    monkeypatch.setattr(Vector, "is_known", True)

    ask(caches, Spelling())
    assert len(read) == 1


def test_no_memory_is_read_twice_in_a_search_of_several_stages(caches, read):
    insert(caches, memory("the cache is flushed by hand", status=Status.CANDIDATE))

    found = ask(caches, Spelling())
    seqs = [seq for reading in read for seq in reading]
    assert len(found.hits) == 5
    assert len(seqs) == len(set(seqs))


@pytest.mark.parametrize("indexed", [True, False])
@pytest.mark.parametrize(
    ("query", "limit", "weighed"),
    [
        pytest.param("cache flushed at night", 5, 40, id="two thirds of the pool"),
        pytest.param("cache flushed at night", 50, 50, id="as many as are wanted"),
        pytest.param("when is the cache flushed at night", 5, 60, id="a time is asked for"),
        pytest.param("cache flushed at night in May", 5, 60, id="a month is named"),
    ],
)
def test_rows_far_behind_are_left_unread_where_no_time_may_lift_them(
    caches, read, monkeypatch, indexed, query, limit, weighed
):
    monkeypatch.setattr(Vector, "is_known", True)
    if not indexed:
        monkeypatch.setattr(index, "open_index", lambda *_: None)

    found = ask(caches, Spelling(), query, limit)
    assert (found.mode, len(found.hits)) == ("hybrid", limit)
    assert [len(reading) for reading in read] == [weighed]
