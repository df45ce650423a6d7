"""Whether a model gives the vectors it was published with."""

from __future__ import annotations

import base64
import json
import os
from typing import Any

import numpy as np

from ademem.core import atomic_files
from ademem.search.embedding.fetching import NotTheModel

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ademem.search.embedding import Reader

REFERENCES = os.path.join(os.path.dirname(__file__), "references.json")
SAME = {"int8": 0.96, "fp32": 0.999}
"""Cosine to the reference that unknown bytes must reach for every sentence."""
SANE = {"int8": 0.9, "fp32": 0.999}
"""The same of published bytes: below it, this machine computes them wrong."""


def check(model: Reader, bounds: dict[str, float], dtype: str) -> None:
    """Raises NotTheModel where word pieces or vectors are not those of the reference."""
    for sentence in sentences(REFERENCES):
        shown = sentence["text"][:40]
        if model.tokens(sentence["text"]) != sentence["tokens"]:
            raise NotTheModel(f"it reads {shown!r} differently")
        agreement = float(model.embed([sentence["text"]])[0] @ unit(sentence["vector"]))
        if agreement < bounds[dtype]:
            raise NotTheModel(f"its vector of {shown!r} agrees to {agreement:.3f} only")


def sentences(path: str) -> list[dict[str, Any]]:
    """Texts with the ids of their word pieces and their vectors."""
    known: list[dict[str, Any]] = json.loads(atomic_files.read_text(path) or "")["sentences"]
    return known


def unit(packed: str) -> np.ndarray:
    """A reference vector at length 1."""
    vector = np.frombuffer(base64.b64decode(packed), dtype="<f2").astype(np.float32)
    scaled: np.ndarray = vector / np.linalg.norm(vector)
    return scaled
