"""A model that is quick, and as bad as a test wants it; `python -m tests.worker.fake ROOT` works.

The program is the worker with this model. It tells of each text before it is embedded; a text
with the word `fatal` takes the process down.
"""

from __future__ import annotations

import os
import signal
import sys
from typing import TYPE_CHECKING

import numpy as np

from ademem.core.text import sha256_hex
from ademem.worker.__main__ import main
from ademem.worker.running import Model

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

DIMENSIONS = 384
ID = "fake/1"


def vector(text: str) -> NDArray[np.float32]:
    """The same unit vector for the same text, another for any other."""
    random = np.random.default_rng(int(sha256_hex(text)[:12], 16))
    row = random.standard_normal(DIMENSIONS).astype(np.float32)
    return row / np.linalg.norm(row)


class FakeEmbedder:
    """Fails on texts with the word `raise`; gives nonsense for those with `nan` or `short`."""

    def __init__(self, model_id: str = ID, heard: Callable[[str], None] | None = None) -> None:
        self.model_id = model_id
        self.batches: list[list[str]] = []
        self.heard = heard or (lambda _text: None)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.batches.append(list(texts))
        for text in texts:
            self.heard(text)
            if "raise" in text:
                raise ValueError(f"no tokens in {text!r}")
        rows = np.stack([vector(text) for text in texts])
        for row, text in zip(rows, texts, strict=True):
            if "nan" in text:
                row[3] = np.nan
        return rows[:, :7] if any("short" in text for text in texts) else rows

    def has_word(self, word: str) -> bool:
        return True


def model(embedder: FakeEmbedder) -> Model:
    return Model(id=embedder.model_id, load=lambda: embedder)


def _tell(text: str) -> None:
    print(text, flush=True)
    if "fatal" in text:
        os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    main(sys.argv[1], model(FakeEmbedder(heard=_tell)))
