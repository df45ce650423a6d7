"""The files as docs/files.md shows them: read, and written again, they are the same bytes."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from ademem.files import knowledge, project_brief
from tests.sync.clone import FOLDER

PAGE = (Path(__file__).parents[2] / "docs/files.md").read_text(encoding="utf-8")
SECTION = PAGE.partition("## What the files look like\n")[2].partition(
    "\n## Skills and commands\n"
)[0]
PLACES = {
    "# Gotchas": f"{FOLDER}/gotchas.md",
    "# Project memory": f"{FOLDER}/MEMORY.md",
    '{"key":"gotcha': f"{FOLDER}/knowledge.jsonl",
    '{"key":"learned': f"{FOLDER}/knowledge.archive.jsonl",
    "{\n": ".ade/cto/core-memory.json",
}


def shown():
    """The examples, by the path of the file that each of them is."""
    blocks = re.findall(r"^```\w+\n(.*?)^```$", SECTION, re.MULTILINE | re.DOTALL)
    return {
        path: block for block in blocks for start, path in PLACES.items() if block.startswith(start)
    }


@pytest.fixture
def clone(clone, tmp_path, monkeypatch):
    monkeypatch.setattr(knowledge, "ROTATE_ABOVE", 2)
    for path, text in shown().items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        if not path.endswith("MEMORY.md"):
            clone.write(path, text)
    return clone


def test_every_format_has_an_example():
    assert set(shown()) == set(PLACES.values())


def test_the_examples_are_read_and_written_as_they_stand(clone):
    taken = clone.taken()

    assert (len(taken.added), taken.problems) == (3, ())
    assert {path: clone.read(path) for path in shown()} == shown()
    assert clone.refresh().written == ()


def test_the_lines_have_the_documented_fields_in_their_order(clone):
    told = re.findall(r"^\| `(\w+)` \|", SECTION, re.MULTILINE)
    lines = shown()[f"{FOLDER}/knowledge.jsonl"].splitlines()

    assert [list(json.loads(line)) for line in lines] == [
        [name for name in told if name not in ("values", "stamps") or name in json.loads(line)]
        for line in lines
    ]


def test_a_line_that_was_moved_has_the_same_fields_and_is_older_than_the_others(clone):
    moved, gone = map(json.loads, shown()[f"{FOLDER}/knowledge.archive.jsonl"].splitlines())
    lines = [json.loads(line) for line in shown()[f"{FOLDER}/knowledge.jsonl"].splitlines()]

    assert list(moved) == list(lines[0])
    assert all(moved["created_at"] < line["created_at"] for line in lines)
    assert (gone["type"], gone["content"]) == ("tombstone", "")


def test_the_brief_has_the_fields_shown(clone):
    clone.refresh()
    document = project_brief.load(clone.store)

    assert document is not None
    assert project_brief.file_text(document) == shown()[".ade/cto/core-memory.json"]
