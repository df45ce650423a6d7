"""One process at a time, also when what it locks goes away."""

import errno
import fcntl
import os

from ademem.core.shared_files import is_held, locked


def test_a_lock_is_had_by_one_at_a_time(tmp_path):
    path = str(tmp_path / "run" / "lock")

    with locked(path) as first, locked(path, wait=False) as second:
        assert (first, second) == (True, False)
    with locked(path, wait=False) as third:
        assert third


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
