"""The guard stands in the way of changes, never in the way of work."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from .obedient import ObedientModel, Temptation
from .product import Product, watched
from .script import bash, delegate, helper, model, person, write
from .world import World, opened

pytestmark = [pytest.mark.e2e, pytest.mark.contract(full_only=True)]

REQUIRED = person("Fix the login bug in src/auth.py")


def test_a_model_that_ignores_the_reason_is_denied_twice_and_then_passes(
    world: World, ademem: Product
) -> None:
    world.write(".ade/config.toml", "[guard]\nmode = 'strict'\n")
    ademem.know("Errors are raised as AppError, never as plain strings")
    tries = [world.project / f"{number}.py" for number in range(4)]
    world.chat(
        REQUIRED,
        model(write(tries[0])),
        model(write(tries[1])),
        model(write(tries[2]), write(tries[3])),
        model("Fixed."),
    )

    assert [file.exists() for file in tries] == [False, False, True, True]
    assert len(ademem.decisions("deny")) == 2


def test_an_empty_store_blocks_nothing(world: World, ademem: Product) -> None:
    world.chat(REQUIRED, model(write(world.project / "auth.py")), model("Fixed."))

    assert (world.project / "auth.py").exists()
    assert ademem.decisions("deny") == []


def test_the_clients_own_memory_is_never_blocked(world: World, ademem: Product) -> None:
    world.write(".ade/config.toml", "[guard]\nmode = 'strict'\n")
    ademem.know("Errors are raised as AppError, never as plain strings")
    name = re.sub(r"[^a-zA-Z0-9]", "-", str(world.project.resolve()))
    folder = world.config / "projects" / name / "memory"
    session = world.chat(
        REQUIRED,
        model(write(folder / "notes.md"), write(world.project / "auth.py")),
        model("Noted."),
    )

    assert session.auto_memory == folder
    assert [result.is_error for result in session.requests[1].results] == [False, True]
    assert (folder / "notes.md").exists()


def test_the_rule_comes_with_the_denial_of_the_call_that_it_is_about_and_other_work_goes_on(
    claude: Path, tmp_path: Path
) -> None:
    rule = "Never push to main; open a pull request from a branch"
    scripted = ObedientModel()
    with opened(claude, tmp_path, scripted) as world, watched(world) as ademem:
        ademem.enrol()
        ademem.install()
        ademem("add", rule, "--stop", "--command", "git push")
        push = bash("git push origin main")
        tempted = Temptation(push.name, push.input, rule, bash("git push origin HEAD:work || true"))
        file = world.project / "src/auth.py"
        session = world.chat(
            *(person("Fix the login bug in src/auth.py"), model(write(file)), model("Fixed.")),
            *(person("Get it out"), model(bash("git status --short")), model(tempted)),
            *(model("Done."), person("Once more"), model(tempted), model("Done.")),
        )

    assert scripted.mistakes == []
    assert scripted.denials == 2, "once in each turn that pushes"
    assert len(session.requests) == 7 + scripted.denials
    assert file.exists()


def test_a_report_of_a_background_task_after_a_compaction_is_guarded_again(
    world: World, ademem: Product
) -> None:
    world.configure('[guard]\nmode = "strict"\n')
    ademem.know("Errors are raised as AppError, never as plain strings")
    before, after = world.project / "before.py", world.project / "after.py"
    session = world.chat(
        REQUIRED,
        model(bash('ademem recall "zebra"')),
        model(write(before), delegate("Look around.", background=True)),
        model("It is under way."),
        person("/compact"),
        helper("Nothing to see.", late=True),
        model(write(after)),
        model("Done."),
    )
    searched = session.requests[1].results[0]

    assert (searched.text, searched.is_error) == ('nothing in memory answers "zebra"', False)
    assert "<task-notification>" in session.requests[-2].news
    assert [before.exists(), after.exists()] == [True, False]
