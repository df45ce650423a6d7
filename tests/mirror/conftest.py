"""Members of a team for each file of histories."""

from __future__ import annotations

import pytest

from ademem import files
from tests.mirror.team import Driver, Team


@pytest.fixture(scope="module")
def team(tmp_path_factory):
    folder = tmp_path_factory.mktemp("team")
    with pytest.MonkeyPatch.context() as patched, Driver(folder).serving() as driver:
        patched.setattr(files.os, "fsync", lambda _: None)
        yield Team(folder, driver=driver)
