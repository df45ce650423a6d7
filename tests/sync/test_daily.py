"""The page that tells where things stand, and the log of each day."""

from __future__ import annotations

from datetime import timedelta

import pytest

from ademem.core import shared_files
from ademem.core.memory import Category, Scope, Status
from ademem.files import project_brief
from ademem.operations import upkeep
from ademem.store import sessions
from ademem.sync import daily
from tests.builders import NOW, insert, memory

LATER = NOW + timedelta(hours=1)
TOMORROW = NOW + timedelta(days=1)


def hold(store, id, at, *prompts, branch="main"):
    """A session of a minute."""
    sessions.start(store, id, source="startup", directory="", branch=branch, now=at)
    for number, prompt in enumerate(prompts):
        sessions.add_prompt(store, id, f"p{number}", prompt, at)
    sessions.end(store, id, "other", at + timedelta(minutes=1))


def page(here):
    return shared_files.read_text(f"{here.ade}/cto/CURRENT.md")


def test_a_day_is_logged_line_by_line_in_utc(store, here):
    insert(store, memory("WAL needs shared memory", id="a1b2", promoted_at=None))
    hold(store, "s1", LATER, "Fix the login", "and the logout")

    daily.append_log(here, store, LATER + timedelta(hours=1))

    assert daily.days_of(here) == ["2026-01-31"]
    assert daily.log_lines(here, "2026-01-31") == [
        "- [12:00:00] learned: WAL needs shared memory ([fact] a1b2)",
        "- [13:01:00] session on main, 2 prompts: Fix the login",
    ]


def test_a_log_is_only_added_to_and_what_people_wrote_stays(store, here):
    hold(store, "s1", NOW, "Fix the login")
    daily.append_log(here, store, LATER)
    path = f"{here.ade}/cto/daily/2026-01-31.md"
    edited = shared_files.read_text(path).replace("Fix the login", "fixed it") + "- by hand"
    shared_files.write_atomic(path, edited)
    hold(store, "s2", LATER, "Write the docs")
    daily.append_log(here, store, TOMORROW)

    assert shared_files.read_text(path) == edited + "\n" + (
        "- [13:01:00] session on main, 1 prompt: Write the docs\n"
    )


def test_with_nothing_new_nothing_is_written(store, here):
    hold(store, "s1", NOW, "Fix the login")
    assert daily.write_current(here, store, LATER)
    before = page(here), shared_files.read_text(f"{here.ade}/cto/daily/2026-01-31.md")

    assert not daily.write_current(here, store, TOMORROW)
    assert (page(here), shared_files.read_text(f"{here.ade}/cto/daily/2026-01-31.md")) == before


def test_who_was_killed_between_log_and_mark_logs_nothing_twice(store, here):
    hold(store, "s1", NOW, "Fix the login")
    daily.append_log(here, store, LATER)
    shared_files.remove(f"{here.run}/daily.seen")
    daily.append_log(here, store, LATER)

    assert len(daily.log_lines(here, "2026-01-31")) == 1


@pytest.mark.parametrize(
    "hidden",
    [
        pytest.param({"scope": Scope.AGENT, "scope_owner_id": "Explore"}, id="an agent's own"),
        pytest.param({"status": Status.CANDIDATE}, id="unconfirmed"),
        pytest.param({"quarantine_reason": "an order"}, id="quarantined"),
        pytest.param({"deleted_at": NOW}, id="deleted"),
        pytest.param({"category": Category.EPISODE}, id="an episode, whose session is there"),
    ],
)
def test_what_is_not_for_all_is_not_logged(store, here, hidden):
    insert(store, memory("secret", **hidden))
    daily.append_log(here, store, LATER)

    assert daily.days_of(here) == []


def test_a_memory_that_was_confirmed_later_says_so(store, here):
    insert(store, memory("known", id="a1b2", promoted_at=LATER))
    daily.append_log(here, store, TOMORROW)

    assert daily.log_lines(here, "2026-01-31") == ["- [13:00:00] confirmed: known ([fact] a1b2)"]


def test_logs_of_long_ago_are_removed_and_other_files_stay(store, here):
    for name in ("2025-10-01.md", "2025-12-31.md", "notes.md"):
        shared_files.write_atomic(f"{here.ade}/cto/daily/{name}", "x\n")
    daily.append_log(here, store, NOW)

    assert daily.days_of(here) == ["2025-12-31"]
    assert shared_files.read_text(f"{here.ade}/cto/daily/notes.md") == "x\n"


def test_the_page_tells_focus_notes_sessions_and_the_end_of_two_logs(store, here):
    project_brief.patch(store, here, {"focus": ["passkeys"], "notes": ["ask Bob"]}, NOW)
    for hour in range(10):
        hold(store, f"a{hour}", NOW + timedelta(hours=hour), f"question {hour}")
    for minute in range(20):
        at = TOMORROW + timedelta(minutes=minute)
        hold(store, f"b{minute:02}", at, f"task {minute}" + " x" * 200, branch="topic")
    daily.write_current(here, store, TOMORROW + timedelta(days=1))

    text = page(here)
    assert "## Focus\n\n- passkeys\n" in text
    assert "## Notes\n\n- ask Bob\n" in text
    last = text.partition("## Last sessions\n\n")[2].partition("\n\n")[0].splitlines()
    assert len(last) == daily.SESSIONS
    assert last[0].startswith("- 2026-02-01 12:19 on topic: task 19 x x")
    assert text.count("\n- [") == daily.TODAY + daily.BEFORE


def test_a_page_of_an_empty_project_says_so(store, here):
    daily.write_current(here, store, NOW)

    assert page(here).count("Nothing here.") == 4


def test_text_of_a_prompt_is_no_part_of_the_page(store, here):
    hold(store, "s1", NOW, "# Heading\n- item <!-- x -->")
    daily.write_current(here, store, LATER)

    assert "\n# Heading" not in page(here)
    assert page(here).count("<!-- x -->") == page(here).count(r"\<!-- x -->") == 2


def test_the_worker_writes_it_when_a_session_ended(world):
    world.fire("session_start", source="startup")
    world.fire("user_prompt_submit", prompt="Fix the login", prompt_id="p1")
    world.fire("session_end", reason="clear")
    with world.memories() as memories:
        assert "current" in upkeep.work(memories)

    assert "Fix the login" in (world.root / ".ade/cto/CURRENT.md").read_text()
    assert "Fix the login" in (world.root / ".ade/cto/daily/2026-03-01.md").read_text()
