"""Rows of others: what of them may reach a terminal, git, a path or SQL."""

import json
import sqlite3
from contextlib import closing

import pytest

from ademem.capture import gate
from ademem.core import anchor, record_json
from ademem.core.memory import Draft
from ademem.core.settings import GateSettings
from ademem.core.untrusted import visible
from ademem.store import memories
from ademem.synthesis import anchoring

HOSTILE = {
    "a NUL": "\0x:1",
    "a line break": "a.py\n- [x] another:1",
    "an escape sequence": "\x1b]0;owned\x07a.py:1",
    "an 8 bit escape": "\x9b2Ja.py:1",
    "half a character": "\ud800a.py",
    "an option": "--output=/tmp/owned",
    "a path that leads out": "../../etc/passwd:1",
    "an absolute path": "/etc/passwd",
    "a huge line number": "a.py:" + "9" * 5000,
    "a long line number": "a.py:" + "9" * 900,
    "a long path": "a/" * 400 + "b:1",
    "a glob of git": ":(top,glob)**:1",
    "a digest of another": "a.py:1-2@0123456789abcdef",
    "a revision": "a.py@{-1}",
}
hostile = pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)


def is_plain(text):
    return text == visible(text) and "\n" not in text


@hostile
def test_what_a_draft_names_is_stored_in_one_plain_line(clone, text):
    draft = Draft(content="retries need a limit", anchors=(text,), path=text, bead=text)
    stored = gate.write(draft, clone.store, GateSettings(), clone.tick()).memory

    assert all(map(is_plain, (*stored.anchors, stored.file_scope_pattern or "", stored.bead or "")))


@hostile
def test_a_place_that_an_agent_names_and_that_is_none_is_refused_with_the_next_step(clone, text):
    with pytest.raises(anchoring.NoSuchPlace):
        anchoring.resolve_anchors([f"{text}.gone"], str(clone.root), str(clone.root), "")


@hostile
def test_a_record_of_a_folder_or_a_hub_is_read_in_plain_letters(text):
    names = ("title", "path", "topic_key", "key", "bead", "source")
    lists = {"anchors": [text], "tags": [text]}
    values = {"id": "0123456789ab", "content": f"retries\n{text}", "life": "live"}
    record = record_json.from_json(values | dict.fromkeys(names, text) | lists)

    ((content, title),) = record.texts.values()
    assert content == visible(content)
    assert all(is_plain(each) for _, each in record.registers.values() if isinstance(each, str))
    assert all(map(is_plain, (title or "", *record.items("anchors"), *record.items("tags"))))


@hostile
def test_a_database_that_was_made_elsewhere_is_read_in_plain_letters(world, tmp_path, text):
    text = text.encode("utf-8", "replace").decode()
    world.know("retries need a limit")
    fields = ("title", "file_scope_pattern", "topic_key", "bead", "agent_id")
    with closing(sqlite3.connect(world.root / ".ade/ade.db")) as db, db:
        names = ", ".join(f"{name} = :text" for name in fields)
        update = f"update unified_memories set anchors = :anchors, {names}"
        db.execute(update, {"text": text, "anchors": json.dumps([text])})
    world.environment["HOME"] = str(tmp_path / "another home")
    with world.memories() as opened:
        (found,) = memories.find(opened.store, "1")

    assert all(is_plain(getattr(found, name) or "") for name in fields)
    assert all(map(is_plain, found.anchors))


def test_the_lines_of_a_place_are_numbers_that_a_database_takes():
    assert anchor.place("a.py:" + "9" * 20).path == "a.py:" + "9" * 20
    assert anchor.place("a.py:12").first == 12
