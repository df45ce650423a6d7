"""The page in a real browser: keys, scripts off, accessibility, and requests that leave."""

import re

import pytest

from ademem.operations import curation, searching, sessions
from ademem.plugins.evaluation import golden
from tests.plugins.hub.hubs import Served, mutation
from tests.plugins.page.window import CANDIDATES, expect, find_violations
from tests.postgres import make_database

pytestmark = pytest.mark.slow


def test_a_plot_is_drawn_from_its_table_under_the_policy(shown):
    shown.world.know("Invoices are sent by the night job")
    with shown.world.memories() as memories:
        golden.add(memories, "Who sends invoices?", [searching.list_memories(memories)[0].id])
        for _ in range(2):
            golden.measure(memories)
    page = shown.window("/eval")
    expect(page.locator(".plot canvas")).to_have_count(4)
    names = page.locator('[data-plot="runs-1"] .u-label').all_inner_texts()
    drawn = """canvas => canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height)
        .data.filter((value, at) => at % 4 == 3 && value > 0).length"""

    assert names == ["ademem", "BM25 only"]
    assert page.locator(".plot canvas").first.evaluate(drawn) > 500
    assert page.locator("#runs-1 tbody tr").count() == 2


def test_a_graph_is_drawn_with_a_link_for_each_node(shown):
    shown.world.know("A refund takes a day", "A refund takes two days", tags=("payments",))
    one, other = shown.world.live()
    shown.world.contradict(one, other)
    page = shown.window(f"/graph?memory={one.id}")
    drawing = page.locator("svg.graph")
    expect(drawing.locator("circle")).to_have_count(2)

    assert drawing.locator("rect").count() == 1
    assert drawing.locator("line.against").count() == 1
    inside = drawing.evaluate("""svg => [...svg.querySelectorAll('circle, rect')].every((each) => {
      const [one, all] = [each.getBoundingClientRect(), svg.getBoundingClientRect()];
      return one.left >= all.left && one.right <= all.right && one.bottom <= all.bottom;
    })""")
    assert inside
    drawing.locator("rect").click()
    page.wait_for_url("**/graph?tag=payments")
    expect(drawing.locator("circle")).to_have_count(2)


def test_an_id_of_which_the_beginning_is_shown_is_copied_whole(shown):
    id = "1f6a2c1e-6b1b-4a53-9b0e-2f0f0f9f7f77"
    with shown.world.memories() as memories:
        sessions.start_session(memories, id)
    page = shown.window("/sessions")
    page.locator("main li summary").click()
    code = page.locator("main li code")
    code.dblclick()
    visible = code.evaluate("element => element.getBoundingClientRect().width")
    code.evaluate("element => getSelection().selectAllChildren(element)")

    assert page.evaluate("getSelection().toString()") == id
    assert visible < 150


def test_a_review_by_keyboard_and_the_way_back(shown):
    shown.learn(*CANDIDATES)
    before = shown.statuses()
    page = shown.window("/review")
    page.evaluate("window.kept = true")
    for key in "arparapr":
        first = page.locator(".queue .current input").get_attribute("value")
        page.keyboard.press(key)
        expect(page.locator(f'.queue input[value="{first}"]')).to_have_count(0)
    assert "Nothing waits" in page.locator("#review").inner_text()
    assert page.evaluate("window.kept")  # no full page load
    after = shown.statuses()
    for number in range(8):
        page.keyboard.press("z")
        expect(page.locator(".queue li")).to_have_count(number + 1)

    assert sorted(after.values()) == ["archived"] * 3 + ["promoted"] * 5
    assert shown.statuses() == before


def test_today_is_read_and_decided_by_keyboard(shown):
    shown.learn(*CANDIDATES[:2])
    page = shown.window()
    page.keyboard.press("a")
    page.keyboard.press("j")
    first = page.evaluate("document.activeElement.innerText")
    page.keyboard.press("j")
    second = page.evaluate("document.activeElement.innerText")
    with page.expect_navigation():
        page.keyboard.press("a")
    expect(page.locator("#undo-bar")).to_contain_text(f"Kept “{second}”")

    assert {first, second} == set(CANDIDATES[:2])
    assert shown.statuses() == {first: "candidate", second: "promoted"}
    with page.expect_navigation():
        page.keyboard.press("v")
    assert page.url.endswith("/review")


def test_the_keys_of_a_page_are_shown_over_it_and_act_on_nothing_meanwhile(shown):
    shown.learn(*CANDIDATES[:2])
    page = shown.window("/review")
    keys = page.locator("#keys")
    page.keyboard.press("?")
    expect(keys).to_be_visible()
    expect(keys).to_contain_text("merge with the one like it")
    assert find_violations(page) == []
    page.keyboard.press("a")
    page.keyboard.press("Escape")
    expect(keys).to_be_hidden()
    page.keyboard.press("?")
    expect(keys).to_be_visible()
    keys.locator("button").click()

    assert list(shown.statuses().values()) == ["candidate"] * 2
    shown.go(page, "/keys")
    assert page.locator("main h2").all_inner_texts()[:2] == ["Today", "Memories"]


def test_a_key_before_the_next_card_is_not_taken_and_says_so(shown):
    shown.learn(*CANDIDATES[:3])
    page = shown.window("/review")
    page.evaluate("""() => {
      for (const key of ["a", "r"])
        document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
    }""")
    expect(page.locator(".queue li")).to_have_count(2)
    expect(page.locator("#not-taken")).to_contain_text("“r” was not taken")

    assert sorted(shown.statuses().values()) == ["candidate"] * 2 + ["promoted"]
    page.keyboard.press("r")
    expect(page.locator(".queue li")).to_have_count(1)
    expect(page.locator("#not-taken")).to_be_empty()


def test_several_are_selected_and_decided_by_keyboard(shown):
    shown.learn(*CANDIDATES[:4])
    page = shown.window("/review")
    page.keyboard.press("x")
    page.keyboard.press("r")
    expect(page.locator(".queue li")).to_have_count(3)

    assert list(shown.statuses().values()).count("archived") == 1


def test_all_memories_shown_are_selected_at_once(shown):
    shown.learn(*CANDIDATES[:4])
    page = shown.window("/memories?q=night")
    page.fill("#find", "")
    page.press("#find", "Enter")
    expect(page.locator("#rows .mems > li")).to_have_count(4)
    page.check("#pick")
    page.check("#select-all")
    page.locator("#rows .mems input").first.uncheck()
    page.click('#bulk button[value="promote"] >> visible=true')
    expect(page.locator("#undo-bar")).to_be_visible()

    assert sorted(shown.statuses().values()) == ["candidate", *["promoted"] * 3]
    assert find_violations(page) == []


def test_search_as_you_type_keeps_the_focus(shown):
    shown.world.know("Money is stored in cents", "Login tokens expire in UTC")
    page = shown.window("/memories")
    page.keyboard.press("/")
    page.keyboard.type("tokens")
    expect(page.locator("#rows .mems > li")).to_have_count(1)

    assert "Login tokens" in page.locator("#rows").inner_text()
    assert page.evaluate("document.activeElement.id") == "find"
    expect(page).to_have_url(re.compile("q=tokens"))


def test_a_request_that_a_newer_one_replaces_is_no_problem(shown):
    shown.learn(*CANDIDATES)
    page = shown.window("/memories")
    page.route("**/memories?q=invoices*", lambda route: None)  # which is never answered
    with page.expect_request("**/memories?q=invoices*"):
        page.fill("#find", "invoices")
    with page.expect_event("requestfailed"):
        page.fill("#find", "refunds")
    expect(page.locator("#rows .mems > li")).to_have_count(1)

    assert shown.problems == []


def test_a_request_that_the_network_fails_is_a_problem(shown):
    page = shown.window("/memories")
    page.route("**/memories?q=invoices*", lambda route: route.abort("connectionreset"))
    with page.expect_console_message(lambda line: line.text.startswith("htmx:sendError")):
        page.fill("#find", "invoices")

    assert [line for line in shown.problems if line.startswith("htmx:sendError")]
    shown.problems.clear()


def test_the_way_back_leads_past_what_was_typed_and_shows_what_is_there_now(shown):
    shown.world.know("Money is stored in cents", "Login tokens expire in UTC")
    page = shown.window("/missions")
    shown.go(page, "/memories")
    for words in ("login", "login tokens"):
        page.fill("#find", words)
        expect(page).to_have_url(re.compile(words.replace(" ", "(%20|\\+)") + "&"))
    expect(page.locator("#rows .mems > li")).to_have_count(1)
    page.click("#rows a")
    expect(page.locator("h1")).to_have_text("Login tokens expire in UTC")
    with shown.world.terminal() as memories:
        curation.delete(memories, page.url.rpartition("/")[2], hard=True)
    page.go_back()
    expect(page.locator("#find")).to_have_value("login tokens")
    assert page.locator("#rows .mems > li").count() == 0
    page.go_back()

    expect(page).to_have_url(re.compile("/missions$"))
    assert "cents" not in page.evaluate("JSON.stringify(sessionStorage)")


def test_without_scripts_everything_works_by_forms(shown):
    shown.learn("Money is stored in cents")
    page = shown.window(java_script_enabled=False)
    page.fill("#find", "money")
    page.press("#find", "Enter")
    page.click("#rows .said a")
    page.click("#act-promote")
    expect(page.locator("#undo")).to_be_visible()
    assert shown.statuses() == {"Money is stored in cents": "promoted"}
    page.click("#undo")
    expect(page.locator("#redo")).to_be_visible()

    assert shown.statuses() == {"Money is stored in cents": "candidate"}


def test_new_rows_wait_behind_a_button(shown):
    shown.learn(*CANDIDATES[:2])
    page = shown.window("/memories")
    expect(page.locator("#live")).to_have_text("● live")
    shown.learn(*CANDIDATES[2:5])
    button = page.locator("#news button")
    expect(button).to_have_text("3 new")
    assert page.locator("#rows .mems > li").count() == 2
    assert page.locator("#news").get_attribute("role") == "status"
    assert find_violations(page) == []
    button.focus()
    page.keyboard.press("Enter")
    expect(page.locator("#rows .mems > li")).to_have_count(5)

    assert page.locator("#rows .fresh").count() == 3
    assert page.evaluate("document.activeElement.closest('.fresh') !== null")
    assert page.locator("#news").inner_text() == ""


def test_the_page_of_a_running_session_grows(shown):
    shown.world.know("Invoices are sent by the night job", pinned=True)
    shown.world.fire("session_start", source="startup")
    page = shown.window("/session/s1")
    expect(page.locator("#live")).to_have_text("● live")
    before = page.locator(".moments > li").count()
    other = shown.window("/sessions")
    expect(other.locator("#live")).to_have_text("● live")
    shown.learn(*CANDIDATES[1:3])
    expect(page.locator("#news button")).to_have_text("2 new")
    page.click("#news button")
    expect(page.locator(".moments > li")).to_have_count(before + 2)
    shown.world.environment["CLAUDE_CODE_SESSION_ID"] = "s2"
    shown.world.fire("session_start", source="startup", session_id="s2")
    expect(other.locator("#news button")).to_have_text("1 new")

    assert page.locator("#news").inner_text() == ""  # of another session


def test_the_address_in_a_text_is_copied_whole(shown):
    shown.learn("The runbook is at https://example.org/run?a=1&b=%22.")
    page = shown.window("/review")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.click("[data-copy]")

    expect(page.locator("[data-copy]")).to_have_text("Copied")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied == "https://example.org/run?a=1&b=%22"


def test_an_act_of_this_window_is_no_news(shown):
    shown.learn(*CANDIDATES[:3])
    page = shown.window("/review")
    expect(page.locator("#live")).to_have_text("● live")
    page.keyboard.press("a")
    expect(page.locator(".queue li")).to_have_count(2)
    other = shown.window("/")
    shown.learn(CANDIDATES[4])
    expect(other.locator("#news button")).to_be_visible()
    expect(page.locator("#news button")).to_have_text("1 new")


WINDOWS = 9
"""More than the six connections that a browser has for one server."""


def open_windows(shown, path):
    first = shown.window(path)
    windows = [first, *(first.context.new_page() for _ in range(WINDOWS - 1))]
    for window in windows[1:]:
        shown.go(window, path)
    return windows


def test_windows_share_one_connection_and_hand_it_on(shown):
    live = shown.site.projects["project"].live
    windows = open_windows(shown, "/memories")
    for window in windows:
        expect(window.locator("#live")).to_have_text("● live")
    assert live._windows == 1
    for number, text in enumerate(CANDIDATES[:2], 1):
        shown.learn(text)
        for window in windows:
            expect(window.locator("#news button")).to_have_text(f"{number} new")
    windows.pop(0).close()  # which had the connection
    windows.pop(0).close()
    shown.learn(CANDIDATES[2])
    for window in windows:
        expect(window.locator("#news button")).to_have_text("3 new")
    assert live._windows == 1
    late = windows[0].context.new_page()
    shown.go(late, "/memories")
    expect(late.locator("#live")).to_have_text("● live")
    expect(late.locator("#rows .mems > li")).to_have_count(3)
    assert late.locator("#news").inner_text() == ""


def test_a_window_that_joins_gets_what_it_missed(shown):
    shown.learn(*CANDIDATES[:1])
    first = shown.window("/memories")
    expect(first.locator("#live")).to_have_text("● live")
    late = first.context.new_page()
    late.route("**/page.js", lambda route: (shown.learn(*CANDIDATES[1:3]), route.continue_()))
    shown.go(late, "/memories")  # whose script comes after the page and what was learned since

    expect(late.locator("#news button")).to_have_text("2 new")
    expect(first.locator("#news button")).to_have_text("2 new")


def test_a_browser_without_shared_locks_has_a_connection_of_each_window(shown):
    first = shown.window("/missions")
    first.context.add_init_script("delete window.BroadcastChannel")
    windows = [first, first.context.new_page()]
    for window in windows:
        shown.go(window, "/memories")
        expect(window.locator("#live")).to_have_text("● live")
    shown.learn(CANDIDATES[0])
    for window in windows:
        expect(window.locator("#news button")).to_have_text("1 new")

    live = shown.site.projects["project"].live
    for _ in range(100):  # the server notices late that the page before was left
        if live._windows == len(windows):
            break
        first.wait_for_timeout(50)
    assert live._windows == len(windows)


def test_a_lost_connection_is_reported_and_tried_again(shown):
    page = shown.window("/memories")
    expect(page.locator("#live")).to_have_text("● live")
    shown.site.is_ending = lambda: True
    expect(page.locator("#live")).to_have_text("○ connection lost")
    expect(page.locator("#news")).to_have_text("Connection lost; trying again.")
    shown.learn(*CANDIDATES[:2])
    shown.site.is_ending = lambda: False
    expect(page.locator("#news button")).to_have_text("2 new")
    expect(page.locator("#live")).to_have_text("● live")


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 320)])
def test_the_page_of_the_hub_has_no_violation_and_asks_nobody_else(
    cluster, chromium, scheme, width
):
    problems = []
    with Served(make_database(cluster)).serving() as hub:
        hub.join("olga", "owner")
        hub.join("<script>alert(1)</script>" + "a" * 200)
        hub.push("olga", mutation(hub.project, "m1"))
        path = hub.ask("POST", hub.path(rest="/page"), who="olga").json()["path"]
        page = chromium.new_context(
            color_scheme=scheme,
            viewport={"width": width, "height": 800},
        ).new_page()
        page.on("console", lambda line: problems.append(line.text))
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("request", lambda one: one.url.startswith(hub.url) or problems.append(one.url))
        page.goto(hub.url + path)

        expect(page.locator("h1")).to_contain_text("team")
        expect(page.locator("table")).to_have_count(4)
        assert find_violations(page) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        page.context.close()
    assert problems == []
