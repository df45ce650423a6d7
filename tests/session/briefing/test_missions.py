"""What a session is told of the mission it works for."""

from contextlib import closing
from datetime import timedelta

import pytest

from ademem.core.client import units
from ademem.core.memory import Category, Importance, Scope, Status
from ademem.core.settings import LEVELS, BriefingSettings
from ademem.core.value import replace
from ademem.session import briefing
from ademem.session.briefing import Reader
from ademem.store import missions
from tests.builders import NOW, insert, memory, open_project

TITLE = "## This mission"


@pytest.fixture
def store(tmp_path):
    with closing(open_project(tmp_path)) as opened:
        missions.start(opened, "passkeys", "Ship passkeys", NOW)
        yield opened


def learned(text, mission="passkeys", **changes):
    return memory(text, scope=Scope.MISSION, scope_owner_id=mission, **changes)


def reader(store, mission="passkeys", **settings):
    chosen = BriefingSettings(**settings)
    return Reader(store=store, settings=chosen, now=NOW, mission=mission, session="s1")


def told(store, **options):
    return briefing.session(reader(store, **options), "ademem").text


def test_a_session_hears_the_goal_of_its_mission_and_what_was_learned_for_it(store):
    insert(
        store,
        learned("Safari wants a user gesture first", category=Category.GOTCHA),
        learned("Chrome may not", status=Status.CANDIDATE),
        learned("The next one starts with the tests", category=Category.HANDOFF),
    )
    section = told(store).partition(TITLE)[2]

    assert "Ship passkeys (3 memories: `ademem mission list passkeys`)" in section
    assert "Safari wants a user gesture first" in section
    assert "unconfirmed" in next(line for line in section.splitlines() if "Chrome" in line)
    assert "The next one starts with the tests" in section


def test_another_mission_s_memories_are_not_shown(store):
    insert(store, learned("Invoices round half to even", "billing"))

    assert "half to even" not in told(store)
    assert TITLE not in told(store, mission=None)
    assert TITLE not in told(store, mission="unheard of")


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"status": Status.ARCHIVED}, id="archived"),
        pytest.param({"deleted_at": NOW}, id="deleted"),
        pytest.param({"quarantine_reason": "an order"}, id="quarantined"),
        pytest.param({"source_branch": "elsewhere"}, id="waiting on another branch"),
        pytest.param({"category": Category.EPISODE, "source_type": "episode"}, id="an episode"),
    ],
)
def test_what_may_not_be_told_is_not(store, changes):
    insert(store, learned("Safari wants a user gesture first", **changes))

    assert "Safari" not in told(store)


@pytest.mark.parametrize("level", LEVELS)
def test_it_shows_as_many_as_the_level_says_and_how_many_there_are(store, level, monkeypatch):
    monkeypatch.setattr(briefing, "RECENT_MEMORIES", 0)
    insert(store, *(learned(f"step {n} of the mission") for n in range(30)))
    text = told(store, level=level)

    assert text.count("of the mission") == LEVELS[level]
    assert "(30 memories:" in text


def test_what_is_pinned_comes_first_then_what_is_worth_most(store):
    old = NOW - timedelta(days=200)
    insert(
        store,
        learned("of little weight", importance=Importance.LOW),
        learned("of great weight", importance=Importance.HIGH),
        learned("pinned", importance=Importance.LOW, pinned=True, created_at=old, updated_at=old),
    )
    section = told(store).partition(TITLE)[2]
    places = [section.index(text) for text in ("pinned", "great weight", "little weight")]

    assert places == sorted(places)


def test_it_takes_no_more_than_its_share_and_says_what_found_no_room(store):
    insert(store, *(learned(f"{n} {'word ' * 60}") for n in range(20)))
    text = told(store, level="deep", max_chars=4000)
    section = text.partition(TITLE)[2]

    assert units(section) <= 0.3 * 4000 + 200
    assert "this mission" in text.splitlines()[-2]


def test_a_mission_that_is_over_says_so(store):
    missions.end(store, "passkeys", "failed", None, NOW)

    assert "Ship passkeys (failed; 0 memories" in told(store)


def test_a_session_that_goes_on_hears_what_its_mission_learned_since(store):
    known, _ = insert(store, learned("Safari wants a gesture"), learned("Chrome does not"))
    news = briefing.news(replace(reader(store), seen=frozenset({known.id}))).text

    assert "Chrome does not" in news
    assert "Safari" not in news


def test_a_subagent_hears_its_mission_before_what_is_everybody_s(store):
    insert(
        store,
        memory("Tabs are forbidden", importance=Importance.HIGH),
        learned("Safari wants a gesture", importance=Importance.LOW),
    )
    text = briefing.agent(reader(store), "ademem").text

    assert "Ship passkeys" in text
    assert text.index("Safari") < text.index("Tabs")
