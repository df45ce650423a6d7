"""Random histories where git's own union merges the files."""

from __future__ import annotations

from tests.sync.histories import histories, lossless


@histories(30, branches=(2, 3))
def test_a_union_loses_nothing(team, start, branches):
    lossless(team, "merge=union", start, branches)
