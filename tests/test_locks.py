"""One process at a time, also when what it locks goes away."""

import fcntl

from ademem.locks import locked


def test_a_lock_is_had_by_one_at_a_time(tmp_path):
    path = str(tmp_path / "run" / "lock")

    with locked(path) as first, locked(path, wait=False) as second:
        assert (first, second) == (True, False)
    with locked(path, wait=False) as third:
        assert third


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
