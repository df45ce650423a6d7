"""Frames: whole, bounded, in time, and from nobody but ourselves."""

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
def test_a_frame_arrives_as_it_was_sent(pair, body):
    one, other = pair
    warm.send(one, body, soon())

    assert warm.receive(other, 5000, soon()) == body


def test_frames_may_come_in_pieces_and_follow_each_other(pair):
    one, other = pair
    for piece in (b"\0\0", b"\0\3a", b"bc\0\0\0\1", b"d"):
        one.sendall(piece)

    assert warm.receive(other, 9, soon()) == b"abc"
    assert warm.receive(other, 9, soon()) == b"d"


def test_a_frame_beyond_the_bound_is_not_read(pair):
    one, other = pair
    warm.send(one, b"x" * 11, soon())

    with pytest.raises(warm.BadFrame, match="11 bytes, where 10"):
        warm.receive(other, 10, soon())


def test_a_frame_that_ends_early_is_none(pair):
    one, other = pair
    one.sendall(b"\0\0\0\5abc")
    one.shutdown(sockets.SHUT_WR)

    with pytest.raises(warm.BadFrame, match="went away"):
        warm.receive(other, 10, soon())


@pytest.mark.parametrize("sent", [b"", b"\0\0", b"\0\0\0\5abc"])
def test_nobody_waits_beyond_the_deadline(pair, sent):
    one, other = pair
    one.sendall(sent)

    with pytest.raises(TimeoutError):
        warm.receive(other, 10, time.monotonic() + 0.01)


def test_a_deadline_that_has_passed_sends_nothing(pair):
    with pytest.raises(TimeoutError):
        warm.send(pair[0], b"late", time.monotonic())


def test_we_are_no_strangers_to_ourselves_and_all_others_are(pair, monkeypatch):
    warm.check_peer(pair[0])

    monkeypatch.setattr(os, "geteuid", lambda: 4242)
    with pytest.raises(warm.Stranger):
        warm.check_peer(pair[0])
