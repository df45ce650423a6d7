"""What is learned on a branch is reviewed with it: nobody else hears of it before the merge."""

from __future__ import annotations

import pytest

from .product import Product
from .script import bash, model, person
from .world import World

pytestmark = pytest.mark.e2e

RULE = "Tokens expire in UTC, never in local time"
GUESS = "The importer retries three times"
CORRECTED = "The importer retries four times"
CONVENTIONS = ".ade/memory/conventions.md"
SHEET = ".ade/memory/candidates.md"


def commit(world: World, message: str) -> None:
    world.git("add", "-A", ".ade")
    world.git("commit", "-q", "--allow-empty", "-m", message)


def briefing(world: World) -> str:
    """All that the first request of a new session says."""
    return world.chat(person("Thanks!"), model("You are welcome.")).requests[0].text


def begun(ademem: Product) -> World:
    ademem("files", "refresh")
    commit(ademem.world, "Enrol")
    return ademem.world


def learn(ademem: Product, text: str) -> str:
    ademem.world.chat(
        person("What did you find?"),
        model(bash(f'ademem add "{text}" --category convention')),
        model("That."),
    )
    return str(ademem.memories("candidate")[text]["id"])


def test_a_branch_keeps_what_it_learned_until_it_is_merged(ademem: Product) -> None:
    world = begun(ademem)
    page = world.project / CONVENTIONS
    world.git("checkout", "-q", "-b", "topic")
    ademem("promote", learn(ademem, RULE))
    ademem("files", "refresh")
    there = page.read_text()
    commit(world, "Learn about tokens")
    world.git("checkout", "-q", "main")
    before = briefing(world)
    ademem("files", "refresh")
    here = page.exists()
    world.git("merge", "-q", "--no-edit", "topic")
    after = briefing(world)
    ademem("files", "refresh")

    assert (RULE in there, RULE in before, here) == (True, False, False)
    assert RULE in after
    assert page.read_text() == there
    assert world.git("status", "--porcelain", ".ade/memory") == ""


def test_candidates_are_reviewed_on_a_branch_without_any_host(ademem: Product) -> None:
    world = begun(ademem)
    world.configure("[jobs]\nauto = false")  # a worker may import the sheet before the session does
    id = learn(ademem, GUESS)
    ademem("propose")
    world.git("checkout", "-q", "ademem/candidates")
    sheet = world.project / SHEET
    proposed = sheet.read_text()
    sheet.write_text(proposed.replace("- [ ]", "- [x]").replace(GUESS, CORRECTED))
    commit(world, "Confirm what the importer does")
    world.git("checkout", "-q", "main")
    world.git("merge", "-q", "--no-edit", "ademem/candidates")
    told = briefing(world)
    ademem("files", "refresh")

    assert f"- [ ] {GUESS} <!-- {id} -->" in proposed
    assert f"promoted {id}" in told
    assert ademem.memories()[CORRECTED]["status"] == "promoted"
    assert CORRECTED in (world.project / CONVENTIONS).read_text()
    assert not sheet.exists()
