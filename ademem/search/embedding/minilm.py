"""all-MiniLM-L6-v2 on one thread of onnxruntime, which stays silent.

Since 1.29 the builds of onnxruntime report every process to their maker, over HTTPS. They heed a
variable only when it is set before they load; so nothing else imports onnxruntime.

Beside a model lie files derived from it that load quickly: an optimized graph, and its ASCII word
pieces, since the library that tokenizes all text takes 30 ms to load.
"""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
from array import array
from bisect import bisect_left
from collections.abc import Sequence
from contextlib import suppress
from functools import cached_property
from typing import Any

import numpy as np

from ademem.core import shared_files
from ademem.core.text import replace_surrogates
from ademem.search.embedding import cache
from ademem.search.embedding.cache import DIMENSIONS, MAX_TOKENS, DamagedModel

os.environ["ORT_DISABLE_TELEMETRY"] = "1"

import onnxruntime
from onnxruntime.capi import onnxruntime_pybind11_state as _state

onnxruntime.disable_telemetry_events()  # where another package had loaded it before

UNREADABLE = (
    _state.Fail,
    _state.InvalidArgument,
    _state.InvalidGraph,
    _state.InvalidProtobuf,
    _state.NoSuchFile,
    _state.NotImplemented,
    _state.RuntimeException,
)
"""Errors of onnxruntime about a file that is not a graph."""
OPTIONS = {
    "session.intra_op.allow_spinning": "0",  # a thread that spins takes the core from the others
    "session.inter_op.allow_spinning": "0",
}
ONCE = {"session.disable_prepacking": "1"}
"""Reordering the weights costs a third of the loading and halves the time of a text."""

PREPARED_GRAPH = "graph.onnx"
WEIGHTS = "graph.bin"
"""Kept beside the graph, for what is beside it is memory-mapped, not read."""
BESIDE_BYTES = 1024
"""Smallest constant that is kept there."""
PIECES = "pieces.txt"
"""The ASCII pieces in order, one a line."""
IDS = "pieces.ids"
"""Their ids, 16 bits each."""

START, END, UNKNOWN = 101, 102, 100
MARKS = re.compile(r"\[(?:PAD|UNK|CLS|SEP|MASK)\]")
"""Marks of the tokenizer, which it also recognises where a text has them."""
LONGEST_WORD = 100

_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z][a-z])")
_CONTROL = dict.fromkeys((*range(9), 11, 12, *range(14, 32), 127))
_WORDS = re.compile(r"[a-z0-9]+|[!-/:-@\[-`{-~]")


class MiniLM:
    """An Embedder; one text a run, for in 8 bits a vector changes with its neighbours."""

    def __init__(self, folder: str, model_id: str, *, once: bool = False) -> None:
        self.model_id = model_id
        self._folder = folder
        self._session = open_session(folder, once=once)
        self._pieces: Pieces | None = None
        if once:
            with suppress(OSError, ValueError):  # where they were not prepared
                self._pieces = Pieces(prepared_folder(folder))
        self._inputs = {given.name for given in self._session.get_inputs()}

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        rows = np.empty((len(texts), DIMENSIONS), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            row[:] = self.vector(self.tokens(split_identifiers(text)))
        return rows

    def has_word(self, word: str) -> bool:
        """Tell whether it is one piece, between the two marks."""
        return len(self.tokens(word)) == 3

    def tokens(self, text: str) -> list[int]:
        ids: list[int] | None = self._pieces.tokens(text, MAX_TOKENS) if self._pieces else None
        if ids is not None:
            return ids
        whole: list[int] = self._tokenizer.encode(replace_surrogates(text)).ids
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

    def vector(self, tokens: Sequence[int]) -> np.ndarray:
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


def split_identifiers(text: str) -> str:
    """Separate the words of camelCase, which the model would read as one: it ignores case."""
    return _HUMP.sub(" ", text)


def open_session(folder: str, *, once: bool) -> Any:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    ready = prepared_graph(folder)
    if ready is not None:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    for name, value in (OPTIONS | ONCE if once else OPTIONS).items():
        options.add_session_config_entry(name, value)
    graph = ready or os.path.join(folder, cache.GRAPH)
    try:
        return onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
    except UNREADABLE as error:
        raise DamagedModel(_first_line(error)) from error


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]


def prepared_folder(model: str) -> str:
    key = f"{onnxruntime.__version__}-{platform.machine()}"
    return os.path.join(model, cache.PREPARED, key)


def prepared_graph(model: str) -> str | None:
    found = prepared_folder(model)
    return os.path.join(found, PREPARED_GRAPH) if cache.is_whole(found) else None


def prepare(model: str) -> None:
    """Replace what was prepared for other versions."""
    place = prepared_folder(model)
    shutil.rmtree(os.path.join(model, cache.PREPARED), ignore_errors=True)
    os.makedirs(place)
    chosen = onnxruntime.SessionOptions()
    chosen.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
    chosen.optimized_model_filepath = os.path.join(place, PREPARED_GRAPH)
    chosen.log_severity_level = 3
    beside = "session.optimized_model_external_initializers"
    chosen.add_session_config_entry(f"{beside}_file_name", WEIGHTS)
    chosen.add_session_config_entry(f"{beside}_min_size_in_bytes", str(BESIDE_BYTES))
    onnxruntime.InferenceSession(
        os.path.join(model, cache.GRAPH), chosen, providers=["CPUExecutionProvider"]
    )
    write_pieces(os.path.join(model, cache.TOKENIZER), place)
    cache.seal(place, (PREPARED_GRAPH, WEIGHTS, PIECES, IDS), source=cache.GRAPH, trust="built")


class Pieces:
    def __init__(self, folder: str) -> None:
        self._pieces = (shared_files.read_text(os.path.join(folder, PIECES)) or "").split("\n")
        self._ids = array("H")
        with open(os.path.join(folder, IDS), "rb") as file:
            self._ids.frombytes(file.read())
        if len(self._ids) != len(self._pieces):
            raise ValueError(f"{len(self._pieces)} pieces, {len(self._ids)} ids")

    def tokens(self, text: str, longest: int) -> list[int] | None:
        """Ids between the two marks, *longest* at most; None for text that needs the library."""
        if not text.isascii() or MARKS.search(text):
            return None
        ids = [START]
        for word in _WORDS.findall(text.translate(_CONTROL).lower()):
            ids += self._cut(word)
            if len(ids) >= longest:
                break
        return [*ids[: longest - 1], END]

    def _cut(self, word: str) -> Sequence[int]:
        if len(word) > LONGEST_WORD:
            return [UNKNOWN]
        found = []
        at = 0
        while at < len(word):
            for end in range(len(word), at, -1):
                if (id := self._id(("##" if at else "") + word[at:end])) is not None:
                    found.append(id)
                    at = end
                    break
            else:
                return [UNKNOWN]
        return found

    def _id(self, piece: str) -> int | None:
        place = bisect_left(self._pieces, piece)
        if place < len(self._pieces) and self._pieces[place] == piece:
            return self._ids[place]
        return None


def write_pieces(tokenizer: str, folder: str) -> None:
    vocabulary = json.loads(shared_files.read_text(tokenizer) or "")["model"]["vocab"]
    pieces = sorted(piece for piece in vocabulary if piece.isascii())
    shared_files.write_atomic(os.path.join(folder, PIECES), "\n".join(pieces))
    with open(os.path.join(folder, IDS), "wb") as file:
        file.write(array("H", (vocabulary[piece] for piece in pieces)).tobytes())
