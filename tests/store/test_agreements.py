"""What `run/` notes about the files holds for the database that noted it, and for no older copy."""

from __future__ import annotations

import shutil
from contextlib import closing
from pathlib import Path

import pytest

from ademem.core.project import record_state
from ademem.store import agreements
from tests.builders import open_project


@pytest.fixture
def copy_of(tmp_path):
    def copy_of(store):
        store.db.execute("pragma wal_checkpoint(truncate)")
        (tmp_path / "copy/.ade").mkdir(parents=True)
        shutil.copy(tmp_path / ".ade/ade.db", tmp_path / "copy/.ade/ade.db")
        return closing(open_project(tmp_path / "copy"))

    return copy_of


def test_an_agreement_holds_for_its_database(store):
    first = agreements.advance(store, "")
    second = agreements.advance(store, first)

    assert agreements.holds(store, first)
    assert agreements.holds(store, second)
    assert first.split()[0] == second.split()[0]


@pytest.mark.parametrize("noted", ["", "x", "0123456789abcdef 1", "{} 0", "{} -1", "{} one"])
def test_none_was_made_of_what_is_noted_otherwise(store, noted):
    id = agreements.advance(store, "").split()[0]

    assert not agreements.holds(store, noted.format(id))


def test_a_copy_knows_the_agreements_until_it_was_made(store, copy_of):
    before = agreements.advance(store, "")
    with copy_of(store) as copy:
        after = agreements.advance(store, before)

        assert agreements.holds(copy, before)
        assert not agreements.holds(copy, after)


def test_an_older_copy_never_counts_up_to_an_agreement_that_it_does_not_know(store, copy_of):
    before = agreements.advance(store, "")
    with copy_of(store) as copy:
        after = last = agreements.advance(store, before)
        for _ in range(9):
            last = agreements.advance(copy, last)

        assert agreements.holds(copy, last)
        assert not agreements.holds(copy, after)


def test_two_worktrees_agree_each_for_itself(store, copy_of):
    one, other = agreements.advance(store, ""), agreements.advance(store, "")
    with copy_of(store) as copy:
        other = agreements.advance(store, other)

        assert agreements.holds(copy, one)
        assert not agreements.holds(copy, other)


def test_files_that_another_database_read_are_unread(store, here, copy_of):
    page = Path(here.memory, "facts.md")
    page.parent.mkdir()
    page.write_text("# Facts\n")
    with copy_of(store) as copy:
        record_state(here, (), agreements.advance(store, ""))

        assert not agreements.has_unread_files(here, store)
        assert agreements.has_unread_files(here, copy)


def test_without_files_there_is_nothing_to_read(store, here):
    assert not agreements.has_unread_files(here, store)
