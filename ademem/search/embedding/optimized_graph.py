"""The graph as this onnxruntime would have it, so that loading need not optimise it again."""

from __future__ import annotations

import os
import platform
import shutil

from ademem.search.embedding import cache
from ademem.search.embedding.ascii_word_pieces import IDS, PIECES, Pieces
from ademem.search.embedding.ascii_word_pieces import write as write_pieces
from ademem.search.embedding.engine import onnxruntime

GRAPH = "graph.onnx"
WEIGHTS = "graph.bin"
"""Kept beside the graph, for what is beside it is memory-mapped, not read."""
BESIDE_BYTES = 1024
"""Smallest constant that is kept there."""


def folder(model: str) -> str:
    """Where it lies; another onnxruntime or processor looks elsewhere."""
    key = f"{onnxruntime.__version__}-{platform.machine()}"
    return os.path.join(model, cache.PREPARED, key)


def graph(model: str) -> str | None:
    """The prepared graph of a model; None when there is none for this onnxruntime."""
    found = folder(model)
    return os.path.join(found, GRAPH) if cache.is_whole(found) else None


def pieces(model: str) -> Pieces | None:
    """The word pieces of a model, made quick to load; None when they were not prepared."""
    try:
        return Pieces(folder(model))
    except (OSError, ValueError):
        return None


def prepare(model: str) -> None:
    """Make it, in place of those for other versions."""
    place = folder(model)
    shutil.rmtree(os.path.join(model, cache.PREPARED), ignore_errors=True)
    os.makedirs(place)
    chosen = onnxruntime.SessionOptions()
    chosen.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
    chosen.optimized_model_filepath = os.path.join(place, GRAPH)
    chosen.log_severity_level = 3
    beside = "session.optimized_model_external_initializers"
    chosen.add_session_config_entry(f"{beside}_file_name", WEIGHTS)
    chosen.add_session_config_entry(f"{beside}_min_size_in_bytes", str(BESIDE_BYTES))
    onnxruntime.InferenceSession(
        os.path.join(model, cache.GRAPH), chosen, providers=["CPUExecutionProvider"]
    )
    write_pieces(os.path.join(model, cache.TOKENIZER), place)
    cache.seal(place, (GRAPH, WEIGHTS, PIECES, IDS), source=cache.GRAPH, trust="built")
