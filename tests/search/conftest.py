"""A store to search, and a search that needs only words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ademem.core.memory import Memory
from ademem.core.value import replace
from ademem.search.engine import Filters, Results, search
from ademem.store import Store
from tests.builders import NOW, insert, memory

Ask = Callable[..., Results]
Keep = Callable[..., Memory]


def answers(found: Results) -> Results:
    """The results without weak hits."""
    return replace(found, hits=tuple(hit for hit in found.hits if not hit.weak))


@pytest.fixture
def keep(store: Store) -> Keep:
    """Put one memory into the store."""

    def put(content: str, **changes: Any) -> Memory:
        (kept,) = insert(store, memory(content, **changes))
        return kept

    return put


@pytest.fixture
def ask(store: Store) -> Ask:
    """What answers, with the settings as they come and no more filters than named."""

    def asked(query: str, *, limit: int = 10, **filters: Any) -> Results:
        return answers(search(query, store, Filters(**filters), NOW, limit))

    return asked


@pytest.fixture
def texts(ask: Ask) -> Callable[..., list[str]]:
    """What a search finds, as texts in their order."""
    return lambda query, **how: [hit.memory.content for hit in ask(query, **how).hits]
