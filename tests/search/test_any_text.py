"""Any text is a query, and what surrounds a known word does not hide it."""

from __future__ import annotations

import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ademem.search.engine import Filters, search
from ademem.search.lexical import MANY_ROWS
from ademem.store import Store
from tests.builders import NOW, insert, memory, open_project
from tests.examples import examples

PIECES = (
    *"\"'`*-^+:;,.!?()[]{}<>|&\\/~=#$%@_",
    *("\0", "\n", "\t", "\ud800", "\u202e", "\ufeff", "\u0301"),
    *("NEAR(", "NEAR/3", "col:", "title :", "AND", "OR", "NOT", "{a b}:", '""', "'; drop table x;"),
    *("接続", "タイムアウト", "数据库连接超时", "ข้อความ", "연결", "🎉", "Straße", "İstanbul"),
    *("zxq", "Qwyjibo", "x" * 300, "0x7f", "3.14", "a/b", "foo_bar", "%s", "\\n", "--all"),
)
KNOWN = "heliotrope"


@pytest.fixture(scope="module")
def garden(tmp_path_factory: pytest.TempPathFactory):
    """A store in which one memory knows the word."""
    store = open_project(tmp_path_factory.mktemp("garden"))
    insert(
        store,
        memory(f"the {KNOWN} is watered by the cron job"),
        *(memory(f"bed {number} has roses and tulips") for number in range(20)),
    )
    yield store
    store.close()


def found(query: str, store: Store) -> list[str]:
    results = search(query, store, Filters(), NOW)
    return [hit.memory.content for hit in results.hits]


def test_hostile_texts_are_queries_and_the_known_word_in_them_is_found(garden):
    """Row E26 of safe queries."""

    chance = random.Random(20_260_131)
    for _ in range(examples(10_000, share=5)):
        pieces = chance.choices(PIECES, k=chance.randrange(8))
        pieces.insert(chance.randint(0, len(pieces)), f" {KNOWN} ")
        text = "".join(pieces)

        assert any(KNOWN in content for content in found(text, garden)), text


@given(before=st.text(max_size=200), after=st.text(max_size=200))
@settings(max_examples=examples(200), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_known_word_is_found_between_any_two_texts(garden, before, after):
    query = f"{before} {KNOWN} {after}"

    assert any(KNOWN in content for content in found(query, garden))


@pytest.mark.parametrize(
    "paste",
    [
        pytest.param("x" * 1_000_000, id="one word"),
        pytest.param("NEAR( qwyjibo* OR " * 60_000, id="operators"),
        pytest.param('"' * 1_000_000, id="quotes"),
        pytest.param("数据库连接超时" * 150_000, id="no blanks"),
        pytest.param("".join(map(chr, range(33, 50_033))) * 20, id="all sorts of characters"),
    ],
)
def test_a_known_word_is_found_before_and_after_a_megabyte(garden, paste):
    assert any(KNOWN in content for content in found(f"{KNOWN} {paste}", garden))
    assert any(KNOWN in content for content in found(f"{paste} {KNOWN}", garden))


def test_a_query_without_a_word_finds_nothing_among_many_memories(store):
    insert(store, *(memory(f"bed {number} has roses") for number in range(MANY_ROWS)))

    assert [found(query, store) for query in ("", "<=", "???")] == [[], [], []]
