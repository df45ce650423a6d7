"""Which terms of a query are looked up."""

from __future__ import annotations

import pytest

from ademem.search.lexical import MAX_TERMS, choose_terms
from ademem.store.full_text import total_rows
from tests.builders import insert, memory


@pytest.mark.parametrize(
    ("counts", "terms"),
    [
        pytest.param({"many": 90, "few": 2}, ["few", "many"], id="the rarest first"),
        pytest.param({"here": 1, "nowhere": 0}, ["here"], id="nothing that no row has"),
        pytest.param(
            {"a": 1, "b": 2, "c": 3, "d": 900, "e": 901}, ["a", "b", "c", "d"], id="up to 1000 rows"
        ),
        pytest.param(
            {"a": 4000, "b": 5000, "c": 6000, "d": 7000}, ["a", "b", "c"], id="three in any case"
        ),
        pytest.param({}, [], id="none"),
    ],
)
def test_the_terms_that_tell_most_are_looked_up(counts, terms):
    assert choose_terms(counts) == terms


def test_of_equally_rare_terms_the_same_are_looked_up_in_whatever_order_they_come():
    counts = {f"word{number}": 1 for number in range(500)}
    backwards = dict(reversed(counts.items()))

    assert choose_terms(counts) == choose_terms(backwards)


def test_no_more_terms_are_looked_up_than_a_person_would_think_of():
    assert len(choose_terms({f"word{number}": 1 for number in range(500)})) == MAX_TERMS


def test_rows_are_counted_as_the_full_text_index_has_them(store):
    def counted():
        return store.db.execute("select count(*) from unified_memories_fts_docsize").fetchone()[0]

    assert total_rows(store) == counted() == 0
    for wanted in (1, 127, 128, 300):
        with store.transaction():
            for number in range(counted(), wanted):
                insert(store, memory(f"Lesson number {number} of the deploy"))
        assert total_rows(store) == counted() == wanted

    store.db.execute("delete from unified_memories where seq % 3 = 0")
    assert total_rows(store) == counted() == 200
