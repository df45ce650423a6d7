"""Which terms of a query are looked up."""

from __future__ import annotations

import random

import pytest

from ademem.core.value import replace
from ademem.search.lexical import MAX_TERMS, choose_terms, find_matches
from ademem.search.query import parse
from ademem.search.ranking import DEFAULTS
from ademem.store import full_text
from ademem.store.full_text import count_undeleted
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
    assert count_undeleted(store) == 0
    with store.transaction():
        for number in range(30):
            insert(store, memory(f"Lesson number {number} of the deploy"))
    assert count_undeleted(store) == 30

    store.db.execute("delete from unified_memories where seq % 3 = 0")
    assert count_undeleted(store) == 20


def test_common_words_are_counted_up_to_a_limit_without_another_match(keep, store, monkeypatch):
    choice = random.Random(2)
    words = [f"word{letter}" for letter in "abcdefghij"]
    for number in range(60):
        own = [word for at, word in enumerate(words) if choice.random() < 0.6 / (at + 1)]
        keep(" ".join([f"fact {number}", *own]))
    asked = [parse(" ".join(choice.sample(words, choice.randrange(1, 7)))) for _ in range(40)]
    few = replace(DEFAULTS, postings=8)
    count, limits = full_text.count_rows, []

    def note_limit(store, terms, most=-1):
        limits.append(most)
        return count(store, terms, most)

    monkeypatch.setattr(full_text, "count_rows", note_limit)
    found = [find_matches(query, store, few, alone=True) for query in asked]
    monkeypatch.setattr(full_text, "count_rows", lambda store, terms, _=-1: count(store, terms))

    assert found == [find_matches(query, store, few, alone=True) for query in asked]
    assert 0 < limits.count(-1) < len(asked) <= limits.count(9)
