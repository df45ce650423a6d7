"""A store in memory, and somebody to ask, as the tests of the AI have it."""

from contextlib import closing

import pytest

from tests.store.stores import in_memory
from tests.synthesis.ai.conftest import ask

__all__ = ["ask", "store"]


@pytest.fixture
def store():
    with closing(in_memory()) as opened:
        yield opened
