"""Memories and lines of files as cards: what stands on them, and where each comes up."""

import pytest

from ademem.core.memory import Origin, Trust
from ademem.operations import adopting, placing
from ademem.store import adopted, episodes
from ademem.store.episodes import Action, Episode
from tests import builders, persons
from tests.plugins.page.conftest import Browser
from tests.plugins.page.test_pages import texts
from tests.plugins.page.test_today import prevent

RULES = "# Shop\n\n## Commands\n\n- Run `make client` after a change of `openapi.yaml`\n"


def card_of(page, id):
    return texts(page.partition(f'data-row="{id}">')[2].partition("</li>")[0])


def test_a_card_has_its_text_first_and_numbers_under_details(browser):
    row = prevent(browser.world)
    page = browser.get("/memories").text
    shown, _, details = card_of(page, row.id).partition("Details")

    assert shown.split()[:4] == ["Use", "pnpm,", "not", "npm"]
    assert "prevented 1" in shown
    assert "last today" in shown
    assert row.id not in shown
    assert row.id in details


def test_a_card_marks_what_should_be_known_before_its_text_counts(browser):
    with browser.world.memories() as memories:
        old, new, quiet = builders.insert(
            memories.store,
            builders.memory("The build takes 5 minutes"),
            builders.memory("The build takes 9 minutes", status="candidate"),
            builders.memory("Cats purr"),
        )
    browser.world.contradict(old, new)
    page = browser.get("/memories").text

    assert "contradicted" in card_of(page, old.id)
    assert "not confirmed" in card_of(page, new.id)
    assert 'class="tag' not in page.partition(f'data-row="{quiet.id}"')[2].partition("</li>")[0]


def test_hits_that_have_the_word_stand_before_those_that_are_near(browser, monkeypatch):
    from ademem.plugins.page import memory_pages

    browser.world.know("The gateway's timeout is 8 s", "Retries wait 2, 4 and 8 s")
    found = memory_pages.searching.search

    def search(memories, words, *given):  # without a model nothing is near in meaning
        return found(memories, "gateway timeout retries wait", *given)

    monkeypatch.setattr(memory_pages.searching, "search", search)
    page = browser.get("/memories?q=timeout").text

    assert "1 memory says “timeout”" in texts(page)
    assert "and 1 is near in meaning" in texts(page)
    assert page.index("gateway") < page.index("Retries wait")


@pytest.fixture
def adopting_browser(world):
    (world.root / "CLAUDE.md").write_text(RULES)
    with world.memories() as memories:
        adopting.adopt_files(memories)
    made = Browser(world, by=persons.PERSON)
    yield made.enter()
    made.site.close()


def line_id(world):
    return world.row("select id from adopted")[0]


def test_lines_of_files_are_cards_beside_the_memories(adopting_browser):
    adopting_browser.world.know("Money is stored in cents")
    page = texts(adopting_browser.get("/memories").text)
    files = texts(adopting_browser.get("/memories?show=files").text)

    assert "1 memory" in page
    assert "1 line from CLAUDE.md" in page
    assert "make client" not in page
    assert "from CLAUDE.md, line 5" in files
    assert "Run `make client` after" in files


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        pytest.param({"verb": "stop"}, "stops each call", id="stop"),
        pytest.param({"verb": "ignore"}, "ignored", id="ignore"),
        pytest.param({"verb": "place", "at": "src/api/"}, "at src/api/", id="where"),
    ],
)
def test_a_person_decides_about_a_line_and_takes_it_back(adopting_browser, given, shown):
    id = line_id(adopting_browser.world)
    before = adopting_browser.world.rows("select * from adopt_mark")
    assert adopting_browser.post(f"/line/{id}/mark", path="CLAUDE.md", **given).status_code == 303
    assert shown in texts(adopting_browser.get("/memories?show=files").text)
    adopting_browser.post("/undo")
    assert adopting_browser.world.rows("select * from adopt_mark") == before
    adopting_browser.post("/redo")
    assert shown in texts(adopting_browser.get("/memories?show=files").text)


def test_the_page_of_a_line_shows_it_in_its_file(adopting_browser):
    page = adopting_browser.get(f"/line/{line_id(adopting_browser.world)}").text

    assert "## Commands" in page
    assert 'class="here"' in page
    assert adopting_browser.get("/line/none").status_code == 404


@pytest.fixture
def bound(browser):
    """A rule at `npm install`, and the calls of one session, one of which overruled it."""
    origin = Origin(trust=Trust.USER, source_type="user")
    browser.world.know("Never run `npm install`", origin=origin)
    (rule,) = browser.world.live()
    actions = [
        Action(tool="Bash", target=target, kind="run")
        for target in ("npm install left-pad", "npm install", "ls src", "yarn add left-pad")
    ]
    actions.append(Action(tool="Edit", target="src/pay.py", kind="edit"))
    with browser.world.memories() as memories:
        (row,) = builders.insert(memories.store, builders.memory("What s1 did", category="episode"))
        episode = Episode(
            memory_id=row.id,
            session_id="s1",
            task="Pay",
            outcome="succeeded",
            started_at="2026-03-01T10:00:00Z",
            ended_at="2026-03-01T11:00:00Z",
            actions=tuple(actions),
        )
        episodes.put(memories.store, episode, memories.clock())
        memories.store.db.execute(
            "insert into recall_log (project_id, session_id, place, memory_id, created_at, outcome,"
            " binding, call) values (?, 's1', 'guard', ?, '2026-03-01T10:30:00Z', 'overruled',"
            " 'program npm install any', 'npm install')",
            (memories.store.project_id, rule.id),
        )
    return browser, rule


@pytest.mark.parametrize(
    ("at", "told"),
    [
        ("`npm install`", "Meets 2 calls of the last 30 days, 1 of them rightly"),
        ("`yarn add`\nsrc/", "Meets 2 calls of the last 30 days, 2 of them rightly"),
        ("docs/", "Meets 0 calls of the last 30 days."),
        ("act:nothing", "there is no act 'nothing'"),
    ],
)
def test_places_are_previewed_before_they_are_saved(bound, at, told):
    browser, rule = bound
    part = browser.get(
        f"/memory/{rule.id}/places", params={"at": at}, headers={"hx-request": "true"}
    ).text

    assert told in " ".join(texts(part).split())
    assert "<html" not in part


def test_places_are_changed_and_taken_back(bound):
    browser, rule = bound

    def places():
        with browser.world.memories() as memories:
            return [each.place for each in placing.list_places(memories, rule.id)]

    before = places()
    revision = browser.memory(rule.id).revision_count
    path = f"/memory/{rule.id}/places"
    assert browser.post(path, revision=str(revision), at="docs/").status_code == 303
    assert places() == ["dir docs  any"]
    assert browser.post(path, revision=str(revision), at="src/").status_code == 409
    browser.post("/undo")
    assert places() == before


def test_a_memory_tells_what_came_of_it_in_which_session(browser):
    browser.world.fire("session_start", source="startup")
    browser.world.fire("user_prompt_submit", prompt="Add left-pad to the cart", prompt_id="p1")
    row = prevent(browser.world)
    page = texts(browser.get(f"/memory/{row.id}").text)

    assert "1 time prevented" in page
    assert "npm install left-pad" in page.partition("What came of it")[2]
    assert "Add left-pad to the cart" in page.partition("What came of it")[2]


def test_an_effect_of_a_line_leads_to_the_line(adopting_browser):
    world = adopting_browser.world
    with world.memories() as memories:
        row = adopted.list_items(memories.store, memories.project.root)[0]
    prevent_line(world, row["id"])

    assert f'href="/line/{row["id"]}"' in adopting_browser.get("/").text
    assert "prevented 1" in texts(adopting_browser.get("/memories?show=files").text)


def prevent_line(world, id):
    from ademem.core.client import TurnKey
    from ademem.store import logs, outcomes

    with world.memories() as memories:
        key = TurnKey(session_id="s1")
        shown = [logs.Shown(memory_id=id, binding="path openapi.yaml any")]
        logs.log_shown(memories.store, "guard", shown, memories.now, key=key, call="Edit a")
        outcomes.end_turn(memories.store, key, memories.now)
