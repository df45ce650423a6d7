"""A model that knows no meaning, only spelling: what is written alike has like vectors."""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence

import numpy as np

from ademem.core.memory import Memory
from ademem.search import dense
from ademem.search.embedding import DamagedModel, embedded_text
from ademem.search.query import STOP_WORDS
from ademem.store import Store

SIZE = 512


class Spelling:
    """Unit vectors of hashed trigrams of the words that tell something."""

    model_id = "spelling"

    def __init__(self) -> None:
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        self.asked += texts
        return np.stack([_vector(text) for text in texts])


class Broken(Spelling):
    def embed(self, texts: Sequence[str]) -> np.ndarray:
        raise DamagedModel("half of it")


def embed(store: Store, *memories: Memory) -> None:
    """Give the memories their vectors, and the store its whitening."""
    rows = Spelling().embed([embedded_text(memory) for memory in memories])
    store.db.executemany(
        "insert into unified_memory_embeddings (id, memory_id, project_id, embedding_model,"
        " embedding_blob, dimensions, created_at, updated_at) values (?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (
                memory.id,
                memory.id,
                store.project_id,
                Spelling.model_id,
                row.astype("<f4").tobytes(),
                SIZE,
                "",
                "",
            )
            for memory, row in zip(memories, rows, strict=True)
        ],
    )
    dense.update_whitening(store, Spelling.model_id, SIZE)


def _vector(text: str) -> np.ndarray:
    vector = np.zeros(SIZE, np.float32)
    for word in re.findall(r"\w+", text.lower()):
        if word not in STOP_WORDS:
            padded = f" {word} "
            for at in range(len(padded) - 2):
                vector[zlib.crc32(padded[at : at + 3].encode()) % SIZE] += 1
    length = float(np.linalg.norm(vector))
    return vector / length if length else vector
