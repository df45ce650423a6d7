"""Lines that rotate into the archive are never lost: not between processes, not by a merge."""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import permutations

import pytest

from ademem.files import knowledge, snapshot
from ademem.files.texts import Texts
from ademem.store import memories
from ademem.sync import rendering
from ademem.sync.merging import merge_versions
from tests import builders
from tests.builders import NOW, memory
from tests.sync.test_merging import Branch

LINES = ".ade/memory/knowledge.jsonl"
ARCHIVE = ".ade/memory/knowledge.archive.jsonl"
FILES = (LINES, ARCHIVE)


class Rotating(Branch):
    """A branch whose lines rotate early."""

    def files(self):
        lines = rendering.Lines(self.store)
        files = knowledge.render_lines(lines.records(), lines.others((), {row.id for row in lines}))
        return {path: files.get(path, "") for path in FILES}


def ids(text):
    return [json.loads(line)["id"] for line in text.splitlines()]


@pytest.fixture
def branches(monkeypatch):
    """Ten lines; one branch adds to them and rotates, the other edits the oldest of them."""
    monkeypatch.setattr(knowledge, "ROTATE_ABOVE", 10)
    base = Rotating()
    for number in range(10):
        base.add(f"rule {number} of the cache")
    texts = base.files()
    rotated, edited = Rotating(texts, hours=1), Rotating(texts, hours=2)
    rotated.add("rule 10 of the cache")
    oldest = memories.find(edited.store, "content = 'rule 0 of the cache'")[0]
    edited.edit(oldest, content="rule 0 of the cache, as corrected")
    yield texts, rotated.files(), edited.files()
    for branch in (base, rotated, edited):
        branch.close()


def test_a_rotated_branch_merges_with_one_that_is_not(branches):
    base, rotated, edited = branches
    assert (len(ids(rotated[LINES])), len(ids(rotated[ARCHIVE]))) == (6, 5)
    for ours, theirs in permutations((rotated, edited)):
        both = {path: merge_versions(path, base[path], ours[path], theirs[path]) for path in FILES}
        known = Rotating(both, hours=48)
        contents = {row.content for row in known.rows() if row.status == "promoted"}
        known.close()

        assert contents == {
            "rule 0 of the cache, as corrected",
            *(f"rule {number} of the cache" for number in range(1, 11)),
        }


def test_two_rotated_branches_keep_each_line_once(branches):
    base, rotated, _ = branches
    other = Rotating(base, hours=3)
    other.add("rule 11 of the cache")
    theirs = other.files()
    other.close()
    both = {path: merge_versions(path, base[path], rotated[path], theirs[path]) for path in FILES}

    found = ids(both[ARCHIVE]) + ids(both[LINES])
    assert len(found) == len(set(found)) == 12
    assert both == {p: merge_versions(p, base[p], theirs[p], rotated[p]) for p in FILES}
    assert snapshot.snapshot(Texts.of(both)).problems == ()


REFRESH = """
import sys
from datetime import timedelta
from ademem.sync import mirror
from ademem.core import project
from ademem.core.settings import Settings
from ademem.files import knowledge
from ademem.store.opening import open_store
from tests import builders
from tests.builders import NOW
place = project.at(sys.argv[1])
store = open_store(place, NOW)
settings = Settings()
knowledge.ROTATE_ABOVE = 10
for number in range(6):
    text = f"rule {number} of {sys.argv[2]}"
    builders.insert(store, builders.memory(text))
    mirror.refresh(builders.opened(place, store, settings, NOW + timedelta(seconds=number)))
store.close()
"""


def test_two_processes_that_rotate_at_once_lose_and_double_nothing(tmp_path):
    builders.open_project(tmp_path).close()
    command = [sys.executable, "-c", REFRESH, str(tmp_path)]
    racing = [subprocess.Popen([*command, name]) for name in ("one", "two")]
    assert [process.wait() for process in racing] == [0, 0]

    found = [ids((tmp_path / path).read_text()) for path in (ARCHIVE, LINES)]
    assert [len(lines) for lines in found] == [5, 7]
    expected = {
        memory(f"rule {n} of {name}", created_at=NOW).id
        for n in range(6)
        for name in ("one", "two")
    }
    assert set(found[0] + found[1]) == expected
