"""The page by keyboard alone, and one candidate decided from three places."""

import random
import subprocess
import sys
from datetime import timedelta

import pytest

from ademem.operations import files
from tests.examples import examples
from tests.plugins.page.window import expect

pytestmark = pytest.mark.slow

SUBJECTS = ("Invoices", "Images", "Refunds", "Backups", "Reports", "Tokens", "Queues", "Caches")
PLACES = ("the night job", "the worker", "the gateway", "the mirror", "the scheduler")


def texts(count):
    return [
        f"{SUBJECTS[number % 8]} of region {number} are made by {PLACES[number % 5]}"
        for number in range(count)
    ]


def exported(shown):
    """Return the lines of an export without their stamps, which count writes and never go back."""
    with shown.world.memories() as memories:
        lines = list(files.export_memories(memories))
    return [{name: line[name] for name in line.keys() - {"stamps"}} for line in lines]


def test_random_acts_by_keyboard_are_all_taken_back(shown):
    """W5: each act is undone from the last to the first."""
    count, choice = examples(200, share=20), random.Random(5)
    shown.learn(*texts(count))
    before, statuses = exported(shown), shown.statuses()
    page = shown.window("/review")
    for _ in range(count):
        first = page.locator("#review").get_attribute("data-here")
        page.keyboard.press(choice.choice("aarrps"))
        expect(page.locator(f'#review[data-here="{first}"]')).to_have_count(0)
    expect(page.locator("#review")).to_contain_text("Nothing waits")
    assert shown.statuses() != statuses
    for number in range(count):
        page.keyboard.press("z")
        expect(page.locator("#review h1")).to_contain_text(f"of {number + 1}")

    assert shown.statuses() == statuses
    assert exported(shown) == before


def test_twenty_candidates_and_five_contradictions_take_at_most_forty_keys(shown):
    """F8: keyboard only, and undo restores all."""
    candidates, contradictions = examples(20, share=4), examples(5, share=2)
    shown.learn(*texts(candidates))
    for at in range(contradictions):
        shown.world.know(f"Region {at} is in Dublin")
        shown.world.now += timedelta(seconds=1)
        shown.learn(f"Region {at} moved to Oslo in spring")
        old, new = (
            next(each for each in shown.world.live() if each.content.startswith(text))
            for text in (f"Region {at} is", f"Region {at} moved")
        )
        shown.world.contradict(old, new)
    before, statuses = exported(shown), shown.statuses()
    page, keys = shown.window("/review"), 0
    while page.locator("#review[data-here]").count():
        here = page.locator("#review").get_attribute("data-here")
        question = page.locator("#review h1").inner_text()
        page.keyboard.press("2" if question.startswith("Which one") else "a")
        keys += 1
        expect(page.locator(f'#review[data-here="{here}"]')).to_have_count(0)
        assert page.evaluate("document.activeElement.id") == "card"
    assert keys == candidates + contradictions
    assert set(shown.statuses().values()) == {"promoted"}
    for number in range(keys):
        page.keyboard.press("z")
        expect(page.locator("#review h1")).to_contain_text(f"of {number + 1}")

    assert shown.statuses() == statuses
    assert exported(shown) == before


def tab_to(page, selector, words=""):
    """Press Tab until the focus is on such an element with these words."""
    seen = f"[document.activeElement.matches({selector!r}), document.activeElement.innerText]"
    for _ in range(80):
        page.keyboard.press("Tab")
        is_there, text = page.evaluate(seen)
        if is_there and words in text:
            return
    raise AssertionError(f"Tab does not come to {selector} {words}")


def enter(page):
    """Press Enter on what leads to another page."""
    with page.expect_navigation():
        page.keyboard.press("Enter")


def test_everything_is_done_without_a_mouse(shown):
    """W10: find, edit, confirm, undo, and review twenty candidates."""
    learned = texts(examples(20, share=4))
    shown.learn(*learned)
    page = shown.window()
    page.keyboard.press("/")
    page.keyboard.type(learned[0])
    enter(page)
    tab_to(page, "#rows a", learned[0])
    enter(page)
    tab_to(page, "summary", "Edit")
    page.keyboard.press("Enter")
    tab_to(page, "textarea")
    page.keyboard.press("Control+End")
    page.keyboard.type(" alone")
    tab_to(page, "button", "Save")
    enter(page)
    tab_to(page, "main button", "Keep")
    enter(page)
    confirmed = shown.statuses()
    for _ in range(2):
        tab_to(page, "button", "Undo")
        enter(page)
    undone = shown.statuses()
    shown.go(page, "/review")
    for left in range(len(learned), 0, -1):
        expect(page.locator("#review h1")).to_contain_text(f"of {left}")
        page.keyboard.press("a")
    expect(page.locator("#review")).to_contain_text("Nothing waits")

    assert confirmed[f"{learned[0]} alone"] == "promoted"
    assert undone == dict.fromkeys(learned, "candidate")
    assert shown.statuses() == dict.fromkeys(learned, "promoted")


def test_one_of_two_windows_and_a_command_decides(shown):
    """W6: the others are told, and nothing of them is lost."""
    shown.learn(*texts(3))
    windows = [shown.window("/review") for _ in range(2)]
    id = windows[0].locator("#review").get_attribute("data-here").partition("=")[2]
    for number, page in enumerate(windows):
        page.keyboard.press("e")
        page.fill("#edit-text", f"{texts(1)[0]} by window {number}")
    run = [sys.executable, "-c", "from ademem.doors.cli import main; main()", "archive", id]
    subprocess.run(run, cwd=shown.world.root, env=shown.world.environment, check=True)
    for number, page in enumerate(windows):
        page.click("#act-edit-promote")
        expect(page.locator("main")).to_contain_text("is at revision 2, not 1")
        expect(page.locator("main")).to_contain_text(f"by window {number}")
    told = [problem for problem in shown.problems if "409" in problem]

    assert [*shown.statuses().values()].count("archived") == 1
    assert [*shown.statuses().values()].count("candidate") == 2
    assert len(told) == 2
    shown.problems = [problem for problem in shown.problems if problem not in told]
