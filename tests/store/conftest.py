import pytest

from tests.builders import open_project


@pytest.fixture
def store(tmp_path):
    store = open_project(tmp_path)
    yield store
    store.close()


@pytest.fixture
def path(tmp_path):
    """Where the database of a project in `tmp_path` is."""
    return tmp_path / ".ade" / "ade.db"
