"""Random histories of two people, merged by git with our driver in it."""

from __future__ import annotations

from tests.sync.histories import all_orders, histories


@histories(34, branches=(2, 2))
def test_with_the_driver_both_end_with_the_same(team, start, branches):
    all_orders(team, start, branches)
