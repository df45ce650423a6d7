"""Files that are whole, locks that end with their holder."""

import errno
import fcntl
import os
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ademem.core import shared_files
from ademem.core.shared_files import is_held, locked


@pytest.fixture
def path(tmp_path):
    return tmp_path / "a" / "b" / "file.txt"


def test_a_missing_file_has_no_text(path):
    assert shared_files.read_text(str(path)) is None


def test_writing_makes_the_folders_and_tells_that_it_wrote(path):
    assert shared_files.write_atomic(str(path), "one\r\n") is True
    assert path.read_bytes() == b"one\r\n"
    assert shared_files.read_text(str(path)) == "one\r\n"


def test_what_a_file_says_already_is_not_written_again(path):
    shared_files.write_atomic(str(path), "same")
    before = path.stat()

    assert shared_files.write_atomic(str(path), "same") is False
    assert path.stat().st_ino == before.st_ino


def test_bytes_that_are_no_text_are_replaced(path):
    path.parent.mkdir(parents=True)
    path.write_bytes(b"\xff\xfe")

    assert shared_files.write_atomic(str(path), "text")
    assert path.read_text() == "text"


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o755])
def test_a_file_keeps_its_mode(path, mode):
    shared_files.write_atomic(str(path), "one")
    path.chmod(mode)
    shared_files.write_atomic(str(path), "two")

    assert path.stat().st_mode & 0o777 == mode


def test_a_link_stays_a_link(path, tmp_path):
    shared_files.write_atomic(str(path), "one")
    link = tmp_path / "link"
    link.symlink_to(path)
    shared_files.write_atomic(str(link), "two")

    assert link.is_symlink()
    assert path.read_text() == "two"


def test_a_failure_leaves_the_old_file_and_nothing_else(path, monkeypatch):
    shared_files.write_atomic(str(path), "old")

    def broken(*_):
        raise OSError("no space left")

    monkeypatch.setattr(os, "fsync", broken)

    with pytest.raises(OSError, match="no space"):
        shared_files.write_atomic(str(path), "new")
    assert path.read_text() == "old"
    assert os.listdir(path.parent) == ["file.txt"]


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_text_comes_back_as_it_was_written(tmp_path_factory, text):
    path = tmp_path_factory.mktemp("files") / "round-trip"
    shared_files.write_atomic(str(path), text)

    assert shared_files.read_text(str(path)) == text


def test_removing_tells_whether_there_was_a_file(path):
    shared_files.write_atomic(str(path), "x")

    assert shared_files.remove(str(path)) is True
    assert shared_files.remove(str(path)) is False


def test_a_lock_is_had_by_one_at_a_time(path):
    with locked(str(path)) as first, locked(str(path), wait=False) as second:
        assert (first, second) == (True, False)
    with locked(str(path), wait=False) as again:
        assert again is True


def test_a_lock_ends_with_its_process(path):
    program = (
        "import os, sys; from ademem.core.shared_files import locked\n"
        "with locked(sys.argv[1]) as ours: print(ours, flush=True); os._exit(9)"
    )
    holder = subprocess.run(
        [sys.executable, "-c", program, path], capture_output=True, text=True, check=False
    )

    assert (holder.stdout, holder.returncode) == ("True\n", 9)
    with locked(str(path), wait=False) as ours:
        assert ours is True


def test_who_asks_whether_a_lock_is_held_makes_none(tmp_path):
    path = tmp_path / "lock"

    assert not is_held(str(path))
    assert not path.exists()
    with locked(str(path)):
        assert is_held(str(path))
    assert not is_held(str(path))


def test_a_lock_of_another_user_is_not_seen_to_be_held(tmp_path, monkeypatch):
    def refuse(path, _flags):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)

    (tmp_path / "lock").touch()
    monkeypatch.setattr(os, "open", refuse)

    assert not is_held(str(tmp_path / "lock"))


def test_who_waited_for_a_lock_that_its_holder_removed_holds_the_next_one(tmp_path, monkeypatch):
    path = tmp_path / "lock"
    real = fcntl.flock

    def flock_of_a_removed_file(handle, how):
        monkeypatch.setattr(fcntl, "flock", real)
        path.unlink()
        real(handle, how)

    monkeypatch.setattr(fcntl, "flock", flock_of_a_removed_file)
    with locked(str(path)) as ours, locked(str(path), wait=False) as anothers:
        assert (ours, anothers) == (True, False)
