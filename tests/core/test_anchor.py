"""Anchors as they are written, read and joined."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ademem.core import anchor
from ademem.core.anchor import Place
from ademem.core.value import replace

HASH = "0123456789abcdef"


@pytest.mark.parametrize(
    ("text", "place"),
    [
        pytest.param("src/a.py", Place(path="src/a.py"), id="a file"),
        pytest.param("src/a.py:3", Place(path="src/a.py", first=3, last=3), id="a line"),
        pytest.param("src/a.py:3-9", Place(path="src/a.py", first=3, last=9), id="lines"),
        pytest.param(
            f"src/a.py:3-9@{HASH}", Place(path="src/a.py", first=3, last=9, hash=HASH), id="noted"
        ),
        pytest.param(f"src/a.py@{HASH}", Place(path="src/a.py", hash=HASH), id="a whole file"),
        pytest.param(
            f'src/a.py:3@{HASH} ["limit=5", "a \\"b\\""]',
            Place(path="src/a.py", first=3, last=3, hash=HASH, values=("limit=5", 'a "b"')),
            id="with values",
        ),
        pytest.param(
            f"src/a.py:3@{HASH} [nothing]",
            Place(path=f"src/a.py:3@{HASH} [nothing]"),
            id="values that are none",
        ),
        pytest.param(
            "node_modules/@types/x.d.ts:2",
            Place(path="node_modules/@types/x.d.ts", first=2, last=2),
            id="an @ in the path",
        ),
        pytest.param("a:b", Place(path="a:b"), id="a colon in the path"),
        pytest.param("$ git push", None, id="a command"),
        pytest.param("", None, id="nothing"),
    ],
)
def test_an_anchor_names_a_place(text, place):
    assert anchor.place(text) == place


@given(
    path=st.from_regex(r"[a-z@$]{1,3}(/[a-z@.]{1,3})?", fullmatch=True),
    first=st.integers(0, 99),
    size=st.integers(0, 9),
    hash=st.sampled_from(["", HASH]),
    values=st.lists(st.text(max_size=5), max_size=2),
)
def test_a_place_is_read_as_it_was_written(path, first, size, hash, values):
    last = first + size if first else 0
    values = tuple(values) if hash else ()
    place = Place(path=path, first=first, last=last, hash=hash, values=values)

    assert anchor.place(place.text) == place
    assert anchor.place(place.plain) == replace(place, values=())
    assert anchor.with_values([place.plain], anchor.values([place.text])) == (place.text,)
    assert anchor.place(place.where) == Place(path=path, first=first, last=place.last)


def test_a_command_is_an_anchor_of_its_own_kind():
    text = anchor.of_command(" git   push ")

    assert (text, anchor.command(text), anchor.place(text)) == ("$ git push", "git push", None)
    assert anchor.command("src/a.py:3") == ""


@pytest.mark.parametrize(
    ("ours", "theirs", "joined"),
    [
        pytest.param(["a:1", "b"], ["c"], ("a:1", "b", "c"), id="different ones"),
        pytest.param(["a:1"], ["a:1"], ("a:1",), id="the same"),
        pytest.param([f"a:1@{HASH}"], ["a:1@ffffffff"], ("a:1@ffffffff",), id="noted later"),
        pytest.param(
            [f'a:1@{HASH} ["x"]'], [f"a:1@{HASH}"], (f'a:1@{HASH} ["x"]',), id="without its values"
        ),
        pytest.param([f"a:1@{HASH}"], ["a:1"], (f"a:1@{HASH}",), id="said without a note"),
        pytest.param(["$ git push"], ["$ git push"], ("$ git push",), id="a command"),
    ],
)
def test_of_one_place_the_last_note_stays(ours, theirs, joined):
    assert anchor.merge_anchors(ours, theirs) == joined


@pytest.mark.parametrize(
    ("places", "commands", "replaced"),
    [
        pytest.param(None, None, ("a:1", "$ git push"), id="nothing"),
        pytest.param(["b:2"], None, ("b:2", "$ git push"), id="the places"),
        pytest.param(None, ["make all"], ("a:1", "$ make all"), id="the commands"),
        pytest.param([], [], (), id="all taken away"),
    ],
)
def test_places_and_commands_are_replaced_apart(places, commands, replaced):
    assert anchor.replace_parts(("$ git push", "a:1"), places, commands) == replaced
