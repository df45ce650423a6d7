"""A session in a package of a larger repository is briefed on that package first."""

import pytest

ROOM = "[briefing]\nmax_chars = 2000\n"


@pytest.fixture
def packages(world):
    world.configure(ROOM)
    for name in ("till", "kitchen"):
        (world.root / f"packages/{name}").mkdir(parents=True)
        for number in range(12):
            text = f"Note {number} of the {name}: {'it keeps its own clock ' * 4}"
            world.know(text, path=f"packages/{name}/**")
    return world


def told(world, name, **payload):
    briefing = world.context("session_start", source="startup", **payload)
    return briefing.count(f"of the {name}")


@pytest.mark.parametrize(("here", "other"), [("till", "kitchen"), ("kitchen", "till")])
def test_the_memories_of_the_folder_come_first(packages, here, other):
    cwd = str(packages.root / f"packages/{here}")

    own = told(packages, here, cwd=cwd, session_id="s2")
    others = told(packages, other, cwd=cwd, session_id="s3")  # the newest are told to everybody

    assert own >= 3
    assert own > others


def test_at_the_root_no_folder_is_preferred(packages):
    newest = told(packages, "kitchen", session_id="s2")

    assert newest + told(packages, "till", session_id="s3") >= 3


def test_what_has_no_place_stands_among_the_others(packages):
    packages.know("Money is stored in cents")
    cwd = str(packages.root / "packages/till")

    assert "cents" in packages.context("session_start", source="startup", cwd=cwd, session_id="s4")
