"""The page of past sessions shows the last replay, and reads a transcript when it is opened."""

import json
from datetime import timedelta

import pytest

from ademem.operations import searching
from ademem.plugins.replay import replaying
from tests.plugins.replay.past import Past
from tests.plugins.replay.transcript_writer import BEGIN, claude, prompt, ran, refused

SAID = "tests always live next to the code they test, never in a folder of their own in this repo"


@pytest.fixture
def past(browser):
    """Past sessions with one of everything."""
    past = Past(browser.world)
    past.link_home()
    past.know("Use pnpm, not npm", "`npm install`")
    past.know("Ask before a new dependency", "`pnpm add`")
    secret = "ghp_" + "a1B2c3D4" * 4 + "wxyz"
    past.session(
        "one",
        prompt(f"add dayjs {secret}"),
        claude("I add it."),
        refused("c1", "Bash", command="npm install dayjs"),
        prompt(f"{SAID} <script>alert(1)</script>"),
        ran("c2", "Bash", command="pnpm add dayjs"),
        prompt("again, please"),
        ran("c3", "Bash", command="pnpm add dayjs"),
    )
    past.session("two", prompt(SAID), begin=BEGIN + timedelta(days=2))
    past.browser = browser
    return past


def replay(past):
    with past.world.terminal() as memories:
        replaying.save(replaying.replay(memories), memories)


def test_before_a_replay_the_page_says_how_to_make_one(browser):
    page = browser.get("/replay").text

    assert 'data-copy="ademem replay"' in page
    assert "<b>" not in page.partition("<main")[2]


def test_the_figures_stand_in_one_size_above_the_rules_of_counting(past):
    replay(past)
    page = past.browser.get("/replay").text
    figures = page.partition('aria-label="Figures"')[2].partition("</section>")[0]

    assert "If memory had been there: 2 past sessions" in page
    assert [part.partition("</b>")[0] for part in figures.split("<b>")[1:]] == ["1", "0", "1", "1"]
    assert "What Claude would have done with the reminder, the past cannot tell." in page
    assert '<code class="at">npm install dayjs</code>' in page
    assert "you refused it" in page
    assert "Too few sessions to say: 2 of 20." in page


def test_a_row_opens_the_stretch_of_its_transcript_redacted(past):
    replay(past)
    page = past.browser.get("/replay/mistakes/0").text

    assert "I add it." in page
    assert "this one" in page
    assert "&lt;script&gt;" in page
    assert "ghp_" not in page
    assert past.browser.get("/replay/mistakes/7").status_code == 404
    assert past.browser.get("/replay/made/0").status_code == 404


def test_what_was_said_again_is_added_by_one_button_and_undone(past):
    replay(past)

    assert past.browser.post("/replay/0/add").status_code == 303
    with past.world.memories() as memories:
        added = [each.content for each in searching.list_memories(memories)]
    assert SAID in added
    assert "Add it" not in past.browser.get("/replay").text
    assert "in memory" in past.browser.get("/replay").text
    assert past.browser.post("/replay/9/add").status_code == 404


def test_nothing_is_added_that_the_page_did_not_show(past):
    replay(past)
    shown = json.loads(past.stored().read_text())
    shown["repeated"][0]["quote"] = "run the tests before each commit"
    past.stored().write_text(json.dumps(shown))

    assert past.browser.post("/replay/0/add").status_code == 404
    with past.world.memories() as memories:
        assert SAID not in [each.content for each in searching.list_memories(memories)]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("{", id="no JSON"),
        pytest.param("[]", id="no object"),
        pytest.param('{"sessions": "many", "mistakes": [1, {"what": 7}], "live": 3}', id="types"),
        pytest.param('{"mistakes": {}, "first": "soon", "repeated": [{}]}', id="lost fields"),
    ],
)
def test_a_result_that_is_not_ours_breaks_nothing(past, text):
    past.stored().write_text(text)

    assert past.browser.get("/replay").status_code == 200


def test_a_result_leads_to_no_file_but_a_transcript_of_the_client(past):
    replay(past)
    outside = past.world.root / "notes.jsonl"
    outside.write_text(next((past.config / "projects").rglob("one.jsonl")).read_text())
    found = json.loads(past.stored().read_text())
    found["mistakes"][0]["transcript"] = str(outside)
    past.stored().write_text(json.dumps(found))

    assert past.browser.get("/replay/mistakes/0").status_code == 404
