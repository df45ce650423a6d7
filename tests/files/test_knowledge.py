"""knowledge.jsonl and its archive."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ademem.core.memory import Category, Status
from ademem.core.value import replace
from ademem.files import ARCHIVE, KNOWLEDGE, knowledge
from ademem.files.knowledge import from_line, ordered_lines, render_lines, rotate, to_line
from tests.builders import NOW, memory, record_of

STAMP = "2026-02-01T00:00:00.000Z-0000-aaaaaaaa"


def test_a_line_begins_with_the_fields_of_beads_in_their_order():
    row = memory(
        "TaskGroup needs @Sendable",
        knowledge_key="learned-taskgroup-needs-sendable",
        tags=("learned", "concurrency"),
        source_type="orchestrator",
        bead="BD-1",
        status=Status.CANDIDATE,
        category=Category.GOTCHA,
    )
    found = to_line(record_of(row))

    assert list(found.items())[:7] == [
        ("key", "learned-taskgroup-needs-sendable"),
        ("type", "learned"),
        ("content", "TaskGroup needs @Sendable"),
        ("source", "orchestrator"),
        ("tags", ["learned", "concurrency"]),
        ("ts", 1769860800),
        ("bead", "BD-1"),
    ]
    assert (found["id"], found["category"], found["status"]) == (row.id, "gotcha", "candidate")


@pytest.mark.parametrize(
    ("tags", "kind"),
    [
        pytest.param(("investigation", "db"), "investigation", id="what the text began with"),
        pytest.param(("db", "learned"), "fact", id="only the first tag counts"),
        pytest.param((), "fact", id="the category"),
    ],
)
def test_the_type_is_the_prefix_or_else_the_category(tags, kind):
    assert to_line(record_of(memory(tags=tags)))["type"] == kind


def test_the_source_is_the_agent_when_one_is_known():
    assert to_line(record_of(memory(agent_id="tester")))["source"] == "tester"


def test_keys_made_from_texts_that_begin_alike_differ():
    same = "the same sixty characters at the beginning of both of these texts: "
    rows = [memory(same + "one"), memory(same + "two"), memory("🙂")]

    lines = ordered_lines(map(record_of, rows))
    keys = [json.loads(text)["key"] for _, text in lines]
    assert keys[0] == "fact-the-same-sixty-characters-at-the-beginning-of-both-of-these"
    assert keys[1:] == [f"{keys[0]}-{rows[1].id}", f"fact-{rows[2].id}"]


def test_a_line_is_one_line_for_every_reader():
    text = knowledge.render_line(to_line(record_of(memory("a\x85b\u2028c\u2029d\ne 漢"))))

    assert len(text.splitlines()) == 1
    assert json.loads(text)["content"] == "a\x85b\u2028c\u2029d\ne 漢"
    assert "漢" in text


@pytest.mark.parametrize(
    ("lines", "archived", "live"),
    [
        pytest.param(1000, 0, 1000, id="full"),
        pytest.param(1001, 500, 501, id="one too many"),
        pytest.param(1500, 500, 1000, id="full again"),
        pytest.param(1501, 1000, 501, id="twice"),
        pytest.param(0, 0, 0, id="empty"),
    ],
)
def test_the_oldest_lines_rotate_into_the_archive(lines, archived, live):
    given = [str(number) for number in range(lines)]
    old, new = rotate(given, above=1000, by=500)

    assert (len(old), len(new)) == (archived, live)
    assert [*old, *new] == given


@given(
    lines=st.integers(0, 50).map(lambda count: [str(number) for number in range(count)]),
    above=st.integers(-1, 60),
    by=st.integers(-1, 20),
)
def test_rotation_loses_nothing_and_keeps_the_bound(lines, above, by):
    old, new = rotate(lines, above=above, by=by)

    assert [*old, *new] == lines
    assert len(new) <= max(0, above)


def test_there_is_no_archive_before_there_is_something_in_it():
    assert list(render_lines([record_of(memory())], [])) == [KNOWLEDGE]


def test_the_files_hold_the_memories_in_order(monkeypatch):
    monkeypatch.setattr(knowledge, "ROTATE_ABOVE", 3)
    rows = [memory(f"fact {n}", created_at=NOW + timedelta(seconds=n)) for n in range(5)]
    files = render_lines(map(record_of, rows), [])

    def contents(path: str) -> list[str]:
        return [json.loads(line)["content"] for line in files[path].splitlines()]

    assert contents(ARCHIVE) == ["fact 0", "fact 1"]
    assert contents(KNOWLEDGE) == ["fact 2", "fact 3", "fact 4"]


def test_what_two_people_add_is_in_the_order_of_the_ids_so_that_it_rarely_meets():
    old = [record_of(memory(f"fact {n}", created_at=NOW + timedelta(seconds=n))) for n in range(3)]
    new = [
        replace(record, texts={STAMP: record.text}, over={"aaaaaaaa": STAMP})
        for record in (record_of(memory(f"new {n}")) for n in range(9))
    ]
    text = render_lines([*old, *new], [])[KNOWLEDGE]
    ids = [json.loads(line)["id"] for line in text.splitlines()]

    assert ids[:3] == [record.id for record in old]
    assert ids[3:] == sorted(record.id for record in new)


def test_a_duplicate_that_is_not_shown_is_in_the_archive_with_its_text():
    hidden = record_of(memory("the same"))
    files = render_lines([], [hidden])
    line = json.loads(files[ARCHIVE])

    assert (line["status"], line["life"], line["content"]) == ("archived", "live", "the same")
    assert from_line(line) == hidden
