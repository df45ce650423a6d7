"""The hash behind ids and keys."""

import hashlib

from hypothesis import given
from hypothesis import strategies as st

from ademem.core.text import sha256_hex


def test_the_digest_is_sha256_of_the_framed_parts():
    assert sha256_hex("ab", "ü") == hashlib.sha256(b"2:ab1:\xc3\xbc").hexdigest()


@given(st.lists(st.text()), st.lists(st.text()))
def test_other_parts_have_another_digest(some, others):
    assert (sha256_hex(*some) == sha256_hex(*others)) == (some == others)


def test_a_lone_surrogate_has_a_digest():
    assert len(sha256_hex("\ud800")) == 64
