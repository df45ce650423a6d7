"""Refusals of the disk and the database are explained in one line with the next step."""

import errno
import os
import sqlite3
from contextlib import closing

import pytest

from ademem.core.errors import explain_machine_error


def read_only(path):
    with closing(sqlite3.connect(path)) as db:
        db.execute("create table t (x)")
    return sqlite3.connect(f"file:{path}?mode=ro", uri=True)


def damaged(path):
    path.write_bytes(b"no database" * 1000)
    return sqlite3.connect(path)


def full(path):
    db = sqlite3.connect(path)
    db.execute("pragma max_page_count = 1")
    return db


def a_folder(path):
    return sqlite3.connect(f"file:{path}/not/there?mode=ro", uri=True)


@pytest.mark.parametrize(
    ("made", "hint"),
    [
        pytest.param(read_only, "have to be yours to write", id="read-only"),
        pytest.param(a_folder, "have to be yours to write", id="out of reach"),
        pytest.param(damaged, "`ademem doctor --fix` rebuilds it", id="damaged"),
        pytest.param(full, "make room", id="full"),
    ],
)
def test_what_a_database_refuses_has_a_next_step(made, hint, tmp_path):
    with pytest.raises(sqlite3.Error) as raised, closing(made(tmp_path / "ade.db")) as db:
        db.execute("create table more (x)")

    explained = explain_machine_error(raised.value)
    assert str(explained).startswith("the database cannot be used: ")
    assert hint in explained.hint


def test_a_database_that_another_holds_can_be_tried_again(tmp_path):
    path = tmp_path / "ade.db"
    with closing(sqlite3.connect(path)) as other, closing(sqlite3.connect(path, timeout=0)) as db:
        other.execute("begin exclusive")
        with pytest.raises(sqlite3.OperationalError) as raised:
            db.execute("create table more (x)")

    assert "try again" in explain_machine_error(raised.value).hint


@pytest.mark.parametrize(
    ("number", "hint"),
    [
        pytest.param(errno.EACCES, "yours to use", id="no right"),
        pytest.param(errno.EROFS, "yours to use", id="read-only file system"),
        pytest.param(errno.ENOSPC, "make room", id="full"),
    ],
)
def test_what_a_disk_refuses_names_the_file(number, hint):
    explained = explain_machine_error(OSError(number, os.strerror(number), "/p/.ade/x"))

    assert str(explained) == f"/p/.ade/x: {os.strerror(number)}"
    assert hint in explained.hint


@pytest.mark.parametrize(
    "error",
    [
        pytest.param(sqlite3.OperationalError("no such table: t"), id="wrong SQL"),
        pytest.param(FileNotFoundError(errno.ENOENT, "", "x"), id="a file that should be there"),
        pytest.param(KeyError("x"), id="wrong code"),
    ],
)
def test_a_bug_stays_a_bug(error):
    assert explain_machine_error(error) is None
