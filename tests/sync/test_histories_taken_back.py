"""Random acts of one person, the last of them taken back."""

from __future__ import annotations

from hypothesis import strategies as st

from tests.sync.histories import acts, random, takes_back
from tests.sync.team import BY_COMMAND, BY_HAND


@random(15, done=acts((*BY_COMMAND, *BY_HAND), 1, 8), back=st.integers(1, 8))
def test_after_acts_were_taken_back_everything_is_as_before(team, done, back):
    takes_back(team, done, back)
