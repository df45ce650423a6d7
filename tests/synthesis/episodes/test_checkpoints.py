"""A compaction leaves a line in the log of the day, as the seed's continuity checkpoint does."""

from __future__ import annotations

from datetime import timedelta

import pytest

from ademem.store import sessions
from ademem.sync import daily
from ademem.synthesis.checkpoints import append_checkpoint
from tests.builders import NOW
from tests.capture.talk import Talk

KEY = "ghp_" + "a1B2c3D4e5" * 4


def lines(world):
    project = world.runtime.project
    return [line for day in daily.days_of(project) for line in daily.log_lines(project, day)]


@pytest.fixture
def compacted(world):
    """A session that was compacted, and went on."""
    talk = Talk().types("Fix the login").says("I look at the cookies.")
    talk = talk.types("and the logout").says(f"The session ends twice. {KEY}")
    at = talk.now + timedelta(seconds=1)
    world.session(talk.row("system").types("now the tests").says("They pass."))
    sessions.note_compaction(world.store, "s1", at)
    return world


def test_the_last_words_before_it_are_in_the_log_of_the_day(compacted):
    append_checkpoint("s1", compacted.runtime)

    (line,) = lines(compacted)
    assert line.startswith(f"- [{NOW:%H:%M}:")
    assert "compacted; person: and the logout / agent: The session ends twice." in line
    assert KEY not in line


def test_a_second_run_adds_nothing(compacted):
    append_checkpoint("s1", compacted.runtime)
    append_checkpoint("s1", compacted.runtime)

    assert len(lines(compacted)) == 1


def test_no_prompt_is_in_it_where_none_is_kept(compacted):
    compacted.settings("capture", prompts=False)
    append_checkpoint("s1", compacted.runtime)

    (line,) = lines(compacted)
    assert "logout" not in line
    assert "agent: The session ends twice." in line


def test_a_session_that_was_not_compacted_leaves_none(world):
    world.session(Talk().types("Fix the login").says("Done."))
    append_checkpoint("s1", world.runtime)

    assert lines(world) == []
