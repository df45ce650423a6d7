"""Each statement of the documentation about safety, by number, and the tests that hold it."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
STATEMENTS = tomllib.loads((ROOT / "tests/safety_statements.toml").read_text("utf-8"))["statement"]
SECTIONS = ("Who acts", "What comes with a clone", "What others change of what you stated")
"""Sections of docs/privacy.md in which each sentence is one, but for those of EXPLAINING."""
EXPLAINING = (
    "ademem asks once, when a command",
    "The output of `curl` or `gh`",
    "The transcripts show which commands ran",
    "A text that an agent writes into a file is a candidate",
    "If your own edit was counted as an agent",
    "These commands are refused in an agent",
    "Memories in a clone, a pull or an archive were written by other people",
    "It is not verified",
    "Until you accept such a memory",
    "`ademem trust --files` applies to one repository",
    "The authors are everybody",
    "A memory is trusted if the last commit",
    "**Names and addresses of authors in git can be forged**",
    "What protects you is who may push",
    "`--author` tells the memories of colleagues apart",
    "`ademem undo` takes it back",
    "What comes by a [folder]",
    "Your data folder has digests",
    "A memory is *stated here* if",
    "`ademem review --changes` shows both versions",
    '"ademem: Alice, whom you trust',
)
"""Beginnings of sentences that define a word, introduce a list or tell what is not promised."""
ENDING = re.compile(r"(?<=[.!?])\s+(?=[A-Z`*\"\[])")


def plain(text: str) -> str:
    return " ".join(text.split())


@cache
def page(path: str) -> str:
    return plain((ROOT / path).read_text("utf-8"))


@cache
def names() -> frozenset[str]:
    """The tests of all files, as one that is moved to another file is the same test."""
    texts = (path.read_text("utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    return frozenset(name for text in texts for name in re.findall(r"(?m)^def (test_\w+)", text))


@pytest.mark.parametrize("given", STATEMENTS, ids=[str(given["number"]) for given in STATEMENTS])
def test_a_statement_is_on_its_page_and_has_tests(given):
    missing = [
        node
        for node in given["tests"]
        for path, _, name in [node.partition("::")]
        if name not in names() and (name or not (ROOT / path).is_file())
    ]

    assert plain(given["says"]) in page(given["page"])
    assert given["tests"]
    assert missing == []


def test_statements_are_numbered_in_their_order():
    assert [given["number"] for given in STATEMENTS] == [*range(1, len(STATEMENTS) + 1)]


def sentences(section: str) -> list[str]:
    """The sentences and items of a section; a table is not cut."""
    text = (ROOT / "docs/privacy.md").read_text("utf-8")
    body = re.split(rf"(?m)^#+ {re.escape(section)}$", text)[1]
    body = re.split(r"(?m)^## ", body)[0]
    blocks = [block for block in re.split(r"\n\s*\n|\n(?=- )", body) if block[:1] not in "|#"]
    return [one for block in blocks for one in ENDING.split(plain(block).removeprefix("- "))]


@pytest.mark.parametrize("section", SECTIONS)
def test_each_sentence_of_a_section_has_a_number(section):
    stated = [plain(given["says"]) for given in STATEMENTS]
    without = [
        sentence
        for sentence in sentences(section)
        if not any(says in sentence or sentence in says for says in stated)
        and not sentence.startswith(EXPLAINING)
    ]

    assert sentences(section)
    assert without == []
