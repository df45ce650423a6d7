"""One memory as an item of a topic file, and back."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ademem.core.text import clean
from ademem.files import markdown
from tests.builders import memory

SNIPPETS = [
    "# heading",
    "<!-- id -->",
    "<!-- ademem:keep -->",
    "\\<!-- id -->",
    "**bold**",
    "**",
    "- tags: a",
    "- path: b",
    "- item",
    "  deep",
    "```",
    "\\",
    "\\# x",
    "{",
    "漢字",
    "\u2028",
    "---",
    "",
]
texts = st.lists(st.sampled_from(SNIPPETS) | st.text(max_size=20), max_size=6).map("\n".join)
words = st.text(min_size=1, max_size=8).map(clean).filter(lambda word: word.split() == [word])


def read(text: str) -> markdown.ListItem:
    (found,) = markdown.parse_items(text)
    return found


def test_a_memory_is_a_list_item_with_its_id_in_a_comment():
    row = memory("WAL needs shared memory\n\nso no network disk", id="0a1b2c3d", tags=("db", "wal"))

    assert markdown.render_item(markdown.item_of(row)) == (
        "- WAL needs shared memory <!-- 0a1b2c3d -->\n\n  so no network disk\n  - tags: db wal"
    )


def test_a_title_stands_in_bold_above_the_text():
    row = memory("Use begin\nimmediate", id="0a1b2c3d", title="Locks", file_scope_pattern="src/**")

    assert markdown.render_item(markdown.item_of(row)) == (
        "- **Locks** <!-- 0a1b2c3d -->\n  Use begin\n  immediate\n  - path: src/**"
    )


def test_a_heading_in_a_text_is_no_heading_of_the_page():
    assert (
        markdown.render_item(markdown.item_of(memory("# one\n## two", id="a1")))
        == "- \\# one <!-- a1 -->\n  \\## two"
    )


@pytest.mark.parametrize(
    "content",
    [
        pytest.param("# Gotchas\n\n## Files", id="headings"),
        pytest.param("```\nnever closed", id="an open fence"),
        pytest.param("see <!-- never closed", id="an open comment"),
        pytest.param("<!-- ademem:keep -->\nmine\n<!-- /ademem:keep -->", id="a region"),
        pytest.param("a\n- tags: fake\n- path: fake", id="details"),
        pytest.param("**Title**\nof somebody else", id="a title"),
        pytest.param("a <!-- 0a1b2c3d -->", id="an id"),
        pytest.param("a\x85b\u2028c\x0bd\re", id="all kinds of line breaks"),
    ],
)
def test_no_text_can_pass_for_structure(content):
    item = markdown.render_item(markdown.item_of(memory(content, id="a1")))
    page = f"# Gotchas\n\n{item}\n\n- next <!-- a2 -->\n"

    first, second = markdown.parse_items(page)
    assert (first.id, first.title, first.tags, first.path) == ("a1", None, (), None)
    assert first.content == clean(content)
    assert second.content == "next"
    ours = [line for line in page.splitlines() if line and not line.startswith("  ")]
    assert len(ours) == 3


@given(
    content=texts,
    title=st.none() | texts,
    tags=st.lists(words, max_size=3).map(tuple),
    path=st.none() | texts,
)
@example(content="", title=None, tags=(), path=None)
@example(content="- tags: x", title=None, tags=("y",), path="z")
@example(content="", title="**", tags=("<!--",), path="-->")
def test_an_entry_is_read_as_it_was_rendered(content, title, tags, path):
    row = memory(content, id="0a1b2c3d", title=title, tags=tags, file_scope_pattern=path)

    found = read(markdown.render_item(markdown.item_of(row)))
    assert found.id == "0a1b2c3d"
    assert found.content == clean(content)
    assert found.title == (" ".join(clean(title or "").split()) or None)
    assert found.tags == tags
    assert found.path == (" ".join(clean(path or "").split()) or None)


def test_an_entry_that_a_person_added_has_no_id():
    found = list(
        markdown.parse_items("# Facts\n\n- one <!-- a1 -->\n- my own\n  two lines\r\n\nend\n")
    )

    assert [(item.id, item.content, item.line) for item in found] == [
        ("a1", "one", 3),
        (None, "my own\ntwo lines", 4),
    ]


def test_a_headline_is_one_line_without_structure():
    row = memory("# long\n" + "text " * 100, title="<!-- ademem:keep -->")

    assert markdown.headline(row, 40) == "\\<!-- ademem:keep -->: # long text text…"
