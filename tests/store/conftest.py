import pytest


@pytest.fixture
def path(tmp_path):
    """Where the database of a project in `tmp_path` is."""
    return tmp_path / ".ade" / "ade.db"
