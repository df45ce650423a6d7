"""What is worth showing: the answer to a prompt, and nothing when there is none."""

from __future__ import annotations

import pytest

from ademem.search import Filters, search
from ademem.settings import SearchSettings
from ademem.value import replace
from tests.builders import NOW, insert, memory, open_project
from tests.search.notes import NOTES, RELATED, UNRELATED

TYPED = SearchSettings()
PROMPTED = replace(TYPED, floor=0.4)
"""A prompt nobody typed to search has to match in more than one rare word."""


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory):
    store = open_project(tmp_path_factory.mktemp("shop"))
    insert(store, *map(memory, NOTES))
    yield store
    store.close()


@pytest.mark.parametrize(("prompt", "answer"), RELATED)
def test_a_prompt_recalls_first_the_note_that_answers_it(shop, prompt, answer):
    found = search(prompt, shop, PROMPTED, Filters(), NOW, limit=4)

    assert answer in found.hits[0].memory.content


@pytest.mark.parametrize("prompt", UNRELATED)
def test_a_prompt_about_something_else_recalls_nothing(shop, prompt):
    assert search(prompt, shop, PROMPTED, Filters(), NOW).hits == ()


def test_one_rare_word_is_enough_for_a_question_that_was_typed(shop):
    question = "would it be much simpler with MySQL than with what we run today"

    (hit,) = search(question, shop, TYPED, Filters(), NOW).hits
    assert "because of partial indexes" in hit.memory.content
    assert search(question, shop, PROMPTED, Filters(), NOW).hits == ()
