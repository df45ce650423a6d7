"""Topic files and their splitting."""

from __future__ import annotations

import pytest

from ademem.core.memory import Category
from ademem.files import markdown
from ademem.files.snapshot import count_states, find_state_lines
from tests.builders import memory


def gotcha(number: int, **changes):
    return memory(f"gotcha {number}", category=Category.GOTCHA, **changes)


def gotcha_pages(rows, bound):
    pages = {}
    for file in markdown.split_topics(rows, bound):
        if file.topic.name == "gotchas":
            pages |= {page.name: markdown.render_page(page) for page in markdown.pages_of(file)}
    return pages


def contents(page: str) -> list[str]:
    return [found.content for found in markdown.parse_items(page)]


def test_a_topic_has_a_file_once_it_has_an_entry():
    def names(*rows, others=()):
        return [name for file in markdown.split_topics(rows, 400, others) for name in file.names]

    assert names() == []
    assert names(gotcha(1), memory("a choice", category=Category.DECISION)) == [
        "decisions.md",
        "gotchas.md",
    ]
    assert names(others={"facts"}) == ["facts.md"]


def test_a_category_without_a_topic_is_in_no_file():
    rows = [memory("what happened", category=Category.EPISODE)]

    assert sum(file.count for file in markdown.split_topics(rows, 400)) == 0


def test_a_file_within_its_bound_does_not_split():
    rows = [gotcha(n, tags=("api",)) for n in range(3)]

    assert list(gotcha_pages(rows, 3)) == ["gotchas.md"]


def test_a_file_beyond_its_bound_splits_by_subtopic_and_loses_nothing():
    rows = [
        gotcha(1, tags=("learned", "API")),
        gotcha(2, file_scope_pattern="./web/**/*.ts"),
        gotcha(3),
        gotcha(4, tags=("api",)),
    ]
    pages = gotcha_pages(rows, 3)

    assert {name: contents(page) for name, page in pages.items()} == {
        "gotchas.md": ["gotcha 3"],
        "gotchas-api.md": ["gotcha 1", "gotcha 4"],
        "gotchas-web.md": ["gotcha 2"],
    }


def test_what_cannot_be_split_goes_on_in_pages():
    pages = gotcha_pages([gotcha(n, tags=("api",)) for n in range(5)], 2)

    assert {name: len(contents(page)) for name, page in pages.items()} == {
        "gotchas.md": 0,
        "gotchas-api.md": 2,
        "gotchas-api.2.md": 2,
        "gotchas-api.3.md": 1,
    }
    assert "# Gotchas: api, page 2" in pages["gotchas-api.2.md"]


def test_only_the_largest_subtopics_get_a_file():
    rows = [gotcha(n * 100 + m, tags=(f"t{n:02}",)) for n in range(15) for m in range(1 + n % 3)]
    pages = gotcha_pages(rows, 10)

    own = [name for name in pages if "-" in name]
    assert len(own) == markdown.SUBTOPICS
    assert {"gotchas-t02.md", "gotchas-t14.md", "gotchas-t00.md"} <= set(own)
    assert sum(len(contents(page)) for page in pages.values()) == len(rows)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        pytest.param({"tags": ("learned", "gotcha", "SwiftUI")}, "swiftui", id="first subject"),
        pytest.param({"tags": ("../../etc",)}, "etc", id="no path in a tag"),
        pytest.param({"tags": ("***",), "file_scope_pattern": "src/a.py"}, "src", id="folder"),
        pytest.param({"file_scope_pattern": "**/*.py"}, "", id="any folder is none"),
        pytest.param({"file_scope_pattern": "/etc/passwd"}, "", id="absolute path"),
        pytest.param({"tags": ("データベース",)}, "データベース", id="any script"),
        pytest.param({"tags": ("ﷺ" * 24,)}, "صلى-الله-عليه-وسلمصلى-ال", id="bounded when folded"),
        pytest.param({}, "", id="nothing to go by"),
    ],
)
def test_the_subtopic_is_the_first_tag_with_a_subject_or_the_folder(changes, expected):
    assert markdown.subtopic(memory(**changes)) == expected


def test_states_of_a_page_are_found_in_its_lines_all_of_them_or_none():
    path = ".ade/memory/gotchas.md"
    page = next(iter(gotcha_pages([gotcha(1), gotcha(2)], 400).values()))
    first, second = count_states(path, page)

    found = [page.split("\n")[at] for at in find_state_lines(path, page, [second])]
    assert contents("\n".join(found)) == contents(page)[1:]
    assert len(find_state_lines(path, page, [first, second])) > len(found)
    assert find_state_lines(path, page, [first, "another"]) == []
    assert find_state_lines(path, "# Gotchas\n\nNo items.\n", [first]) == []
