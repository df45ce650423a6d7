"""Redaction over a corpus that was written before its rules: what goes, and what stays."""

from __future__ import annotations

from ademem.core.redaction import redact
from tests.core.redaction import corpus

SECRETS = list(corpus.with_secrets())
HARMLESS = list(corpus.harmless())


def test_every_secret_is_gone():
    for text in SECRETS:
        redacted = redact(text.text)
        assert redacted.found, text
        assert not corpus.leaks(text.secret, redacted.text), text


def test_harmless_text_stays():
    assert [text for text in HARMLESS if redact(text.text).text != text.text] == []


def test_the_corpus_is_large_enough_to_tell_a_rate_of_one_in_a_hundred():
    assert len(SECRETS) >= 120
    assert len(HARMLESS) >= 300
