"""What the default mode decides about a change, from what memory has on it and what was shown."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ademem.core.value import replace
from ademem.guard.policy import MOST_CARRIED, Carry, Finding, Show, Wait, consult

RULE = Finding(id="rule", stops=True, may_deny=True)
FACT = Finding(id="fact", stops=False, may_deny=True)
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
        pytest.param(
            replace(RULE, in_context=True), False, Carry(ids=("rule",)), id="a rule of the briefing"
        ),
        pytest.param(replace(RULE, **SHOWN), False, Show(ids=()), id="a rule shown in this turn"),
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

    assert first == Carry(ids=("a", "b", "c"))
    assert decide(*read, rules[3], was_denied=True, denials=1) == Show(ids=("d",))


def test_a_sibling_of_a_denied_call_waits_and_the_twin_hook_repeats_the_denial():
    carried = replace(RULE, carried=True)

    assert decide(carried, denials=1) == Wait()
    assert decide(carried, denials=1, is_counted=True) == Carry(ids=("rule",))
    assert decide(carried, replace(RULE, id="new"), denials=1) == Carry(ids=("new",))
    assert decide(carried, replace(RULE, id="new"), denials=2) == Wait()


@pytest.mark.parametrize("most", [0, 1, 2])
def test_after_the_last_denial_the_memories_come_beside_the_call(most):
    assert decide(RULE, FACT, denials=most, most=most) == Show(ids=("rule", "fact"))


FINDINGS = st.lists(
    st.builds(
        Finding,
        id=st.uuids().map(str),
        stops=st.booleans(),
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
        assert denials < most
        assert not was_denied
        assert all(one.may_deny and not one.carried for one in carried)
        assert all((one.stops and not one.in_turn) or not one.in_context for one in carried)
    elif isinstance(outcome, Wait):
        assert any(one.carried and one.may_deny for one in findings)
    else:
        assert {one.id for one in findings if not one.in_context} <= {*outcome.ids}
