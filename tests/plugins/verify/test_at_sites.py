"""A memory whose code changed comes up last beside an edit."""

import pytest

from ademem.operations import inspecting
from tests.session.test_at_sites import edit
from tests.session.test_at_sites import turn as turn


@pytest.mark.parametrize(
    ("code", "is_stale"),
    [
        pytest.param("a = 1\nb = 3\n", True, id="another value"),
        pytest.param("a = 1\nb: int = 200  # ms\n", False, id="rewritten"),
    ],
)
def test_a_memory_whose_value_is_gone_comes_last_and_says_so(turn, code, is_stale):
    (turn.root / "src/auth.py").write_text("a = 1\nb = 200\n")
    turn.know("Keep `b` at 200", anchors=("src/auth.py:2",))
    turn.know("Fresh words", path="src/*")
    (turn.root / "src/auth.py").write_text(code)
    with turn.memories() as memories:
        inspecting.check_anchors(memories)
    said = edit(turn)

    before, _, after = said.partition("Keep `b`")
    assert ("Fresh words" in before) == is_stale
    assert ("may be outdated" in after) == is_stale
    assert "may be outdated" not in before
