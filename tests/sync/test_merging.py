"""Branches that learned different things become one memory, in whatever order git merges them."""

from __future__ import annotations

import json
from datetime import timedelta
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis
from hypothesis import strategies as st

from ademem.core.memory import Category, Status
from ademem.core.project import Project
from ademem.core.settings import Settings
from ademem.core.value import replace
from ademem.files import BRIEF_PAGE, INDEX, markdown
from ademem.files.texts import Texts
from ademem.store import memories
from ademem.store.memories import Change
from ademem.sync import importer, rendering
from ademem.sync.git_history import GitHistory
from ademem.sync.merging import merge_versions
from ademem.sync.provenance import Provenance
from ademem.sync.tracked_files import MergeBase
from tests.builders import NOW, memory
from tests.examples import examples
from tests.store.stores import in_memory
from tests.sync.clone import without_stamps

GOTCHAS = ".ade/memory/gotchas.md"
LINES = ".ade/memory/knowledge.jsonl"
SETTINGS = Settings()


class Branch:
    """A store of its own that began with what the files said."""

    def __init__(self, texts=None, hours=0):
        self.store = in_memory()
        self.now = NOW + timedelta(hours=hours)
        if texts:
            self.take(texts)

    def take(self, texts):
        nowhere = Project(root="", home="")
        provenance = Provenance(nowhere, self.store, MergeBase(), None)
        provenance.history = GitHistory(root="", by_hand=False)
        importer.import_files(
            Texts.of(texts),
            SETTINGS.gate,
            self.now,
            provenance=provenance,
        )

    def change(self, operation):
        self.now += timedelta(seconds=1)
        return Change(operation=operation, actor="user", at=self.now)

    def add(self, content, **fields):
        change = self.change("insert")
        row = memory(content, created_at=self.now, updated_at=self.now, **fields)
        return memories.insert(self.store, replace(row, project_id=self.store.project_id), change)

    def edit(self, row, **changes):
        return memories.update(self.store, replace(row, **changes), self.change("edit"))

    def rows(self):
        return memories.find(self.store, "status <> 'archived'", "order by id")

    def pages(self, present=None):
        lines, there = rendering.Lines(self.store), Texts.of(present or {})
        rendered = rendering.render(lines, None, there, SETTINGS.mirror)
        return {path: text for path, text in rendered.items() if path != BRIEF_PAGE}

    def close(self):
        self.store.close()


def merge(base, ours, theirs):
    """As git does it: the driver is asked about files that both sides changed."""
    result = {}
    for path in sorted(base.keys() | ours.keys() | theirs.keys()):
        texts = [side.get(path, "") for side in (base, ours, theirs)]
        changed = len(set(texts)) == 3 and path != INDEX
        result[path] = (
            merge_versions(path, *texts) if changed else texts[2 if texts[0] == texts[1] else 1]
        )
    return result


def known_from(texts):
    """The files of a fresh clone, after its first session."""
    clone = Branch(texts, hours=48)
    found = clone.pages(texts)
    clone.close()
    return found


@pytest.fixture
def base():
    branch = Branch()
    for text in ("the cache is not thread safe", "retries need a limit"):
        branch.add(text, category=Category.GOTCHA, title=None)
    yield branch
    branch.close()


def sides(base, ours, theirs):
    """Files of both sides after what was done on them to the first memory of the base."""
    texts = base.pages()
    made = []
    for hours, act in enumerate((ours, theirs), 1):
        branch = Branch(texts, hours=hours)
        act(branch, branch.rows()[0])
        made.append(branch.pages())
        branch.close()
    return texts, *made


def both_ways(texts, ours, theirs):
    """What is known after the merge, which must not depend on who merged whom."""
    one, other = known_from(merge(texts, ours, theirs)), known_from(merge(texts, theirs, ours))
    assert one == other
    assert "<<<<" not in json.dumps(one)
    return one


def lines(texts):
    return [json.loads(line) for line in texts[LINES].splitlines()]


def test_what_both_sides_learned_is_known_after_the_merge(base):
    found = both_ways(
        *sides(
            base,
            lambda branch, row: branch.add("dates are in UTC", category=Category.GOTCHA),
            lambda branch, row: branch.add("names are unique", category=Category.GOTCHA),
        )
    )

    assert "dates are in UTC" in found[GOTCHAS]
    assert "names are unique" in found[GOTCHAS]
    assert len(lines(found)) == 4


def test_different_fields_of_one_memory_are_both_taken(base):
    found = both_ways(
        *sides(
            base,
            lambda branch, row: branch.edit(row, title="Cache"),
            lambda branch, row: branch.edit(row, tags=("api",)),
        )
    )

    (line,) = (line for line in lines(found) if line["title"])
    assert (line["title"], line["tags"]) == ("Cache", ["api"])


def test_of_two_texts_the_newer_counts_and_the_other_waits_for_a_word(base):
    found = both_ways(
        *sides(
            base,
            lambda branch, row: branch.edit(row, content="the older text of the two"),
            lambda branch, row: branch.edit(row, content="the newer text of the two"),
        )
    )

    (line,) = (line for line in lines(found) if "newer text" in line["content"])
    ((_, waiting, _),) = line["stamps"]["heads"]
    assert (line["status"], waiting) == ("promoted", "the older text of the two")
    assert "older text" not in found[GOTCHAS]


def test_what_was_archived_on_one_side_and_edited_on_the_other_stays(base):
    found = both_ways(
        *sides(
            base,
            lambda branch, row: branch.edit(row, status=Status.ARCHIVED),
            lambda branch, row: branch.edit(row, content="the cache is thread safe by now"),
        )
    )

    assert "thread safe by now" in found[GOTCHAS]


def test_what_was_archived_on_one_side_alone_is_gone(base):
    found = both_ways(
        *sides(
            base,
            lambda branch, row: branch.edit(row, status=Status.ARCHIVED),
            lambda branch, row: branch.add("dates are in UTC", category=Category.GOTCHA),
        )
    )

    assert len(lines(found)) == 2


def test_the_same_lesson_of_both_sides_is_one(base):
    found = both_ways(
        *sides(
            base,
            lambda branch, row: branch.add("dates are in UTC", category=Category.GOTCHA),
            lambda branch, row: branch.add("dates are in UTC", category=Category.GOTCHA),
        )
    )

    assert found[GOTCHAS].count("dates are in UTC") == 1
    assert len(lines(found)) == 3


def test_moved_to_another_topic_and_edited_on_the_other_side_is_one_memory(base):
    found = both_ways(
        *sides(
            base,
            lambda branch, row: branch.edit(row, category=Category.FACT),
            lambda branch, row: branch.edit(row, title="Cache"),
        )
    )

    (line,) = (line for line in lines(found) if line["title"] == "Cache")
    assert line["category"] == "fact"
    assert len(lines(found)) == 2


def test_a_persons_own_lines_and_new_items_of_both_sides_stay():
    page = f"# Gotchas\n\nabout. {markdown.WEIGH}\n\n- one <!-- a -->\n"
    ours = page + "\nAsk Ana first.\n\n- mine\n"
    theirs = page.replace("- one", "Read this.\n\n- one") + "\n- yours\n"

    found = merge_versions(GOTCHAS, page, ours, theirs)
    assert found == merge_versions(GOTCHAS, page, theirs, ours)
    for text in ("Ask Ana first.", "Read this.", "- mine\n", "- yours\n", "- one <!-- a -->"):
        assert found.count(text) == 1
    assert found.startswith("# Gotchas\n\nabout. Notes")


def region(text):
    return f"<!-- ademem:keep -->\n{text}\n<!-- /ademem:keep -->\n"


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "kept"),
    [
        pytest.param([], ["a"], ["b"], {"a", "b"}, id="one more on each side"),
        pytest.param([], ["a"], ["a"], {"a"}, id="the same on both sides"),
        pytest.param(["a"], ["a"], ["b"], {"b"}, id="edited on one side"),
        pytest.param(["a"], ["b"], ["c"], {"b", "c"}, id="edited on both sides"),
        pytest.param(["a", "b"], ["a", "b"], ["b"], {"b"}, id="deleted on one side"),
        pytest.param(["a"], ["a", "b"], [], {"b"}, id="one deleted and one more"),
    ],
)
def test_hand_written_regions_of_the_index_are_merged(base, ours, theirs, kept):
    versions = [index_with(texts) for texts in (base, ours, theirs)]
    found = merge_versions(INDEX, *versions)
    other = merge_versions(INDEX, versions[0], versions[2], versions[1])

    for text in (found, other):
        regions = markdown.split_regions(text)[0]
        assert {region.lines[1] for region in regions} == kept
        assert len(regions) == len(kept)
        assert {region.heading for region in regions} == {"## Gotchas"}


def index_with(texts):
    """A page with a region for each text in its first section."""
    written = "".join(map(region, texts))
    return f"# Project memory\n\n## Gotchas\n\n- one\n\n{written}\n## Files\n\n- a file\n"


def test_a_line_that_nobody_can_read_is_kept_once():
    found = merge_versions(LINES, "", "{half\n", '{half\n{"content": "x", "key": "k"}\n')

    assert found.splitlines().count("{half") == 1
    assert '"key":"k"' in found


ACTS = st.lists(
    st.tuples(
        st.sampled_from(["add", "edit", "title", "tags", "archive", "move"]),
        st.integers(0, 5),
        st.integers(0, 3),
    ),
    max_size=4,
)
CATEGORIES = (Category.GOTCHA, Category.FACT, Category.DECISION, Category.PATTERN)


def act(branch, name, which, value):
    rows = branch.rows()
    if name == "add" or not rows:
        content = f"lesson {which} of {branch.now:%H} is worth {value} points"
        if not memories.find(branch.store, "id = :id", id=memory(content).id):
            branch.add(content, category=CATEGORIES[value])
        return
    row = rows[which % len(rows)]
    match name:
        case "edit":
            branch.edit(row, content=f"{row.id} says {value} by {branch.now:%H}")
        case "title":
            branch.edit(row, title=f"Title {value}")
        case "tags":
            branch.edit(row, tags=("api", "web", "db")[:value])
        case "move":
            branch.edit(row, category=CATEGORIES[value])
        case "archive":
            branch.edit(row, status=Status.ARCHIVED)


@hypothesis(max_examples=examples(60))
@given(histories=st.lists(ACTS, min_size=2, max_size=3))
def test_branches_merged_in_any_order_end_in_the_same_files(histories):
    start = Branch()
    for number in range(3):
        start.add(f"lesson {number} from the start", category=CATEGORIES[number])
    texts = start.pages()
    made = []
    for hours, acts in enumerate(histories, 1):
        branch = Branch(texts, hours=hours)
        for name, which, value in acts:
            act(branch, name, which, value)
        made.append(branch.pages())
        branch.close()
    start.close()
    ends = []
    for first, *others in permutations(made):
        result = first
        for other in others:
            result = merge(texts, result, other)
        ends.append(known_from(result))

    # Pages that git merged are read as an edit, whose stamp is the clone's own.
    assert all(without_stamps(end) == without_stamps(ends[0]) for end in ends)
    assert "<<<<" not in json.dumps(ends[0])
    everything, known = json.dumps(ends[0]), {line["content"] for line in lines(texts)}
    for line in (line for side in made for line in lines(side)):
        assert line["content"] in known or line["content"] in everything
