"""What fails is told in a sentence and leaks nothing, and the page lives on."""

import contextlib
import shutil
import sqlite3

import pytest
from starlette.testclient import TestClient

from ademem.plugins.page.memory_threads import Check
from ademem.plugins.page.pages import ACTS, PAGES
from ademem.plugins.page.server import make
from tests.plugins.page import scenes
from tests.plugins.page.conftest import HOST
from tests.plugins.page.test_pages import texts

SECRET = "zanzibar-4711"
LEAKS = (SECRET, "Traceback", "ZeroDivisionError", 'File "')


@pytest.fixture(autouse=True)
def no_checks(monkeypatch):
    """The page of the checks starts none, which would start each hook as a process."""
    monkeypatch.setattr(Check, "start", lambda _: None)


def fail(*_):
    raise ZeroDivisionError(SECRET)


def address_of(route):
    known = scenes.scenes("none")
    return known[route][0] if route in known else route.replace("{id}", "s1")


@pytest.mark.parametrize("head", [{}, {"hx-request": "true"}], ids=["whole", "part"])
def test_a_page_that_fails_tells_a_sentence_and_the_log(browser, monkeypatch, head):
    for page in PAGES:
        with monkeypatch.context() as patched:
            patched.setitem(page.__dict__, "read", fail)
            answer = browser.get(address_of(page.path), headers=head)

        assert answer.status_code == 500, page.path
        assert "unexpected error" in texts(answer.text)
        assert "crash.log" in texts(answer.text)
        assert [leak for leak in LEAKS if leak in answer.text] == []
        assert browser.get(address_of(page.path)).status_code != 500


def test_an_act_that_fails_tells_a_sentence_and_the_log(browser, monkeypatch):
    for act in ACTS:
        with monkeypatch.context() as patched:
            patched.setitem(act.__dict__, "do", fail)
            answer = browser.post(address_of(act.path))

        assert answer.status_code == 500, act.path
        assert "crash.log" in texts(answer.text)
        assert [leak for leak in LEAKS if leak in answer.text] == []
    assert browser.get("/").status_code == 200


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_every_route_that_fails_is_answered(browser, monkeypatch, method):
    application = make(browser.site)
    asked = TestClient(application, base_url=f"http://{HOST}", cookies=browser.client.cookies)
    found = {}
    assert not {"/undo", "/events", "/enter"} - {route.path for route in application.app.app.routes}
    for route in application.app.app.routes:
        if method in route.methods:
            with monkeypatch.context() as patched:
                patched.setattr(route, "app", fail)
                answer = asked.request(method, address_of(route.path))
            leaks = [leak for leak in LEAKS if leak in answer.text]
            found[route.path] = answer.status_code, leaks

    assert len(found) > 20
    assert {route: each for route, each in found.items() if each != (500, [])} == {}
    assert asked.get("/").status_code == 200


def test_an_undo_that_fails_is_answered_and_kept(browser, monkeypatch):
    browser.world.know("Money is stored in cents")
    (memory,) = browser.world.live()
    browser.post(f"/memory/{memory.id}/archive")
    with monkeypatch.context() as patched:
        patched.setattr("ademem.operations.curation.undo", fail)
        answer = browser.post("/undo")

    assert answer.status_code == 500
    assert not [leak for leak in LEAKS if leak in answer.text]
    assert browser.post("/undo").status_code == 303
    assert browser.memory(memory.id).status == "promoted"


@contextlib.contextmanager
def held(world, begin, *pragmas):
    """Another process has the database, and does not come to an end."""
    with contextlib.closing(sqlite3.connect(world.root / ".ade/ade.db")) as other:
        other.isolation_level = None
        for pragma in pragmas:
            other.execute(pragma)
        other.execute(begin)
        yield


def prepare(browser, pragma):
    """Run a pragma in the connection of the thread that acts."""
    acts = browser.site.projects["project"].acts
    acts._pool.submit(acts._run, lambda memories: memories.store.db.execute(pragma)).result()


def all_pages(browser):
    """The status and the texts of every page."""
    answers = {page.path: browser.get(address_of(page.path)) for page in PAGES}
    return {path: (answer.status_code, texts(answer.text)) for path, answer in answers.items()}


def test_a_locked_database_is_reported_and_the_page_lives(browser):
    browser.world.know("Money is stored in cents")
    (memory,) = browser.world.live()
    with held(browser.world, "begin immediate"):
        prepare(browser, "pragma busy_timeout = 20")
        answer = browser.post(f"/memory/{memory.id}/archive")
        pages = all_pages(browser)

    assert answer.status_code == 503
    assert "database is locked" in texts(answer.text)
    assert "another program holds it; try again; ademem doctor" in texts(answer.text)
    assert {status for status, _ in pages.values()} <= {200, 404}  # who reads waits for nobody
    assert browser.memory(memory.id) == memory
    assert browser.post(f"/memory/{memory.id}/archive").status_code == 303


def test_a_full_disk_is_reported_and_the_page_lives(browser):
    browser.world.know("Money is stored in cents")
    (memory,) = browser.world.live()
    prepare(browser, "pragma max_page_count = 1")
    long = {"title": "Money", "content": "Money in cents " * 3000}
    answer = browser.post(f"/memory/{memory.id}/edit", **long)
    pages = all_pages(browser)

    assert answer.status_code == 503
    assert "database or disk is full" in texts(answer.text)
    assert "make room on that disk; ademem doctor" in texts(answer.text)
    assert "Your text, which was not saved" in answer.text
    assert {status for status, _ in pages.values()} <= {200, 404}
    assert browser.memory(memory.id) == memory
    assert browser.post(f"/memory/{memory.id}/edit", content="In euros").status_code == 303


@pytest.mark.parametrize(
    ("damage", "status", "told"),
    [
        ("corrupt", 503, "file is not a database"),
        ("newer", 503, "newer"),
        ("gone", 409, "ademem init"),
    ],
)
def test_every_page_tells_what_cannot_be_used(browser, damage, status, told):
    folder = browser.world.root / ".ade"
    kept = browser.world.root / "kept"
    if damage == "newer":
        with browser.world.memories() as memories:
            memories.store.db.execute("pragma user_version = 9999")
    elif damage == "corrupt":
        shutil.copytree(folder, kept, ignore=shutil.ignore_patterns("*.sock"))
        for path in folder.glob("ade.db*"):
            path.unlink()
        (folder / "ade.db").write_bytes(b"SQLite format 3\0" + b"rubbish" * 1000)
    else:
        folder.rename(kept)
    pages = all_pages(browser)

    assert {path: each[0] for path, each in pages.items() if each[0] != status} == {}
    assert {path for path, each in pages.items() if told not in each[1]} == set()
    assert {path for path, each in pages.items() if "ademem " not in each[1]} == set()
    if damage != "newer":
        shutil.rmtree(folder, ignore_errors=True)
        kept.rename(folder)
        assert browser.get("/").status_code == 200


def test_an_error_that_begins_with_an_id_does_not_change_it(browser):
    memory = browser.world.know("Money is stored in cents") or browser.world.live()[0]
    browser.post(f"/memory/{memory.id}/pin")
    late = browser.post(f"/memory/{memory.id}/pin", revision="1")

    assert late.status_code == 409
    assert f"<h1>{memory.id[:12]} is at revision" in late.text
    assert "<h1>No memory has the id" in browser.get("/memory/zz").text
