"""The few messages of the ONNX format, which is protocol buffers, that a graph of ours needs."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from ademem.core.value import Value

IR_VERSION = 8
OPSET = 17
"""The first with LayerNormalization; every onnxruntime we accept knows it."""

TYPES = {"float32": 1, "int8": 3, "int64": 7}
"""TensorProto.DataType."""
_ATTRIBUTES = {float: 1, int: 2, tuple: 7}
"""AttributeProto.AttributeType of what an attribute may be here: FLOAT, INT, INTS."""


class Edge(Value):
    """An input or output of a graph; a word in *shape* is a size known only when it runs."""

    name: str
    dtype: str
    shape: tuple[int | str, ...]


def node(
    kind: str, inputs: Sequence[str], outputs: Sequence[str], **attributes: float | tuple[int, ...]
) -> bytes:
    """NodeProto."""
    return b"".join(
        [
            *(_text(1, name) for name in inputs),
            *(_text(2, name) for name in outputs),
            _text(3, outputs[0]),
            _text(4, kind),
            *(_bytes(5, _attribute(name, value)) for name, value in attributes.items()),
        ]
    )


def tensor(name: str, values: np.ndarray) -> bytes:
    """TensorProto with its data inline; a 0-d array stays 0-d."""
    dims = b"".join(_number(1, size) for size in values.shape)
    kind = _number(2, TYPES[values.dtype.name])
    little = values.astype(values.dtype.newbyteorder("<"), copy=False)
    return dims + kind + _text(8, name) + _bytes(9, little.tobytes())


def model(
    nodes: Iterable[bytes],
    constants: Mapping[str, np.ndarray],
    inputs: Sequence[Edge],
    outputs: Sequence[Edge],
) -> bytes:
    """ModelProto: the bytes of an `.onnx` file."""
    graph = b"".join(
        [
            *(_bytes(1, one) for one in nodes),
            _text(2, "ademem"),
            *(_bytes(5, tensor(name, values)) for name, values in constants.items()),
            *(_bytes(11, _edge(one)) for one in inputs),
            *(_bytes(12, _edge(one)) for one in outputs),
        ]
    )
    opset = _bytes(8, _number(2, OPSET))
    return _number(1, IR_VERSION) + _text(2, "ademem") + _bytes(7, graph) + opset


def _attribute(name: str, value: float | tuple[int, ...]) -> bytes:
    match value:
        case int():
            content = _number(3, value)
        case float():
            content = _tag(2, 5) + struct.pack("<f", value)
        case _:
            content = b"".join(_number(8, one) for one in value)
    return _text(1, name) + content + _number(20, _ATTRIBUTES[type(value)])


def _edge(edge: Edge) -> bytes:
    sizes = (_number(1, size) if isinstance(size, int) else _text(2, size) for size in edge.shape)
    shape = b"".join(_bytes(1, size) for size in sizes)
    kind = _number(1, TYPES[edge.dtype]) + _bytes(2, shape)
    return _text(1, edge.name) + _bytes(2, _bytes(1, kind))


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
