"""JSON without `json`, and as `json` writes it."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from ademem.core import json_text

SCALARS = st.none() | st.integers() | st.floats(allow_nan=False) | st.text()


@given(items=st.dictionaries(st.text(), SCALARS))
def test_a_flat_object_is_written_as_json_writes_it(items):
    assert json_text.flat(items) == json.dumps(items, ensure_ascii=False, sort_keys=True)


@given(items=st.lists(st.integers() | st.text()))
def test_texts_and_numbers_are_written_as_a_json_array(items):
    assert json.loads(json_text.array(items)) == items


@given(value=st.recursive(SCALARS, lambda of: st.lists(of) | st.dictionaries(st.text(), of)))
def test_a_value_is_written_and_read_as_json_does(value):
    written = json_text.compact(value)

    assert written == json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    assert json_text.loads(written) == value
