"""A store to search, and a search that needs only words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ademem.core.memory import Memory
from ademem.search.engine import Filters, Results, search
from ademem.search.parameters import Parameters
from ademem.store import Store
from tests.builders import NOW, insert, memory

ANSWERS = Parameters(weak=False)
Ask = Callable[..., Results]
Keep = Callable[..., Memory]


@pytest.fixture
def keep(store: Store) -> Keep:
    """Put one memory into the store."""

    def put(content: str, **changes: Any) -> Memory:
        (kept,) = insert(store, memory(content, **changes))
        return kept

    return put


@pytest.fixture
def ask(store: Store) -> Ask:
    """Search with the settings as they come and no more filters than named."""

    def asked(query: str, *, limit: int = 10, **filters: Any) -> Results:
        return search(query, store, Filters(**filters), NOW, limit, parameters=ANSWERS)

    return asked


@pytest.fixture
def texts(ask: Ask) -> Callable[..., list[str]]:
    """What a search finds, as texts in their order."""
    return lambda query, **how: [hit.memory.content for hit in ask(query, **how).hits]
