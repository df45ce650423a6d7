"""Connections of a client: one for a round, and what happens when the server closes it."""

import socket
import threading
from contextlib import closing, contextmanager

import pytest
from uvicorn.protocols.http.h11_impl import H11Protocol

from ademem.plugins.hub.transport import Client, HubError

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"


def test_a_round_of_many_requests_takes_one_connection(ann, bob, hub, monkeypatch):
    made, requests = [], len(hub.lines)
    connect = H11Protocol.connection_made
    monkeypatch.setattr(
        H11Protocol, "connection_made", lambda *given: made.append(1) or connect(*given)
    )
    for at in range(450):
        ann.learn(f"Service {at} runs at {at}", id=f"m{at}")

    assert ann.sync().sent == 450
    assert len(made) == 1
    assert bob.sync().received == 450
    assert len(made) == 2
    assert len(hub.lines) - requests > 6


class Listener:
    """Answers so many requests of each connection, then closes it unasked."""

    def __init__(self, *counts):
        self.counts, self.connections, self.requests = counts, 0, []
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.socket.settimeout(5)
        self.thread = threading.Thread(target=self._serve, daemon=True)

    def _serve(self):
        for count in self.counts:
            connection, _ = self.socket.accept()
            self.connections += 1
            with connection:
                while count and (head := connection.recv(65_536)):
                    self.requests.append(head.partition(b" HTTP")[0].decode())
                    count -= 1
                    connection.sendall(ANSWER)

    @contextmanager
    def serving(self):
        self.thread.start()
        url = f"http://127.0.0.1:{self.socket.getsockname()[1]}"
        with self.socket, closing(Client(url)) as one:
            yield one
        self.thread.join(10)


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_pull_and_a_push_are_sent_again_when_the_server_had_closed_the_connection(method):
    listener = Listener(1, 1)
    with listener.serving() as client:
        for _ in range(2):
            assert client.ask(method, "/mutations?epoch=1") == {}

    assert listener.requests == [f"{method} /mutations?epoch=1"] * 2


def test_what_counts_twice_is_sent_once_over_a_connection_of_its_own():
    listener = Listener(2, 1, 1)
    with listener.serving() as client:
        for method, path in (("GET", "/mutations"), ("POST", "/token"), ("GET", "/mutations")):
            client.ask(method, path)

    assert listener.requests == ["GET /mutations", "POST /token", "GET /mutations"]
    assert listener.connections == 3


@pytest.mark.parametrize(
    ("counts", "path"),
    [
        pytest.param((0, 1), "/mutations", id="a first connection"),
        pytest.param((1, 0, 1), "/mutations", id="a second one after a kept one"),
        pytest.param((1, 0, 1), "/token", id="that of what counts twice"),
    ],
)
def test_a_request_whose_new_connection_ends_is_not_sent_again(counts, path):
    listener = Listener(*counts)
    with listener.serving() as client:
        for _ in range(counts[0]):
            client.ask("GET", "/mutations")
        with pytest.raises(HubError, match="does not answer"):
            client.ask("POST", path)
        ended = listener.connections
        client.ask("GET", "/mutations")

    assert ended == len(counts) - 1
