"""A throw-away project that remembers one haystack, and whose ranking of it is asked for."""

from __future__ import annotations

import os
import shutil
import tempfile
from datetime import timedelta
from functools import cached_property

import orjson

from ademem import api
from ademem.api.evaluation.metrics import DEPTH
from ademem.core import clock
from ademem.files import export_format
from ademem.search.parameters import DEFAULTS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from types import TracebackType
    from typing import Self

    from ademem.api.evaluation.datasets import Haystack, Item
    from ademem.api.evaluation.meanings import Meanings
    from ademem.search.embedding import Embedder
    from ademem.search.parameters import Parameters
    from ademem.store import Store

LATER = timedelta(days=1)
"""When the questions come, after the last item."""
FIRST = clock.parse("2000-01-01")
OURS = ("CLAUDE_", "ADEMEM_PROJECT", "ADEMEM_DISABLE")
"""What of the environment belongs to the project and session that evaluates."""


class Arena:
    """The haystack, imported and embedded through the product's own doors; a context manager."""

    def __init__(
        self,
        haystack: Haystack,
        environment: Mapping[str, str],
        embedder: Embedder | None = None,
        parameters: Parameters = DEFAULTS,
    ) -> None:
        self._embedder = embedder
        self._parameters = parameters
        self.modes: set[str] = set()
        """How searches were answered: lexical, hybrid."""
        self.root = tempfile.mkdtemp(prefix="ademem-eval-")
        try:
            moment = _after(haystack)
            kept = {name: text for name, text in environment.items() if not name.startswith(OURS)}
            kept["ADEMEM_DATA_DIR"] = os.path.join(self.root, "data")
            api.init(self.root, environment=kept)
            self.memories = api.open_memories(
                self.root, environment=kept | {"ADEMEM_JOBS_AUTO": "false"}, now=lambda: moment
            )
            lines = [orjson.dumps(_line(item)).decode() for item in haystack.items]
            self.imported = api.import_lines(self.memories, lines)
            api.work(self.memories)
            self._ids = {
                item.id: export_format.memory_of(line, self.store)
                for item, line in zip(haystack.items, lines, strict=True)
            }
        except BaseException:
            shutil.rmtree(self.root)
            raise

    @property
    def store(self) -> Store:
        return self.memories.store

    @cached_property
    def meanings(self) -> Meanings | None:
        """The one door to numpy here; None without a model."""
        if self._embedder is None:
            return None
        from ademem.api.evaluation.meanings import Meanings

        return Meanings(self.store, self._embedder)

    def ids(self, items: tuple[str, ...]) -> frozenset[str]:
        """The memories that the items became; what the gate refused is never found."""
        return frozenset(self._ids[item] or f"refused {item}" for item in items)

    def search(self, query: str) -> list[str]:
        """Hits of `ademem recall`."""
        results = api.search(self.memories, query, limit=DEPTH, parameters=self._parameters)
        self.modes.add(results.mode)
        return [hit.memory.id for hit in results.hits]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.memories.close()
        shutil.rmtree(self.root)


def _after(haystack: Haystack) -> datetime:
    return max([FIRST, *(clock.parse(item.date) for item in haystack.items if item.date)]) + LATER


def _line(item: Item) -> dict[str, str | None]:
    return {
        "content": item.text,
        "id": item.id,
        "speaker": item.speaker or None,
        "source_session_id": item.session or None,
        "created_at": item.date or None,
        "status": "promoted",
    }
