"""Missions and briefs on the page: what it shows, its acts, and the way back."""

import html
import re
from functools import partial

import pytest

from ademem.core.clock import stamp
from ademem.core.memory import Draft, Origin, Scope
from ademem.core.value import replace
from ademem.operations import curation, files, searching, sessions, upkeep, writing
from ademem.plugins.procedures import operations
from ademem.store import episodes
from ademem.store.episodes import Episode
from tests import builders


def texts(page):
    return html.unescape(re.sub(r"<[^>]+>", "", page))


@pytest.fixture
def mission(browser):
    """A mission with one memory, which a session wrote."""
    browser.post("/missions/start", goal="Ship passkeys")
    with browser.world.memories() as memories:
        draft = Draft(
            content="Deploys need a lock",
            category="gotcha",
            scope=Scope.MISSION,
            owner="ship-passkeys",
            promoted=True,
            confidence=0.9,
            origin=Origin(session_id="s4"),
        )
        memory = writing.write(memories, draft).memory
    return memory.id


def get(browser):
    with browser.world.memories() as memories:
        found = operations.list_missions(memories)
        copies = [
            each.content for each in searching.list_memories(memories) if each.scope == "project"
        ]
    return [(each.id, each.status, each.reason) for each in found], copies


def test_the_memories_of_a_mission_go_on_by_key(browser, mission):
    given = {"scope": "mission", "scope_owner_id": "ship-passkeys"}
    with browser.world.memories() as memories:
        builders.insert(
            memories.store, *(builders.memory(f"Lesson {at}", **given) for at in range(70))
        )
    address, found = "/mission/ship-passkeys", []
    while address:
        page = browser.get(address).text
        found.append(re.findall(r'action="/memory/(\w+)/copy"', page))
        link = re.search(r'rel="next" href="([^"]+)"', page)
        address = html.unescape(link[1]) if link else ""

    assert [len(rows) for rows in found] == [50, 21]
    assert len({id for rows in found for id in rows}) == 71


def test_a_mission_starts_and_the_start_is_taken_back(browser):
    browser.post("/missions/start", goal="Ship passkeys")
    started = get(browser)
    browser.post("/undo")
    undone = get(browser)
    browser.post("/redo")

    assert started == ([("ship-passkeys", "running", None)], [])
    assert undone == ([], [])
    assert get(browser) == started


def others(browser):
    """Acts of the log that changed no memory: what undoes or redoes them, and their number."""
    found = r'action="/(undo|redo)">(?:(?!</form>).)*name="act" value="(\d+)"'
    return re.findall(found, browser.get("/log").text, re.DOTALL)


def test_the_log_takes_back_a_mission_and_a_brief_in_any_order(browser):
    browser.post("/missions/start", goal="Ship passkeys")
    browser.post("/agents/edit", agent="", field="notes", version="0", content="Ask first")
    (_, edit), (_, start) = others(browser)
    browser.post("/undo", act=start)
    without = get(browser)
    browser.post("/undo", act=edit)
    emptied = brief(browser, "").notes
    (redo, again), *_ = others(browser)
    browser.post("/redo", act=again)

    assert without == ([], [])
    assert emptied == ()
    assert redo == "redo"
    assert brief(browser, "").notes == ("Ask first",)
    assert browser.post("/undo", act=start).status_code == 409


def test_the_start_of_a_mission_that_ended_since_is_not_taken_back(browser):
    browser.post("/missions/start", goal="Ship passkeys")
    ((_, start),) = others(browser)
    browser.post("/mission/ship-passkeys/end", outcome="cancelled")
    ended = get(browser)

    assert browser.post("/undo", act=start).status_code == 409
    assert get(browser) == ended
    assert "was changed since" in texts(browser.get("/log").text)


def test_a_mission_that_has_memories_stays(browser, mission):
    assert browser.post("/undo").status_code == 409
    assert get(browser)[0]


def test_a_mission_shows_goal_state_entries_sessions_and_episode(browser, mission):
    with browser.world.memories() as memories:
        now = stamp(memories.now)
        for session in ("s9", ""):
            given = {"task": "Ship passkeys", "outcome": "succeeded", "files": ("a.py",)}
            made = builders.memory(f"Episode {session}", category="episode", source_type="episode")
            builders.insert(memories.store, made)
            told = Episode(
                memory_id=made.id,
                session_id=session,
                mission_id="ship-passkeys",
                started_at=now,
                ended_at=now,
                **given,
            )
            episodes.put(memories.store, told, memories.now)
    page = browser.get("/mission/ship-passkeys").text
    listed = texts(browser.get("/missions").text)

    assert re.findall(r'href="/session/(\w+)"', page) == ["s9", "s4"]
    assert "Deploys need a lock" in page
    assert "a.py" in page
    assert "1 memory" in listed
    assert "running" in listed


@pytest.mark.parametrize(
    ("outcome", "status", "copies"),
    [
        ("success", "succeeded", ["Deploys need a lock"]),
        ("failure", "failed", ["Ship passkeys: no time", "Deploys need a lock"]),
        ("cancelled", "cancelled", []),
    ],
)
def test_the_end_of_a_mission_is_taken_back_with_what_it_copied(
    browser, mission, outcome, status, copies
):
    browser.post("/mission/ship-passkeys/end", outcome=outcome, reason="no time")
    ended = get(browser)
    browser.post("/undo")
    undone = get(browser)
    browser.post("/redo")

    assert ended == ([("ship-passkeys", status, "no time")], copies)
    assert undone == ([("ship-passkeys", "running", None)], [])
    assert get(browser) == ended


def test_an_unknown_outcome_is_reported(browser, mission):
    assert browser.post("/mission/ship-passkeys/end", outcome="maybe").status_code == 400
    assert browser.get("/mission/none").status_code == 404


def test_one_entry_is_copied_once_and_taken_back(browser, mission):
    browser.post(f"/memory/{mission}/copy")
    copied = get(browser)[1]
    again = browser.post(f"/memory/{mission}/copy")
    browser.post("/undo")

    assert copied == ["Deploys need a lock"]
    assert again.status_code == 409
    assert get(browser)[1] == []


@pytest.mark.parametrize(
    ("filters", "shown"),
    [
        ({}, ["s3", "s2", "s1"]),
        ({"branch": "feature"}, ["s2"]),
        ({"mission": "ship-passkeys"}, ["s3"]),
        ({"agent": "reviewer"}, ["s1"]),
        ({"agent": "nobody"}, []),
    ],
    ids=str,
)
def test_the_timeline_is_filtered_by_branch_agent_and_mission(browser, filters, shown):
    owners = {"s1": (Scope.AGENT, "reviewer"), "s3": (Scope.MISSION, "ship-passkeys")}
    with browser.world.memories() as memories:
        for session in ("s1", "s2", "s3"):
            sessions.start_session(memories, session)
        memories.store.db.execute("update sessions set branch = 'feature' where id = 's2'")
        for session, (scope, owner) in owners.items():
            draft = Draft(content=f"Of {session}", scope=scope, owner=owner)
            origin = Origin(session_id=session)
            assert writing.write(memories, replace(draft, origin=origin)).accepted
    page = browser.get("/sessions", params=filters).text

    assert re.findall(r'href="/session/(\w+)"', page) == shown


def brief(browser, agent=""):
    with browser.world.memories() as memories:
        return files.get_brief(memories, agent)


def edit(browser, field, content, version, agent=""):
    given = {"field": field, "content": content, "version": str(version), "agent": agent}
    return browser.post("/agents/edit", **given, next="/agents")


@pytest.mark.parametrize("agent", ["", "code-reviewer"])
def test_a_field_of_a_brief_is_edited_and_taken_back(browser, agent):
    edit(browser, "project_summary", "A shop", 0, agent)
    edit(browser, "critical_conventions", "Money in cents\r\nTimes in UTC", 1, agent)
    written = brief(browser, agent)
    browser.post("/undo")
    undone = brief(browser, agent)
    browser.post("/redo")
    page = texts(browser.get("/agents", params={"agent": agent}).text)

    assert (written.project_summary, written.version) == ("A shop", 2)
    assert written.critical_conventions == ("Money in cents", "Times in UTC")
    assert (undone.critical_conventions, undone.version) == ((), 3)
    assert brief(browser, agent).critical_conventions == written.critical_conventions
    assert "version 4" in page
    assert (agent or "The project") in page


def test_earlier_texts_of_a_field_are_shown_and_put_back(browser):
    for version, text in enumerate(("Ask Ada first", "Ask Grace first", "Ask Joan first")):
        edit(browser, "notes", text, version)
    edit(browser, "active_focus", "Passkeys", 3)
    page = browser.get("/agents").text
    forms = re.findall(r'<form method="post" action="/agents/edit">.*?</form>', page, re.S)
    found = [dict(re.findall(r'name="(\w+)" value="([^"]*)"', form)) for form in forms]

    assert "from version 2, 2026" in texts(page)
    assert [(each["field"], each["content"]) for each in found] == [
        ("notes", "Ask Grace first"),
        ("notes", "Ask Ada first"),
    ]
    browser.post("/agents/edit", **{name: found[1][name] for name in set(found[1]) - {"csrf"}})
    assert brief(browser).notes == ("Ask Ada first",)


def test_a_scrub_and_a_hard_deletion_forget_earlier_briefs(world):
    world.know("Money is stored in cents")
    (memory,) = world.live()
    forget = (partial(curation.delete, id=memory.id, hard=True), upkeep.scrub)
    for number, act in enumerate(forget):
        with world.terminal() as memories:
            for text in (f"Ask Ada {number}", f"Ask Grace {number}"):
                files.update_brief(memories, {"notes": [text]})
            assert files.list_earlier_briefs(memories)
            act(memories)
            assert files.list_earlier_briefs(memories) == []


def test_an_edit_of_an_older_version_is_refused_with_both_texts(browser):
    edit(browser, "notes", "Ask Ada first", 0)
    answer = edit(browser, "notes", "Ask Grace first", 0)

    assert answer.status_code == 409
    assert "Ask Ada first" in texts(answer.text)
    assert "Ask Grace first" in texts(answer.text)
    assert brief(browser).notes == ("Ask Ada first",)


@pytest.mark.parametrize("field", ["claimed", "version", ""])
def test_only_the_five_fields_are_edited(browser, field):
    assert edit(browser, field, "text", 0).status_code == 400


@pytest.mark.parametrize("path", ["/missions", "/agents"])
def test_an_empty_page_names_the_command_that_fills_it(browser, path):
    assert "ademem " in texts(re.search(r"<main.*</main>", browser.get(path).text, re.S)[0])


def test_a_read_only_page_offers_no_act(mission, browser):
    browser.site.read_only = "it was started so"
    for path in ("/missions", "/mission/ship-passkeys", "/agents"):
        main = re.search(r"<main.*</main>", browser.get(path).text, re.S)[0]
        assert 'method="post"' not in main
    assert edit(browser, "notes", "x", 0).status_code == 403
