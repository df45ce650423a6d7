"""MEMORY.md: what is on the page, and its bounds."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ademem.core.memory import Category, Importance, Scope, Status, Tier
from ademem.core.settings import MirrorSettings
from ademem.files import FOLDER, INDEX, markdown
from ademem.files.project_brief import CoreMemory
from ademem.files.texts import Texts
from ademem.sync import rendering
from tests.builders import NOW, Lines, memory

SETTINGS = MirrorSettings()
MINE = "<!-- ademem:keep -->\nmine\n\n## my heading\n<!-- /ademem:keep -->"


def page(*rows, document=None, present="", settings=SETTINGS) -> str:
    return rendering.render(Lines(rows), document, Texts.of({INDEX: present}), settings)[INDEX]


def section(text: str, heading: str) -> list[str]:
    """The lines under a heading of ours."""
    body = text.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    return [line for line in body.splitlines() if line]


def gotchas(count: int, **changes):
    return [memory(f"gotcha {n}", category=Category.GOTCHA, **changes) for n in range(count)]


def test_an_empty_store_has_a_page_that_tells_how_memory_is_used():
    text = page()

    assert text.startswith("# Project memory\n")
    assert "ademem recall" in text
    assert section(text, "Files") == ["None yet: a topic has a file once it has an entry."]
    assert section(text, "Left out") == ["Nothing: every memory is on this page."]


def test_the_brief_comes_first_then_what_is_pinned_then_each_topic():
    document = CoreMemory(project_summary="Builds maps.", version=1, updated_at=NOW)
    text = page(
        memory("a decision", id="d1", category=Category.DECISION),
        memory("a pinned fact", id="f1", pinned=True),
        document=document,
    )

    assert [line for line in text.splitlines() if line.startswith("#")] == [
        "# Project memory",
        "## Project brief",
        "## Pinned",
        "## Decisions",
        "## Files",
        "## Left out",
    ]
    assert section(text, "Project brief") == ["- Summary: Builds maps."]
    assert section(text, "Pinned") == ["- fact: a pinned fact (`f1`)"]
    assert section(text, "Decisions") == ["- a decision (`d1`)"]


def test_the_best_of_a_topic_are_of_high_importance_then_believed_then_new():
    rows = [
        memory("fading", tier=Tier.FADING, importance=Importance.HIGH),
        memory("old", created_at=NOW - timedelta(days=9)),
        memory("new"),
        memory("believed", confidence=0.95),
        memory("important", importance=Importance.HIGH),
    ]

    shown = [line.split(" (")[0] for line in section(page(*rows), "Facts")]
    assert shown == ["- important", "- believed", "- new", "- old", "- fading"]


def test_what_is_left_out_is_named():
    rows = [*gotchas(20), *(memory(f"fact {n}") for n in range(3))]
    rows += [memory("what happened", category=Category.EPISODE)]
    text = page(*rows)

    assert len(section(text, "Gotchas")) == 8
    assert section(text, "Left out") == [
        "This page has what is pinned and 8 of each topic, within 200 lines and 25000 bytes.",
        "The files above have more: gotchas.",
        "`ademem list` has what is in no file.",
    ]


def test_another_memory_changes_its_topic_alone():
    rows = [*gotchas(20), *(memory(f"fact {n}") for n in range(9))]
    before, after = page(*rows), page(*rows, memory("fact 9"))

    for heading in ("Gotchas", "Files", "Left out"):
        assert section(before, heading) == section(after, heading)


def test_every_file_has_a_line():
    rows = [memory(f"gotcha {n}", category=Category.GOTCHA, tags=(f"t{n % 2}",)) for n in range(6)]
    lines = section(page(*rows, settings=MirrorSettings(topic_entries=2)), "Files")

    assert lines[0].startswith("- `gotchas.md` — Pitfalls")
    assert lines[1:] == [
        "- `gotchas-t0.md` to `gotchas-t0.2.md`",
        "- `gotchas-t1.md` to `gotchas-t1.2.md`",
    ]


def test_a_hand_written_region_stays_in_its_section_and_rendering_again_moves_nothing():
    present = page(*gotchas(1)).replace("## Files", f"{MINE}\n\n## Files")
    assert markdown.split_regions(present)[0][0].heading == "## Gotchas"

    once = page(*gotchas(2), present=present)
    assert MINE in once.partition("\n## Gotchas\n")[2].partition("\n## Files\n")[0]
    assert page(*gotchas(2), present=once) == once


def test_a_region_whose_section_went_stands_at_the_end():
    present = page(*gotchas(1)).replace("## Files", f"{MINE}\n\n## Files")
    once = page(present=present)

    assert once.endswith(MINE + "\n")
    assert page(present=once) == once


def test_a_region_that_was_never_closed_loses_nothing():
    present = f"# Project memory\n\n{markdown.OPEN}\nmine\n\n## Files\nmore of mine\n"

    assert markdown.split_regions(present)[0][0].lines[1:-1] == (
        "mine",
        "",
        "## Files",
        "more of mine",
        "",
    )
    assert "more of mine" in page(present=present)


def test_a_long_region_leaves_less_room_for_the_rest():
    own = "\n".join([markdown.OPEN, *(f"line {n}" for n in range(150)), markdown.CLOSE])
    text = page(*gotchas(20, pinned=True), *gotchas(20), present=own)

    assert "line 149" in text
    assert text.count("\n") <= 200
    assert "## Files" in text


@pytest.mark.parametrize(
    ("text", "size"),
    [
        pytest.param("short", lambda full: full.count("\n") / 200, id="lines"),
        pytest.param("漢" * 300, lambda full: len(full.encode()) / 25_000, id="bytes"),
    ],
)
def test_a_page_is_filled_up_to_its_bounds(text, size):
    full = page(*(memory(f"{n} {text}", id=f"a{n}", pinned=True) for n in range(300)))

    assert 0.95 < size(full) <= 1
    assert "have more: facts" in section(full, "Left out")[1]


contents = st.one_of(
    st.text(max_size=60),
    st.sampled_from(["漢" * 2000, "a\n" * 500, "# h\n```\n<!--", "x" * 2000, markdown.OPEN]),
)
rows = st.builds(
    memory,
    content=contents,
    id=st.uuids().map(str),
    title=st.none() | contents,
    tags=st.lists(st.sampled_from(["learned", "api", "db", "漢字", "web"]), unique=True).map(tuple),
    category=st.sampled_from(tuple(Category)),
    scope=st.sampled_from(tuple(Scope)),
    status=st.sampled_from(tuple(Status)),
    pinned=st.booleans(),
    importance=st.sampled_from(tuple(Importance)),
)


@given(
    rows=st.lists(rows, max_size=30).flatmap(lambda some: st.sampled_from([some, some * 20])),
    topic_entries=st.integers(1, 20),
    summary=st.text(max_size=2000),
)
def test_the_page_keeps_its_bounds_and_names_every_file(rows, topic_entries, summary):
    document = CoreMemory(project_summary=summary, version=1, updated_at=NOW)
    settings = MirrorSettings(topic_entries=topic_entries)
    present = Texts.of({INDEX: f"{markdown.OPEN}\nmine\n{markdown.CLOSE}"})
    rendered = rendering.render(Lines(rows), document, present, settings)
    text = rendered[INDEX]

    assert len(text.splitlines()) <= 200
    assert len(text.encode()) <= 25_000
    assert markdown.split_regions(text)[0][0].lines == (markdown.OPEN, "mine", markdown.CLOSE)
    assert len(markdown.split_regions(text)[0]) == 1
    for path in rendered:
        if path.startswith(FOLDER) and path.count(".md") and path != INDEX:
            first = path.removeprefix(FOLDER).split(".")[0]
            assert f"`{first}.md`" in text
