"""The ONNX graph of all-MiniLM-L6-v2, built from its published weights with nothing but numpy.

The second half writes the few messages of the ONNX format, which is protocol buffers.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

LAYERS = 6
HEADS = 12
WIDTH = 384
POSITIONS = 512
EPSILON = 1e-12
"""Of every layer norm, as in the published configuration."""
MASKED = float(np.finfo(np.float32).min)
INT8_TOP = 64
"""Largest weight in 8 bits: one bit less than fits, since AVX2 adds pairs of products in 16."""

Tensors = Mapping[str, np.ndarray]

_IR_VERSION = 8
_OPSET = 17
"""The first with LayerNormalization; every onnxruntime we accept knows it."""

TYPES = {"float32": 1, "int8": 3, "int64": 7}
"""TensorProto.DataType."""
_ATTRIBUTES = {float: 1, int: 2, tuple: 7}
"""AttributeProto.AttributeType of what an attribute may be here: FLOAT, INT, INTS."""


def read_safetensors(content: bytes) -> dict[str, np.ndarray]:
    """Every float32 tensor of a `.safetensors` file; raises ValueError where it is not one."""
    size = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + size])
    found = {}
    for name, about in header.items():
        if name != "__metadata__" and about["dtype"] == "F32":
            first, last = (8 + size + at for at in about["data_offsets"])
            values = np.frombuffer(content[first:last], dtype="<f4")
            found[name] = values.reshape(about["shape"])
    return found


def build(weights: Tensors, dtype: str) -> bytes:
    """The same weights give the same bytes on every machine."""
    graph = _Graph(weights, int8=dtype == "int8")
    size = ("batch_size", "sequence_length")
    return model(
        graph.whole(),
        graph.constants,
        [edge(name, "int64", size) for name in INPUTS],
        [edge(OUTPUT, "float32", (*size, WIDTH))],
    )


INPUTS = ("input_ids", "attention_mask", "token_type_ids")
OUTPUT = "last_hidden_state"


class _Graph:
    """Nodes in the order of the computation; every method returns the name of what it made."""

    def __init__(self, weights: Tensors, *, int8: bool) -> None:
        self.weights = weights
        self.int8 = int8
        self.constants: dict[str, np.ndarray] = {}
        self.nodes: list[bytes] = []

    def whole(self) -> list[bytes]:
        hidden, mask = self.embeddings(), self.mask()
        for layer in range(LAYERS):
            at = f"encoder.layer.{layer}"
            mixed = self.dense(self.attention(hidden, mask, at), f"{at}.attention.output.dense")
            hidden = self.norm(self.op("Add", mixed, hidden), f"{at}.attention.output.LayerNorm")
            wide = self.gelu(self.dense(hidden, f"{at}.intermediate.dense"))
            mixed = self.dense(wide, f"{at}.output.dense")
            hidden = self.norm(self.op("Add", mixed, hidden), f"{at}.output.LayerNorm")
        self.nodes.append(node("Identity", [hidden], [OUTPUT]))
        return self.nodes

    def embeddings(self) -> str:
        at = "embeddings"
        kinds = self.table(f"{at}.token_type_embeddings")
        length = self.op("Shape", "input_ids", start=1)
        start, axis = self.constant("zero", np.array([0])), self.constant("first", np.array([0]))
        places = self.op("Slice", self.table(f"{at}.position_embeddings"), start, length, axis)
        summed = self.op("Add", self.words(), self.op("Gather", kinds, "token_type_ids"))
        return self.norm(self.op("Add", summed, places), f"{at}.LayerNorm")

    def table(self, name: str) -> str:
        return self.constant(name, self.weights[f"{name}.weight"])

    def words(self) -> str:
        """Half of the model is this table; in 8 bits each word has its own scale."""
        name = "embeddings.word_embeddings"
        if not self.int8:
            return self.op("Gather", self.table(name), "input_ids")
        steps, scale = quantise(self.weights[f"{name}.weight"])
        looked_up = self.op("Gather", self.constant(name, steps), "input_ids")
        scales = self.op("Gather", self.constant(f"{name}.scale", scale), "input_ids")
        return self.op("Mul", self.op("Cast", looked_up, to=TYPES["float32"]), scales)

    def mask(self) -> str:
        """0 where a text has a token, hugely negative where it was filled up."""
        axes = self.constant("axes", np.array([1, 2]))
        mask = self.op("Cast", self.op("Unsqueeze", "attention_mask", axes), to=1)
        absent = self.op("Sub", self.constant("one", np.float32(1)), mask)
        return self.op("Mul", absent, self.constant("masked", np.float32(MASKED)))

    def attention(self, hidden: str, mask: str, at: str) -> str:
        """All three projections are one product; the scale of the scores is in the query's."""
        names = [f"{at}.attention.self.{part}" for part in ("query", "key", "value")]
        weight, bias = (
            [self.weights[f"{name}.{kind}"] for name in names] for kind in ("weight", "bias")
        )
        scale = np.float32(1 / math.sqrt(WIDTH // HEADS))
        weight[0], bias[0] = weight[0] * scale, bias[0] * scale
        product = self.project(
            hidden, np.concatenate(weight), np.concatenate(bias), f"{at}.attention.self"
        )
        parts = self.ops("Split", [product], 3, axis=2)
        split = self.constant("split", np.array([0, 0, HEADS, WIDTH // HEADS]))
        query, key, value = (
            self.op("Transpose", self.op("Reshape", part, split), perm=perm)
            for part, perm in zip(parts, ((0, 2, 1, 3), (0, 2, 3, 1), (0, 2, 1, 3)), strict=True)
        )
        scores = self.op("Add", self.op("MatMul", query, key), mask)
        seen = self.op("MatMul", self.op("Softmax", scores, axis=-1), value)
        merge = self.constant("merge", np.array([0, 0, WIDTH]))
        return self.op("Reshape", self.op("Transpose", seen, perm=(0, 2, 1, 3)), merge)

    def dense(self, hidden: str, name: str) -> str:
        return self.project(
            hidden, self.weights[f"{name}.weight"], self.weights[f"{name}.bias"], name
        )

    def project(self, hidden: str, weight: np.ndarray, bias: np.ndarray, name: str) -> str:
        """hidden @ weight.T + bias; in 8 bits *hidden* is scaled as it comes, each column apart."""
        if not self.int8:
            product = self.op("MatMul", hidden, self.constant(f"{name}.weight", weight.T))
        else:
            steps, scale = quantise(weight)
            rough, step, zero = self.ops("DynamicQuantizeLinear", [hidden], 3)
            columns = self.constant(f"{name}.weight", steps.T)
            nothing = self.constant("int8_zero", np.int8(0))
            whole = self.op("MatMulInteger", rough, columns, zero, nothing)
            scales = self.op("Mul", step, self.constant(f"{name}.scale", scale[:, 0]))
            product = self.op("Mul", self.op("Cast", whole, to=TYPES["float32"]), scales)
        return self.op("Add", product, self.constant(f"{name}.bias", bias))

    def norm(self, hidden: str, name: str) -> str:
        scale, bias = (
            self.constant(f"{name}.{kind}", self.weights[f"{name}.{kind}"])
            for kind in ("weight", "bias")
        )
        return self.op("LayerNormalization", hidden, scale, bias, axis=-1, epsilon=EPSILON)

    def gelu(self, hidden: str) -> str:
        """x / 2 * (1 + erf(x / sqrt 2))."""
        root, one = (
            self.constant("root", np.float32(math.sqrt(2))),
            self.constant("one", np.float32(1)),
        )
        share = self.op("Add", self.op("Erf", self.op("Div", hidden, root)), one)
        half = self.constant("half", np.float32(0.5))
        return self.op("Mul", self.op("Mul", hidden, share), half)

    def constant(self, name: str, values: np.ndarray | np.generic) -> str:
        self.constants[name] = np.asarray(values)
        return name

    def op(self, kind: str, *inputs: str, **attributes: float | tuple[int, ...]) -> str:
        return self.ops(kind, inputs, 1, **attributes)[0]

    def ops(
        self,
        kind: str,
        inputs: Sequence[str],
        outputs: int,
        **attributes: float | tuple[int, ...],
    ) -> list[str]:
        names = [f"{kind}_{len(self.nodes)}_{at}" for at in range(outputs)]
        self.nodes.append(node(kind, inputs, names, **attributes))
        return names


def quantise(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Whole steps in int8 and the size of a step of each row, as a column; 0 stays exactly 0."""
    step = np.abs(values).max(axis=1, keepdims=True) / np.float32(INT8_TOP)
    step = np.where(step < np.finfo(step.dtype).tiny, np.float32(1), step)  # all is as good as 0
    return np.rint(values / step).astype(np.int8), step


def node(
    kind: str, inputs: Sequence[str], outputs: Sequence[str], **attributes: float | tuple[int, ...]
) -> bytes:
    fields = [
        *(_text(1, name) for name in inputs),
        *(_text(2, name) for name in outputs),
        _text(3, outputs[0]),
        _text(4, kind),
    ]
    for name, value in attributes.items():
        match value:
            case int():
                content = _number(3, value)
            case float():
                content = _tag(2, 5) + struct.pack("<f", value)
            case _:
                content = b"".join(_number(8, one) for one in value)
        attribute = _text(1, name) + content + _number(20, _ATTRIBUTES[type(value)])
        fields.append(_bytes(5, attribute))
    return b"".join(fields)


def tensor(name: str, values: np.ndarray) -> bytes:
    """TensorProto with its data inline; a 0-d array stays 0-d."""
    dims = b"".join(_number(1, size) for size in values.shape)
    kind = _number(2, TYPES[values.dtype.name])
    little = values.astype(values.dtype.newbyteorder("<"), copy=False)
    return dims + kind + _text(8, name) + _bytes(9, little.tobytes())


def model(
    nodes: Iterable[bytes],
    constants: Mapping[str, np.ndarray],
    inputs: Iterable[bytes],
    outputs: Iterable[bytes],
) -> bytes:
    """ModelProto: the bytes of an `.onnx` file."""
    graph = b"".join(
        [
            *(_bytes(1, one) for one in nodes),
            _text(2, "ademem"),
            *(_bytes(5, tensor(name, values)) for name, values in constants.items()),
            *(_bytes(11, one) for one in inputs),
            *(_bytes(12, one) for one in outputs),
        ]
    )
    opset = _bytes(8, _number(2, _OPSET))
    return _number(1, _IR_VERSION) + _text(2, "ademem") + _bytes(7, graph) + opset


def edge(name: str, dtype: str, shape: tuple[int | str, ...]) -> bytes:
    """ValueInfoProto: an input or output; a word in *shape* is a size known when it runs."""
    sizes = (_number(1, size) if isinstance(size, int) else _text(2, size) for size in shape)
    kind = _number(1, TYPES[dtype]) + _bytes(2, b"".join(_bytes(1, size) for size in sizes))
    return _text(1, name) + _bytes(2, _bytes(1, kind))


def _tag(field: int, wire: int) -> bytes:
    return _varint(field << 3 | wire)


def _number(field: int, value: int) -> bytes:
    return _tag(field, 0) + _varint(value % (1 << 64))


def _text(field: int, value: str) -> bytes:
    return _bytes(field, value.encode("utf-8"))


def _bytes(field: int, value: bytes) -> bytes:
    return _tag(field, 2) + _varint(len(value)) + value


def _varint(value: int) -> bytes:
    """Seven bits a byte, lowest first; the high bit says that more follow."""
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)
