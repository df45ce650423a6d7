"""How memory ages."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ademem.core.memory import accessed, decayed


@pytest.mark.parametrize(
    ("idle_days", "expected"),
    [
        pytest.param(0, 1.0, id="just used"),
        pytest.param(30, 0.5, id="one half-life"),
        pytest.param(60, 0.25, id="two half-lives"),
        pytest.param(-5, 1.0, id="a clock that went back"),
    ],
)
def test_an_access_score_halves_every_half_life(idle_days, expected):
    assert decayed(1.0, idle_days=idle_days, half_life_days=30) == expected


def test_looking_at_it_every_day_does_not_compound_the_decay():
    seen = [decayed(1.0, idle_days=day, half_life_days=30) for day in range(31)]

    assert seen[-1] == 0.5


@given(st.floats(0, 1))
def test_an_access_never_lowers_a_score_nor_lifts_it_above_one(score):
    assert score <= accessed(score) <= 1
