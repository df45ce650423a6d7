"""Every route in a real browser: with data, empty and failing, in both schemes and three widths."""

import os
from pathlib import Path

import pytest

from ademem.plugins.page.pages import PAGES
from tests.examples import FULL, some
from tests.plugins.page import scenes
from tests.plugins.page.hostile import TEXTS, seed
from tests.plugins.page.window import expect, find_violations

pytestmark = pytest.mark.slow
SCREENSHOTS = os.environ.get("ADEMEM_SCREENSHOTS", "")
STATES = ("data", "empty", "error")
ALL = [
    (state, scheme, width)
    for state in STATES
    for scheme in ("light", "dark")
    for width in (1280, 390, 320)
]
SOME = [("data", "dark", 320), ("empty", "light", 390), ("error", "light", 1280)]
OVER = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
LOOK = """() => ({
    ran: window.ran || '',
    over: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    foreign: [...document.querySelectorAll(
        'main :is(img, iframe, object, script, base, link, style, meta, marquee, video, math, body)'
        + ', [onerror], [onload], [onclick], [onfocus], [onmouseover], [style*=url], [hx-post]'
        + ', [hx-get]:not(#filters, #at), [data-hx-get], [srcdoc]'
        + ', a:is([href^="javascript" i], [href^="data" i], [href^="http" i], [href^="//"])')]
        .filter((each) => !(each.src || each.href || '').startsWith(`${location.origin}/static/`))
        .map((each) => each.outerHTML.slice(0, 200)),
})"""
REFUSED = ("400 (Bad Request)", "404 (Not Found)", "401 (Unauthorized)", "500 (Internal")


def check(page, path, name):
    """Return what is wrong with the page that a window shows."""
    if SCREENSHOTS:
        Path(SCREENSHOTS).mkdir(parents=True, exist_ok=True)
        page.screenshot(path=f"{SCREENSHOTS}/{name}-{scenes.name_of(path)}.png", full_page=True)
    found = find_violations(page)
    if over := page.evaluate(OVER):
        found.append(f"{over} pixels too wide")
    return found


def test_every_route_has_a_scene(shown):
    routes = scenes.routes_of(shown.site, "GET")

    assert set(routes) == set(scenes.scenes("none"))
    assert len(routes) == len(set(routes))


@pytest.mark.parametrize(("state", "scheme", "width"), ALL if FULL else SOME)
def test_every_page_is_accessible_and_fits(shown, monkeypatch, state, scheme, width):
    shown.site.show_digits = lambda *_: None
    addresses = scenes.fill(shown.world) if state == "data" else scenes.scenes("none")
    page = shown.window("/", color_scheme=scheme, viewport={"width": width, "height": 800})
    if state == "error":
        for each in PAGES:
            monkeypatch.setitem(each.__dict__, "read", lambda *_: {}["nothing"])
    name, found = f"{state}-{scheme}-{width}", {}
    shut = scenes.RAW | scenes.STREAMS
    most = None if FULL else 2 if state == "data" else 1
    routes = [route for route in addresses if route not in shut]
    if state == "error":  # which one template shows at each route
        routes = some(routes)
    for path in (path for route in routes for path in addresses[route][:most]):
        shown.go(page, path)
        found[path] = check(page, path, name)
    if state == "data":
        shown.go(page, addresses["/memory/{id}"][0])
        page.locator("summary", has_text="Edit").click()
        page.click("#act-preview")
        expect(page.locator("h1")).to_contain_text("nothing is saved yet")
        found["preview"] = check(page, "preview", name)
    shown.problems = [line for line in shown.problems if not any(each in line for each in REFUSED)]

    assert {path: each for path, each in found.items() if each} == {}


@pytest.mark.parametrize("part", range(4 if FULL else 1))
def test_no_page_runs_or_lays_out_a_hostile_text(shown, part):
    texts = TEXTS[part::4]
    addresses = seed(shown.world, texts)
    page = shown.window(viewport={"width": 320, "height": 800})
    page.on("dialog", lambda dialog: shown.problems.append(f"a dialog said {dialog.message}"))
    wrong = {}
    for path in addresses if FULL else addresses[:20]:
        shown.go(page, path)
        marks = page.evaluate(LOOK)
        if any(marks.values()):
            wrong[path] = marks
    shown.problems = [line for line in shown.problems if not any(each in line for each in REFUSED)]

    assert wrong == {}
