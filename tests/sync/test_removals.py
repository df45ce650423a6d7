"""Before a refresh removes a page or most entries, the files are copied, and that is told."""

from __future__ import annotations

import pytest

from ademem.core.memory import Category
from ademem.files import knowledge
from ademem.session import notices
from ademem.store import transitions
from ademem.store.transitions import Act
from tests.sync.clone import FACTS, LINES, Clone, gotcha

ARCHIVE = ".ade/memory/knowledge.archive.jsonl"


class Forgetful(Clone):
    def archive(self, *rows):
        act = Act(store=self.store, now=self.tick(), actor="user")
        for row in rows:
            transitions.archive(row.id, act)

    def forget(self, row):
        """Lose the row and all that is known of it, as damage does."""
        for table, name in (("memory_revisions", "memory_id"), ("unified_memories", "id")):
            self.store.db.execute(f"delete from {table} where {name} = ?", (row.id,))

    def copies(self):
        return sorted(path.name for path in (self.root / ".ade/run").glob("before-*"))


@pytest.fixture
def clone_type():
    return Forgetful


def fill(clone, count, category=Category.GOTCHA):
    texts = (f"lesson {number} says {'abcdefghijklmn'[number] * 6}" for number in range(count))
    return [clone.know(text, category=category) for text in texts]


@pytest.mark.parametrize(
    ("count", "archived", "is_copied"),
    [
        pytest.param(12, 6, False, id="half of them"),
        pytest.param(12, 7, True, id="more than half"),
        pytest.param(9, 8, False, id="most of a few"),
        pytest.param(3, 3, True, id="a whole page"),
    ],
)
def test_what_loses_much_is_copied_first(clone, count, archived, is_copied):
    rows = fill(clone, count)
    clone.refresh()
    before = clone.pages()
    clone.archive(*rows[:archived])
    done = clone.refresh()

    assert done.copied == (".ade/run/before-1" if is_copied else "")
    if is_copied:
        copied = clone.root / done.copied
        assert {path.name: path.read_text() for path in copied.iterdir()} == before


def test_entries_that_move_to_another_page_are_no_loss(clone):
    rows = fill(clone, 12)
    clone.know("the build has no network")
    clone.refresh()
    act = Act(store=clone.store, now=clone.tick(), actor="user")
    for row in rows[:11]:
        transitions.edit(row.id, act, clone.settings.gate, category=Category.FACT)

    assert clone.refresh().copied == ""
    assert rows[0].content in clone.read(FACTS)


def test_three_copies_are_kept(clone):
    for number in range(5):
        row = gotcha(clone, f"lesson {number}")
        clone.refresh()
        clone.archive(row)
        clone.refresh()

    assert clone.copies() == ["before-3", "before-4", "before-5"]


def test_a_copy_is_told_once_at_the_next_start(clone):
    row = gotcha(clone)
    clone.refresh()
    clone.archive(row)
    clone.refresh()
    runtime = clone.open()

    (line,) = notices.copied_files(runtime)
    assert ".ade/run/before-1" in line
    assert not list(notices.copied_files(runtime))


def test_a_line_that_the_database_has_not_heard_of_stays(clone):
    known, lost = gotcha(clone), gotcha(clone, "the queue drops what is old")
    clone.refresh()
    clone.forget(lost)
    gotcha(clone, "the build has no network")
    clone.refresh(force=True)

    assert lost.content in clone.read(LINES)
    assert known.content in clone.read(LINES)


def test_a_line_of_the_archive_that_the_database_has_not_heard_of_stays(clone, monkeypatch):
    monkeypatch.setattr(knowledge, "ROTATE_ABOVE", 4)
    oldest, *_ = fill(clone, 6)
    clone.refresh()
    assert oldest.content in clone.read(ARCHIVE)
    clone.forget(oldest)
    gotcha(clone, "the build has no network")
    clone.refresh(force=True)

    assert oldest.content in clone.read(ARCHIVE)


def test_a_line_that_the_database_has_deleted_for_good_goes(clone):
    row = gotcha(clone)
    clone.refresh()
    transitions.delete(row.id, Act(store=clone.store, now=clone.tick(), actor="user"), hard=True)
    clone.refresh()

    assert row.content not in clone.read(LINES)
