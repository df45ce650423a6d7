"""Lines of one memory that several people changed come to the same, whoever met whom first."""

from __future__ import annotations

import json
from datetime import timedelta
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis
from hypothesis import strategies as st

from ademem.core.clock import stamp
from ademem.core.registers import next_stamp, write
from ademem.files import knowledge
from ademem.files.knowledge import from_line, to_line
from ademem.sync.merging import merge_lines
from tests.builders import NOW, memory, record_of
from tests.examples import examples

BASE = record_of(memory("as it was", tags=("one",)))
FILE = knowledge.render_line(to_line(BASE))
VALUES = {
    "content": ("one text", "another text"),
    "tags": (("api",), ("one", "web")),
    "category": ("gotcha", "pattern"),
    "pinned": (True, False),
}
ACTS = st.lists(
    st.tuples(st.sampled_from([*VALUES]), st.integers(0, 1), st.integers(1, 9)), max_size=3
)


def branch(number, *acts):
    """The line after acts of one person: what was changed, to which value, and when."""
    record = BASE
    for name, value, minute in sorted(acts, key=lambda act: act[2]):
        found = VALUES[name][value]
        values = {name: f"{found} of {number}" if name == "content" else found}
        at = next_stamp(record.last_stamp, NOW + timedelta(minutes=minute), f"{number + 10:08x}")
        record = write(record, values, at)
    return knowledge.render_line(to_line(record))


def unstamped(text, **changes):
    """The line as an ademem that knows no stamps writes it after a change."""
    line = json.loads(text) | changes
    line.pop("stamps", None)
    return knowledge.render_line(line)


def merged(sides, base=FILE):
    """The one line that they come to in whatever order."""
    ends = set()
    for first, *others in permutations(sides):
        for other in others:
            first = merge_lines(base, first, other)
        ends.add(first)
    (text,) = ends
    return json.loads(text)


def texts(line):
    return {text for text, _ in from_line(line).texts.values()}


@hypothesis(max_examples=examples(60))
@given(acts=st.lists(ACTS, min_size=2, max_size=3))
def test_no_text_is_lost_in_whatever_order_git_merges(acts):
    sides = [branch(number, *done) for number, done in enumerate(acts)]
    said = {json.loads(side)["content"] for side in sides}

    assert said - {BASE.text[0]} <= texts(merged(sides))


def test_two_that_know_no_stamps_lose_neither_a_text_nor_a_field():
    later = stamp(NOW + timedelta(minutes=1)), stamp(NOW + timedelta(minutes=2))
    line = merged(
        [
            unstamped(FILE, content="one text", updated_at=later[0]),
            unstamped(FILE, content="another text", pinned=True, updated_at=later[1]),
            unstamped(FILE, category="gotcha", updated_at=later[1]),
        ]
    )

    assert texts(line) == {"one text", "another text"}
    assert (line["pinned"], line["category"]) == (True, "gotcha")


def test_one_that_knows_no_stamps_and_one_that_does_lose_nothing():
    old = unstamped(FILE, content="one text", updated_at=stamp(NOW + timedelta(minutes=3)))
    line = merged([branch(1, ("content", 1, 2), ("tags", 1, 2)), old])

    assert texts(line) == {"one text", "another text of 1"}
    assert line["tags"] == ["one", "web"]


def test_what_a_revert_took_back_stays_so_beside_a_change_of_another_field():
    edited, reverted = branch(1, ("content", 0, 1)), FILE
    tagged = json.loads(edited) | {"tags": ["one", "web"]}
    record = write(from_line(json.loads(edited)), {"tags": tagged["tags"]}, _at(5))
    line = merged([reverted, knowledge.render_line(to_line(record))], base=edited)

    assert (line["content"], line["tags"]) == ("as it was", ["one", "web"])


def _at(minute):
    return next_stamp("", NOW + timedelta(minutes=minute), "000000aa")


@pytest.mark.parametrize("changed", [False, True])
def test_a_line_that_was_taken_away_goes_unless_the_other_side_changed_it(changed):
    theirs = branch(1, ("pinned", 0, 1)) if changed else FILE

    assert (
        merge_lines(FILE, "", theirs)
        == merge_lines(FILE, theirs, "")
        == (theirs if changed else "")
    )
