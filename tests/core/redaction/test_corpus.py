"""Redaction over a corpus that was written before its rules: what goes, and what stays."""

from __future__ import annotations

import pytest

from ademem.core.redaction import redact
from tests.core.redaction import corpus

SECRETS = [
    pytest.param(text, id=f"{text.kind} {number}")
    for number, text in enumerate(corpus.with_secrets())
]
HARMLESS = [
    pytest.param(text, id=f"{text.kind} {number}") for number, text in enumerate(corpus.harmless())
]


@pytest.mark.parametrize("text", SECRETS)
def test_a_secret_is_gone(text):
    redacted = redact(text.text)

    assert redacted.found
    assert not corpus.leaks(text.secret, redacted.text)


@pytest.mark.parametrize("text", HARMLESS)
def test_harmless_text_stays(text):
    assert redact(text.text).text == text.text


def test_the_corpus_is_large_enough_to_tell_a_rate_of_one_in_a_hundred():
    assert len(SECRETS) >= 120
    assert len(HARMLESS) >= 300
