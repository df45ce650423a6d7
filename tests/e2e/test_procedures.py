"""Three sessions release the same way; the client of the fourth has the way as a skill."""

from __future__ import annotations

import json

import pytest

from .product import Product
from .script import Call, Reply, bash, model, person, write
from .session import Session
from .world import World

pytestmark = pytest.mark.e2e

NAME = "release-of-the-app"
SKILL = f".claude/skills/{NAME}/SKILL.md"
PASSES = "import unittest\nclass T(unittest.TestCase):\n    def test_x(self):\n        pass\n"


def release(world: World, version: str, *first: Reply) -> Session:
    world.write("tests/test_x.py", PASSES)
    world.write("build.sh", "mkdir -p dist && echo built > dist/app-$1.txt\n")
    return world.chat(
        person(f"Release {version} of the app"),
        *first,
        model(bash('ademem recall "release"')),
        model(write(world.project / f"notes/{version}.md", "News.\n")),
        model(bash("python -m unittest discover -s tests")),
        model(bash(f"sh build.sh {version}")),
        model(bash(f'git add -A && git commit -qm "Release {version}"')),
        model(bash(f"git tag v{version}")),
        model("Released."),
    )


def test_what_three_sessions_did_alike_is_a_skill_that_a_person_can_edit(
    world: World, ademem: Product
) -> None:
    world.write(".ade/config.toml", "[jobs]\nauto = false\n")
    poster = write(world.project / "poster.md", "Choir.\n")
    world.chat(person("Word the poster of the choir"), model(poster), model("Worded."))
    for version in ("1.1.0", "1.2.0", "1.3.0"):
        assert NAME not in release(world, version).requests[0].whole
    ademem("work", "--once")
    (made,) = json.loads(ademem("procedures", "list", "--json"))["procedures"]
    shown = json.loads(ademem("procedures", "list", made["id"], "--json"))

    assert (made["status"], made["success_count"]) == ("candidate", 3)
    assert shown["markdown"].splitlines() == [
        "1. Edit `notes/*.md`.",
        "2. Run `python -m unittest discover -s tests`.",
        "3. Run `sh build.sh 1.3.0`, whose arguments differ each time.",
        "4. Run `git add -A`.",
        '5. Run `git commit -qm "Release 1.3.0"`, whose arguments differ each time.',
        "6. Run `git tag v1.3.0`, whose arguments differ each time.",
    ]

    ademem("procedures", "export", made["id"], "--publish")
    fourth = release(world, "1.4.0", model(Call("Skill", {"skill": NAME})))
    assert NAME in fourth.requests[0].whole
    assert "Use when the task is like" in fourth.requests[0].whole
    assert "3. Run `sh build.sh 1.3.0`, whose" in fourth.requests[1].news

    ademem("work", "--once")
    after = json.loads(ademem("procedures", "list", made["id"], "--json"))
    assert after["status"] == "promoted"
    (used,) = after["history"]
    assert used["outcome"] == "success"
    assert used["reason"].startswith("loaded as a skill")
    assert (world.project / SKILL).read_text(encoding="utf-8") == (
        world.project / f".ade/skills/{NAME}.md"
    ).read_text(encoding="utf-8")

    world.configure("[jobs]\nauto = false\n[skills]\npublish = true\n")
    ademem("work", "--once")
    page = (world.project / SKILL).read_text(encoding="utf-8")
    lines = page.split("\n")
    lines[2] = "description: Ask Ada first, always."
    world.write(SKILL, "\n".join(lines))
    ademem("work", "--once")
    session = world.chat(person("How do we release?"), model("Ask Ada."))
    ademem("work", "--once")

    assert "Ask Ada first, always." in session.requests[0].whole
    assert (world.project / SKILL).read_text(encoding="utf-8") == "\n".join(lines)
    shown = json.loads(ademem("procedures", "list", made["id"], "--json"))
    assert shown["trigger"] == "Ask Ada first, always"
