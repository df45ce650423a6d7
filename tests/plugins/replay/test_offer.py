"""A look back is offered once after some sessions, and after `ademem init`."""

import json
import os

import pytest

from ademem.core.client_memory import slug
from ademem.store import sessions
from tests.command_line import ademem


@pytest.fixture
def alone(past):
    """What `ademem` alone prints, in a project with hooks."""
    given = past.world.environment.items()
    environment = {name: value for name, value in given if not name.startswith("CLAUDE_")}

    def run(*words, folder=past.world.root):
        return ademem(*words, environment=environment, folder=folder)

    run("install")
    return run


def work(past, *names):
    """Sessions in which a person worked."""
    with past.world.terminal() as memories:
        for name in names:
            given = {"source": "startup", "directory": "/", "branch": None, "now": memories.now}
            sessions.start(memories.store, name, **given)


def next_of(alone):
    return json.loads(alone("--json"))["next"]


def test_it_is_offered_once_after_three_sessions(past, alone):
    work(past, "s1", "s2")

    assert next_of(alone) != "replay"
    work(past, "s3")
    assert next_of(alone) == "replay", "a program is not told for the person"
    assert alone().endswith("ademem replay")
    assert next_of(alone) != "replay"


def test_it_is_not_offered_where_one_was_made(past, alone):
    alone("replay")
    work(past, "s1", "s2", "s3")

    assert next_of(alone) != "replay"


def test_init_offers_it_where_the_client_keeps_transcripts(past, alone, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    kept = tmp_path / "home/.claude/projects" / slug(os.path.realpath(other))
    kept.mkdir(parents=True)
    (kept / "one.jsonl").touch()

    assert "tells what you said again in 1 past session" in alone("init", folder=other)
