"""A clone, a repository, and members of a team for each file of histories."""

from __future__ import annotations

import pytest

from ademem import files
from tests.mirror.clone import Clone
from tests.mirror.team import Driver, Team


@pytest.fixture
def clone(tmp_path):
    clone = Clone(tmp_path)
    yield clone
    clone.store.close()


@pytest.fixture
def repository(clone):
    clone.git("init", "--quiet", "--initial-branch=main")
    return clone


@pytest.fixture(scope="module")
def team(tmp_path_factory):
    folder = tmp_path_factory.mktemp("team")
    with pytest.MonkeyPatch.context() as patched, Driver(folder).serving() as driver:
        patched.setattr(files.os, "fsync", lambda _: None)
        yield Team(folder, driver=driver)
