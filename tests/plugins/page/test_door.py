"""Who gets in: the table of the page's security, row by row."""

import asyncio
import socket
import threading

import pytest

from ademem.plugins.http.loopback import bind
from ademem.plugins.page.entry import CODE_S, DIGITS_S, MOST_WRONG, Entry
from ademem.plugins.page.pages import PAGES
from ademem.plugins.page.rendering import POLICY
from ademem.plugins.page.server import LARGEST_BODY, make
from tests import builders
from tests.plugins.page.conftest import HOST, PORT, Browser, Clock

MEMORIES = next(page for page in PAGES if page.path == "/memories")


def test_it_listens_on_this_machine_alone():
    listening = bind(0)

    assert listening.getsockname()[0] == "127.0.0.1"
    assert listening.family == socket.AF_INET
    listening.close()


def test_a_code_is_good_once():
    entry = Entry(Clock())
    code = entry.new_code()

    assert entry.token_of(entry.redeem(code))
    assert entry.redeem(code) == ""
    assert len(code) * 6 >= 128


@pytest.mark.parametrize(
    ("seconds", "is_let_in"), [(CODE_S, True), (CODE_S + 1, False)], ids=["in time", "too late"]
)
def test_a_code_is_good_for_a_minute(seconds, is_let_in):
    clock = Clock()
    entry = Entry(clock)
    code = entry.new_code()
    clock.now += seconds

    assert bool(entry.redeem(code)) is is_let_in


def test_wrong_codes_close_the_entry():
    entry = Entry(Clock())
    for _ in range(MOST_WRONG):
        assert entry.redeem("guess") == ""

    assert entry.redeem(entry.new_code()) == ""
    assert entry.is_closed


def test_digits_approve_one_memory_once_and_not_for_long():
    clock = Clock()
    entry = Entry(clock)
    digits = entry.new_digits("a")
    assert not entry.check_digits("b", digits)
    assert entry.check_digits("a", f" {digits} ")
    assert not entry.check_digits("a", digits)

    late = entry.new_digits("a")
    clock.now += DIGITS_S + 1
    assert not entry.check_digits("a", late)
    assert not entry.check_digits("a", "")


def test_the_cookie_is_for_this_port_and_no_script(browser):
    answer = browser.client.get("/enter", params={"code": browser.site.entry.new_code()})

    cookie = answer.headers["set-cookie"]
    assert cookie.startswith(f"ademem_{PORT}=")
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert "Domain" not in cookie
    assert "expires" not in cookie.lower()
    assert answer.headers["location"] == "/"


@pytest.mark.parametrize("path", [page.path.replace("{id}", "x") for page in PAGES])
def test_a_stranger_sees_nothing_of_the_project(world, path):
    world.know("Money is stored in cents")
    stranger = Browser(world)
    answer = stranger.get(path)
    stranger.site.close()

    assert answer.status_code == 401
    assert "Money" not in answer.text
    assert world.root.name not in answer.text


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        pytest.param({"host": f"evil.example:{PORT}"}, 421, id="a name of another site"),
        pytest.param({"host": "127.0.0.1:9999"}, 421, id="another port"),
        pytest.param({"host": "127.0.0.1"}, 421, id="no port"),
        pytest.param({"host": f"localhost:{PORT}"}, 200, id="localhost"),
        pytest.param({"origin": f"http://{HOST}"}, 200, id="our origin"),
        pytest.param({"origin": "http://evil.example"}, 403, id="another origin"),
        pytest.param({"origin": "http://127.0.0.1:9999"}, 403, id="a page on another port"),
        pytest.param({"origin": f"https://{HOST}"}, 403, id="another scheme"),
        pytest.param({"origin": HOST}, 403, id="no scheme"),
        pytest.param({"origin": "null"}, 403, id="an opaque origin"),
        pytest.param(
            {"origin": "null", "sec-fetch-site": "cross-site"}, 403, id="a sandboxed frame"
        ),
        pytest.param(
            {"origin": "null", "sec-fetch-site": "same-origin"}, 200, id="our form, no referrer"
        ),
        pytest.param({"sec-fetch-site": "same-origin"}, 200, id="our page"),
        pytest.param({"sec-fetch-site": "none"}, 200, id="typed"),
        pytest.param({"sec-fetch-site": "same-site"}, 403, id="another port of localhost"),
        pytest.param({"sec-fetch-site": "cross-site"}, 403, id="another site"),
    ],
)
def test_requests_of_other_sites_are_refused(browser, headers, status):
    with_cookie = {"cookie": "; ".join(f"{k}={v}" for k, v in browser.client.cookies.items())}

    assert browser.get("/", headers=with_cookie | headers).status_code == status


def test_an_act_needs_the_token_of_a_page(browser):
    browser.world.know("Money is stored in cents")
    (memory,) = browser.world.live()
    path = f"/memory/{memory.id}/archive"

    assert browser.client.post(path).status_code == 403
    assert browser.client.post(path, data={"csrf": "guess"}).status_code == 403
    assert browser.memory(memory.id).status == "promoted"
    assert browser.client.post(path, headers={"x-csrf": browser.token}).status_code == 303
    assert browser.memory(memory.id).status == "archived"


@pytest.mark.parametrize("is_chunked", [True, False], ids=["in chunks", "with its length"])
def test_a_body_is_bounded(browser, is_chunked):
    body = b"x" * (LARGEST_BODY + 1)
    sent = iter([body]) if is_chunked else body

    assert browser.client.post("/theme", content=sent).status_code == 413


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_no_get_reaches_an_act(browser, method):
    browser.world.know("Money is stored in cents")
    (memory,) = browser.world.live()

    assert browser.client.request(method, f"/memory/{memory.id}/archive").status_code == 405
    assert browser.memory(memory.id).status == "promoted"


ANSWERS = ("/", "/memories", "/nothing", "/enter", "/static/x/page.css", "/memory/nothing")


@pytest.mark.parametrize("path", ANSWERS)
def test_every_answer_has_the_headers(browser, path):
    headers = browser.get(path).headers

    assert headers["content-security-policy"] == POLICY
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cross-origin-opener-policy"] == "same-origin"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert headers["cache-control"] == "no-store"
    assert not [name for name in headers if name.startswith("access-control")]


def test_static_files_are_cached_by_their_content_and_reach_no_other_file(browser):
    page = browser.get("/").text
    address = page.partition('<link rel="stylesheet" href="')[2].partition('"')[0]

    assert "immutable" in browser.get(address).headers["cache-control"]
    for name in ("../templates/base.html", "%2e%2e/templates/base.html", "vendor/VENDOR.toml"):
        assert browser.get(f"/static/x/{name}").status_code == 404


def test_an_error_names_the_log_and_shows_no_trace(browser, monkeypatch):
    page = PAGES[0]

    def fail(*_):
        raise ZeroDivisionError("secret detail")

    monkeypatch.setitem(page.__dict__, "read", fail)
    answer = browser.get(page.path)

    assert answer.status_code == 500
    assert "unexpected" in answer.text
    assert "Traceback" not in answer.text


def test_a_text_of_a_memory_cannot_become_markup(browser):
    hostile = '<script>alert(1)</script><img src=x onerror="alert(2)"> \u202egnp.exe'
    with browser.world.memories() as memories:
        (memory,) = builders.insert(memories.store, builders.memory(hostile, title=hostile))

    for path in ("/", "/memories", "/memories?q=script&explain=1", f"/memory/{memory.id}"):
        page = browser.get(path).text
        assert "<script>alert" not in page
        assert "<img" not in page
        assert "\u202e" not in page


def test_a_read_only_page_decides_nothing(world):
    world.know("Money is stored in cents")
    (memory,) = world.live()
    browser = Browser(world, read_only="an agent runs this shell").enter()
    for verb in ("archive", "pin", "delete", "promote", "reject", "edit"):
        answer = browser.post(f"/memory/{memory.id}/{verb}", content="Other")
        assert answer.status_code == 403
    assert browser.post("/undo").status_code == 403
    assert f'action="/memory/{memory.id}' not in browser.get(f"/memory/{memory.id}").text
    browser.site.close()

    (unchanged,) = world.live()
    assert unchanged == memory


def test_a_search_that_no_browser_waits_for_is_given_up(browser, monkeypatch):
    """As each key of a search as you type goes away when the next one comes."""
    started, may_end = threading.Event(), threading.Event()
    site, searched = browser.site, []
    reads = next(iter(site.projects.values())).reads

    async def ask(query, is_gone):
        body = iter([{"type": "http.request", "body": b""}])

        async def receive():
            if message := next(body, None):
                return message
            await is_gone.wait()
            return {"type": "http.disconnect"}

        async def send(message):
            searched.append((query, message.get("status")))

        cookies = "; ".join(f"{name}={value}" for name, value in browser.client.cookies.items())
        head = [(b"host", HOST.encode()), (b"cookie", cookies.encode())]
        scope = {"type": "http", "method": "GET", "path": "/memories", "headers": head}
        scope |= {"query_string": f"q={query}".encode(), "raw_path": b"/memories"}
        scope |= {"scheme": "http", "server": ("127.0.0.1", PORT), "http_version": "1.1"}
        await make(site)(scope | {"root_path": ""}, receive, send)

    async def type_words():
        gone, still_there = asyncio.Event(), asyncio.Event()
        running = asyncio.create_task(reads.call(lambda _: (started.set(), may_end.wait(10))))
        await asyncio.to_thread(started.wait, 10)
        older = [asyncio.create_task(ask(query, gone)) for query in ("mo", "mon", "mone")]
        newest = asyncio.create_task(ask("money", still_there))
        await asyncio.sleep(0)
        gone.set()
        await asyncio.gather(*older)
        may_end.set()
        await asyncio.gather(running, newest)

    asked, read = [], MEMORIES.read
    monkeypatch.setitem(
        MEMORIES.__dict__,
        "read",
        lambda memories, given: asked.append(given.query["q"]) or read(memories, given),
    )
    asyncio.run(type_words())

    assert asked == ["money"]
    assert ("money", 200) in searched
