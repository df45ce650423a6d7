"""Today: what memory did, what waits, and what a new project does first."""

from ademem.core.client import TurnKey
from ademem.operations import reports
from ademem.operations.overview import get_overview
from ademem.store import logs, outcomes
from tests import builders
from tests.builders import memory


def prevent(world, text="Use pnpm, not npm", session="s1"):
    """A call was denied with a memory, and another was made instead; return the memory."""
    with world.memories() as memories:
        (row,) = builders.insert(memories.store, memory(text))
        key = TurnKey(session_id=session)
        shown = [logs.Shown(memory_id=row.id, binding="program npm install any")]
        call = "npm install left-pad"
        logs.log_shown(memories.store, "guard", shown, memories.now, key=key, call=call)
        outcomes.note_passed(memories.store, key, [], "pnpm add left-pad")
        outcomes.end_turn(memories.store, key, memories.now)
    return row


def test_a_new_project_is_told_what_to_do_first(browser):
    page = browser.get("/").text

    assert "Nothing remembered yet. Two steps" in page
    assert 'data-copy="remember: use pnpm, not npm"' in page
    assert "example" in page


def test_an_instruction_file_is_the_first_step(browser):
    (browser.world.root / "CLAUDE.md").write_text("# Rules\n\n- Use pnpm, never npm\n")
    page = browser.get("/").text

    assert "Three steps" in page
    assert "CLAUDE.md has 1 rule" in page


def test_a_prevented_call_stands_with_what_was_done_instead(browser):
    row = prevent(browser.world)
    page = browser.get("/").text

    assert "memory prevented <b>1</b> mistake." in page
    assert 'data-copy="In 7 days memory prevented 1 mistake."' in page
    assert '<code class="at">npm install left-pad</code></del>' in page
    assert '<code class="at">pnpm add left-pad</code></ins>' in page
    assert f'<a href="/memory/{row.id}">Use pnpm, not npm</a>' in page
    assert "the first time" in page
    assert page.count('<rect class="k1"') == 2, "the square of the day and that of the legend"


def test_an_effect_stands_with_the_whole_card_of_its_memory(browser):
    row = prevent(browser.world)
    page = browser.get("/").text

    assert 'at</span> <code class="at">npm, yarn, bun, cnpm</code>' in page
    assert '<span class="who">from an unknown process, confirmed by you' in page
    assert "prevented 1, here the first time" in page
    assert f"<dt>Id</dt><dd><code>{row.id}</code></dd>" in page


def test_what_is_not_right_counts_no_more(browser):
    prevent(browser.world)
    with browser.world.memories() as memories:
        (effect,) = reports.list_effects(memories).rows
    assert browser.post(f"/effect/{effect.row}/wrong").status_code == 303

    assert "Nothing to tell in 7 days." in browser.get("/").text
    assert browser.post(f"/effect/{effect.row}/wrong").status_code == 404
    assert browser.post("/effect/none/wrong").status_code == 404


def test_the_page_and_the_command_have_the_same_figures(browser):
    for at in range(3):
        prevent(browser.world, f"Rule {at}", session=f"s{at}")
    with browser.world.memories() as memories:
        counts = get_overview(memories).effects

    assert counts["prevented"] == 3
    assert "memory prevented <b>3</b> mistakes." in browser.get("/").text


def test_effects_are_listed_twenty_a_page(browser):
    for at in range(25):
        prevent(browser.world, f"Rule {at}", session=f"s{at}")
    first = browser.get("/").text
    older = first.partition('<p><a href="')[2].partition('"')[0].replace("&amp;", "&")
    second = browser.get(older).text

    assert (first.count('class="swap"'), second.count('class="swap"')) == (20, 5)


def test_the_places_and_what_stands_under_more_are_on_each_page(browser):
    for path in ("/", "/memories", "/log"):
        page = browser.get(path).text
        places = page.partition('aria-label="Places"')[2].partition("<details")[0]
        assert [place.partition('"')[0] for place in places.split('href="')[1:]] == [
            *("/", "/memories", "/review", "/sessions")
        ]
        assert "<h2>Keep running</h2>" in page
    assert browser.get("/timeline?branch=x").headers["location"] == "/sessions?branch=x"
