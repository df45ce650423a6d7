"""JSON without `json`, and as `json` writes it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ademem.core import json_text

SCALARS = st.none() | st.integers() | st.floats(allow_nan=False) | st.text()


@pytest.mark.parametrize("encode", [json_text._encode, None], ids=["by the C encoder", "by json"])
@given(items=st.dictionaries(st.text(), SCALARS))
def test_a_flat_object_is_written_as_json_writes_it(encode, items):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_text, "_encode", encode)
        written = json_text.flat(items)

    assert written == json.dumps(items, ensure_ascii=False, sort_keys=True)


@given(items=st.lists(st.integers() | st.text()))
def test_texts_and_numbers_are_written_as_a_json_array(items):
    assert json.loads(json_text.array(items)) == items
