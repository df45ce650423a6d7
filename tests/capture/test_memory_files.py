"""Files of the client's own memory, as text."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ademem.capture.memory_files import CATEGORIES, MemoryFile, list_statements, parse
from tests.examples import examples

STAMPED = """---
name: flags
description: "where flags live"
metadata:
  node_type: memory
  type: feedback
  originSessionId: 5f0c
---

Flags live in flags.toml.

**Why:** the environment
got lost.
**How to apply:** edit `flags.toml`.
"""


def test_a_file_as_the_client_stamps_it():
    found = parse(STAMPED)

    assert found == MemoryFile(
        text="Flags live in flags.toml.",
        why="the environment got lost.",
        how="edit `flags.toml`.",
        about="where flags live",
        kind="feedback",
        session_id="5f0c",
    )
    assert found.content == (
        "Flags live in flags.toml.\nWhy: the environment got lost.\nHow: edit `flags.toml`."
    )


@pytest.mark.parametrize(
    "stamped",
    [
        pytest.param(STAMPED.replace('"where flags live"', "where flags live"), id="quotes"),
        pytest.param(STAMPED.replace("feedback", "'feedback'"), id="a quoted kind"),
        pytest.param(STAMPED.replace("5f0c", "77aa"), id="the session"),
        pytest.param(
            STAMPED.replace("metadata:\n", "metadata:\n  modified: 2026-11-29\n"), id="the date"
        ),
        pytest.param("\ufeff" + STAMPED.replace("\n", "\r\n"), id="line ends"),
        pytest.param(
            STAMPED.replace("metadata:\n", "").replace("  type", "type"), id="a flat kind"
        ),
    ],
)
def test_stamps_are_no_part_of_what_it_says(stamped):
    assert parse(stamped).digest == parse(STAMPED).digest


def test_a_text_without_a_description_keeps_its_digest():
    """Stores have noted it: as another one, each line of the client's index would be a new one."""
    assert MemoryFile(text="Use pnpm").digest == "c0f62aac3d692e7192cfc5b89af07432"


@pytest.mark.parametrize("part", ["flags.toml.", "got lost", "edit", "feedback"])
def test_what_it_says_is_part_of_its_digest(part):
    changed = {"feedback": "project"}.get(part, f"{part} again")

    assert parse(STAMPED.replace(part, changed)).digest != parse(STAMPED).digest


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("Only a text", ("Only a text", ""), id="no front matter"),
        pytest.param("---\ntype: user\n\nNever closed", ("Never closed", ""), id="never closed"),
        pytest.param("---\n}{ broken\ntype: user\n---\nText", ("Text", ""), id="broken"),
        pytest.param("---\ntype: recipe\n---\nText", ("Text", ""), id="an unknown kind"),
        pytest.param("---\ntype: User\n---\nText", ("Text", "user"), id="in capitals"),
        pytest.param("---\n# a comment\ntype: user\n---\nText", ("Text", "user"), id="a comment"),
        pytest.param("---\na:\n  type: user\n---\nText", ("Text", ""), id="a kind of another"),
        pytest.param("---\ndescription: It\n---\n", ("It", ""), id="a description alone"),
        pytest.param("---\n---\n", ("", ""), id="empty"),
        pytest.param("", ("", ""), id="nothing"),
    ],
)
def test_what_cannot_be_read_names_no_kind(text, expected):
    found = parse(text)

    assert (found.text, found.kind) == expected


def test_an_entry_of_the_index_that_links_no_file_is_a_text():
    index = """# Memory

- [Flags](flags.md) — where they live
- [Deploy](below/deploy.md#when) on Thursdays
- tests need the proxy
  to be off
* the [site](https://a.test) is static
1. see [[flags]]

The queue is drained first.

```
code is none
```
"""

    assert list(list_statements(index)) == [
        "tests need the proxy to be off",
        "the [site](https://a.test) is static",
        "The queue is drained first.",
    ]


@given(st.text(alphabet=st.sampled_from("-:#*`[]()ab \n\t\"'\u00e9\0.md")) | st.text())
@settings(max_examples=examples(600), deadline=None)
def test_any_text_is_read(text):
    found = parse(text)

    assert found.kind in ("", *CATEGORIES)
    assert all(isinstance(entry, str) for entry in list_statements(text))


@pytest.mark.parametrize(
    "part", ["](", "[", "](a.md", "[[a", "**why:** ", "`a/b.c` ", "a: b\n", " ", ":", "-"]
)
def test_the_largest_file_is_read_at_once(part):
    text = "---\n" * (part == "a: b\n") + part * (65_000 // len(part))
    began = time.process_time()
    parse(text)
    list(list_statements(text))

    assert time.process_time() - began < 0.25
