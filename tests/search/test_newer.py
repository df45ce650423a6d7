"""Of two statements that are nearest to each other, the newer one answers first."""

from __future__ import annotations

from datetime import timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ademem.core.memory import DIALOGUE, Category, Trust
from ademem.core.text import tells_work
from ademem.search import dense
from ademem.search.engine import Filters, search
from ademem.store import memories, relations
from ademem.store.memories import Change
from ademem.store.relations import CONFLICT, RELATED
from tests.builders import NOW, insert, memory
from tests.search.notes import NOTES
from tests.search.spelling import Spelling, embed

OLD = "Invoices of customers are paid by bank transfer"
NEW = "Customers pay their invoices with a credit card"
QUESTION = "how are invoices of customers paid"
DAY = timedelta(days=1)


@pytest.fixture
def put(store):
    """Learn texts one day after another, the last of them now, beside the notes of a shop."""

    def learn(*texts, around=NOTES, **changes):
        since = NOW - len(texts) * DAY
        kept = [*insert(store, *(memory(text, created_at=since) for text in around))]
        for place, text in enumerate(texts, 1):
            kept += insert(store, memory(text, created_at=since + place * DAY, **changes))
        embed(store, *kept)
        return kept[len(around) :]

    return learn


@pytest.fixture
def first(store):
    def find(question=QUESTION, embedder=True):
        found = search(question, store, Filters(), NOW, 5, Spelling() if embedder else None)
        return found.hits[0].memory.content

    return find


def test_the_newer_answers_first_however_it_is_worded(put, first):
    put(OLD, NEW)
    assert first(embedder=False) == OLD

    assert first() == NEW


def test_an_explanation_shows_why(put, store):
    put(OLD, NEW)
    newer, older, *_ = search(QUESTION, store, Filters(), NOW, 5, Spelling()).hits

    assert newer.signals["newer"]
    assert "newer" not in older.signals


def test_the_question_may_ask_for_one_of_them(put, first):
    old, _ = put("Sessions of customers end after 30 minutes", "Customers have sessions of a day")

    assert first("which sessions have 30") == old.content
    assert first("do sessions of customers end after minutes") == old.content
    assert first(old.id) == old.content


def test_of_many_texts_that_are_all_alike_none_replaces_another(put, first):
    verbs = ("copies", "moves", "sends")
    texts = [f"Every night a job {verb} the backups to a disk" for verb in verbs]
    put(*texts)

    assert first("does a job copy the backups to a disk every night") == texts[0]


def test_two_things_of_one_kind_are_told_apart(put, first):
    texts = [f"Requests of search-{each} are given up after a minute" for each in ("eu", "us")]
    put(*texts)

    assert first("when are requests of search-eu given up") == texts[0]


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"category": Category.DIGEST}, id="records of events"),
        pytest.param({"tags": (DIALOGUE,)}, id="turns of a dialogue"),
    ],
)
def test_what_is_no_statement_keeps_its_place(put, first, changes):
    put(OLD, NEW, **changes)

    assert first() == OLD


def test_a_record_of_work_replaces_none(put, first):
    put(OLD, NEW, around=[f"Fix the {note}" for note in NOTES])

    assert first() == OLD


def test_what_a_person_said_stays_before_what_others_say_later(store, first):
    kept = insert(
        store,
        *map(memory, NOTES),
        memory(OLD, created_at=NOW - DAY, trust=Trust.USER),
        memory(NEW, created_at=NOW, trust=Trust.AGENT),
    )
    embed(store, *kept)

    assert first() == OLD


def test_one_that_was_confirmed_again_is_not_outdated(put, first, store):
    old, _ = put(OLD, NEW)
    memories.update(store, old, Change(operation="merge", actor="user", at=NOW + DAY))

    assert first() == OLD


@pytest.mark.parametrize(
    ("relation", "judged", "expected"),
    [
        pytest.param(RELATED, False, NEW, id="only about one subject"),
        pytest.param(CONFLICT, True, OLD, id="a person said that both are true"),
    ],
)
def test_a_verdict_on_the_two_decides(put, first, store, relation, judged, expected):
    old, new = put(OLD, NEW)
    relations.add(store, old, new, relation, score=0.9, reason="", actor="ademem", now=NOW)
    if judged:
        assert relations.resolve(store, old, new, "person", NOW)

    assert first() == expected


@given(st.integers(2, 12), st.integers(0, 2**32 - 1))
def test_a_twin_is_the_nearest_the_other_way_round_as_well(count, seed):
    vectors = np.random.default_rng(seed).normal(size=(count, 4)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    rows = np.arange(10, 10 + count)
    ones = np.ones(count, np.float32)
    known = dense.Vectors(rows=rows, matrix=vectors, lengths=ones, whitening=None)
    cosines = vectors @ vectors.T
    np.fill_diagonal(cosines, -2)
    nearest = cosines.argmax(axis=1)

    for place, row in enumerate(rows.tolist()):
        twin = dense.Cosines(vectors[0], known).find_twin(row, rows.tolist(), -1.0)
        if nearest[nearest[place]] == place:
            assert twin is not None
            assert twin.row == rows[nearest[place]]
            assert twin.margin >= 0
        else:
            assert twin is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Fix the rounding of invoices", True),
        ("fixes: two crashes", True),
        ("feat(api): Add pages", True),
        ("[docs] Dropped the guide", True),
        ("Additional workers run at night", False),
        ("Reverse proxies keep the host", False),
        ("The fix is in main", False),
        ("", False),
    ],
)
def test_a_text_tells_work_if_it_begins_like_a_commit(text, expected):
    assert tells_work(text) is expected
