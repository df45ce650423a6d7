"""A model out of a folder that somebody named."""

from __future__ import annotations

import os
import shutil

from ademem.search.embedding import cache, pins, weights
from ademem.search.embedding.fetching import NotThere

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ademem.search.embedding.fetching import Job

GRAPHS = {
    "int8": ("model_quantized.onnx", "onnx/model_quantized.onnx"),
    "fp32": ("model.onnx", "onnx/model.onnx"),
}
WEIGHTS = "model.safetensors"


def fetch(job: Job) -> None:
    """Take the ready graph, or build one from the weights; raises NotThere."""
    tokenizer = os.path.join(job.path, cache.TOKENIZER)
    if not os.path.isfile(tokenizer):
        raise NotThere(f"{job.path} has no {cache.TOKENIZER}")
    job.tell("copying", 0)
    if graph := _graph(job):
        shutil.copyfile(graph, os.path.join(job.target, cache.GRAPH))
        shutil.copyfile(tokenizer, os.path.join(job.target, cache.TOKENIZER))
        return
    try:
        with open(os.path.join(job.path, WEIGHTS), "rb") as file:
            tensors = file.read()
    except FileNotFoundError as error:
        wanted = f"{GRAPHS[job.dtype][0]} nor {WEIGHTS}"
        raise NotThere(f"{job.path} has neither {wanted} ({job.dtype})") from error
    job.tell("building", 50)
    with open(tokenizer, "rb") as file:
        weights.build(tensors, file.read(), job.dtype, job.target)


def _graph(job: Job) -> str | None:
    """The ready graph as it was published; or as ademem keeps it, if its bytes say which it is."""
    for name in GRAPHS[job.dtype]:
        graph = os.path.join(job.path, name)
        if os.path.isfile(graph):
            return graph
    kept = os.path.join(job.path, cache.GRAPH)
    known = os.path.isfile(kept) and cache.sha256(kept) in pins.GRAPHS[job.dtype]
    return kept if known else None
