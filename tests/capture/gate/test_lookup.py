"""What the store tells the rules, on a real database."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ademem.capture.gate.writing import StoreLookup
from ademem.core.memory import Scope, Status
from ademem.core.text import have_same_words
from tests.builders import NOW, insert, memory
from tests.capture.gate.lookup import reviewed
from tests.examples import examples

TEXT = "the importer reads every file twice because the first pass only counts lines"

CHINESE = "数据库文件不能放在网络共享上，否则会损坏索引"


@pytest.mark.parametrize(
    ("fields", "seen"),
    [
        pytest.param({}, True, id="a promoted memory"),
        pytest.param({"status": Status.CANDIDATE}, True, id="a candidate"),
        pytest.param({"status": Status.ARCHIVED}, False, id="an archived one"),
        pytest.param({"deleted_at": NOW}, False, id="a deleted one"),
        pytest.param({"superseded_by": "another"}, False, id="a superseded one"),
        pytest.param({"scope": Scope.AGENT, "scope_owner_id": "ada"}, False, id="somebody's own"),
    ],
)
def test_only_live_memories_of_the_same_owner_stand_on_the_shelf(store, fields, seen):
    insert(store, memory(TEXT, topic_key="import", knowledge_key="learned-import", **fields))
    shelf = StoreLookup(store)
    draft = reviewed(TEXT, topic_key="import", knowledge_key="learned-import")
    keys = ("topic_key", "knowledge_key", "dedupe_key")

    found = (*(shelf.same(draft, key) for key in keys), *shelf.near(draft))

    assert len(found) == 3 + seen
    assert all(bool(memory) is seen for memory in found)


def test_what_a_memory_is_compared_with_is_read_by_its_rows(store):
    other = memory(TEXT)
    insert(store, other, memory(f"{TEXT}, and the second one writes"))
    asked = []
    store.db.set_trace_callback(asked.append)
    near = StoreLookup(store).near(reviewed(TEXT))
    store.db.set_trace_callback(None)
    plans = [
        row["detail"]
        for query in asked
        if "unified_memories" in query and not query.startswith("--")  # of FTS5
        for row in store.db.execute(f"explain query plan {query}")
    ]

    assert other.id in {each.id for each in near}
    assert [plan for plan in plans if "unified_memories USING INDEX" in plan] == []


def test_an_owner_sees_what_is_theirs(store):
    insert(store, memory(TEXT, scope=Scope.AGENT, scope_owner_id="ada"))
    shelf = StoreLookup(store)

    assert shelf.same(reviewed(TEXT, scope="agent", owner="ada"))
    assert not shelf.same(reviewed(TEXT, scope="agent", owner="bob"))


def test_a_quarantined_memory_is_found_by_its_text_but_not_by_likeness(store):
    insert(store, memory(TEXT, quarantine_reason="gives a role"))
    shelf = StoreLookup(store)

    assert shelf.same(reviewed(TEXT))
    assert not shelf.near(reviewed(TEXT))


@pytest.mark.parametrize(
    ("known", "draft"),
    [
        pytest.param(TEXT, TEXT.upper(), id="upper case"),
        pytest.param("short text", "short text.", id="two words"),
        pytest.param(
            "max_chars, FTS5: “quotes” AND (NEAR)*", "max_chars FTS5 quotes AND NEAR", id="signs"
        ),
        pytest.param(CHINESE, f"“{CHINESE}”", id="Chinese"),
    ],
)
def test_the_same_words_are_found(store, known, draft):
    (row,) = insert(store, memory(known))

    assert StoreLookup(store).near(reviewed(draft)) == [row]


WORD = st.sampled_from([a + b + c for a in "bdkt" for b in "aeiou" for c in "lmnr"])


@settings(max_examples=examples(40), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.lists(WORD, min_size=1, max_size=40), other=st.lists(WORD, max_size=40))
def test_no_text_of_the_same_words_is_overlooked(store, text, other):
    known, draft = " ".join(text), f"{', '.join(text)}."
    with store.transaction():
        insert(store, memory(known), memory(" ".join(other)))
        found = [row.content for row in StoreLookup(store).near(reviewed(draft))]
        store.db.execute("delete from unified_memories")

    assert known in found
    assert all(have_same_words(draft, each) for each in found)


@pytest.mark.parametrize("text", ["", "…", "___", '"', "AND OR NOT", "a" * 3000])
def test_any_text_may_be_asked_for(store, text):
    assert StoreLookup(store).near(reviewed(text)) == []


@pytest.mark.parametrize("known", [f"{TEXT} first", TEXT.replace("twice ", ""), CHINESE])
def test_other_words_are_left_out(store, known):
    insert(store, memory(known))

    assert StoreLookup(store).near(reviewed(TEXT)) == []


def test_texts_of_the_same_words_are_found_the_newest_first(store):
    old, new = insert(store, memory(TEXT), memory(f"{TEXT}!"))

    assert StoreLookup(store).near(reviewed(f"{TEXT}.")) == [new, old]


def test_the_same_words_are_found_among_any_number_of_others_of_their_kind(store):
    (row,) = insert(store, memory(TEXT))
    insert(store, *(memory(f"the importer reads every file of module_{n}") for n in range(200)))

    assert StoreLookup(store).near(reviewed(f"{TEXT}.")) == [row]
