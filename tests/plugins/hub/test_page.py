"""The page of the hub: who is let in, and what it shows to whom."""

import pytest

from ademem.plugins.page.rendering import POLICY
from tests.plugins.hub.hubs import Served, mutation
from tests.postgres import make_database


@pytest.fixture(scope="module")
def hub(cluster):
    with Served(make_database(cluster)).serving() as served:
        served.projects["other"] = served.add_project("other")
        served.join("olga", "owner")
        served.join("<b>ann</b>\u202e")
        served.join("bob", "owner", slug="other")
        served.push("olga", mutation(served.project, "m1", "A text of the team"))
        yield served


@pytest.fixture(autouse=True)
def no_wrong_codes(hub):
    hub.hub.page.entry._wrong = 0


def path_of(hub, who="olga", slug="team"):
    return hub.ask("POST", hub.path(slug, "/page"), who=who).json()["path"]


def enter(hub, **who):
    answer = hub.ask("GET", path_of(hub, **who))
    assert answer.status == 303
    return {"Cookie": answer.headers["set-cookie"].partition(";")[0]}


def test_an_owner_reads_members_devices_verdicts_cursors_and_audit(hub):
    page = hub.ask("GET", "/", headers=enter(hub)).body.decode()

    assert "team <span" in page
    assert "&lt;b&gt;ann&lt;/b&gt;⟨U+202E⟩" in page
    for shown in ("owner", "writer", "laptop", "taken", "join", "push"):
        assert shown in page
    assert "A text of the team" not in page
    assert "bob" not in page
    for token in hub.tokens.values():
        assert token not in page


def test_a_code_opens_once_and_its_cookie_is_for_this_site_alone(hub):
    path = path_of(hub)
    cookie = hub.ask("GET", path).headers["set-cookie"]

    assert hub.ask("GET", path).status == 401
    assert {"HttpOnly", "SameSite=strict", "Path=/"} <= set(cookie.split("; "))
    assert "Max-Age" not in cookie
    assert "Secure" not in cookie
    assert hub.ask("GET", "/").status == 401
    assert hub.ask("GET", "/", headers={"Cookie": "ademem_hub=other"}).status == 401


def test_behind_a_proxy_the_page_is_reached_by_tls_alone(hub, monkeypatch):
    path = path_of(hub)
    monkeypatch.setattr(hub.hub, "proxied", True)
    by_tls = {"X-Forwarded-Proto": "https", "Origin": hub.url.replace("http:", "https:")}

    assert hub.ask("GET", path).status == 403
    cookie = hub.ask("GET", path, headers=by_tls).headers["set-cookie"]
    assert "Secure" in cookie.split("; ")
    inside = {"Cookie": cookie.partition(";")[0]}
    assert hub.ask("GET", "/", headers=inside | by_tls).status == 200
    assert hub.ask("GET", "/", headers=inside).status == 403


def test_five_wrong_codes_close_the_entry(hub):
    path = path_of(hub)
    for _ in range(5):
        assert hub.ask("GET", "/enter?code=wrong").status == 401

    answer = hub.ask("GET", path)
    assert answer.status == 401
    assert b"restart the server" in answer.body


def test_only_an_owner_gets_a_code_and_the_page_ends_with_the_role(hub):
    assert hub.ask("POST", hub.path(rest="/page"), who="<b>ann</b>\u202e").status == 403
    assert hub.ask("POST", hub.path(rest="/page"), who="bob").status == 403
    assert hub.ask("POST", hub.path(rest="/page")).status == 401
    inside = enter(hub)
    hub.execute("update hub.members set role = 'reviewer' where role = 'owner'")
    try:
        answer = hub.ask("GET", "/", headers=inside)
        assert (answer.status, b"owner" in answer.body) == (403, True)
    finally:
        hub.execute("update hub.members set role = 'owner' where role = 'reviewer'")
    hub.execute("update hub.tokens set revoked_at = now()")
    try:
        assert hub.ask("GET", "/", headers=inside).status == 401
    finally:
        hub.execute("update hub.tokens set revoked_at = null")
    assert hub.ask("GET", "/", headers=inside).status == 200


def test_devices_are_an_owners_also_below_the_check_of_the_role(hub, monkeypatch):
    monkeypatch.setattr(hub.hub, "_check_role", lambda *_: None)
    answer = hub.ask("POST", hub.path(rest="/page"), who="<b>ann</b>\u202e")
    inside = {"Cookie": hub.ask("GET", answer.json()["path"]).headers["set-cookie"]}
    page = hub.ask("GET", "/", headers=inside).body

    assert b"laptop" not in page
    assert b"olga" in page


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        pytest.param({"Sec-Fetch-Site": "cross-site"}, 403, id="another site"),
        pytest.param({"Sec-Fetch-Site": "same-site"}, 403, id="another port"),
        pytest.param({"Origin": "null"}, 403, id="no origin"),
        pytest.param({"Origin": "http://evil.example"}, 403, id="another origin"),
        pytest.param({"Host": "evil.example"}, 421, id="another name"),
        pytest.param({"Sec-Fetch-Site": "none"}, 200, id="typed"),
    ],
)
def test_what_another_site_causes_is_refused(hub, headers, status):
    answer = hub.ask("GET", "/", headers=enter(hub) | headers)

    assert answer.status == status


def test_every_answer_has_the_headers_of_the_page(hub):
    for answer in (hub.ask("GET", "/", headers=enter(hub)), hub.ask("GET", "/")):
        headers = {name.lower(): value for name, value in answer.headers.items()}
        assert headers["content-security-policy"] == POLICY
        assert headers["cache-control"] == "no-store"
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["cross-origin-opener-policy"] == "same-origin"
        assert "access-control-allow-origin" not in headers
    assert hub.ask("POST", "/", headers=enter(hub)).status == 405
