"""A model made here from its published weights."""

from __future__ import annotations

import os
from hashlib import sha256

from ademem.search.embedding import cache, pins
from ademem.search.embedding.fetching import NotTheModel


def build(weights: bytes, tokenizer: bytes, dtype: str, target: str) -> None:
    """Write the graph and the tokenizer into *target*; raises NotTheModel."""
    from ademem.search.embedding import graph

    try:
        content = graph.build(graph.read_safetensors(weights), dtype)
    except (ValueError, KeyError, TypeError) as error:
        raise NotTheModel(f"its weights are incomplete ({error})") from error
    write(os.path.join(target, cache.GRAPH), content)
    write(os.path.join(target, cache.TOKENIZER), tokenizer)


def write(path: str, content: bytes) -> None:
    """A whole file, on the disk when it returns."""
    with open(path, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def digest(content: bytes) -> str:
    return sha256(content).hexdigest()


def is_published(content: bytes, pin: pins.Pin) -> bool:
    return digest(content) == pin.sha256
