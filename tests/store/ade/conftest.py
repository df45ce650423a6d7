import pytest

from tests.store.ade.adopting import adopted_store
from tests.store.ade_file import CODE


@pytest.fixture
def adopt():
    """A database that ADE left with these rows, taken over."""
    stores = []

    def adopt(ddl=CODE, **rows):
        stores.append(adopted_store(ddl, **rows))
        return stores[-1]

    yield adopt
    for store in stores:
        store.close()
