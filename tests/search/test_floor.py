"""What is worth showing: the answer to a prompt, and nothing when there is none."""

from __future__ import annotations

import pytest

from ademem.search.engine import Filters, search, suggest
from tests.builders import NOW, insert, memory, open_project
from tests.search.notes import FAINT, NOTES, RELATED, UNRELATED


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory):
    store = open_project(tmp_path_factory.mktemp("shop"))
    insert(store, *map(memory, NOTES))
    yield store
    store.close()


@pytest.mark.parametrize(("prompt", "answer"), RELATED)
def test_a_prompt_recalls_first_the_note_that_answers_it(shop, prompt, answer):
    found = suggest(prompt, shop, Filters(), NOW)

    assert answer in found[0].memory.content
    assert len(found) == 1


@pytest.mark.parametrize(("prompt", "answer"), FAINT)
def test_a_note_with_few_words_of_a_prompt_is_found_and_not_shown(shop, prompt, answer):
    assert answer in search(prompt, shop, Filters(), NOW).hits[0].memory.content
    assert suggest(prompt, shop, Filters(), NOW) == []


@pytest.mark.parametrize("prompt", UNRELATED)
def test_a_prompt_about_something_else_recalls_nothing(shop, prompt):
    assert suggest(prompt, shop, Filters(), NOW) == []


def test_one_rare_word_is_enough_for_what_was_typed_to_find_it(shop):
    hit = search("simpler with MySQL", shop, Filters(), NOW).hits[0]

    assert "because of partial indexes" in hit.memory.content
    assert not hit.weak


@pytest.mark.parametrize(
    ("question", "is_answered"),
    [
        pytest.param("would MySQL be much simpler today than what we run", False, id="one word"),
        pytest.param("would MySQL lack partial indexes today as it did then", True, id="three"),
        pytest.param(
            "would MySQL and partial scale for tenants in Europe, America, Africa, Asia,"
            " Australia, Iceland, Greenland, Madagascar, Zanzibar and Tasmania",
            True,
            id="two rare ones of many",
        ),
    ],
)
def test_a_question_is_answered_by_several_words_of_it(shop, question, is_answered):
    found = search(question, shop, Filters(), NOW)

    assert found.hits
    assert (found.confidence == "answer") is is_answered


def test_any_word_is_enough_for_what_is_no_question(shop):
    assert search("MySQL zeppelin qwyjibo heliotrope greenland", shop, Filters(), NOW).hits


def test_a_question_in_a_script_without_blanks_is_answered_by_any_part_of_it(tmp_path):
    store = open_project(tmp_path)
    insert(store, memory("数据库连接池会耗尽"), *map(memory, NOTES))

    for question in ("怎么监控数据库", "监控数据库连接"):
        hit = search(question, store, Filters(), NOW).hits[0]
        assert hit.memory.content.startswith("数据库")
    assert not hit.weak
    store.close()


def test_what_answers_nothing_is_shown_as_weak_with_the_words_that_it_lacks(shop):
    found = search("would MySQL be much simpler today than what we run", shop, Filters(), NOW)

    assert found.confidence == "weak"
    first = found.hits[0]
    assert first.weak
    assert "because of partial indexes" in first.memory.content
    assert "simpler" in first.missing
    assert "mysql" not in first.missing


def test_weak_hits_stand_below_those_that_answer(shop):
    hits = search("who signs the release, and what about MySQL", shop, Filters(), NOW).hits
    weak = [hit.weak for hit in hits]

    assert weak == sorted(weak)
    assert not any(hit.missing for hit in hits if not hit.weak)


def test_no_word_in_common_is_no_hit_at_all(shop):
    found = search("zeppelin qwyjibo", shop, Filters(), NOW)

    assert (found.hits, found.confidence) == ((), "none")
