"""A file is used when it is whole and current; otherwise searches do without."""

from __future__ import annotations

import os
import shutil
import sqlite3
import sys

import numpy as np
import pytest

from ademem.core.locks import locked
from ademem.search import index as index_
from ademem.search.index import aim, building, file
from ademem.store import search_files
from tests.builders import open_project
from tests.search.index.world import MODEL, World
from tests.store import racing


@pytest.fixture
def full(world):
    """Some memories, and files that hold them."""
    for number in range(20):
        world.embed(world.add(f"number {number}", session="one"))
    world.build()
    return world


def paths(world):
    folder = search_files.folder(world.store)
    return [os.path.join(folder, name) for name in os.listdir(folder) if name != "lock"]


def only(world):
    (path,) = paths(world)
    return path


def texts(world):
    """What the index holds, by its words and sessions."""
    index = world.open()
    seqs = index.seqs(index.where(np.array(list(world.sessions()))))
    return len(index.held("number").rows), seqs.tolist()


def flip(path, at):
    with open(path, "r+b") as handle:
        handle.seek(at, os.SEEK_END)
        (byte,) = handle.read(1)
        handle.seek(-1, os.SEEK_CUR)
        handle.write(bytes([byte ^ 1]))


def rewrite(old, new):
    def damage(path):
        with open(path, "rb") as handle:
            data = handle.read()
        assert old in data
        with open(path, "wb") as handle:
            handle.write(data.replace(old, new))

    return damage


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(os.unlink, id="missing"),
        pytest.param(lambda path: os.truncate(path, 0), id="empty"),
        pytest.param(lambda path: os.truncate(path, 10), id="ten bytes"),
        pytest.param(lambda path: os.truncate(path, os.path.getsize(path) // 2), id="half"),
        pytest.param(lambda path: os.truncate(path, os.path.getsize(path) - 1), id="a byte less"),
        pytest.param(lambda path: flip(path, -1), id="another format"),
        pytest.param(lambda path: flip(path, -40), id="other contents"),
        pytest.param(lambda path: flip(path, -14), id="another length"),
        pytest.param(rewrite(sys.byteorder.encode(), b"middle"), id="another machine"),
        pytest.param(lambda path: shutil.copy(__file__, path), id="something else"),
    ],
)
def test_a_file_that_is_not_whole_is_not_used_and_made_anew(full, damage):
    before = texts(full)
    damage(only(full))

    assert full.open() is None

    full.build()
    assert texts(full) == before


def test_a_file_of_another_byte_order_is_not_used(full, monkeypatch):
    monkeypatch.setattr(sys, "byteorder", "big" if sys.byteorder == "little" else "little")

    assert full.open() is None


@pytest.mark.parametrize("name", ["seqs", "rows", "lengths", "before", "vectors", "text_ends"])
def test_arrays_that_do_not_fit_each_other_are_not_used(full, name):
    path = only(full)
    arrays = dict(file.read(path))
    with file.new(path) as handle:
        for other, array in arrays.items():
            handle.add(other, array[:-1] if other == name else array)

    assert full.open() is None


def test_a_byte_that_changed_is_found_by_reading_everything(full):
    path = only(full)
    assert index_.checked(full.store) == (1, [])
    vectors = file.read(path)["vectors"].tobytes()
    with open(path, "rb") as handle:
        at = handle.read().index(vectors) - os.path.getsize(path)
    flip(path, at + 5)

    assert index_.checked(full.store) == (1, [path])


def test_a_file_that_could_not_be_written_leaves_nothing(tmp_path):
    path = tmp_path / "one.index"
    with pytest.raises(ValueError, match="numbers"), file.new(str(path)) as handle:
        handle.stream("numbers", np.dtype(np.int64), (3,), [np.zeros(2, np.int64)])

    assert os.listdir(tmp_path) == []


def test_more_changes_than_a_search_reads_itself_make_it_do_without(full, monkeypatch):
    monkeypatch.setattr(index_, "FRESH", 3)
    ids = [full.add(f"number {number}") for number in range(20, 23)]
    assert len(texts(full)[1]) == 23
    full.hide("m0")
    assert full.open() is None

    full.build()
    full.remove(ids[0])
    assert len(texts(full)[1]) == 21


def test_a_database_from_before_the_files_does_not_use_them(full, tmp_path):
    copy = tmp_path / "copy.db"
    with sqlite3.connect(copy) as other:
        full.store.db.backup(other)
    full.hide("m3")
    full.build()
    full.store.db.execute("delete from unified_memories where id <> 'm5'")
    full.build()
    full.store.db.execute("pragma user_version")
    with sqlite3.connect(copy) as other:
        other.backup(full.store.db)
    seqs = list(full.sessions())

    index = full.open()
    assert index is None or texts(full) == (20, seqs)
    full.build()
    assert texts(full) == (20, seqs)


def test_files_of_another_model_are_not_used_and_make_way(full):
    assert index_.open_index(full.store, "another") is None

    full.embed("m1", "another")
    index_.build(full.store, "another")
    found = index_.open_index(full.store, "another")
    assert np.isfinite(found.cosines(full.vector())).sum() == 1
    assert full.open() is None
    assert len(paths(full)) == 1


def test_without_a_vector_there_is_no_index(world):
    world.add("number")
    world.build()

    assert world.open() is None
    assert not paths(world)


def test_new_rows_are_written_aside_until_they_are_many(full, monkeypatch):
    first = only(full)
    full.add("number 20")
    full.build()
    assert len(paths(full)) == 2
    assert first in paths(full)

    full.add("number 21")
    full.build()
    assert len(paths(full)) == 2
    assert first in paths(full)

    monkeypatch.setattr(building, "FEW", 2)
    full.add("number 22")
    full.build()
    assert len(paths(full)) == 1
    assert first not in paths(full)
    assert texts(full)[0] == 23


def test_changes_are_forgotten_when_the_files_hold_them(full):
    for number in range(10):
        full.edit(f"m{number}", f"another number {number}")
    count = "select count(*) from search_changes"
    assert full.store.db.execute(count).fetchone()[0] > 10
    os.unlink(only(full))
    full.build()

    assert full.store.db.execute(count).fetchone()[0] == 1


def test_the_number_of_a_change_is_never_given_again(full):
    full.edit("m0", "number one")
    os.unlink(only(full))
    full.build()
    full.edit("m0", "number two")

    (listed,) = search_files.listed(full.store, MODEL)
    assert search_files.changed(full.store, listed) == [1]


def test_a_new_memory_is_noted_nowhere_but_in_its_own_tables(full):
    files = full.store.db.execute("select * from search_files").fetchall()
    full.add("number 20")

    assert full.store.db.execute("select count(*) from search_changes").fetchone()[0] == 0
    assert full.store.db.execute("select * from search_files").fetchall() == files


def test_without_files_no_change_is_noted(world):
    world.add("number 1")
    world.embed("m0")
    world.edit("m0", "number 2")
    world.remove("m0")

    assert world.store.db.execute("select count(*) from search_changes").fetchone()[0] == 0


def test_an_access_is_no_change(full):
    full.store.db.execute("update unified_memories set access_count = 9, access_score = 1")

    assert not search_files.changed(full.store, *search_files.listed(full.store, MODEL))


def test_the_lens_of_the_files_is_that_of_the_store(full):
    index, kept = full.open().lens, aim.unpacked(search_files.lens(full.store, MODEL), 8)

    assert kept.learned_from == 20
    assert np.array_equal(index.axes, kept.axes)
    assert np.array_equal(index.mean, kept.mean)


def test_what_others_change_meanwhile_is_seen(full, tmp_path, monkeypatch):
    os.unlink(only(full))
    other = World(open_project(tmp_path))
    everything = building._everything

    def meanwhile(*given):
        other.edit("m3", "nothing")
        insert = "insert into unified_memories select * from late"
        late = "create temp table late as select * from unified_memories where id = 'm0'"
        other.store.db.execute(late)
        other.store.db.execute(
            "update late set seq = 99, id = 'x', sync_id = 'x', dedupe_key = 'x'"
        )
        other.store.db.execute(insert)
        return everything(*given)

    monkeypatch.setattr(building, "_everything", meanwhile)
    full.build()
    other.store.close()

    count, seqs = texts(full)
    assert count == 20
    assert seqs[-1] == 99


def test_an_index_that_is_open_outlives_its_files(full):
    index = full.open()
    before = index.cosines(np.ones(8, np.float32) / 8).tolist()
    os.unlink(only(full))
    full.build()

    assert index.cosines(np.ones(8, np.float32) / 8).tolist() == before


def test_who_comes_second_leaves_the_work_to_the_first(full):
    before = paths(full)
    full.add("number 20")
    with locked(os.path.join(search_files.folder(full.store), "lock")):
        full.build()

    assert paths(full) == before


@pytest.mark.parametrize(
    ("memories", "vectors", "expected"),
    [
        pytest.param(3, 3, True, id="enough"),
        pytest.param(2, 2, False, id="too few"),
        pytest.param(3, 0, False, id="no vectors"),
    ],
)
def test_files_are_due_when_they_are_worth_it(world, monkeypatch, memories, vectors, expected):
    monkeypatch.setattr(search_files, "WORTH", 3)
    for number in range(memories):
        world.add(f"number {number}")
    for number in range(vectors):
        world.embed(f"m{number}")

    assert search_files.are_behind(world.store, MODEL) is expected


def test_files_are_due_again_when_enough_has_changed(full, monkeypatch):
    monkeypatch.setattr(search_files, "DUE", 2)
    full.add("number 20")
    assert not search_files.are_behind(full.store, MODEL)

    full.edit("m0", "number zero")
    assert search_files.are_behind(full.store, MODEL)

    full.build()
    assert not search_files.are_behind(full.store, MODEL)


def test_a_damaged_file_is_due_once_it_was_looked_at(full, monkeypatch):
    monkeypatch.setattr(search_files, "WORTH", 3)
    os.truncate(only(full), 100)
    assert full.open() is None

    assert search_files.are_behind(full.store, MODEL)


@pytest.mark.slow
@pytest.mark.parametrize(
    "few", [pytest.param(0, id="everything"), pytest.param(1_000_000, id="what changed")]
)
def test_whenever_the_writer_dies_the_index_is_right_or_not_used(full, tmp_path, few):
    folder = search_files.folder(full.store)
    full.store.close()
    said = racing.said("tests.search.index.mortal", str(tmp_path), str(few), "15")

    *killed, (last, how) = (line.split() for line in said)
    assert len(killed) > 20
    assert {signal for signal, _ in killed} == {"9"}
    assert (last, how) == ("0", "with")
    assert {how for _, how in killed} == {"with"}
    assert len(os.listdir(folder)) == (2 if few == 0 else 3)
