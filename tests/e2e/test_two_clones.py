"""Two people with a clone each: what the sessions of one learned, the other's know after a pull."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from .product import Product, watched
from .script import bash, model, person
from .world import World, opened

pytestmark = pytest.mark.e2e

RULE = "Tokens expire in UTC, never in local time"
EDITED = "Tokens expire in UTC after one hour, never in local time"
FOLDER = ".ade/memory"


@pytest.fixture
def anna(claude: Path, tmp_path: Path) -> Iterator[Product]:
    with opened(claude, tmp_path / "anna") as world, watched(world) as product:
        world.variables.clear()
        world.git("init", "--quiet", "--bare", "-b", "main", str(tmp_path / "hub.git"))
        world.git("remote", "add", "origin", str(tmp_path / "hub.git"))
        product.enrol()
        product.install()
        product("files", "refresh")
        push(world, "Enrol")
        yield product


@pytest.fixture
def ben(claude: Path, tmp_path: Path, anna: Product) -> Iterator[Product]:
    with opened(claude, tmp_path / "ben") as world, watched(world) as product:
        world.variables.clear()
        world.git("remote", "add", "origin", str(tmp_path / "hub.git"))
        world.git("fetch", "-q", "origin")
        world.git("reset", "-q", "--hard", "origin/main")
        product.enrol()
        product.install()
        yield product


def push(world: World, message: str) -> None:
    world.git("add", "-A", ".ade")
    world.git("commit", "-q", "-m", message)
    world.git("push", "-q", "origin", "main")


def pull(world: World) -> None:
    world.git("fetch", "-q", "origin")
    world.git("merge", "-q", "--ff-only", "origin/main")


def pages(world: World) -> dict[str, str]:
    return {path.name: path.read_text() for path in (world.project / FOLDER).iterdir()}


def test_two_clones_learn_from_each_other_through_git(anna: Product, ben: Product) -> None:
    anna.world.chat(
        person("How long do tokens live?"),
        model(bash(f'ademem add "{RULE}" --category convention')),
        model("An hour."),
    )
    (learned,) = anna.memories("candidate").values()
    anna("promote", learned["id"])
    anna("files", "refresh")
    push(anna.world, "Learn about tokens")

    pull(ben.world)
    told = ben.world.chat(person("Thanks!"), model("You are welcome.")).requests[0].text
    file = ben.world.project / FOLDER / "conventions.md"
    file.write_text(file.read_text().replace(RULE, EDITED))
    ben.world.chat(person("Thanks again!"), model("Gladly."))
    ben("files", "refresh")
    push(ben.world, "Say how long tokens live")

    pull(anna.world)
    heard = anna.world.chat(person("Thanks!"), model("You are welcome.")).requests[0].text
    anna("files", "refresh")

    assert f"from git and hand edits: added {learned['id']}" in told
    assert told.count(RULE) >= 1
    assert f"from git and hand edits: edited {learned['id']}" in heard
    assert f"{RULE} (" in heard  # what Anna confirmed stays in force until she decides
    assert EDITED not in heard
    (theirs,) = (line for line in anna("review", "--changes").splitlines() if EDITED in line)
    assert theirs.startswith(f"theirs: {learned['id']} ")
    assert "(candidate, came with the files" in theirs
    assert pages(anna.world) == pages(ben.world)
    assert EDITED in pages(anna.world)["conventions.md"]
    assert [world.git("status", "--porcelain", FOLDER) for world in (anna.world, ben.world)] == [
        "",
        "",
    ]
