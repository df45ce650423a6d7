"""Memories that come up by themselves, where the work is."""

from __future__ import annotations

import pytest

from .product import Product
from .script import bash, delegate, helper, model, person, write
from .scripted_model import SUMMARY
from .session import Session
from .world import World

pytestmark = pytest.mark.e2e

RULE = f"Tokens expire in UTC{' by the clock of the server, whatever the zone of the client' * 6}"
SMALL = "[briefing]\nmax_chars = 500\n"
"""Settings by which a briefing has no room for RULE."""
QUOTA = "Quota of zone north exceeded in stage: free the idle zone first"
KNOWN = "Project memory on `src/auth.py`"


@pytest.fixture(scope="module")
def session(shared: Product) -> Session:
    """Work at a file and with a command, of which more is known than a briefing has room for."""
    world, file = shared.world, shared.world.project / "src/auth.py"
    world.write(".ade/config.toml", SMALL)
    world.program("stage", "echo 'stage: error: quota of zone north exceeded' >&2\nexit 1")
    shared("add", RULE, "--note", "--path", "src/**")
    shared("add", "Wait for the smoke test", "--command", "stage now")
    shared("add", QUOTA, "--category", "gotcha")
    return world.chat(
        person("Thanks!"),
        model(write(file, "one\n")),
        model(write(file, "two\n")),
        model(bash("rm src/auth.py")),
        model(bash("stage status || true")),
        model(bash("cd . && stage --dry now")),
        model(bash("stage --dry now")),
        model("Done."),
        person("/compact"),
        person("Thanks!"),
        model(write(file, "three\n")),
        model(write(file, "four\n")),
        model("Done."),
    )


def test_an_edit_brings_up_what_is_known_of_the_file_once_and_after_compaction_again(
    session: Session, shared: Product
) -> None:
    asked = [request.text.count(KNOWN) for request in session.requests]
    start, first, second, third, *_ = asked

    assert [start, first, second, third] == [0, 1, 1, 1]
    assert asked[-3:] == [0, 1, 1]
    assert (shared.world.project / "src/auth.py").read_text() == "four\n"


def test_a_command_and_its_failure_bring_up_what_is_known_of_them(session: Session) -> None:
    asked = [request.text for request in session.requests]
    status, last = asked[4], asked[6]

    assert "Project memory on `stage" not in status
    assert last.count("Project memory on `cd . && stage --dry now`") == 1
    assert last.count("Project memory on `stage: error:") == 1


@pytest.mark.contract(full_only=True)
def test_a_rule_of_a_command_stops_it_once_and_then_it_passes(
    world: World, ademem: Product
) -> None:
    world.program("npm", "touch node_modules")
    ademem("add", "Use pnpm, never npm", "--category", "convention", "--command", "npm")
    session = world.chat(
        person("Install the dependencies"),
        model(bash("npm install left-pad"), bash("npm install right-pad")),
        model(bash("npm install left-pad")),
        model("Installed."),
    )
    _, denied, passed, *_ = session.requests
    first, second = denied.results

    assert "Use pnpm, never npm" in first.text
    assert "Use pnpm" not in second.text
    assert [result.is_error for result in (first, second, passed.results[-1])] == [
        True,
        True,
        False,
    ]
    assert len(ademem.decisions("deny")) == 1


def test_a_compacted_subagent_is_briefed_and_stopped_again(world: World, ademem: Product) -> None:
    world.program("npm", "exit 0")
    ademem.know("Use pnpm, never npm")
    install = bash("npm install left-pad")
    session = world.chat(
        person("Install left-pad"),
        model(delegate("Do what the person wants.")),
        helper(install),
        helper(install),
        helper(bash("echo on"), full=True),
        helper(install),
        helper("Done."),
        model("Done."),
    )
    started, denied, _, compacted, again = session.helper_requests

    assert [started.text.count("never npm"), denied.results[0].is_error] == [1, True]
    assert SUMMARY in compacted.text
    assert compacted.text.count("never npm") == 1
    assert again.results[0].is_error
