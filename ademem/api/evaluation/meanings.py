"""The vectors that the product gave a haystack, for those who rank by vectors alone."""

from __future__ import annotations

from ademem.core.text import with_title
from ademem.search import dense
from ademem.search.embedding import DIMENSIONS
from ademem.search.query import readable
from ademem.store import memory_queries

TYPE_CHECKING = False
if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ademem.search.embedding import Embedder
    from ademem.store import Store

    Floats = NDArray[np.float32]


class Meanings:
    """Memories in the order of their arrival: ids, texts, and unit rows."""

    def __init__(self, store: Store, embedder: Embedder) -> None:
        vectors = dense.read_vectors(store, embedder.model_id, DIMENSIONS)
        known = {memory.seq: memory for memory in memory_queries.everything(store)}
        self.ids = [known[seq].id for seq in vectors.rows.tolist()]
        self.vectors = vectors.matrix
        self.texts = [
            with_title(known[seq].title, known[seq].content) for seq in vectors.rows.tolist()
        ]
        self._embedder = embedder
        self._asked: tuple[str, Floats] | None = None

    def question(self, query: str) -> Floats:
        """The vector of the query; that of the last one is kept, as several rankings ask for it."""
        if self._asked is None or self._asked[0] != query:
            self._asked = query, self._embedder.embed([readable(query)])[0]
        return self._asked[1]
