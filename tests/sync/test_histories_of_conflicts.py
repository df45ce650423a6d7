"""Random histories where git knows nothing of the files, and a person settles conflicts."""

from __future__ import annotations

from tests.sync.histories import histories, lossless


@histories(30, branches=(2, 3))
def test_a_settled_conflict_loses_nothing(team, start, branches):
    lossless(team, "!merge", start, branches)
