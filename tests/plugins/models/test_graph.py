"""The arithmetic and the bytes of a graph of ours."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from ademem.plugins.models import graph
from ademem.search.embedding.minilm import onnxruntime

ROWS = arrays(np.float32, (3, 5), elements=st.floats(-4, 4, width=32))


@given(ROWS)
@example(np.full((3, 5), 1e-45, np.float32))  # a step would be 0
@example(np.full((3, 5), 2.66e-43, np.float32))  # a step would be so coarse that 127 are not enough
def test_a_quantised_row_is_off_by_half_a_step_at_most(values):
    steps, size = graph.quantise(values)

    assert (steps.dtype, size.shape) == (np.int8, (3, 1))
    assert np.abs(steps).max() <= graph.INT8_TOP
    assert (np.abs(steps * size - values) <= size * 0.5001).all()
    assert (steps[values == 0] == 0).all()


@pytest.mark.parametrize("dtype", ["int8", "fp32"])
def test_the_same_weights_make_the_same_bytes(published, dtype):
    weights = graph.read_safetensors(published.weights.read_bytes())

    assert graph.build(weights, dtype) == published.graphs[dtype].read_bytes()


@pytest.mark.parametrize("dtype", ["int8", "fp32"])
def test_filling_up_a_text_does_not_change_it(published, dtype):
    session = onnxruntime.InferenceSession(published.graphs[dtype].read_bytes())
    ids, mask = np.array([[101, 1, 2, 102, 0, 0]]), np.array([[1, 1, 1, 1, 0, 0]])

    def hidden(end):
        given = (ids[:, :end], mask[:, :end], np.zeros((1, end), np.int64))
        return session.run(None, dict(zip(graph.INPUTS, given, strict=True)))[0][:, :4]

    difference = np.abs(hidden(6) - hidden(4)).max()
    assert difference < (1e-4 if dtype == "fp32" else 0.2)


@pytest.mark.parametrize("value", [0, 1, 127, 128, 300, 1 << 40, -1])
def test_numbers_of_any_size_survive_the_format(value):
    content = graph.model(
        [graph.node("Add", ["x", "c"], ["y"])],
        {"c": np.array([value])},
        [graph.edge("x", "int64", ("n",))],
        [graph.edge("y", "int64", ("n",))],
    )

    session = onnxruntime.InferenceSession(content)
    assert session.run(None, {"x": np.array([5, 6])})[0].tolist() == [5 + value, 6 + value]


def test_attributes_of_each_kind_reach_the_graph():
    content = graph.model(
        [
            graph.node("Transpose", ["x"], ["t"], perm=(1, 0)),
            graph.node("LeakyRelu", ["t"], ["r"], alpha=0.5),
            graph.node("Softmax", ["r"], ["y"], axis=-1),
        ],
        {},
        [graph.edge("x", "float32", (2, 3))],
        [graph.edge("y", "float32", (3, 2))],
    )
    given = np.array([[1, -2, 3], [4, 5, -6]], dtype=np.float32)

    (found,) = onnxruntime.InferenceSession(content).run(None, {"x": given})
    turned = np.where(given.T < 0, given.T * 0.5, given.T)
    shares = np.exp(turned) / np.exp(turned).sum(axis=1, keepdims=True)
    assert np.abs(found - shares).max() < 1e-6
