"""A hub that answers whatever it likes: a round ends with a reason, and the next one is whole."""

import json
import threading
import time
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs

import pytest

from ademem.core.errors import AdememError, UsageError
from ademem.plugins.hub import rounds, transport
from ademem.plugins.hub.transport import Client, HubError
from tests.plugins.hub.hubs import mutation
from tests.plugins.hub.sync.clients import Clone

PROJECT, EPOCH = "00000000-0000-0000-0000-000000000001", "00000000-0000-0000-0000-000000000002"
JOINED = {"project": PROJECT, "slug": "team", "person": "ann", "role": "writer", "epoch": EPOCH}
FACTS = {"slug": "team", "role": "writer", "protocol": 2, "expires_at": "2030-01-01T00:00:00Z"}
PAGE = {"head": 0, "epoch": EPOCH, "more": False, "mutations": []}
TAKEN = {"verdict": "taken", "rule": "", "why": ""}
KEYS = ("entity", "entity_key", "fields", "shows_promoted", "replica", "schema")


def row(**more):
    told = mutation(PROJECT, id="m1")
    return (
        {name: told[name] for name in KEYS} | {"seq": 1, "role": "writer", "person": "bob"} | more
    )


def page_of(*rows, **more):
    return PAGE | {"head": len(rows), "mutations": [*rows]} | more


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self):
        self.rfile.read(int(self.headers.get("content-length") or 0))
        path, _, query = self.path.partition("?")
        kind = (
            path.rpartition("/")[2] if not query else "push" if self.command == "POST" else "pull"
        )
        kind = "snapshot" if "live=1" in query else kind
        answer = self.server.answers[kind]
        answer = answer(query) if callable(answer) else answer
        status, headers, value = answer if isinstance(answer, tuple) else (200, {}, answer)
        body = value if isinstance(value, bytes) else json.dumps(value).encode()
        self.send_response(status)
        for name, text in ({"Content-Length": str(len(body))} | headers).items():
            self.send_header(name, text)
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = answer

    def log_message(self, *_):
        pass


HONEST = {
    "join": JOINED,
    "snapshot": PAGE,
    "pull": PAGE | {"head": 1 << 40},
    "push": {"verdicts": [TAKEN]},
}
HONEST |= {PROJECT: FACTS}


@pytest.fixture
def hostile():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.answers = dict(HONEST)
    server.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def ann(hostile, tmp_path):
    made = Clone(tmp_path / "ann", "ann")
    rounds.join(made.store, made.project, hostile.url, "code", "laptop")
    made.learn("Deploys run at noon", id="own")
    yield made
    made.store.close()


LONG = 9 * "9" * 600
BAD = [
    *(
        pytest.param(PROJECT, FACTS | {"expires_at": each}, id=f"end {each!r}")
        for each in ("x", [])
    ),
    *(
        pytest.param(PROJECT, FACTS | {"protocol": each}, id=f"protocol {str(each)[:9]!r}")
        for each in ("x", None, [], 1e999, LONG)
    ),
    pytest.param(PROJECT, FACTS | {"role": []}, id="a role of another type"),
    *(
        pytest.param("pull", PAGE | {"head": each}, id=f"head {each!r}")
        for each in ("x", None, [], -5, 1.5, 1 << 70)
    ),
    *(
        pytest.param("pull", page_of(row(seq=each)), id=f"number {each!r}")
        for each in ("x", None, [], -1, 0, 1.5, 1 << 70)
    ),
    pytest.param("pull", page_of(row(seq=2), row(seq=1)), id="numbers that fall"),
    pytest.param("pull", PAGE | {"head": 9, "more": True}, id="more without a row"),
    pytest.param("pull", page_of(row(), more=True), id="one page for ever"),
    pytest.param("push", {"verdicts": ["taken"]}, id="a verdict of another type"),
    pytest.param("push", {"verdicts": [{}]}, id="no verdict"),
    pytest.param("push", {"verdicts": [{"verdict": "other"}]}, id="an unknown verdict"),
    *(
        pytest.param(PROJECT, (421, {}, {"error": "moved", "hint": each}), id=f"moved {each!r}")
        for each in ("https://h:99999", "https://a b", "http://elsewhere", [1])
    ),
    pytest.param("pull", (409, {}, {"error": "epoch", "hint": "a b\r\nX: 1"}), id="an epoch"),
    pytest.param(PROJECT, (503, {"Retry-After": LONG}, {}), id="a time to wait"),
    pytest.param(PROJECT, (302, {"Location": "http://127.0.0.1:1/"}, b""), id="a redirection"),
    pytest.param("pull", b"[" * 1_000_000, id="deep nesting"),
]


@pytest.mark.parametrize(("kind", "answer"), BAD)
def test_a_round_with_a_bad_answer_ends_and_the_next_one_is_whole(hostile, ann, kind, answer):
    hostile.answers |= {kind: answer} | ({"snapshot": answer} if kind == "pull" else {})
    with pytest.raises(HubError):
        ann.sync()
    hostile.answers |= HONEST | {"snapshot": page_of(row())}
    ann.sync()

    assert ann.state.url == hostile.url
    assert ann.state.lifecycle == "healthy"
    assert ann.memory("m1").content == "Deploys run at noon"


@pytest.mark.parametrize(
    "spoilt",
    [
        {"fields": "text"},
        {"fields": ["\ud800"]},
        {"fields": 5},
        {"entity": []},
        {"entity": {}},
        {"entity": "person", "fields": {}},
        {"entity": "core", "fields": []},
        {"entity": "core", "entity_key": "\ud800", "fields": {"id": "brief"}},
        {"entity": "core", "fields": {"id": "brief", "notes": ["\ud800"]}},
        {"entity": "relation", "fields": {"sync_id": "r1", "reason": "\ud800"}},
        {"replica": []},
        {"person": {}},
        {"role": []},
    ],
    ids=str,
)
def test_a_row_that_is_none_stops_nothing_but_itself(hostile, ann, spoilt):
    other = mutation(PROJECT, id="m9", content="Tests run at one")["fields"]
    hostile.answers["snapshot"] = page_of(row(**{"fields": other} | spoilt), row(seq=2))
    ann.sync()

    assert ann.memory("m1").live
    assert ann.state.lifecycle == "healthy"


def endless(more):
    """Answer a page of one row, which is never the last."""

    def answer(query):
        after = int(parse_qs(query)["after"][0])
        told = row(seq=after + 1, entity_key=f"m{after}")
        return page_of(told, head=1 << 40, more=more)

    return answer


@pytest.mark.parametrize("kind", ["snapshot", "pull"])
def test_a_round_with_rows_without_end_ends_and_the_next_goes_on(hostile, ann, monkeypatch, kind):
    monkeypatch.setattr(rounds, "PAGES", 5)
    hostile.answers[kind] = endless(more=True)
    done = [ann.sync() for _ in range(3)]

    reached = ann.state.snapshot[0] if kind == "snapshot" else ann.state.position
    spent = 1 if kind == "pull" else 0  # on the snapshot, which is empty
    assert [each.has_more for each in done] == [True] * 3
    assert reached == sum(each.received for each in done) == 15 - spent
    assert done[0].sent == 1, "what is here is sent all the same"
    hostile.answers |= HONEST | {"snapshot": PAGE | {"head": 1 << 40}}
    assert not ann.sync().has_more
    assert ann.state.lifecycle == "healthy"


@pytest.mark.parametrize(
    "answer",
    [JOINED | {name: value} for name in JOINED for value in ([], None)]
    + [{}, JOINED | {"project": "a b"}, JOINED | {"project": "a\r\nHost: b"}],
    ids=str,
)
def test_who_joins_what_is_no_hub_is_in_none(hostile, tmp_path, answer):
    hostile.answers["join"] = answer
    made = Clone(tmp_path / "bob", "bob")
    with pytest.raises(HubError, match="does not answer as a hub"):
        rounds.join(made.store, made.project, hostile.url, "code", "laptop")

    assert made.state is None
    made.store.close()


def test_the_words_of_a_hub_move_no_cursor_and_are_short(hostile, ann):
    why = "\x1b[2J\x1b]0;owned\x07" + 5000 * "no "
    hostile.answers[PROJECT] = (400, {}, {"error": "argument", "why": why, "hint": why})
    with pytest.raises(AdememError) as refused:
        ann.sync()

    for text in (str(refused.value), refused.value.hint, ann.state.reason):
        assert text.isprintable()
        assert len(text) < 600


def test_an_answer_of_single_bytes_is_not_read_for_ever(monkeypatch):
    class Slow(Handler):
        def answer(self):
            self.send_response(200)
            self.send_header("Content-Length", "1000000")
            self.end_headers()
            with suppress(OSError):
                while True:
                    self.wfile.write(b" ")
                    time.sleep(0.01)

        do_GET = answer

    monkeypatch.setattr(transport, "ANSWER_S", 0.2)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Slow)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    began = time.monotonic()
    with pytest.raises(HubError, match="takes too long"):
        Client(f"http://127.0.0.1:{server.server_address[1]}").ask("GET", "/v1/x")

    assert time.monotonic() - began < 5
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize("url", ["https://h:99999", "https://h:x", "https://a b", "https://[::1"])
def test_what_no_address_can_be_is_refused(url):
    with pytest.raises(UsageError):
        transport.check_url(url)
