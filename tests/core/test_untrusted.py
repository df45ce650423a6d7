"""Whatever a memory says, it stays one line inside its fence."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ademem.core import untrusted
from ademem.core.memory import Status, Trust
from ademem.core.untrusted import as_displayed, has_hidden_characters, is_disguised, visible
from ademem.core.value import replace
from tests.builders import memory

PIECES = st.sampled_from(
    [
        *("<", "</", "< /", "<\n/", "/", ">", " ", "&lt;", "\t", "\n", "\r\n", "\x0b", "\x0c"),
        *("\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029", "\u00a0", "\u200b"),
        *(
            "\uff1c",
            "\u2039",
            "\u27e8",
            "\uff0f",
            "\u2044",
            "\u0435",
            "\u0430d",
            "\u200d",
            "\u2066",
        ),
        *("\r", "\0", "\U000e0061", "\u0301", "<|", "|>", "\ufe0f", "x" * 3000),
        *("ademem-memory", "ADEMEM-Memory", "system-reminder", "antml:invoke", "user", "tool"),
        *(untrusted.OPEN, untrusted.CLOSE),
    ]
)
TEXT = st.lists(PIECES | st.text(max_size=5), max_size=12).map("".join)
FACT = memory("a fact")
CLOSING = re.compile(r"<[\s/]*/[\s/]*ademem-memory")
SPEAKER = re.compile(r"<(?:[\s/]*(system|assistant|user|human|tool|function|antml|invoke)|\|)")


@given(st.lists(st.tuples(TEXT, TEXT), max_size=4), st.integers(2, 400))
@example([("", "x " * 300 + untrusted.CLOSE)], 606)
def test_a_block_has_one_end_and_one_line_an_entry(said, chars):
    entries = [
        untrusted.entry(replace(FACT, title=title, content=text), chars) for title, text in said
    ]
    block = untrusted.fence(entries)

    looks = as_displayed(block)

    assert CLOSING.findall(looks) == ["</ademem-memory"]
    assert block.endswith(untrusted.CLOSE)
    assert looks.count(untrusted.OPEN) == 1
    assert not SPEAKER.search(looks)
    assert not has_hidden_characters(re.sub("[\ufe00-\ufe0f\u200c\u200d]", "", block))
    assert block.splitlines() == [untrusted.OPEN, *entries, untrusted.CLOSE]


@given(TEXT)
def test_escaping_twice_is_escaping_once(text):
    assert untrusted.escape(untrusted.escape(text)) == untrusted.escape(text)


@pytest.mark.parametrize("text", ["a < b", "List<int>", "<div>", "x <- y", "</p>", "1 << 3"])
def test_other_angle_brackets_stay_as_they_are(text):
    assert untrusted.escape(text) == text


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        pytest.param({}, "- [fact] it (i1, agent, 2026-01-31)", id="confirmed"),
        pytest.param(
            {"status": Status.CANDIDATE, "trust": Trust.TOOL},
            "- [fact] it (i1, tool, 2026-01-31, unconfirmed)",
            id="unconfirmed",
        ),
        pytest.param({"title": "T"}, "- [fact] T: it (i1, agent, 2026-01-31)", id="titled"),
        pytest.param(
            {"content": "word " * 20}, "- [fact] word word… (i1, agent, 2026-01-31)", id="long"
        ),
    ],
)
def test_an_entry_tells_what_who_and_when(changes, line):
    assert untrusted.entry(memory(**({"content": "it", "id": "i1"} | changes)), 10) == line


@given(st.lists(TEXT, max_size=4))
def test_what_was_fenced_is_known_when_it_comes_back(said):
    entries = [untrusted.entry(replace(FACT, content=text), 200) for text in said]
    mine = "mine, before\n"

    assert untrusted.without_recalled(mine + untrusted.fence(entries)) == mine
    assert untrusted.without_recalled(mine + "\n".join(entries)) == mine


@pytest.mark.parametrize(
    "text",
    ["- [ ] write the tests", "[fact] a claim (see 12)", "## [1.0.0]\n- [x] done", "a\n\nb\n"],
)
def test_what_only_looks_a_little_like_it_is_kept(text):
    assert untrusted.without_recalled(text) == text


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
