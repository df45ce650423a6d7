"""The hub's server on a real PostgreSQL: who may ask what, and what a batch comes to."""

import json
import socket
import threading
import time

import pytest

from ademem.core.errors import AdememError, UsageError
from ademem.plugins.hub import mutations, server
from ademem.plugins.hub.store import administration, database
from bench import hub as bench
from tests.examples import examples
from tests.plugins.hub.hubs import Served, fields, mutation, wait_until
from tests.postgres import make_database


@pytest.fixture(scope="module")
def hub(cluster):
    with Served(make_database(cluster)).serving() as served:
        served.projects["other"] = served.add_project("other")
        served.join("ann")
        served.join("bob", slug="other")
        served.join("eve", "reviewer")
        served.join("rob", "reader")
        yield served


def new(hub, id, content=None, **more):
    return mutation(hub.project, id, content or f"Text of {id}", **more)


def test_a_batch_gets_a_verdict_for_each_and_a_bad_one_stops_nothing_but_itself(hub):
    good = [new(hub, f"b{at}") for at in range(194)]
    secret = "xoxb-" + "123456789012-" * 2 + "abcdefghijklmnopqrstuvwx"
    bad = [
        {"entity": "memory"},
        new(
            hub,
            "large",
            "x" * 40_000,
            fields=fields("large", "w " * 20_000) | {"more": "w" * 250_000},
        ),
        new(hub, "secret", f"The bot's token is {secret}"),
        mutation(hub.projects["other"], "foreign"),
        new(hub, "place", fields=fields("place") | {"path": "/etc/passwd"}),
        new(hub, "home", "Logs are in /home/ann/logs"),
    ]
    good[0] = new(hub, "b0", fields=fields("b0") | {"anchors": 1.5})  # read as none
    answer = hub.push("ann", *good[:100], *bad, *good[100:])

    found = answer.json()["verdicts"]
    assert [one["rule"] for one in found[100:106]] == [
        *("malformed", "size", "secret", "project", "path", "path")
    ]
    assert [one["verdict"] for one in found[:100] + found[106:]] == ["taken"] * 194
    assert all(one["why"] for one in found[100:106])
    kept = hub.rows("select string_agg(fields::text, ' ') as texts from hub.mutations")
    assert secret not in kept[0]["texts"]
    assert secret not in "".join(hub.lines)


@pytest.mark.parametrize(
    "spoil",
    [
        pytest.param(lambda one: one | {"mutation_id": one["mutation_id"][::-1]}, id="id"),
        pytest.param(lambda one: one | {"entity_key": "other"}, id="key"),
        pytest.param(lambda one: one | {"stamp": "2027" + one["stamp"][4:]}, id="stamp"),
        pytest.param(lambda one: one | {"op": "delete"}, id="operation"),
        pytest.param(lambda one: one | {"heard": -1}, id="number"),
        pytest.param(lambda one: one | {"heard": True}, id="truth for a number"),
        pytest.param(lambda one: one | {"by": "a\0b"}, id="zero byte"),
        pytest.param(lambda one: one | {"by": "\ud800"}, id="half a character"),
        pytest.param(lambda one: one | {"entity": "prompt"}, id="entity"),
        pytest.param(lambda one: one | {"fields": {}}, id="no record"),
        pytest.param(lambda one: one | {"more": 1}, id="unknown key"),
    ],
)
def test_what_is_no_mutation_is_refused_by_name(hub, spoil):
    one = spoil(new(hub, "spoilt", minute=7))
    body = json.dumps({"mutations": [one]}).encode()
    (found,) = hub.ask("POST", hub.path(), body, "ann").json()["verdicts"]

    assert found["rule"] == "malformed"


def test_the_same_again_is_known(hub):
    one = new(hub, "again")

    assert hub.verdicts("ann", one, one) == ["taken", "known"]
    assert hub.verdicts("eve", one | {"by": "eve", "replica": "99999999"}) == ["known"]


def test_a_pull_goes_on_where_the_last_one_ended(hub):
    hub.push("ann", *(new(hub, f"p{at}") for at in range(3)))
    heard, after = [], 0
    while page := hub.pull("rob", after).json()["mutations"]:
        heard += page
        after = page[-1]["seq"]

    assert [one["seq"] for one in heard] == list(range(1, len(heard) + 1))
    assert hub.pull("rob", after).json() == {
        **hub.pull("rob", after).json(),
        "head": after,
        "mutations": [],
        "more": False,
    }
    last = heard[-1]
    assert (last["entity_key"], last["person"], last["role"]) == ("p2", "ann", "writer")
    assert last["fields"] == fields("p2", "Text of p2")


def test_each_role_has_its_rights(hub):
    one = new(hub, "rights")

    assert hub.push("rob", one).status == 403
    assert hub.verdicts("ann", one) == ["taken"]
    edit = new(hub, "rights", "Another text", minute=1)
    assert hub.verdicts("eve", edit) == ["taken"]
    assert hub.verdicts("ann", new(hub, "rights", "A third", minute=2)) == ["taken"]
    theirs = new(hub, "of-eve")
    hub.push("eve", theirs)
    (found,) = hub.push("ann", new(hub, "of-eve", "Mine", minute=3)).json()["verdicts"]
    assert (found["verdict"], found["rule"]) == ("refused", "role")


ROUTES = (("GET", "", None), ("GET", "/mutations", None), ("GET", "/mutations?live=1", None))


def test_a_stranger_gets_nothing_with_one_of_the_two_checks_off(hub, monkeypatch):
    with database.connect(hub.database.owner) as db:
        code = administration.invite(db, "other", "bob", "writer", existing=True)
    assert code
    theirs = mutation(hub.projects["team"], "by-bob")
    hub.push("ann", new(hub, "hidden", "The hidden text"))

    def ask_everything():
        answers = [hub.ask(method, hub.path(rest=rest), who="bob") for method, rest, _ in ROUTES]
        return [*answers, hub.push("bob", theirs)]

    def leaked(answers):
        return [one for one in answers if one.status == 200 or b"hidden" in one.body]

    assert leaked(ask_everything()) == []
    with monkeypatch.context() as patch:
        patch.setattr(hub.hub, "_check_role", lambda *_: None)
        assert leaked(ask_everything()) == []
    for table in ("projects", "mutations", "rows", "cursors"):
        hub.execute(f"alter table hub.{table} disable row level security")
    try:
        assert leaked(ask_everything()) == []
    finally:
        for table in ("projects", "mutations", "rows", "cursors"):
            hub.execute(f"alter table hub.{table} enable row level security")
    assert not hub.rows("select from hub.mutations where entity_key = 'by-bob'")


def test_with_both_checks_off_the_stranger_would_get_it(hub, monkeypatch):
    monkeypatch.setattr(hub.hub, "_check_role", lambda *_: None)
    hub.push("ann", new(hub, "hidden", "The hidden text"))
    for table in ("projects", "mutations"):
        hub.execute(f"alter table hub.{table} disable row level security")
    try:
        assert b"hidden text" in hub.pull("bob", more="&live=1").body
    finally:
        for table in ("projects", "mutations"):
            hub.execute(f"alter table hub.{table} enable row level security")


def test_a_token_that_ended_is_refused(hub):
    assert hub.pull(None).status == 401
    assert hub.ask("GET", hub.path(), token="adh_unknown").status == 401
    old = hub.join("kim")
    new = administration.new_secret("adh_")
    asked = {"token": administration.digest(new).hex()}
    assert hub.ask("POST", hub.path(rest="/token"), asked, token=old).status == 200
    assert hub.ask("GET", hub.path(), token=new).status == 200
    assert hub.ask("GET", hub.path(), token=old).status == 401
    assert hub.ask("POST", hub.path(rest="/token"), asked, token=old).status == 401
    digest = administration.digest(new)
    hub.execute("update hub.tokens set expires_at = now() where hash = %s", digest)
    answer = hub.ask("GET", hub.path(), token=new)
    assert answer.status == 401
    assert answer.json()["why"] == "the token is expired"
    assert hub.pull("bob").status == 403


def test_an_invitation_is_good_once(hub):
    code = hub.invite("zoe")
    first, second = ({"code": code, "token": letter * 64, "device": "d"} for letter in "ab")

    assert hub.ask("POST", "/v1/join", first).json()["slug"] == "team"
    assert hub.ask("POST", "/v1/join", first).status == 200  # its answer was lost
    assert hub.ask("POST", "/v1/join", second).status == 401


def test_limits_answer_with_the_time_to_wait(hub, monkeypatch):
    def set_limits(**limits):
        monkeypatch.setattr(hub.hub, "limits", server.Limits(**limits))

    hub.push("ann", new(hub, "first"))
    for name in ("bytes_per_day", "project_bytes_per_day", "hub_bytes_per_day"):
        set_limits(**{name: 10})
        answer = hub.push("ann", new(hub, name))
        assert (answer.status, answer.json()["error"]) == (429, "rate")
        assert int(answer.headers["retry-after"]) > 0
        assert not hub.rows(f"select from hub.rows where entity_key = '{name}'")
    set_limits(rows=1)
    answer = hub.push("ann", new(hub, "rows"))
    assert (answer.status, answer.json()["error"]) == (429, "rows")
    assert answer.headers["retry-after"] == str(server.FULL_RETRY_S)
    for name in ("requests_per_minute", "project_requests_per_minute", "hub_requests_per_minute"):
        set_limits(**{name: 0})
        assert hub.pull("ann").status == 429


def test_the_bytes_of_a_project_are_counted_for_all_devices_and_servers(hub, monkeypatch):
    hub.projects["busy"] = hub.add_project("busy")
    for name in ("dan", "dora"):
        hub.join(name, slug="busy")
    batches = [mutation(hub.projects["busy"], name, f"Text of {name}") for name in ("one", "two")]
    size = len(json.dumps({"mutations": batches[:1]}))
    limits = server.Limits(project_bytes_per_day=2 * size - 1)
    monkeypatch.setattr(hub.hub, "limits", limits)
    with Served(hub.database, limits).serving() as beside:
        beside.tokens = hub.tokens
        assert hub.push("dan", batches[0], slug="busy").status == 200
        assert beside.push("dora", batches[1], slug="busy").status == 429
        beside.hub.limits = server.Limits(project_bytes_per_day=2 * size)
        assert beside.push("dora", batches[1], slug="busy").status == 200


@pytest.mark.parametrize("live", ["", "&live=1"], ids=["journal", "snapshot"])
def test_a_page_has_no_more_bytes_than_one_that_clients_read(hub, monkeypatch, live):
    hub.projects["wide"] = hub.projects.get("wide") or hub.add_project("wide")
    hub.join("will", slug="wide")
    batch = [mutation(hub.projects["wide"], f"w{at}", "Text " * 300) for at in range(5)]
    hub.push("will", *batch, slug="wide")
    one = len(hub.pull("will", slug="wide", after=4).body)
    monkeypatch.setattr(mutations, "PAGE_BYTES", 2 * one)
    seen, more = [0], True
    while more:
        page = hub.pull("will", slug="wide", after=seen[-1], more=live).json()
        assert len(page["mutations"]) <= 3
        seen += [row["seq"] for row in page["mutations"]]
        more = page["more"]

    assert seen == [0, 1, 2, 3, 4, 5]


def test_bodies_are_bounded_and_never_unpacked(hub):
    large = b'{"mutations": [' + b" " * mutations.BODY_BYTES + b"]}"

    assert hub.ask("POST", hub.path(), large, "ann").status == 413
    packed = hub.ask("POST", hub.path(), b"x", "ann", headers={"Content-Encoding": "gzip"})
    assert packed.status == 415
    for body in (b"", b"[]", b'{"mutations": 1}', b"{" * 50_000, b'{"mutations": [NaN]}'):
        assert hub.ask("POST", hub.path(), body, "ann").status == 400


def begin_push(hub, token):
    """Return a connection on which a push has begun whose body does not come."""
    host, port = hub.url.removeprefix("http://").split(":")
    connection = socket.create_connection((host, int(port)), timeout=20)
    head = f"POST {hub.path()} HTTP/1.1\r\nHost: {host}\r\nContent-Length: 900000\r\n"
    sent = f"{head}Ademem-Protocol: 2\r\nAuthorization: Bearer {token}\r\n\r\n"
    connection.sendall(sent.encode())
    return connection


def test_of_a_stranger_no_body_is_read(hub, monkeypatch):
    judged = []
    monkeypatch.setattr(server, "_judge", lambda *given: judged.append(given))
    for token in ("adh_" + "0" * 64, hub.join("rita", "reader")):
        with begin_push(hub, token) as connection:
            assert connection.recv(100).split()[1] in (b"401", b"403")
    assert not judged


def test_a_body_of_single_bytes_is_not_waited_for(hub, monkeypatch):
    monkeypatch.setattr(server, "BODY_S", 0.2)
    with begin_push(hub, hub.join("ann")) as connection:
        connection.sendall(b"{")

        assert connection.recv(100).split()[1] == b"408"
    assert hub.verdicts("ann", new(hub, "later")) == ["taken"]


def test_an_old_client_hears_what_to_install(hub):
    answer = hub.ask("GET", hub.path(), who="ann", headers={"Ademem-Protocol": "-1"})

    assert answer.status == 426
    assert "install ademem" in answer.json()["hint"]
    assert hub.ask("GET", hub.path(), who="ann", headers={"Ademem-Protocol": "9"}).status == 200


def test_a_failure_is_logged_by_its_line_without_a_text(hub, monkeypatch, capfd):
    def fail(*_):
        raise ValueError("the canary sings at dawn")

    monkeypatch.setattr(server, "_judge", fail)
    answer = hub.push("ann", new(hub, "fails"))

    assert (answer.status, answer.json()["error"]) == (500, "internal")
    wait_until(
        lambda: any('"error": "ValueError", "where": "test_server.py:' in one for one in hub.lines)
    )
    assert "canary" not in "".join([*hub.lines, *capfd.readouterr()])


def test_methods_that_a_stranger_makes_up_are_counted_as_one(hub):
    for number in range(3):
        hub.ask(f"MADEUP{number}", "/nothing")

    figures = hub.ask("GET", "/metrics").body.decode()
    assert "MADEUP" not in figures
    assert 'hub_requests_total{method="other",route="-",status="404"} 3' in figures


def test_a_restored_hub_and_a_compacted_journal_are_told(hub):
    epoch = hub.pull("ann").json()["epoch"]
    assert hub.pull("ann", more=f"&epoch={epoch}").status == 200
    assert hub.pull("ann", more="&epoch=other").status == 409
    hub.execute("update hub.projects set floor = 2 where slug = 'team'")
    try:
        assert hub.pull("ann", after=1).status == 410
        assert hub.pull("ann", after=2).status == 200
        assert hub.pull("ann", more="&live=1").status == 200
    finally:
        hub.execute("update hub.projects set floor = 0 where slug = 'team'")


def test_a_closed_project_takes_nothing_more_and_is_read(hub):
    hub.projects["old"] = hub.add_project("old")
    hub.join("old-hand", slug="old")
    with database.connect(hub.database.owner) as db:
        administration.close_project(db, "old")

    one = mutation(hub.projects["old"], "m")
    answer = hub.push("old-hand", one, slug="old")
    assert (answer.status, answer.json()["error"]) == (403, "closed")
    assert hub.pull("old-hand", slug="old").status == 200


def test_health_readiness_and_figures_name_no_project(hub, tmp_path, monkeypatch):
    assert hub.ask("GET", "/health").json() == {"status": "alive"}
    answer = hub.ask("GET", "/ready")
    assert (answer.status, answer.json()) == (200, {"ready": True})
    hub.hub.is_ending = True
    assert hub.ask("GET", "/ready").status == 503
    hub.hub.is_ending = False
    monkeypatch.setattr(hub.hub, "folder", tmp_path)
    assert hub.ask("GET", "/ready").status == 200
    monkeypatch.setattr(server, "LEAST_FREE_BYTES", 1 << 60)
    assert hub.ask("GET", "/ready").status == 503
    hub.push("ann", new(hub, "counted"))
    figures = hub.ask("GET", "/metrics").body.decode()
    assert 'hub_verdicts_total{verdict="taken",rule=""}' in figures
    names = {line.split("{")[0].split()[0] for line in figures.splitlines()}
    assert names > {
        *("hub_requests_total", "hub_request_seconds_sum", "hub_verdicts_total"),
        *("hub_pool_requests_num", "hub_lock_waits", "hub_heads_max", "hub_journal_rows"),
        *("hub_oldest_cursor_seconds", "hub_clock_ahead_total"),
    }
    for name in (hub.project, "team", "ann", hub.tokens["ann"]):
        assert name not in figures + "".join(hub.lines)
    told = [json.loads(line) for line in hub.lines]  # each is written after its answer
    assert 200 in {each["status"] for each in told}


def test_a_database_that_went_away_is_a_503(cluster):
    with Served(make_database(cluster)).serving() as served:
        served.join("ann")
        served.execute("alter role hub_server connection limit 0", role="superuser")
        try:
            served.execute(
                "select pg_terminate_backend(pid) from pg_stat_activity where datname = %s"
                " and usename = 'hub_server'",
                served.database.name,
                role="superuser",
            )
            served.hub.pool.timeout = 0.5
            assert served.ask("GET", "/metrics").status == 200
            answer = served.pull("ann")
            assert (answer.status, answer.headers["retry-after"]) == (503, str(server.RETRY_S))
        finally:
            served.execute("alter role hub_server connection limit -1", role="superuser")
        wait_until(lambda: served.pull("ann").status == 200)


def test_with_too_many_requests_each_hears_when_to_ask_again(hub, monkeypatch):
    monkeypatch.setattr(server, "MOST_REQUESTS", 0)
    answer = hub.pull("ann")

    assert (answer.status, answer.json()["error"]) == (503, "busy")
    assert answer.headers["retry-after"] == str(server.RETRY_S)
    assert hub.ask("GET", "/health").status == 200
    monkeypatch.undo()
    assert hub.pull("ann").status == 200


@pytest.mark.parametrize("bind", ["0.0.0.0:1", "hub.example.org:1", "192.168.0.1:0"])
def test_without_tls_only_this_machine_is_served(bind):
    with pytest.raises(UsageError, match="without TLS"):
        server.serve("", bind, print)


@pytest.mark.parametrize("bind", ["[::1]:1", "127.0.0.2:1"])
def test_this_machine_is_served_without_tls_at_any_of_its_addresses(bind):
    with pytest.raises(AdememError) as error:
        server.serve("", bind, print)

    assert "TLS" not in str(error.value)


def test_behind_a_proxy_only_what_came_by_tls_is_answered(hub, monkeypatch):
    monkeypatch.setattr(hub.hub, "proxied", True)

    assert hub.pull("ann").status == 403
    by_tls = {"X-Forwarded-Proto": "https"}
    assert hub.ask("GET", hub.path(), who="ann", headers=by_tls).status == 200


LOCKS = {
    "push": "select from hub.projects where slug = 'team' for update",
    "pull": "select from hub.cursors c join hub.projects p on p.id = c.project where slug = 'team'"
    " for update of c",
}


@pytest.fixture(params=LOCKS)
def crowd(hub, request):
    """Twenty requests to `team` that wait for the database."""
    asks = {"push": lambda: hub.push("ann", new(hub, "late")), "pull": lambda: hub.pull("ann")}
    hub.pull("ann")
    waiting = [threading.Thread(target=asks[request.param]) for _ in range(20)]
    with database.connect(hub.database.owner) as db, db.transaction():
        db.execute(LOCKS[request.param])
        for each in waiting:
            each.start()
        wait_until(lambda: hub.hub.under_way.total() == len(waiting))
        yield
    for each in waiting:
        each.join()


def ask_another_project(hub):
    started = time.monotonic()
    statuses = {
        hub.push("bob", mutation(hub.projects["other"], "quick"), slug="other").status,
        hub.pull("bob", slug="other").status,
    }
    return statuses, time.monotonic() - started


def test_the_requests_of_a_project_that_wait_leave_the_others_their_connections(hub, crowd):
    statuses, seconds = ask_another_project(hub)

    assert statuses == {200}
    assert seconds < 5


def test_a_project_with_too_many_requests_is_busy_alone(hub, crowd, monkeypatch):
    monkeypatch.setattr(server, "PROJECT_REQUESTS", 20)
    answer = hub.pull("ann")

    assert (answer.status, answer.json()["error"]) == (503, "busy")
    assert ask_another_project(hub)[0] == {200}


@pytest.mark.parametrize("crowd", ["push"], indirect=True)
def test_a_push_that_would_wait_too_long_is_refused_at_once(hub, crowd, monkeypatch):
    monkeypatch.setattr(server, "LONGEST_WAIT_S", 0)
    answer = hub.push("ann", new(hub, "later"))

    assert (answer.status, answer.json()["error"]) == (503, "busy")
    assert answer.headers["retry-after"] == str(server.RETRY_S)
    assert ask_another_project(hub)[0] == {200}


def test_of_many_clients_nothing_is_lost_or_doubled_and_the_latest_wins(hub):
    port = int(hub.url.rpartition(":")[2])
    with database.connect(hub.database.owner) as db:
        clients = bench.make_clients(db, examples(1000, share=25), examples(50, share=10), "many")
        (told,) = bench.run_clients(port, clients)
        found = bench.check(db, port, clients)

    assert found == "0 lost, 0 doubled, 0 wrong winners"
    assert len(told.seconds) > len(clients) * bench.ROUNDS
