"""The vector of a question, which a model works out while everything else begins."""

from __future__ import annotations

from ademem.search.query import readable

TYPE_CHECKING = False
if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ademem.search.embedding import Embedder


class Vector:
    """A question on its way through a model."""

    def __init__(self, query: str, embedder: Embedder) -> None:
        from ademem.core.background import Aside

        self.model_id = embedder.model_id
        self._read: Aside[NDArray[np.float32]] = Aside(lambda: embedder.embed([readable(query)])[0])

    @property
    def is_known(self) -> bool:
        return self._read.is_over

    def result(self) -> NDArray[np.float32]:
        """What the model says, as soon as it does; raises DamagedModel."""
        return self._read.result()
