"""Memories that come up by themselves, where the work is."""

from __future__ import annotations

import pytest

from .product import Product
from .script import bash, model, person, write
from .world import World

pytestmark = pytest.mark.e2e

RULE = "Tokens expire in UTC, never in local time"
KNOWN = "Project memory on `src/auth.py`"


def test_an_edit_brings_up_what_is_known_of_the_file_once_and_after_compaction_again(
    world: World, ademem: Product
) -> None:
    ademem("add", RULE, "--category", "convention", "--path", "src/**")
    file = world.project / "src/auth.py"
    session = world.chat(
        person("Thanks!"),
        model(write(file, "one\n")),
        model(write(file, "two\n")),
        model(bash("rm src/auth.py")),
        model("Done."),
        person("/compact"),
        person("Thanks!"),
        model(write(file, "three\n")),
        model(write(file, "four\n")),
        model("Done."),
    )
    asked = [request.text for request in session.requests]
    start, first, second, third, compacted, again, last = asked

    assert [text.count(KNOWN) for text in (start, first, second, third)] == [0, 1, 1, 1]
    assert [text.count(KNOWN) for text in (compacted, again, last)] == [0, 1, 1]
    assert file.read_text() == "four\n"


def test_a_command_and_its_failure_bring_up_what_is_known_of_them(
    world: World, ademem: Product
) -> None:
    world.program("deploy", "echo 'deploy: error: quota of zone north exceeded' >&2\nexit 1")
    ademem("add", "Wait for the smoke test", "--category", "convention", "--command", "deploy now")
    quota = "Quota of zone north exceeded in deploy: free the idle zone first"
    ademem("add", quota, "--category", "gotcha")
    session = world.chat(
        person("Thanks!"),
        model(bash("deploy status || true")),
        model(bash("cd . && deploy --dry now")),
        model(bash("deploy --dry now")),
        model("Done."),
    )
    _, status, *_ = asked = [request.text for request in session.requests]

    assert "Project memory on" not in status
    assert asked[-1].count("Project memory on `cd . && deploy --dry now`") == 1
    assert asked[-1].count("Project memory on `deploy: error:") == 1


def test_the_guard_denies_first_and_the_hint_comes_with_the_call_that_passes(
    world: World, ademem: Product
) -> None:
    ademem("add", RULE, "--category", "convention", "--path", "src/**")
    file = world.project / "src/auth.py"
    session = world.chat(
        person("Fix the login bug in src/auth.py"),
        model(write(file)),
        model(bash('ademem recall "login"  || true')),
        model(write(file)),
        model("Fixed."),
    )
    _, denied, searched, passed = session.requests

    assert denied.results[0].is_error
    assert [request.text.count(KNOWN) for request in (denied, searched, passed)] == [0, 0, 1]
