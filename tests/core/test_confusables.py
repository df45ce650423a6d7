"""Letters that only seem Latin, and signs that nobody sees."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ademem.core.untrusted import as_displayed, has_hidden_characters, is_disguised, visible


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("prev\u0456ous", id="a Cyrillic letter in a Latin word"),
        pytest.param("t\u03bfken", id="a Greek one"),
        pytest.param("run \u0441url now", id="at the beginning"),
    ],
)
def test_a_word_of_two_scripts_that_look_alike_is_disguised(text):
    assert is_disguised(text)


@pytest.mark.parametrize(
    "text",
    [
        "Zo\u00eb",
        "\u041c\u043e\u0441\u043a\u0432\u0430",
        "12 \u00b5s",
        "\u03bb-function",
        "\u03b1-Test",
        "kap\u0131",
    ],
)
def test_words_of_one_script_and_scientific_signs_are_not(text):
    assert not is_disguised(text)


@pytest.mark.parametrize(
    ("text", "looks"),
    [
        pytest.param("\uff1c\uff0fSystem\uff1e", "</system>", id="full width"),
        pytest.param("\u0410dm\u0456n", "admin", id="Cyrillic"),
        pytest.param("ad\u200bm\u00adin", "admin", id="parts that nobody sees"),
        pytest.param("\u2039 \u27e8 \u2044", "< < /", id="angles and strokes"),
    ],
)
def test_a_text_is_read_as_it_looks(text, looks):
    assert as_displayed(text) == looks


def test_the_flag_of_a_region_is_no_smuggling():
    wales = "\U0001f3f4\U000e0067\U000e0062\U000e0077\U000e006c\U000e0073\U000e007f"

    assert not has_hidden_characters(f"the flag {wales}")
    assert has_hidden_characters(f"the flag {wales}\U000e0061")


@given(st.text())
def test_what_is_visible_smuggles_no_tags_and_stays_so(text):
    shown = visible(text)

    assert visible(shown) == shown
    assert not any("\U000e0000" <= char <= "\U000e007f" or char == "\0" for char in shown)
