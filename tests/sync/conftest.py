"""A clone, a repository, one driver, and for each file of histories the members of a team."""

from __future__ import annotations

import pytest

from ademem.core import shared_files
from tests.sync.clone import Clone
from tests.sync.team import Driver, Team


@pytest.fixture
def clone_type():
    """Of `clone`; a file of tests may have one that can do more."""
    return Clone


@pytest.fixture
def clone(tmp_path, clone_type):
    clone = clone_type(tmp_path)
    yield clone
    clone.store.close()


@pytest.fixture
def repository(clone):
    clone.git("init", "--quiet", "--initial-branch=main")
    return clone


@pytest.fixture(scope="session", autouse=True)
def driver(tmp_path_factory):
    """`ademem merge-file` in this process; in test_worktrees git starts the command."""
    with Driver(tmp_path_factory.mktemp("driver")).serving() as driver:
        Driver.served = driver
        yield driver
    assert driver.failure is None


@pytest.fixture(scope="module")
def team(tmp_path_factory, driver):
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(shared_files.os, "fsync", lambda _: None)
        yield Team(tmp_path_factory.mktemp("team"), size=4, driver=driver)
