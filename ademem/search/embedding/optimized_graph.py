"""Files derived from a model so that it loads quickly: an optimised graph and ASCII word pieces.

The library that tokenizes all text costs 30 ms to load. WordPiece as BERT has it: the longest piece
that fits, again and again; a word that cannot be cut up is unknown. Control characters vanish, case
is dropped, every punctuation mark stands alone.
"""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
from array import array
from bisect import bisect_left

from ademem.core import atomic_files
from ademem.search.embedding import cache
from ademem.search.embedding.onnx_runtime import onnxruntime

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

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


PIECES = "pieces.txt"
"""The ASCII pieces in order, one a line."""
IDS = "pieces.ids"
"""Their ids, 16 bits each."""

START, END, UNKNOWN = 101, 102, 100
MARKS = re.compile(r"\[(?:PAD|UNK|CLS|SEP|MASK)\]")
"""What the tokenizer takes for its own marks when it stands in a text."""
LONGEST_WORD = 100

_CONTROL = dict.fromkeys((*range(9), 11, 12, *range(14, 32), 127))
_WORDS = re.compile(r"[a-z0-9]+|[!-/:-@\[-`{-~]")


class Pieces:
    """Raises OSError or ValueError when its files are not there or not right."""

    def __init__(self, folder: str) -> None:
        self._pieces = (atomic_files.read_text(os.path.join(folder, PIECES)) or "").split("\n")
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
    """Write PIECES and IDS from a `tokenizer.json`."""
    vocabulary = json.loads(atomic_files.read_text(tokenizer) or "")["model"]["vocab"]
    pieces = sorted(piece for piece in vocabulary if piece.isascii())
    atomic_files.write_atomic(os.path.join(folder, PIECES), "\n".join(pieces))
    with open(os.path.join(folder, IDS), "wb") as file:
        file.write(array("H", (vocabulary[piece] for piece in pieces)).tobytes())
