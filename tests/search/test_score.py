"""The arithmetic of a score, against values worked out on paper."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ademem.core.memory import Importance, Status, Tier
from ademem.search import lexical
from ademem.search.ranking import DEFAULTS, Hit, choose_best, weigh, weighted_mean
from tests.builders import NOW, memory


@pytest.mark.parametrize(
    ("total", "holders", "expected"),
    [
        pytest.param(10, 2, 1.4816, id="ln(1 + 8.5 / 2.5)"),
        pytest.param(20_000, 1, 9.4981, id="one of many has it"),
        pytest.param(20_000, 20_000, 0.000025, id="all have it"),
        pytest.param(1, 1, 0.2877, id="the only row has it"),
    ],
)
def test_a_word_tells_more_the_fewer_rows_have_it(total, holders, expected):
    assert lexical.word_information(total, holders) == pytest.approx(expected, abs=5e-5)


def test_a_short_query_is_answered_by_all_its_words_and_a_prompt_by_a_few_rare_ones():
    assert lexical.full_answer(asked=4.0, rarest=5.0) == 4.0
    assert lexical.full_answer(asked=80.0, rarest=5.0) == 15.0


@pytest.mark.parametrize(
    ("matched", "passes"),
    [
        pytest.param([4000], False, id="one common word"),
        pytest.param([4000, 4000], False, id="two common words"),
        pytest.param([3], True, id="one rare word"),
        pytest.param([200, 200], True, id="two words of one in a hundred"),
    ],
)
def test_what_passes_the_floor_of_a_prompt_of_twenty_words_among_20000_memories(matched, passes):
    rarest = lexical.word_information(20_000, 1)
    full = lexical.full_answer(asked=20 * rarest, rarest=rarest)

    share = sum(lexical.word_information(20_000, holders) for holders in matched) / full
    assert (share >= DEFAULTS.floor) is passes


@pytest.mark.parametrize(
    ("age_days", "expected"),
    [
        pytest.param(0, 1.0, id="just now"),
        pytest.param(30, 0.5, id="one half-life"),
        pytest.param(60, 0.25, id="two half-lives"),
        pytest.param(-5, 1.0, id="a clock that was ahead"),
    ],
)
def test_recency_halves_every_half_life(age_days, expected):
    hit = weighed(updated_at=NOW - timedelta(days=age_days))

    assert hit.signals["recency"] == expected


def test_a_missing_signal_leaves_the_score_of_the_others_alone():
    weights = {"relevance": 0.6, "recency": 0.2, "importance": 0.2, "confidence": 0.0}

    assert weighted_mean({"relevance": 0.5, "recency": 1.0, "importance": 0.0}, weights) == 0.5
    assert weighted_mean({"relevance": 0.5, "recency": 1.0}, weights) == pytest.approx(0.625)


def weighed(relevance: float = 0.65, **changes) -> Hit:
    made, signals = memory(**changes), {"relevance": relevance}
    score = weigh(made, signals, DEFAULTS, NOW, DEFAULTS.score_weights)
    return Hit(memory=made, score=score, relevance=relevance, signals=signals)


def test_a_hit_tells_every_signal_of_its_score():
    hit = weighed(
        importance=Importance.HIGH,
        confidence=0.5,
        access_score=0.2,
        updated_at=NOW - timedelta(days=30),
    )

    assert hit.signals == pytest.approx(
        {
            "relevance": 0.65,
            "recency": 0.5,
            "importance": 1.0,
            "confidence": 0.5,
            "access": 0.2,
            "tier": 0.0,
            "composite": 0.669,
        }
    )
    assert (hit.score, hit.relevance) == pytest.approx((0.669, 0.65))


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        pytest.param({"tier": Tier.PINNED}, 0.1, id="tier 1"),
        pytest.param({"tier": Tier.ACTIVE}, 0.0, id="tier 2"),
        pytest.param({"tier": Tier.FADING}, -0.05, id="tier 3"),
        pytest.param({"tier": Tier.FADING, "pinned": True}, 0.1, id="pinned, whatever its tier"),
    ],
)
def test_tier_and_pin_add_to_the_score(changes, expected):
    assert weighed(**changes).score - weighed().score == pytest.approx(expected)


def test_a_candidate_is_worth_less_than_the_same_promoted():
    candidate = weighed(status=Status.CANDIDATE)

    assert candidate.score == pytest.approx(0.97 * weighed().score)


def test_a_candidate_has_not_faded_though_its_tier_is_the_last():
    assert weighed(status=Status.CANDIDATE, tier=Tier.FADING).signals["tier"] == 0.0


def test_what_is_confirmed_and_often_recalled_is_no_better_than_a_candidate_that_answers():
    told = {"status": Status.CANDIDATE, "tier": Tier.FADING, "confidence": 0.6}

    assert weighed(0.9, **told, access_score=0.0).score > weighed(0.8, access_score=1.0).score


def hit(content: str, value: float, *, seq: int, exact: float = 0.0) -> Hit:
    return Hit(
        memory=memory(content, seq=seq), score=value, relevance=value, signals={"exact": exact}
    )


def contents(hits) -> list[str]:
    return [hit.memory.content for hit in hits]


COPIES = [hit(f"the deploy job tags every release itself, note {n}", 0.9, seq=n) for n in range(9)]
PINNED = hit("production is deployed by hand on Fridays", 0.65, seq=10)


def test_the_score_alone_decides():
    chosen = choose_best([*COPIES, PINNED], limit=9)

    assert PINNED.memory.content not in contents(chosen)


def test_what_was_asked_for_by_its_key_goes_first():
    named = hit("an old note", 0.1, seq=20, exact=1.0)

    assert contents(choose_best([*COPIES, named], limit=1)) == ["an old note"]


@given(
    st.lists(st.tuples(st.text(max_size=20), st.floats(0, 1)), max_size=12),
    st.integers(0, 12),
)
def test_choosing_only_picks_and_never_repeats(rows, limit):
    hits = [hit(text, value, seq=seq) for seq, (text, value) in enumerate(rows)]

    chosen = choose_best(hits, limit=limit)
    assert len(chosen) == min(limit, len(hits))
    assert len({each.memory.seq for each in chosen}) == len(chosen)
    assert not chosen or chosen[0].score == max(each.score for each in hits)


def test_an_access_counts_half_after_a_half_life():
    hit = weighed(access_score=0.8, last_accessed_at=NOW - timedelta(days=DEFAULTS.half_life_days))

    assert hit.signals["access"] == pytest.approx(0.4)
