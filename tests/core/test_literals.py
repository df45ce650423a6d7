"""Literals are found wherever a text has them, the first time and again."""

import pytest

from ademem.core import literals
from ademem.core.credential_nouns import without_accents
from ademem.core.literals import Literals

HINTS = ("key", "AC", "enable secret", "hasl", "hasł", "/", "…here", "auth=(", "\tTRUE\t")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        pytest.param("monkeys", {"key"}, id="inside of a word"),
        pytest.param("API_KEY ac AC1", {"key", "AC"}, id="in any case where it is in lower case"),
        pytest.param("enable  secret", set(), id="other blanks"),
        pytest.param("Enable SECRET 5", {"enable secret"}, id="with a blank"),
        pytest.param("Hasło", {"hasl", "hasł"}, id="with and without accents"),
        pytest.param("a / b…here", {"/", "…here"}, id="signs"),
        pytest.param("a\tTRUE\tb", {"\tTRUE\t"}, id="with a tabulator"),
        pytest.param("TRUE b", set(), id="without it"),
        pytest.param("x" * 40 + "auth=('", {"auth=("}, id="a long word"),
    ],
)
def test_a_text_is_searched_alike_with_and_without_an_index(text, found):
    hints = Literals(HINTS, without_accents)
    before = hints.find(text)
    hints.find("x" * literals.READ_CHARS)

    assert before == hints.find(text) == hints.find(f"{text} also") == hints.find(text) == found


def test_words_are_forgotten_when_there_are_many(monkeypatch):
    monkeypatch.setattr(literals, "MOST_WORDS", 3)
    monkeypatch.setattr(literals, "READ_CHARS", 0)
    hints = Literals(HINTS, without_accents)
    words = [f"key{number} word{number}" for number in range(5)]

    assert [hints.find(text) for text in words * 2] == [{"key"}] * 10
