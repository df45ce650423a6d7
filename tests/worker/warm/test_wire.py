"""Messages: whole, bounded, in time, and from nobody but ourselves."""

import _socket as sockets
import os
import time

import pytest

from ademem.worker import warm


@pytest.fixture
def pair():
    one, other = sockets.socketpair(sockets.AF_UNIX, sockets.SOCK_STREAM)
    yield one, other
    one.close()
    other.close()


def soon():
    return time.monotonic() + 60


@pytest.mark.parametrize("body", [b"", b"{}", "größer".encode(), b"x" * 5000])
def test_a_message_arrives_as_it_was_sent(pair, body):
    one, other = pair
    for part in (body[:3], body[3:]):
        one.sendall(part)
    one.close()

    assert warm.receive(other, 5000, soon()) == body


def test_a_message_beyond_the_bound_is_not_read(pair):
    one, other = pair
    one.sendall(b"x" * 11)

    with pytest.raises(OSError, match="more than 10 bytes"):
        warm.receive(other, 10, soon())


@pytest.mark.parametrize("sent", [b"", b"{"])
def test_nobody_waits_beyond_the_deadline(pair, sent):
    one, other = pair
    one.sendall(sent)

    with pytest.raises(TimeoutError):
        warm.receive(other, 10, time.monotonic() + 0.01)


def test_we_are_no_strangers_to_ourselves_and_all_others_are(pair, monkeypatch):
    warm.check_peer(pair[0])

    monkeypatch.setattr(os, "geteuid", lambda: 4242)
    with pytest.raises(warm.Stranger):
        warm.check_peer(pair[0])
