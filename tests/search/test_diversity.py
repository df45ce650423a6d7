"""Near copies leave the first places to what says something else."""

from __future__ import annotations

import pytest

from ademem.search.engine import Filters, search
from tests.builders import NOW, insert, memory
from tests.search.notes import NOTES
from tests.search.spelling import Spelling, embed

COPIES = [
    f"Invoices of {customers} are paid by bank transfer within thirty days of delivery"
    for customers in ("customers", "all customers", "the customers", "our customers", "customers,")
]
OTHER = "Customers who pay invoices late get a reminder"
QUESTION = "how are invoices of customers paid"


@pytest.fixture(params=["words", "vectors"])
def find(store, request):
    rows = insert(store, *map(memory, (*NOTES, OTHER, *COPIES)))
    embedder = Spelling() if request.param == "vectors" else None
    if embedder:
        embed(store, *rows)
    return lambda question, limit=10: search(question, store, Filters(), NOW, limit, embedder).hits


def test_no_two_near_copies_stand_in_the_first_five_while_another_one_answers(find):
    first = [hit.memory.content for hit in find(QUESTION)[:5]]
    answering = [hit.memory.content for hit in find(QUESTION) if not hit.weak]

    assert OTHER in answering
    assert sum(each in COPIES for each in first[:2]) == 1
    assert OTHER in first[:2]
    assert all(copy in answering for copy in COPIES), "none is lost"


def test_each_of_the_first_shows_its_marginal_relevance(find):
    hits = find(QUESTION)

    assert [("mmr" in hit.signals) for hit in hits[:3]] == [True] * 3
    assert hits[0].signals["mmr"] == pytest.approx(0.7 * hits[0].signals["composite"])
    assert any("copy" in hit.signals for hit in hits)


def test_where_nothing_is_alike_the_score_alone_decides(store):
    insert(store, *map(memory, NOTES))
    hits = search("passwords and invoices", store, Filters(), NOW, 10).hits

    assert not any("copy" in hit.signals for hit in hits)
