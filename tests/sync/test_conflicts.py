"""A memory that one archived while others changed it ends the same, whoever met whom first."""

from __future__ import annotations

import json
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis
from hypothesis import strategies as st

from ademem.core.clock import stamp, timedelta
from ademem.files import knowledge
from ademem.files.texts import clean_lines
from ademem.sync import merging
from tests.builders import NOW
from tests.examples import examples

ID = "0a1b2c3d4e5f"
BASE = {
    "key": "fact-as-it-was",
    "content": "as it was",
    "tags": [],
    "id": ID,
    "sync_id": ID,
    "category": "fact",
    "title": None,
    "created_at": stamp(NOW),
    "updated_at": stamp(NOW),
}
FILES = (knowledge.line(BASE), "")
ARCHIVE, RESTORE = "archive", "restore"
VALUES = {
    "content": ("one text", "another text", "as it was"),
    "tags": (["api"], ["web"], []),
    "category": ("gotcha", "pattern", "fact"),
    "title": ("Cache", "Lock", None),
}


def said(number, what, value):
    """A text is its writer's own, but for that of the base."""
    found = VALUES[what][value]
    return f"{found} of {number}" if what == "content" and found != BASE[what] else found


def said_by_all(number, what, value):
    """As somebody else may have said it, too."""
    return VALUES[what][value]


def branch(number, *acts, said=said):
    """Lines and archive after acts of one person: what was done, with which value, and when.

    No two people act at the same moment.
    """
    line, texts, gone_at = dict(BASE), [BASE["content"]], None
    for what, value, moment in sorted(acts, key=lambda act: act[2]):
        now = NOW + timedelta(seconds=10 * moment + number)
        if what == ARCHIVE:
            gone_at = now
        elif what == RESTORE and gone_at:
            line["updated_at"], gone_at = stamp(now), None
        elif what in VALUES and not gone_at and line[what] != said(number, what, value):
            line |= {what: said(number, what, value), "updated_at": stamp(now)}
            texts.append(line["content"])
    if gone_at is None:
        return knowledge.line(knowledge.renew_key(line, BASE)), ""
    gone = knowledge.tombstone(ID, ID, gone_at, line["category"], NOW, reversed(texts))
    return "", knowledge.line(gone)


def merge(ours, theirs):
    return tuple(map(merging.merge_lines, FILES, ours, theirs))


def told(files):
    return [knowledge.read(raw) for text in files for raw in clean_lines(text) if raw]


def rendered(files):
    """The files as they are written anew, when all that they tell was taken over."""
    found = {}
    for record in told(files):
        found.setdefault(record["id"], []).append(record)
    ends = {id: knowledge.resolve_lines(lines) for id, lines in found.items()}
    for line in told(files):
        if line["content"] != ends[line["id"]]["content"] and "content" in line.get("was", {}):
            lost = merging.losing_text(line["content"], line | line["was"])
            ends.setdefault(lost["id"], lost)
    won = {knowledge.losing_id(id, record["content"]) for id, record in ends.items()}
    written = {
        id: knowledge.line(dict(sorted(ends[id].items()))) for id in sorted(ends.keys() - won)
    }
    return tuple(
        "".join(line for id, line in written.items() if knowledge.is_tombstone(ends[id]) == gone)
        for gone in (False, True)
    )


def ends(branches):
    """What people end with who render after each merge, or only after the last."""
    for first, *others in permutations(branches):
        for often in (True, False):
            files = first
            for other in others:
                files = merge(files, other)
                files = rendered(files) if often else files
            yield rendered(files)


def end(*branches):
    """The one record of the memory, and the texts that lost, in whatever order they met."""
    (files,) = set(ends(branches))
    by_id = {record["id"]: record for record in told(files)}
    return by_id.pop(ID), {record["content"] for record in by_id.values()}


ACTS = st.lists(
    st.tuples(
        st.sampled_from([*VALUES, ARCHIVE, ARCHIVE, RESTORE]), st.integers(0, 2), st.integers(1, 9)
    ),
    max_size=3,
)


@hypothesis(max_examples=examples(150))
@given(acts=st.lists(ACTS, min_size=2, max_size=4))
@pytest.mark.parametrize("said", [said, said_by_all])
def test_everybody_ends_with_the_same_and_no_text_is_lost(acts, said):
    branches = [branch(number, *done, said=said) for number, done in enumerate(acts)]
    (files,) = set(ends(branches))

    every = {record["content"] for side in branches for record in told(side)}
    assert every <= {"", BASE["content"]} | {record["content"] for record in told(files)}
    assert rendered(files) == files


def test_a_text_that_is_newer_than_the_archive_brings_back_what_others_changed():
    tagged, archived = branch(1, ("tags", 0, 1)), branch(2, (ARCHIVE, 0, 2))
    one, lost = end(tagged, archived, branch(3, ("content", 0, 3)))

    assert (one["content"], one["tags"], lost) == ("one text of 3", ["api"], set())


def test_what_others_changed_before_the_archive_stays_in_the_tombstone():
    tagged, archived = branch(1, ("tags", 0, 1)), branch(2, (ARCHIVE, 0, 3))
    one, lost = end(tagged, archived, branch(3, ("title", 0, 2)))

    assert knowledge.is_tombstone(one)
    assert (one["had"], lost) == ({"tags": ["api"], "title": "Cache"}, set())


def test_what_both_of_two_changed_is_decided_as_ever():
    sides = branch(1, ("tags", 0, 1)), branch(2, (ARCHIVE, 0, 2)), branch(3, ("tags", 1, 3))
    one, _ = end(*sides)

    assert one["tags"] == ["web"]


def test_a_text_that_is_older_than_the_archive_waits_though_the_memory_comes_back():
    sides = branch(1, ("content", 0, 1)), branch(2, (ARCHIVE, 0, 2)), branch(3, ("tags", 0, 3))
    one, lost = end(*sides)

    assert (one["content"], one["key"], one["tags"]) == ("as it was", "fact-as-it-was", ["api"])
    assert lost == {"one text of 1"}


def test_two_texts_that_are_older_than_the_archive_both_wait():
    sides = branch(1, ("content", 0, 1)), branch(2, ("content", 1, 2)), branch(3, (ARCHIVE, 0, 3))
    one, lost = end(*sides)

    assert (one["content"], lost) == ("", {"one text of 1", "another text of 2"})
    assert "text" not in json.dumps({name: one[name] for name in one.keys() - {"updated_at"}})


def test_a_text_that_was_archived_and_rewritten_is_in_no_file_after_the_merge():
    files = merge(branch(1, ("content", 0, 1)), branch(2, (ARCHIVE, 0, 2)))

    assert "one text of 1" in files[0]
    assert BASE["content"] not in "".join((*files, *rendered(files)))


def test_a_change_of_other_fields_makes_no_text_newer():
    sides = branch(1, ("content", 0, 1)), branch(2, ("content", 1, 2)), branch(3, ("tags", 0, 3))
    one, lost = end(*sides)

    assert (one["content"], lost) == ("another text of 2", {"one text of 1"})
    assert one["updated_at"] == stamp(NOW + timedelta(seconds=33))
    assert one["said_at"] == stamp(NOW + timedelta(seconds=22))


@pytest.mark.parametrize(("restored", "lives"), [(4, True), (2, False)])
def test_archived_and_restored_on_one_side_it_lives_if_that_was_later(restored, lives):
    back = branch(1, (ARCHIVE, 0, 1), (RESTORE, 0, restored))
    one, _ = end(back, branch(2, (ARCHIVE, 0, 3)), branch(3, ("tags", 0, 1)))

    assert knowledge.is_tombstone(one) is not lives
    assert (one if lives else one["had"])["tags"] == ["api"]


def test_archived_twice_it_went_with_the_later_one():
    sides = branch(1, (ARCHIVE, 0, 1)), branch(2, (ARCHIVE, 0, 3)), branch(3, ("tags", 0, 2))
    one, _ = end(*sides)

    assert (one["updated_at"], one["had"]) == (
        stamp(NOW + timedelta(seconds=32)),
        {"tags": ["api"]},
    )


def test_lines_without_notes_are_read_by_their_time_alone():
    (gone,), (line,) = told(branch(1, (ARCHIVE, 0, 1))), told(branch(2, ("title", 0, 2)))

    assert knowledge.resolve_lines([gone, line]) == line
    assert (
        knowledge.resolve_lines([gone | {"updated_at": stamp(NOW + timedelta(hours=1))}, line])[
            "content"
        ]
        == ""
    )
