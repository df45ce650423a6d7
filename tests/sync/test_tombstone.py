"""What is gone stays gone in every clone, unless somebody wrote something newer."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest

from ademem.core.clock import stamp
from ademem.core.memory import Category, Status
from ademem.core.registers import make_tombstone, old_stamp
from ademem.core.settings import GateSettings
from ademem.files import knowledge
from ademem.files.knowledge import newest_dead
from ademem.operations import curation
from ademem.store import kept_copies, memories, transitions
from ademem.store.transitions import Act
from ademem.sync import checks
from ademem.synthesis.undoing import undo_event
from tests.builders import NOW
from tests.sync.clone import FOLDER, GOTCHAS, LINES, fork, gotcha, with_driver

ARCHIVE = f"{FOLDER}/knowledge.archive.jsonl"


@pytest.fixture
def repository(repository):
    with_driver(repository)
    return repository


def act(clone):
    return Act(store=clone.store, now=clone.tick())


def gone(clone):
    """What the archive tells of memories that went, by id."""
    if not (clone.root / ARCHIVE).exists():
        return {}
    records = map(json.loads, clone.read(ARCHIVE).splitlines())
    return {record["id"]: record for record in records if record["type"] == knowledge.TOMBSTONE}


ENDS = [
    pytest.param(lambda row, clone: transitions.archive(row.id, act(clone)), id="archived"),
    pytest.param(lambda row, clone: transitions.delete(row.id, act(clone)), id="deleted"),
    pytest.param(
        lambda row, clone: transitions.delete(row.id, act(clone), hard=True), id="for good"
    ),
]


@pytest.mark.parametrize("end", ENDS)
def test_a_memory_that_went_leaves_a_line_without_its_text(clone, end):
    row = clone.know("the vault key is under the mat", id="0a1b2c3d4e5f", sync_id="0a1b2c3d4e5f6")
    clone.refresh()
    end(row, clone)
    clone.refresh()

    (left,) = gone(clone).values()
    assert (left["id"], left["content"], left["status"]) == (row.id, "", "archived")
    assert left["ts"] == int(clone.now.timestamp()) - 60
    assert "vault" not in json.dumps(clone.pages())
    assert clone.refresh().written == ()


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({"status": Status.CANDIDATE, "promoted_at": None}, id="never confirmed"),
        pytest.param({"scope": "agent", "scope_owner_id": "tester"}, id="an agent's own"),
        pytest.param({"quarantine_reason": "orders"}, id="in quarantine"),
    ],
)
def test_of_what_was_never_in_a_file_no_file_tells_that_it_went(clone, fields):
    row = clone.know("the cache is not thread safe", **fields)
    transitions.archive(row.id, act(clone))
    clone.refresh()

    assert gone(clone) == {}


def test_an_addition_that_is_taken_back_leaves_no_trace(clone):
    clone.refresh()
    before = clone.pages()
    row = gotcha(clone)
    clone.refresh()
    (event,) = curation.list_events(clone, 1)
    undo_event(event.id, act(clone))
    clone.refresh()

    assert not clone.get(row).live
    assert clone.pages() == before


def test_only_the_newest_that_went_are_remembered():
    given = [
        make_tombstone(id, id, old_stamp(stamp(NOW + timedelta(hours=hours))))
        for hours, id in enumerate("abcd")
    ]

    assert [one.id for one in newest_dead(given, 2)] == ["c", "d"]
    assert [one.id for one in newest_dead(reversed(given), 9)] == ["a", "b", "c", "d"]
    assert newest_dead(given, 0) == []


def test_a_new_clone_remembers_what_it_never_had(repository, tmp_path_factory):
    row = gotcha(repository)
    transitions.archive(row.id, act(repository))
    repository.refresh()
    repository.commit()
    other = fork(repository, tmp_path_factory.mktemp("other") / "clone")
    gotcha(other, "retries need a limit")
    other.refresh()

    assert gone(other) == gone(repository) != {}


@pytest.fixture
def two(repository, tmp_path_factory):
    """Two clones that know the same memory."""
    row = gotcha(repository)
    repository.refresh()
    repository.commit()
    other = fork(repository, tmp_path_factory.mktemp("other") / "clone")
    other.refresh()
    with_driver(other)
    yield repository, other, row
    other.store.close()


def change(clone, row, **changes):
    transitions.edit(row.id, act(clone), GateSettings(), **changes)
    clone.refresh()
    clone.commit()


def end(clone, row):
    transitions.archive(row.id, act(clone))
    clone.refresh()
    clone.commit()


def meet(one, other):
    """Both merge what the other one committed."""
    head = {clone: clone.git("rev-parse", "HEAD") for clone in (one, other)}
    for clone, friend in ((one, other), (other, one)):
        clone.git("fetch", "--quiet", str(friend.root))
        clone.git("merge", "--quiet", "--no-edit", head[friend])
        assert clone.taken().problems == ()
        clone.commit()
    assert one.pages() == other.pages()


def test_an_edit_after_the_archive_brings_the_memory_back(two):
    one, other, row = two
    end(one, row)
    other.now = one.now
    change(other, row, content="the cache is thread safe since 2.0")
    meet(one, other)

    assert one.live() == other.live() == ["the cache is thread safe since 2.0"]
    assert gone(one) == {}


def test_an_archive_after_the_edit_stands_and_the_new_text_waits_for_a_word(two):
    one, other, row = two
    change(other, row, content="the cache is thread safe since 2.0")
    one.now = other.now
    end(one, row)
    meet(one, other)

    assert one.live() == []
    assert other.live() == [kept_copies.find(other.store, row.id).content]  # stated there
    assert one.read(LINES) == ""
    (line,) = (json.loads(line) for line in one.read(ARCHIVE).splitlines())
    assert (line["status"], line["content"]) == ("archived", "the cache is thread safe since 2.0")
    for clone in (one, other):
        (waiting,) = memories.find(clone.store, "status = 'candidate'")
        assert (waiting.content, waiting.tags) == (line["content"], ("conflict",))


def test_an_archive_after_an_edit_of_other_fields_just_stands(two):
    one, other, row = two
    change(other, row, tags=("web",))
    one.now = other.now
    end(one, row)
    meet(one, other)

    assert one.read(LINES) == ""
    assert list(gone(one)) == [row.id]
    assert memories.find(one.store, "status = 'candidate'") == []
    for clone in (one, other):
        assert clone.refresh().written == ()
        assert checks.check(clone.project, clone.store, clone.settings.mirror) == ()


def test_what_the_archive_hid_comes_back_with_a_newer_text(two, tmp_path_factory):
    one, other, row = two
    third = fork(one, tmp_path_factory.mktemp("third") / "clone")
    with_driver(third)
    third.refresh()
    change(other, row, tags=("web",))
    one.now = other.now
    end(one, row)
    third.now = one.now
    change(third, row, content="the cache is thread safe since 2.0")
    meet(one, other)
    meet(one, third)

    assert gone(one) == {}
    for clone in (one, third):
        known = clone.get(row)
        assert (known.tags, known.content) == (("web",), "the cache is thread safe since 2.0")
        assert clone.refresh().written == ()
    third.store.close()


def test_a_text_stays_as_old_as_it_is_when_another_field_was_changed_later(two):
    one, other, row = two
    change(one, row, content="the cache is thread safe since 2.0")
    other.now = one.now
    change(other, row, tags=("web",))
    meet(one, other)
    (line,) = map(json.loads, one.read(LINES).splitlines())

    (text_at,) = (at for at, names in line["stamps"].items() if "text" in names)
    assert text_at < max(line["stamps"]) or len(text_at) > len("0000-1a2b3c4d")


def test_archived_on_both_sides_it_went_with_the_later_one(two):
    one, other, row = two
    end(one, row)
    other.now = one.now + timedelta(hours=1)
    end(other, row)
    meet(one, other)

    assert [record["ts"] for record in gone(one).values()] == [
        other.get(row).updated_at.timestamp()
    ]


def test_two_memories_that_come_to_say_the_same_become_the_elder(two):
    one, other, row = two
    younger = gotcha(other, "locks are taken in order")
    other.refresh()
    other.commit()
    change(one, row, content="locks are taken in order")
    meet(one, other)

    assert one.live() == other.live() == ["locks are taken in order"]
    assert row.id in one.read(GOTCHAS)
    assert younger.id in one.read(ARCHIVE)
    assert other.get(younger).superseded_by == row.id

    change(one, row, content="locks are taken in any order")
    meet(one, other)
    assert (
        one.live() == other.live() == ["locks are taken in any order", "locks are taken in order"]
    )


def test_memories_that_exchange_their_texts_on_one_side_do_so_on_the_other(two):
    one, other, row = two
    second = gotcha(one, "retries need a limit")
    one.refresh()
    one.commit()
    meet(one, other)
    change(one, row, content="something else for a moment")
    change(one, second, content="the cache is not thread safe")
    change(one, row, content="retries need a limit")
    meet(one, other)

    assert other.get(row).content == "retries need a limit"
    assert other.get(second).content == "the cache is not thread safe"
    assert other.get(row).category == Category.GOTCHA
