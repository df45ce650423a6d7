"""Two statements that are the nearest to each other stand together, the newer one first."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ademem.core.clock import stamp
from ademem.core.memory import DIALOGUE, Category, Trust
from ademem.search import evidence
from ademem.search import neighbours as search_neighbours
from ademem.search.engine import Filters, search, suggest
from ademem.store import memories, neighbours, relations, transitions
from ademem.store.memories import Change
from ademem.store.relations import CONFLICT, RELATED
from ademem.store.transitions import Act
from tests.builders import NOW, insert, memory
from tests.examples import examples
from tests.search.notes import NOTES
from tests.search.spelling import Spelling, embed

OLD = "Invoices of customers are paid by bank transfer"
NEW = "Customers pay their invoices with a credit card"
QUESTION = "how are invoices of customers paid"
DAY = timedelta(days=1)


def compare(store, now=NOW):
    return search_neighbours.catch_up(store, Spelling.model_id, now)


@pytest.fixture
def put(store):
    """Learn texts one day after another, the last of them now, beside the notes of a shop."""

    def learn(*texts, around=NOTES, **changes):
        since = NOW - len(texts) * DAY
        kept = [*insert(store, *(memory(text, created_at=since) for text in around))]
        for place, text in enumerate(texts, 1):
            kept += insert(store, memory(text, created_at=since + place * DAY, **changes))
        embed(store, *kept)
        compare(store)
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

    assert first() == NEW


def test_both_are_there_and_the_earlier_names_the_newer(put, store):
    old, new = put(OLD, NEW)
    hits = search(QUESTION, store, Filters(), NOW, 5, Spelling()).hits

    assert [hit.memory.id for hit in hits][:2] == [new.id, old.id]
    assert [hit.mark for hit in hits][:2] == ["", f"newer: {new.id}, {NOW:%Y-%m-%d}"]
    assert all(memories.get(store, one.id).live for one in (old, new))
    assert relations.list_conflicts(store) == []


def test_a_text_of_many_words_keeps_the_order_that_it_gives_the_two(put, first):
    put(OLD, NEW)

    assert first(f"{OLD} within thirty days of delivery, as agreed in May") == OLD


def test_a_text_of_many_words_brings_none_from_beyond_the_first_ten(put, store):
    days = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday May June July August".split()
    reports = [f"Invoices are paid by transfer within thirty days, {day} report" for day in days]
    old, new = put(OLD, NEW, around=(*NOTES, *reports))
    described = f"{OLD} within thirty days, as the report of the month says"
    found = search(described, store, Filters(), NOW, 10, Spelling()).hits

    ids = [hit.memory.id for hit in found]
    assert old.id in ids
    assert new.id not in ids
    asked = search(QUESTION, store, Filters(), NOW, 10, Spelling()).hits
    assert {old.id, new.id} <= {hit.memory.id for hit in asked}


SURE = evidence.NEWER + evidence.NEWER_GAP * evidence.CUT


@pytest.mark.parametrize(
    ("cosine", "expected"),
    [
        pytest.param(SURE, NEW, id="much alike"),
        pytest.param(SURE - 0.01, OLD, id="neighbours that may say of different matters"),
    ],
)
def test_a_prompt_is_shown_the_newer_of_two_that_are_much_alike(put, store, cosine, expected):
    put(OLD, NEW)
    store.db.execute("update memory_neighbours set cosine = ?", (cosine,))
    store.db.execute("update memory_neighbours set second = 0.0")

    (shown,) = suggest(f"{OLD}, tell them", store, Filters(), NOW, embedder=Spelling())
    assert shown.memory.content == expected


def test_an_explanation_shows_why(put, store):
    put(OLD, NEW)
    newer, older, *_ = search(QUESTION, store, Filters(), NOW, 5, Spelling()).hits

    assert newer.signals["newer"]
    assert "newer" not in older.signals


def test_the_question_may_ask_for_one_of_them(put, first):
    old, _ = put("Sessions of customers end after 30 minutes", "Customers have sessions of a day")

    assert first("which sessions have 30") == old.content
    assert first(old.id) == old.content


def test_of_many_texts_that_are_all_alike_none_replaces_another(put, first):
    texts = [f"Every night a job copies the backups to the disk {name}" for name in "qwz"]
    put(*texts)

    assert first("backups disk q") == texts[0]


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


def test_what_a_page_says_later_goes_before_nothing_that_a_person_said(store, first):
    kept = insert(
        store,
        *map(memory, NOTES),
        memory(OLD, created_at=NOW - DAY, trust=Trust.USER),
        memory(NEW, created_at=NOW, trust=Trust.WEB),
    )
    embed(store, *kept)
    compare(store)

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


def nearest(store):
    return {one.id: (one.neighbour, round(one.cosine, 4)) for one in neighbours.list_all(store)}


WORDS = "tram stop lift mast choir score hive honey seed lot oven dough".split()


@settings(max_examples=examples(25), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.lists(st.sampled_from(WORDS), min_size=2, max_size=4), min_size=2, max_size=9),
    st.integers(1, 8),
)
def test_a_batch_after_another_finds_what_one_for_all_does(store, texts, cut):
    with store.transaction():
        rows = [insert(store, memory(f"{' '.join(text)} {at}"))[0] for at, text in enumerate(texts)]
        for part in (rows[:cut], rows[cut:]):
            if part:
                embed(store, *part)
                store.db.execute("delete from store_values where name glob 'whitening_*'")
                new = "update unified_memory_embeddings set updated_at = ? where updated_at = ''"
                store.db.execute(new, (stamp(NOW),))
                compare(store)
        step_by_step = nearest(store)
        store.db.execute("delete from memory_neighbours")
        store.db.execute("delete from store_values where name = 'related'")
        compare(store)
        at_once = nearest(store)
        store.db.execute("delete from unified_memories")

    assert {id: cosine for id, (_, cosine) in step_by_step.items()} == {
        id: cosine for id, (_, cosine) in at_once.items()
    }
    assert set(at_once) == {row.id for row in rows}


def test_one_whose_neighbour_is_gone_gets_another(put, store):
    old, new = put(OLD, NEW)
    transitions.archive(new.id, Act(store=store, now=NOW))
    compare(store)

    assert nearest(store)[old.id][0] != new.id
    assert new.id not in nearest(store)


def test_statements_of_two_owners_are_not_compared(store):
    mine = insert(store, memory(OLD), memory(NEW, scope="agent", scope_owner_id="ada"))
    embed(store, *mine)
    compare(store)

    assert nearest(store) == {}


def test_a_person_is_asked_about_two_that_are_clearly_the_nearest(put, store):
    old, new = put(OLD, f"{OLD} within a month")
    (pair,) = neighbours.list_proposals(store)
    assert (pair.left, pair.right) == (old.id, new.id)
    assert pair.reason.startswith("nearest in meaning to each other (0.")

    relations.add(store, old, new, CONFLICT, score=1, reason="", actor="user", now=NOW)
    assert neighbours.list_proposals(store) == []
