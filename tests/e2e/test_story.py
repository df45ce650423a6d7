"""One project over three client processes: what the first taught, the next ones know.

The hooks are registered by a plugin and by the project's settings as well; in a full run also by
the plugin alone, and by the settings alone, as in all other scenarios.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.examples import FULL

from .product import Product, watched
from .script import bash, model, person, write
from .session import Session
from .world import World, opened

pytestmark = pytest.mark.e2e

COMMENTED = "TaskGroup requires @Sendable closures"
ADDED = "Errors are raised as AppError, never as plain strings"
DICTATED = "deploys go through the staging branch"
LESSONS = (COMMENTED, ADDED, DICTATED)
CONFIRMED = "The login keeps its tokens in cookies"
LATER = "Passkeys are the only way to sign in"


@dataclass(frozen=True)
class Story:
    ademem: Product
    installations: int
    learned: Session
    fixed: Session
    resumed: Session

    @property
    def project(self) -> Path:
        return self.ademem.world.project


@pytest.fixture(
    scope="module",
    params=[
        *([pytest.param((Product.install,), id="settings")] if FULL else []),
        *([pytest.param((Product.plug_in,), id="plugin")] if FULL else []),
        pytest.param((Product.install, Product.plug_in), id="settings and plugin"),
    ],
)
def story(
    claude: Path, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[Story]:
    root = tmp_path_factory.mktemp("story")
    with opened(claude, root) as world, watched(world) as ademem:
        world.variables.clear()
        ademem.enrol()
        for install in request.param:
            install(ademem)
        learned = learn(world)
        ademem.know(CONFIRMED)
        fixed = fix(world)
        ademem.know(LATER)
        resumed = world.chat(person("Thanks!"), model("You are welcome."), resume=fixed)
        yield Story(ademem, len(request.param), learned, fixed, resumed)


def learn(world: World) -> Session:
    """Memory from a comment on a task, from a command, and from the person's own words."""
    world.program("bd", "exit 0")
    return world.chat(
        person("How do task groups work here?"),
        model(
            bash(f'bd comment BD-1 "LEARNED: {COMMENTED}"'),
            bash(f'ademem add "{ADDED}" --category convention'),
        ),
        model("Like this."),
        person(f"remember: {DICTATED}"),
        model("I will."),
    )


def fix(world: World) -> Session:
    """Changes before and after memory was searched; only the search can lift the guard here."""
    world.write(".ade/config.toml", "[guard]\nmode = 'strict'\nmax_blocks = 5\n")
    world.write("README.md", "Something to commit.\n")
    return world.chat(
        person("Fix the login bug in src/auth.py"),
        model(write(world.project / "src/early.py"), bash("git commit -am x")),
        model(bash('ademem recall "login"')),
        model(write(world.project / "src/auth.py")),
        model("Fixed."),
    )


def test_every_installation_takes_part(story: Story) -> None:
    assert len(story.learned.hooks("SessionStart")) == story.installations


def test_each_lesson_is_kept_and_counted_once(story: Story) -> None:
    counts = [story.ademem.memories()[lesson]["observation_count"] for lesson in LESSONS]

    assert counts == [1, 1, 1]


def test_nothing_is_confirmed_where_no_person_sits_before_the_client(story: Story) -> None:
    assert set(LESSONS) <= set(story.ademem.memories("candidate"))


def test_a_comment_on_a_task_is_a_candidate_that_no_tracked_file_has(story: Story) -> None:
    memory = story.ademem.memories()[COMMENTED]

    assert ("learned" in memory["tags"], memory["bead"]) == (True, "BD-1")
    assert [line for line in story.ademem.knowledge() if line["content"] in LESSONS] == []


def test_a_new_session_is_briefed_with_what_is_confirmed_alone(story: Story) -> None:
    briefed = story.fixed.requests[0].text

    assert [briefed.count(lesson) for lesson in (*LESSONS, CONFIRMED)] == [0, 0, 0, 1]


def test_changes_are_denied_until_memory_was_searched(story: Story) -> None:
    denials = story.fixed.requests[1].results

    assert len(denials) == len(story.ademem.decisions("deny")) == 2
    assert all(denial.is_error and "ademem recall" in denial.text for denial in denials)
    assert not (story.project / "src/early.py").exists()
    assert story.ademem.world.git("rev-list", "--count", "HEAD") == "1"


def test_a_search_lets_the_change_through(story: Story) -> None:
    (landed,) = story.fixed.requests[3].results

    assert not landed.is_error
    assert (story.project / "src/auth.py").exists()
    assert len(story.ademem.decisions("lift")) == 1


def test_each_prompt_is_kept_once(story: Story) -> None:
    assert story.ademem.prompts() == [
        "How do task groups work here?",
        f"remember: {DICTATED}",
        "Fix the login bug in src/auth.py",
        "Thanks!",
    ]


def test_a_resumed_session_hears_only_what_is_new(story: Story) -> None:
    news = story.resumed.requests[0].news

    assert news.count(LATER) == 1
    assert not any(lesson in news for lesson in LESSONS)
