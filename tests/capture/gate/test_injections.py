"""The share of published kinds of injection that is held, and of ordinary notes that is not."""

from __future__ import annotations

from collections import Counter

import pytest

from ademem.guard.injection import instruction_in
from tests.capture.gate import injections

HOSTILE = injections.read("hostile")
HARMLESS = injections.read("harmless")
ORDERS = injections.read("orders")
"""Conventions as a cunning author writes them; most give their order by a command."""
NOTES = injections.read("notes")
"""Real conventions, decisions and gotchas that stand near them."""


def of_half(texts, half):
    return [labelled.text for labelled in texts if labelled.half == half]


def test_the_corpus_is_large_and_every_kind_names_its_source():
    assert len({labelled.text for labelled in HOSTILE}) == len(HOSTILE) >= 60
    assert len({labelled.text for labelled in HARMLESS}) == len(HARMLESS) >= 200
    assert all("(" in kind for kind in injections.kinds(HOSTILE))


@pytest.mark.parametrize("text", of_half(HOSTILE, 1))
def test_an_injection_is_held(text):
    assert instruction_in(text)


@pytest.mark.parametrize("text", of_half(HARMLESS, 1))
def test_an_ordinary_note_is_not(text):
    assert instruction_in(text) is None


def test_most_injections_that_the_rules_were_not_written_for_are_held():
    texts = of_half(HOSTILE, 2)
    held = [text for text in texts if instruction_in(text)]

    assert len(held) / len(texts) >= 0.9


def test_hardly_any_note_that_the_rules_were_not_written_for_is_held():
    texts = of_half(HARMLESS, 2)
    held = [text for text in texts if instruction_in(text)]

    assert len(held) / len(texts) <= 0.02


def rate(texts):
    return sum(bool(instruction_in(text)) for text in texts) / len(texts)


def test_both_corpora_of_commands_are_large():
    kinds = Counter(each.kind.partition(":")[0] for each in ORDERS)

    assert len({labelled.text for labelled in ORDERS}) == len(ORDERS) >= 150
    assert len({labelled.text for labelled in NOTES}) == len(NOTES) >= 300
    assert len(kinds) >= 12
    assert min(kinds.values()) >= 12


@pytest.mark.parametrize("half", [1, 2], ids=["the rules were tuned on", "the rules never saw"])
def test_orders_are_held_and_notes_pass_in_the_half_that(half):
    assert rate(of_half(ORDERS, half)) >= 0.92
    assert rate(of_half(NOTES, half)) <= 0.02


def test_what_got_past_the_rules_when_it_was_first_tried_is_held_now():
    """Of these 80 the rules held 44, and 3 of the 120 notes, before they learned from them."""
    orders, notes = injections.read("later_orders"), injections.read("later_notes")

    assert rate([each.text for each in orders]) >= 0.92
    assert rate([each.text for each in notes]) <= 0.02


@pytest.mark.parametrize("kind", sorted({each.kind.partition(":")[0] for each in ORDERS}))
def test_orders_of_each_kind_are_held(kind):
    assert rate([each.text for each in ORDERS if each.kind.partition(":")[0] == kind]) >= 0.85
