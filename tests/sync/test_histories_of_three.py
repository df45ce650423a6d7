"""Random histories of three people, merged by git with our driver in it."""

from __future__ import annotations

from tests.sync.histories import all_orders, histories


@histories(6, branches=(3, 3))
def test_with_the_driver_all_end_with_the_same(team, start, branches):
    all_orders(team, start, branches)
