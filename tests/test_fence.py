"""Whatever a memory says, it stays one line inside its fence."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ademem import fence
from ademem.model import Status, Trust
from ademem.value import replace
from tests.builders import memory

PIECES = st.sampled_from(
    [
        *("<", "</", "< /", "<\n/", "/", ">", " ", "&lt;", "\t", "\n", "\r\n", "\x0b", "\x0c"),
        *("\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029", "\u00a0", "\u200b"),
        *("ademem-memory", "ADEMEM-Memory", "system-reminder", "antml:invoke", "user", "tool"),
        *(fence.OPEN, fence.CLOSE),
    ]
)
TEXT = st.lists(PIECES | st.text(max_size=5), max_size=12).map("".join)
FACT = memory("a fact")
CLOSING = re.compile(r"<[\s/]*/[\s/]*ademem-memory", re.I)
SPEAKER = re.compile(r"<[\s/]*(system|assistant|user|human|tool|function|antml|invoke)", re.I)


@given(st.lists(st.tuples(TEXT, TEXT), max_size=4), st.integers(2, 400))
@example([("", "x " * 300 + fence.CLOSE)], 606)
def test_a_block_has_one_end_and_one_line_an_entry(said, chars):
    entries = [fence.entry(replace(FACT, title=title, content=text), chars) for title, text in said]
    block = fence.fenced(entries)

    assert CLOSING.findall(block) == ["</ademem-memory"]
    assert block.endswith(fence.CLOSE)
    assert block.count(fence.OPEN) == 1
    assert not SPEAKER.search(block)
    assert block.splitlines() == [fence.OPEN, *entries, fence.CLOSE]


@given(TEXT)
def test_escaping_twice_is_escaping_once(text):
    assert fence.escaped(fence.escaped(text)) == fence.escaped(text)


@pytest.mark.parametrize("text", ["a < b", "List<int>", "<div>", "x <- y", "</p>", "1 << 3"])
def test_other_angle_brackets_stay_as_they_are(text):
    assert fence.escaped(text) == text


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
    assert fence.entry(memory(**({"content": "it", "id": "i1"} | changes)), 10) == line
