"""Identifiers in the word index."""

import pytest

from ademem.store import full_text
from tests import builders
from tests.builders import memory


def found(store, word):
    rows = store.db.execute(
        "select rowid from unified_memories_fts where unified_memories_fts match ?", (f'"{word}"',)
    )
    return [row[0] for row in rows]


@pytest.mark.parametrize(
    ("content", "word"),
    [
        pytest.param("`useOrders` refetches", "orders", id="the last word"),
        pytest.param("call AuthContext.impersonate()", "auth", id="the first word"),
        pytest.param("it logs\nvia toUtcDay", "utc", id="after a line break"),
        pytest.param('a "quoted\\path" and maxPoll', "poll", id="beside quotes and backslashes"),
        pytest.param("`useOrders` refetches", "useorders", id="as it stands"),
    ],
)
def test_an_identifier_is_found_by_its_words(store, content, word):
    (kept,) = builders.insert(store, memory(content))

    assert found(store, word) == [kept.seq]


@pytest.mark.parametrize("content", ["the BORDERS of an HTTPServer", "reorders, McD"])
def test_only_camel_case_has_parts(store, content):
    builders.insert(store, memory(content))

    assert found(store, "orders") + found(store, "server") + found(store, "d") == []


def test_the_parts_change_with_the_text(store):
    (kept,) = builders.insert(store, memory("`useOrders` refetches"))
    store.db.execute("update unified_memories set content = 'useCart' where seq = ?", (kept.seq,))

    assert (found(store, "orders"), found(store, "cart")) == ([], [kept.seq])
    store.db.execute("delete from unified_memories where seq = ?", (kept.seq,))
    assert found(store, "cart") == []


def test_a_rebuilt_index_has_the_parts(store):
    (kept,) = builders.insert(store, memory("`useOrders` refetches"))
    full_text.rebuild(store, "unified_memories_fts")

    assert found(store, "orders") == [kept.seq]
    assert full_text.find_broken(store) == []
