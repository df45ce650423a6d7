"""What the default mode decides about a change, from what memory has on it and what was shown."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ademem.core.value import replace
from ademem.guard.policy import MOST_BESIDE, MOST_CARRIED, Carry, Finding, Show, Wait, consult

RULE = Finding(
    id="rule",
    is_rule=True,
    is_marked=False,
    is_firm=True,
    is_named=False,
    is_beside=True,
    may_deny=True,
)
FACT = replace(RULE, id="fact", is_rule=False)
MARKED = replace(RULE, id="marked", is_marked=True)
SOFT = replace(RULE, id="soft", is_firm=False)
SHOWN = {"in_turn": True, "in_context": True}


def decide(*findings, irreversible=False, was_denied=False, is_counted=False, denials=0, most=2):
    return consult(
        findings,
        irreversible=irreversible,
        was_denied=was_denied,
        is_counted=is_counted,
        denials=denials,
        max_blocks=most,
    )


@pytest.mark.parametrize(
    ("finding", "irreversible", "expected"),
    [
        pytest.param(RULE, False, Carry(ids=("rule",)), id="a rule"),
        pytest.param(replace(RULE, in_context=True), False, Show(ids=()), id="a rule said before"),
        pytest.param(replace(RULE, **SHOWN), False, Show(ids=()), id="a rule said in this turn"),
        pytest.param(
            replace(MARKED, in_context=True), False, Carry(ids=("marked",)), id="a marked one"
        ),
        pytest.param(replace(MARKED, **SHOWN), False, Show(ids=()), id="one said in this turn"),
        pytest.param(SOFT, False, Show(ids=("soft",)), id="a rule that other words bind"),
        pytest.param(SOFT, True, Show(ids=("soft",)), id="other words at a push"),
        pytest.param(
            replace(SOFT, is_named=True), True, Carry(ids=("soft",)), id="its name at a push"
        ),
        pytest.param(
            replace(RULE, may_deny=False),
            False,
            Show(ids=("rule",), rules=("rule",)),
            id="a rule from a clone",
        ),
        pytest.param(
            replace(RULE, may_deny=False, **SHOWN),
            False,
            Show(ids=("rule",), rules=("rule",)),
            id="a rule from a clone, shown in this turn",
        ),
        pytest.param(FACT, False, Show(ids=("fact",)), id="a fact"),
        pytest.param(replace(FACT, in_context=True), False, Show(ids=()), id="a known fact"),
        pytest.param(FACT, True, Carry(ids=("fact",)), id="a fact at a push"),
        pytest.param(
            replace(FACT, in_context=True), True, Show(ids=()), id="a known fact at a push"
        ),
        pytest.param(
            replace(FACT, may_deny=False), True, Show(ids=("fact",)), id="of a clone, at a push"
        ),
    ],
)
def test_one_memory_about_a_call(finding, irreversible, expected):
    assert decide(finding, irreversible=irreversible) == expected


def test_a_denial_carries_the_best_and_the_same_call_passes_with_the_rest():
    rules = [replace(RULE, id=name) for name in "abcd"]
    first = decide(*rules)
    read = [replace(one, **SHOWN) for one in rules[:MOST_CARRIED]]

    assert first == Carry(ids=("a", "b"))
    assert decide(*read, *rules[2:], was_denied=True, denials=1) == Show(ids=("c", "d"))


def test_a_sibling_of_a_denied_call_waits_and_the_twin_hook_repeats_the_denial():
    carried = replace(RULE, carried=True)

    assert decide(carried, denials=1) == Wait()
    assert decide(carried, denials=1, is_counted=True) == Carry(ids=("rule",))
    assert decide(carried, replace(RULE, id="new"), denials=1) == Carry(ids=("new",))
    assert decide(carried, replace(RULE, id="new"), denials=2) == Wait()


@pytest.mark.parametrize("most", [0, 1, 2])
def test_after_the_last_denial_the_memories_come_beside_the_call(most):
    assert decide(RULE, FACT, denials=most, most=most) == Show(ids=("rule", "fact"))


def test_marked_rules_and_what_cannot_be_undone_are_denied_twice_as_often():
    assert decide(RULE, denials=2) == Show(ids=("rule",))
    assert decide(MARKED, denials=3) == Carry(ids=("marked",))
    assert decide(FACT, irreversible=True, denials=3) == Carry(ids=("fact",))
    assert decide(MARKED, denials=4) == Show(ids=("marked",))


FINDINGS = st.lists(
    st.builds(
        Finding,
        id=st.uuids().map(str),
        is_rule=st.booleans(),
        is_marked=st.booleans(),
        is_firm=st.booleans(),
        is_named=st.booleans(),
        is_beside=st.booleans(),
        may_deny=st.booleans(),
        in_turn=st.booleans(),
        in_context=st.booleans(),
        carried=st.booleans(),
    ),
    max_size=6,
)


@given(FINDINGS, st.booleans(), st.booleans(), st.integers(0, 3), st.integers(0, 3))
def test_every_denial_carries_news_and_none_exceeds_the_limit(
    findings, irreversible, was_denied, denials, most
):
    outcome = decide(
        *findings, irreversible=irreversible, was_denied=was_denied, denials=denials, most=most
    )
    by_id = {one.id: one for one in findings}

    if isinstance(outcome, Carry):
        carried = [by_id[id] for id in outcome.ids]
        assert 0 < len(carried) <= MOST_CARRIED
        assert denials < 2 * most
        assert not was_denied
        assert all(one.may_deny and not one.carried for one in carried)
        assert all(one.stops(irreversible) for one in carried)
    elif isinstance(outcome, Wait):
        assert any(one.carried and one.may_deny for one in findings)
    else:
        assert len(outcome.ids) <= MOST_CARRIED + MOST_BESIDE
        assert {*outcome.rules} <= {*outcome.ids}
