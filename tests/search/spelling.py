"""A model that knows no meaning, only spelling: what is written alike has like vectors."""

from __future__ import annotations

import math
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
        self.dictionary: set[str] = set()

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        self.asked += texts
        return np.stack([_vector(text) for text in texts])

    def has_word(self, word: str) -> bool:
        return word.lower() in self.dictionary


class Broken(Spelling):
    def embed(self, texts: Sequence[str]) -> np.ndarray:
        raise DamagedModel("half of it")


DICTIONARY = {
    "passwörter": "passwords",
    "gehasht": "hashed",
    "rechnungen": "invoices",
    "gerundet": "rounded",
}


class Translating(Spelling):
    """One that knows German words as well; like a multilingual model it finds all texts near."""

    model_id = "translating"

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        rows = super().embed([_translated(text) for text in texts])
        common = np.full((len(rows), 1), math.sqrt(0.8), np.float32)
        return np.hstack([rows * np.float32(math.sqrt(0.2)), common])

    def embed_question(self, text: str) -> np.ndarray:
        row: np.ndarray = self.embed([text])[0]
        row[:-1] *= 2.5  # a mapped question is farther from what it is not about
        return row

    def read_question(self, text: str) -> np.ndarray:
        row: np.ndarray = self.embed([text])[0]
        return row


def _translated(text: str) -> str:
    return " ".join(DICTIONARY.get(word, word) for word in re.findall(r"\w+", text.lower()))


def embed(store: Store, *memories: Memory, model: type[Spelling] = Spelling) -> None:
    """Give the memories their vectors, and the store its whitening."""
    rows = model().embed([embedded_text(memory) for memory in memories])
    store.db.executemany(
        "insert into unified_memory_embeddings (id, memory_id, project_id, embedding_model,"
        " embedding_blob, dimensions, created_at, updated_at) values (?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (
                f"{memory.id} {model.model_id}",
                memory.id,
                store.project_id,
                model.model_id,
                row.astype("<f4").tobytes(),
                len(row),
                "",
                "",
            )
            for memory, row in zip(memories, rows, strict=True)
        ],
    )
    dense.update_whitening(store, model.model_id, rows.shape[1])


def _vector(text: str) -> np.ndarray:
    vector = np.zeros(SIZE, np.float32)
    for word in re.findall(r"\w+", text.lower()):
        if word not in STOP_WORDS:
            padded = f" {word} "
            for at in range(len(padded) - 2):
                vector[zlib.crc32(padded[at : at + 3].encode()) % SIZE] += 1
    length = float(np.linalg.norm(vector))
    return vector / length if length else vector
