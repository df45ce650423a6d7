"""all-MiniLM-L6-v2 on one thread of onnxruntime."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from functools import cached_property
from typing import Any

import numpy as np

from ademem.search.embedding import DIMENSIONS, MAX_TOKENS, DamagedModel, cache, optimized_graph
from ademem.search.embedding.onnx_runtime import UNREADABLE, onnxruntime

OPTIONS = {
    "session.intra_op.allow_spinning": "0",  # a thread that spins takes the core from the others
    "session.inter_op.allow_spinning": "0",
}


ONCE = {"session.disable_prepacking": "1"}
"""Reordering the weights costs a third of the loading and halves the time of a text."""


class MiniLM:
    """An Embedder; one text a run, for in 8 bits a vector changes with its neighbours."""

    def __init__(self, folder: str, model_id: str, *, once: bool = False) -> None:
        self.model_id = model_id
        self._folder = folder
        self._session = open_session(folder, once=once)
        self._pieces = optimized_graph.pieces(folder) if once else None
        self._inputs = {given.name for given in self._session.get_inputs()}

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        rows = np.empty((len(texts), DIMENSIONS), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            row[:] = self._vector(self.tokens(text))
        return rows

    def tokens(self, text: str) -> list[int]:
        """Ids of its word pieces between the two marks, at most MAX_TOKENS."""
        ids: list[int] | None = self._pieces.tokens(text, MAX_TOKENS) if self._pieces else None
        if ids is not None:
            return ids
        whole: list[int] = self._tokenizer.encode(text.encode(errors="replace").decode()).ids
        return whole

    @cached_property
    def _tokenizer(self) -> Any:
        """The library that has all of Unicode: it is loaded when a text needs it.

        As published it pads every text to 128 tokens and cuts it there; here it does neither.
        """
        from tokenizers import Tokenizer

        try:
            tokenizer = Tokenizer.from_file(os.path.join(self._folder, cache.TOKENIZER))
        except Exception as error:
            if type(error) is Exception:  # the library raises nothing more precise
                raise DamagedModel(str(error)) from error
            raise
        tokenizer.no_padding()
        tokenizer.enable_truncation(MAX_TOKENS)
        return tokenizer

    def _vector(self, tokens: Sequence[int]) -> np.ndarray:
        """The mean of the token vectors at length 1; raises DamagedModel when it has none."""
        ids = np.array([tokens], dtype=np.int64)
        given = {
            "input_ids": ids,
            "attention_mask": np.ones_like(ids),
            "token_type_ids": np.zeros_like(ids),
        }
        try:
            (hidden,) = self._session.run(
                ["last_hidden_state"], {name: given[name] for name in self._inputs}
            )
        except (*UNREADABLE, KeyError) as error:
            raise DamagedModel(_first_line(error)) from error
        if hidden.shape != (1, len(tokens), DIMENSIONS):
            raise DamagedModel(f"it gives {hidden.shape} for {len(tokens)} tokens")
        mean = hidden[0].mean(axis=0)
        length = float(np.linalg.norm(mean))
        if not (np.isfinite(length) and length > 0):
            raise DamagedModel("it gives vectors without a direction")
        unit: np.ndarray = mean / np.float32(length)
        return unit


def open_session(folder: str, *, once: bool) -> Any:
    """The graph prepared for this onnxruntime if it can be had, else the graph as published."""
    if (ready := optimized_graph.graph(folder)) is not None:
        with suppress(*UNREADABLE):
            return _session(ready, once=once, optimised=True)
    try:
        return _session(os.path.join(folder, cache.GRAPH), once=once, optimised=False)
    except UNREADABLE as error:
        raise DamagedModel(_first_line(error)) from error


def _session(graph: str, *, once: bool, optimised: bool) -> Any:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    if optimised:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    for name, value in (OPTIONS | ONCE if once else OPTIONS).items():
        options.add_session_config_entry(name, value)
    return onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]
