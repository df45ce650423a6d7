"""Acts that change no memory, taken back from the log of a page that was started later."""

import re

import pytest

from ademem.operations import configuring, curation, searching
from ademem.operations.files import get_brief
from ademem.plugins.evaluation import golden
from ademem.plugins.procedures import operations
from tests.plugins.page.conftest import Browser, teach_procedure
from tests.plugins.page.test_review import learn

DRAWN = r'action="/(undo|redo)">(?:(?!</form>).)*name="act" value="(\d+)"'


def settle(browser):
    browser.world.know("The build takes 5 minutes", "The build takes 9 minutes")
    one, other = browser.world.live()
    browser.world.contradict(one, other)
    browser.post(f"/memory/{one.id}/settle", other=other.id)


def skip(browser):
    (memory,) = learn(browser.world, "Invoices are sent by the night job")
    browser.post(f"/memory/{memory.id}/skip")


def set_value(browser):
    browser.post("/settings", key="search.limit", value="7")


def edit_brief(browser):
    browser.post("/agents/edit", agent="", field="notes", version="0", content="Ask Ada first")


def end_mission(browser):
    with browser.world.memories() as memories:
        operations.start_mission(memories, "Ship passkeys")
    browser.post("/mission/ship-passkeys/end", outcome="failure", reason="No time")


def save_question(browser):
    browser.world.know("Invoices are sent by the night job")
    (memory,) = browser.world.live()
    browser.post("/memories/golden", query="Who sends invoices?", golden=memory.id)


def export(browser):
    browser.post(f"/procedure/{teach_procedure(browser.world, '1. Run `npm test`.')}/export")


def state(world):
    """Return what these acts change."""
    with world.memories() as memories:
        brief = get_brief(memories)
        missions = [
            (each.id, each.status, each.reason) for each in operations.list_missions(memories)
        ]
        found = [
            curation.list_queue(memories),
            memories.settings.search.limit,
            brief.notes if brief else (),
            missions,
            golden.load(memories.project),
        ]
    files = sorted((world.root / ".ade/skills").rglob("*.md"))
    return [*found, [(path.name, path.read_text()) for path in files]]


ACTS = [settle, skip, set_value, edit_brief, end_mission, save_question, export]


@pytest.mark.parametrize("act", ACTS, ids=lambda act: act.__name__)
def test_an_act_of_an_earlier_page_is_undone_and_redone_from_the_log(browser, monkeypatch, act):
    before = []
    post = browser.post

    def keep_state(*given, **fields):
        before.append(state(browser.world))
        return post(*given, **fields)

    monkeypatch.setattr(browser, "post", keep_state)
    act(browser)
    after = state(browser.world)
    assert after != before[0]
    later = Browser(browser.world).enter()
    ((verb, number),) = re.findall(DRAWN, later.get("/log").text, re.DOTALL)
    assert verb == "undo"
    assert later.post("/undo", act=number, next="/log").headers["location"] == "/log"
    undone = state(browser.world)
    ((verb, number),) = re.findall(DRAWN, later.get("/log").text, re.DOTALL)
    assert verb == "redo"
    later.post("/redo", act=number)
    later.site.close()

    assert undone == before[0]
    assert state(browser.world) == after


def test_what_was_changed_since_is_not_taken_back(browser):
    set_value(browser)
    save_question(browser)
    (_, question), (_, setting) = re.findall(DRAWN, browser.get("/log").text, re.DOTALL)
    with browser.world.memories() as memories:
        (memory,) = searching.list_memories(memories)
        golden.add(memories, "Who resizes images?", [memory.id])
        root, environment = str(browser.world.root), browser.world.environment
        configuring.set_value("search.limit", "9", "shared", root=root, environment=environment)

    assert browser.post("/undo", act=question).status_code == 409
    assert browser.post("/undo", act=setting).status_code == 409
    page = browser.get("/log").text
    assert "the golden questions were changed since" in page
    assert "search.limit was changed since" in page
    assert len(golden.load(memories.project)) == 2


def test_a_refused_undo_stays_in_the_log_with_its_reason(browser):
    export(browser)
    (path,) = (browser.world.root / ".ade/skills").glob("*.md")
    path.write_text("my own words")
    later = Browser(browser.world).enter()
    ((_, number),) = re.findall(DRAWN, later.get("/log").text, re.DOTALL)

    assert later.post("/undo", act=number).status_code == 409
    assert "was changed since" in later.get("/log").text
    assert path.read_text() == "my own words"
    later.site.close()


def test_a_hard_deletion_forgets_the_acts(browser):
    edit_brief(browser)
    save_question(browser)
    (memory,) = browser.world.live()
    with browser.world.terminal() as memories:
        assert len(curation.list_acts(memories)) == 2
        curation.delete(memories, memory.id, hard=True)
        assert curation.list_acts(memories) == []

    assert re.findall(DRAWN, browser.get("/log").text, re.DOTALL) == []


def test_the_last_fifty_are_kept(browser):
    (memory,) = learn(browser.world, "Invoices are sent by the night job")
    for _ in range(52):
        browser.post(f"/memory/{memory.id}/skip")
    with browser.world.memories() as memories:
        assert len(curation.list_acts(memories)) == 50
