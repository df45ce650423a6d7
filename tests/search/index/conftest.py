import pytest

from tests.builders import open_project
from tests.search.index.world import World


@pytest.fixture
def world(tmp_path):
    store = open_project(tmp_path)
    yield World(store)
    store.close()
