"""A throw-away project with the memories of one haystack, its ranking of them, and baselines."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections import defaultdict
from datetime import timedelta
from functools import cached_property

import orjson

from ademem import api
from ademem.api.evaluation.metrics import DEPTH
from ademem.core import clock
from ademem.files import export_format
from ademem.search.parameters import DEFAULTS
from ademem.store import memory_queries

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime
    from types import TracebackType
    from typing import Self

    from ademem.api.evaluation.datasets import Haystack, Item
    from ademem.search.dense import Vectors
    from ademem.search.embedding import Embedder
    from ademem.search.parameters import Parameters
    from ademem.store import Store

    Ranking = Callable[[str, "Arena"], list[str]]

LATER = timedelta(days=1)
"""When the questions come, after the last item."""
FIRST = clock.parse("2000-01-01")
OURS = ("CLAUDE_", "ADEMEM_PROJECT", "ADEMEM_DISABLE")
"""What of the environment belongs to the project and session that evaluates."""


RANK_CONSTANT = 60
"""Constant of reciprocal rank fusion (Cormack, Clarke and Buettcher 2009)."""


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

    @property
    def has_vectors(self) -> bool:
        return self._embedder is not None

    def nearest(self, query: str, limit: int) -> list[str]:
        """The memories of the highest cosines to the query; none without a model."""
        if self._embedder is None:
            return []
        from ademem.search import dense
        from ademem.search.query import readable

        question = self._embedder.embed([readable(query)])[0]
        return [self._by_seq[seq] for seq in dense.Cosines(question, self._vectors).nearest(limit)]

    @cached_property
    def _vectors(self) -> Vectors:
        """The vectors that the product made, without whitening."""
        from ademem.search import dense
        from ademem.search.embedding import DIMENSIONS

        assert self._embedder is not None
        return dense.read_vectors(self.store, self._embedder.model_id, DIMENSIONS)

    @cached_property
    def _by_seq(self) -> dict[int, str]:
        return {memory.seq: memory.id for memory in memory_queries.everything(self.store)}

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


def ours(query: str, arena: Arena) -> list[str]:
    return arena.search(query)


def bm25(query: str, arena: Arena) -> list[str]:
    """FTS5's own order of the rows that have any of the words."""
    words = re.findall(r"\w+", query)
    return memory_queries.match_any_word(arena.store, words, DEPTH) if words else []


def dense(query: str, arena: Arena) -> list[str]:
    """The nearest vectors alone, as the model gives them."""
    return arena.nearest(query, DEPTH)


def fused(query: str, arena: Arena) -> list[str]:
    """Reciprocal rank fusion of `bm25` and `dense`."""
    scores: defaultdict[str, float] = defaultdict(float)
    for ranking in (bm25(query, arena), dense(query, arena)):
        for rank, id in enumerate(ranking, 1):
            scores[id] += 1 / (RANK_CONSTANT + rank)
    return sorted(scores, key=lambda id: -scores[id])[:DEPTH]


BASELINES: dict[str, Ranking] = {
    "ademem": ours,
    "RRF": fused,
    "dense only": dense,
    "BM25 only": bm25,
}
NEED_A_MODEL = ("RRF", "dense only")
