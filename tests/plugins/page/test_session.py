"""What a session was sent, byte for byte, and what it cost."""

import html
import re
from hashlib import sha256

import pytest

from ademem.core.redaction import Redacted
from ademem.core.text import counted
from ademem.doors.views.session import spent_json
from ademem.operations import curation, placing, reports, sessions, upkeep
from ademem.plugins.page.pages import PAGES
from ademem.search import binding
from ademem.store import episodes
from ademem.store.episodes import Action, Episode, Run
from tests import builders
from tests.plugins.page.conftest import Browser

CANARY = "zanzibar-4711"


@pytest.fixture
def sent(browser):
    """A session that was briefed and asked something."""
    world = browser.world
    world.know("Login tokens expire in UTC", f"Never force-push to main, says {CANARY}")
    context = world.context("session_start", source="startup")
    world.fire("user_prompt_submit", prompt="Why do login tokens expire?", prompt_id="p1")
    return browser, context


def test_a_session_shows_each_text_as_it_was_sent(sent):
    browser, context = sent
    page = browser.get("/session/s1").text
    shown = html.unescape(re.search(r'<pre class="sent-text"[^>]*>(.*?)</pre>', page, re.S)[1])

    assert CANARY in context
    assert shown == context
    assert sha256(context.encode()).hexdigest() in page
    assert browser.get("/session/s1/text/0").content == context.encode()


def test_a_long_session_is_read_by_pages(sent, monkeypatch):
    browser, _ = sent
    browser.world.fire("user_prompt_submit", prompt="Who may force-push to main?", prompt_id="p2")
    moments = re.compile(r'data-row="([^"]+)"')
    whole = moments.findall(browser.get("/session/s1").text)
    monkeypatch.setattr("ademem.plugins.page.paging.PAGE", 2)
    address, pages = "/session/s1", []
    while address:
        page = browser.get(address).text
        pages.insert(0, moments.findall(page))
        link = re.search(r'rel="prev" href="([^"]+)"', page)
        address = html.unescape(link[1]) if link else ""

    assert len(pages[-1]) == 2 < len(whole) == len(set(whole))
    assert [key for page in pages for key in page] == whole


def test_every_text_of_the_command_is_on_the_page(sent):
    browser, _ = sent
    page = browser.get("/session/s1").text
    with browser.world.memories() as memories:
        texts = sessions.list_sent(memories, "s1")[1]

    assert texts
    for each in texts:
        assert each.sha256 in page


def test_a_session_shows_its_own_denials_with_their_reason(sent):
    browser, _ = sent
    for session, command in (("s1", "terraform destroy"), ("s2", "dropdb shop")):
        browser.world.know(f"Never run {command}", tags=("stop",))
        call = {"tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": "toolu_1"}
        browser.world.fire("pre_tool_use", session_id=session, prompt_id="p1", **call)
    page = browser.get("/session/s1").text

    assert page.count("Denied by the guard") == 1
    assert "<code>Bash terraform destroy</code>" in page
    assert "<code>Bash dropdb shop</code>" not in page


def test_the_timeline_leads_to_the_session(sent):
    browser, _ = sent

    browser.world.fire("user_prompt_submit", prompt="Who may force-push to main?", prompt_id="p2")
    for path in ("/sessions", "/"):
        link = re.search(r'href="/session/s1">(.*?)</a>', browser.get(path).text, re.S)
        assert "Why do login tokens expire?" in link[1]
    assert (
        re.search(r"<h1[^>]*>(.*?)</h1>", browser.get("/session/s1").text)[1]
        == "Why do login tokens expire?"
    )


def test_the_timeline_goes_on_by_key(browser, monkeypatch):
    monkeypatch.setattr("ademem.plugins.page.pages.PAGE", 2)
    with browser.world.memories() as memories:
        for number in range(5):
            sessions.start_session(memories, f"s{number}")
    address, listed = "/sessions?branch=", []
    while address:
        page = browser.get(address).text
        listed.append(re.findall(r'data-row="(\w+)"', page))
        link = re.search(r'rel="next" href="([^"]+)"', page)
        address = html.unescape(link[1]) if link else ""

    assert [len(rows) for rows in listed] == [2, 2, 1]
    assert [id for rows in listed for id in rows] == ["s4", "s3", "s2", "s1", "s0"]


def test_the_timeline_tells_what_a_session_did_and_how_it_ended(sent):
    browser, _ = sent
    browser.world.know("Never run terraform destroy", tags=("stop",))
    call = {"tool_name": "Bash", "tool_input": {"command": "terraform destroy"}}
    browser.world.fire(
        "pre_tool_use", session_id="s1", prompt_id="p1", tool_use_id="toolu_1", **call
    )
    with browser.world.memories() as memories, memories.store.transaction():
        (told,) = builders.insert(
            memories.store, builders.memory("Fixed the login", source_type="episode")
        )
        episode = Episode(
            memory_id=told.id,
            session_id="s1",
            task="fix the login",
            outcome="succeeded",
            started_at="2026-03-01T12:00:00.000000Z",
            ended_at="2026-03-01T12:10:00.000000Z",
            actions=tuple(
                Action(tool=tool, target="x", kind=kind)
                for tool, kind in (("Edit", "edit"), ("Write", "edit"), ("Bash", "test"))
            ),
            tests=(Run(command="pytest", passed=3, failed=1), Run(command="pytest", passed=4)),
            errors=("one failed",),
        )
        episodes.put(memories.store, episode, memories.now)
    page = browser.get("/sessions").text

    assert "guard: deny 1" in page
    assert "tools: edit 2, test 1" in page
    assert f'href="/memory/{told.id}">succeeded: 4 passed, 1 error</a>' in page


@pytest.mark.parametrize("path", ["/session/none", "/session/s1/text/99", "/session/s1/text/x"])
def test_what_is_not_there_is_reported(sent, path):
    browser, _ = sent

    assert browser.get(path).status_code == 404


def test_unused_memories_are_listed_by_their_cost(sent):
    browser, _ = sent
    page = browser.get("/injections").text

    assert "never used" in page
    assert CANARY in page


def test_a_costly_memory_is_bound_to_its_file_and_command_where_it_is_listed(sent):
    browser, _ = sent
    page = browser.get("/injections").text
    id = re.search(r'action="/memory/(\w+)/bind"', page)[1]
    before = browser.memory(id)
    browser.post(f"/memory/{id}/bind", revision="1", path="src/*.py", command="git  push")
    with browser.world.memories() as memories:
        at = {binding.describe(each) for each in placing.show_places(memories, id).at}

    assert at >= {"src/*.py", "`git push`"}
    assert f'action="/memory/{id}/archive"' in page
    assert f'action="/memory/{id}/pin"' in page
    browser.post("/undo")
    after = browser.memory(id)
    assert (after.file_scope_pattern, after.anchors) == (before.file_scope_pattern, before.anchors)
    assert browser.post(f"/memory/{id}/bind", path=" ", command="").status_code == 400


def test_the_cost_is_that_of_the_command(sent):
    browser, _ = sent
    page = browser.get("/cost").text
    with browser.world.memories() as memories:
        texts = spent_json(reports.get_ledger(memories), lambda memory: False)
    figures = [f"<b>{texts[name]:,}</b>" for name in ("tokens", "memory_tokens", "used_tokens")]
    events = [each["event"] for each in texts["by_event"]]

    assert texts["tokens"] > texts["memory_tokens"] > 0
    assert all(figure in page for figure in figures)
    assert events
    assert all(f'<th scope="row">{name}</th>' in page for name in events)
    assert 'href="/session/s1"' in page
    assert CANARY in page


def test_injections_and_cost_tell_the_same_sums(sent):
    browser, _ = sent
    page = browser.get("/injections").text
    with browser.world.memories() as memories:
        texts = spent_json(reports.get_ledger(memories), lambda memory: False)
    rows = re.findall(r"<td>(\w+)</td>" + r'<td class="number">(\d+)</td>' * 3, page)

    told = counted(texts["texts"], "text")
    assert f"<b>{texts['characters']:,}</b> characters in {told}" in page
    assert f"<b>{texts['tokens']:,}</b> tokens" in page
    assert {row[0]: [int(each) for each in row[1:]] for row in rows} == {
        each["event"]: [each["texts"], each["characters"], each["tokens"]]
        for each in texts["by_event"]
    }


def test_the_log_undoes_an_act(browser):
    browser.world.know("Money is stored in cents")
    (memory,) = browser.world.live()
    browser.post(f"/memory/{memory.id}/archive")
    event = re.findall(r'name="event" value="([^"]+)"', browser.get("/log").text)[0]
    browser.post("/log/undo", event=event)

    assert browser.memory(memory.id).status == "promoted"


def test_the_log_tells_what_was_undone_and_redoes_it(browser):
    browser.world.know("Money is stored in cents")
    (memory,) = browser.world.live()
    browser.post(f"/memory/{memory.id}/archive")
    offered = r'action="/log/(\w+)">.*?name="event" value="([^"]+)"'
    (_, archived), *_ = re.findall(offered, browser.get("/log").text)
    browser.post("/log/undo", event=archived)
    (_, undo), (verb, event), *_ = re.findall(offered, browser.get("/log").text)
    browser.post(f"/log/{verb}", event=event)
    after = browser.get("/log").text

    assert (verb, event) == ("redo", undo)
    assert browser.memory(memory.id).status == "archived"
    assert re.findall(offered, after)[2] == ("undo", archived)


def test_the_log_goes_on_by_key(browser, monkeypatch):
    monkeypatch.setattr("ademem.plugins.page.pages.PAGE", 2)
    browser.world.know("Money in cents", "Times in UTC", "Invoices are sent at night")
    first = browser.get("/log").text
    address = html.unescape(re.search(r'rel="next" href="([^"]+)"', first)[1])

    assert "Invoices" in first
    assert "Money in cents" not in first
    assert "Money in cents" in browser.get(address).text


def test_the_log_shows_a_past_moment(browser):
    browser.world.know("Money is stored in cents")
    (memory,) = browser.world.live()
    moment = browser.world.now.isoformat()
    browser.world.now = browser.world.now.replace(hour=23)
    browser.post(f"/memory/{memory.id}/archive")
    page = browser.get("/log", params={"at": moment}).text

    assert "Money is stored in cents" in page
    assert "Nothing can be decided about the past" in page
    assert "/log/undo" not in page


def every_answer(browser, id):
    """The answers of all pages, as whole pages and as parts."""
    for page in PAGES:
        path = page.path.replace("{number}", "0")
        for value in (id, "s1") if "{id}" in path else ("",):
            for headers in ({}, {"hx-request": "true"}):
                address = path.replace("{id}", value)
                yield browser.get(address, headers=headers, params={"q": "force-push"})


def acted_on(browser):
    """Return the memory with the canary, after acts that the page can take back."""
    memory = next(each for each in browser.world.live() if CANARY in each.content)
    browser.post(f"/memory/{memory.id}/edit", content=f"{memory.content}, always")
    browser.post(f"/memory/{memory.id}/pin")
    browser.post(f"/memory/{memory.id}/unpin")
    browser.post("/undo")
    assert CANARY in browser.get("/").text  # in the line of the last act
    assert any(CANARY in answer.text for answer in every_answer(browser, memory.id))
    return memory


def left_of_canary(browser, id):
    """Return where a byte of it is: answers, events, the page's memory, tables and files."""
    world, site = browser.world, browser.site
    found = [f"{each.url}: {each.text}" for each in every_answer(browser, id)]
    project = site.projects["project"]
    found += [each.text for each in project.live.events]
    found += [done.label for done in (*project.done, *project.undone)]
    with world.memories() as memories:
        found += memories.store.db.iterdump()
    files = [path for path in (world.root / ".ade").rglob("*") if path.is_file()]
    found += [f"{path.name}: {path.read_bytes()!r}" for path in files]
    return [each[:60] for each in found if CANARY in each]


@pytest.mark.parametrize("by_page", [True, False], ids=["by the page", "by a command"])
def test_what_was_deleted_for_good_is_nowhere(sent, by_page):
    browser, _ = sent
    memory = acted_on(browser)
    if by_page:
        browser.post(f"/memory/{memory.id}/delete-hard", typed=memory.id)
    else:
        with browser.world.terminal() as memories:
            curation.delete(memories, memory.id, hard=True)

    assert left_of_canary(browser, memory.id) == []


def test_what_was_scrubbed_is_nowhere(sent, monkeypatch):
    browser, _ = sent
    memory = acted_on(browser)

    def redact(text):
        return Redacted(text=text.replace(CANARY, "[gone]"), found=("canary",) * (CANARY in text))

    monkeypatch.setattr("ademem.store.texts.redact", redact)
    with browser.world.memories() as memories:
        upkeep.scrub(memories)

    assert left_of_canary(browser, memory.id) == []


def test_an_agent_reads_no_quarantined_text_of_a_session(world):
    world.know("Login tokens expire in UTC")
    context = world.context("session_start", source="startup")
    (memory,) = world.live()
    with world.memories() as memories:
        memories.store.db.execute(
            "update unified_memories set quarantine_reason = 'reads as an order' where id = ?",
            (memory.id,),
        )
    browser = Browser(world, read_only="an agent runs this shell").enter()
    pages = [browser.get("/session/s1").text, browser.get("/session/s1/text/0").text]
    browser.site.close()

    assert "Login tokens" in context
    assert not any("Login tokens" in page for page in pages)


def test_a_session_tells_moment_by_moment_what_came_of_what_was_told(browser):
    world = browser.world
    world.know("Never run terraform destroy", tags=("stop",))
    world.know("Login tokens expire in UTC")
    world.fire("session_start", source="startup")
    world.fire("user_prompt_submit", prompt="Why do login tokens expire?", prompt_id="p1")
    call = {"tool_name": "Bash", "tool_input": {"command": "terraform destroy"}}
    world.fire("pre_tool_use", prompt_id="p1", tool_use_id="toolu_1", **call)
    world.fire("post_tool_batch", prompt_id="p1")
    other = {"tool_name": "Bash", "tool_input": {"command": "rm -r build"}}
    world.fire("pre_tool_use", prompt_id="p1", tool_use_id="toolu_2", **other)
    world.fire("stop", prompt_id="p1")
    world.fire("session_end", reason="other")
    page = browser.get("/session/s1").text
    shown = html.unescape(re.sub(r"<[^>]+>", "", page))

    order = ["Claude was briefed", "You asked", "Claude was stopped once", "The session ended"]
    assert [shown.index(each) for each in order] == sorted(shown.index(each) for each in order)
    assert re.search(r"<b>1</b>prevented", page)
    assert '<code class="at">terraform destroy</code></del>' in page
    assert '<code class="at">rm -r build</code></ins>' in page
    assert "nothing came of it" in shown
    line = browser.get("/sessions").text.partition('data-row="s1"')[2].partition("</li>")[0]
    assert "<b>prevented 1</b>" in line
    assert "tokens" in line
