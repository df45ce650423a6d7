"""The arithmetic of a briefing: whole entries, within the budget, and every one accounted for."""

from datetime import timedelta

import pytest

from ademem.core.client import units
from ademem.core.memory import Category, Importance, Scope, Status
from ademem.core.settings import BriefingSettings
from ademem.files import project_brief
from ademem.session import briefing
from ademem.session.briefing import Reader
from tests.builders import NOW, insert, memory, project

LONG = {
    "words": "every rule has its reason " * 40,
    "emoji": "😀" * 400,
    "tags": "<tool" * 200,
    "one line each": "a\nb\u2028c " * 100,
}
"""Texts that fill an entry, and grow as they are counted or escaped."""


@pytest.fixture
def reader(store):
    return Reader(store=store, settings=BriefingSettings(), now=NOW)


def rules(count, text="", **changes):
    return [
        memory(f"rule {n} {text}", category=Category.CONVENTION, **changes) for n in range(count)
    ]


def fill_core(store, root, text):
    changes = {"project_summary": text[:1900], "notes": [text[:400] + str(n) for n in range(20)]}
    project_brief.patch(store, project(root), changes, NOW)


@pytest.mark.parametrize("max_chars", [9000, 2000])
@pytest.mark.parametrize("text", LONG.values(), ids=LONG)
def test_a_session_is_shown_no_more_than_its_budget(store, tmp_path, text, max_chars):
    insert(store, *rules(30, text, pinned=True), *rules(60, text + "."))
    fill_core(store, tmp_path, "in short")
    settings = BriefingSettings(max_chars=max_chars)

    brief = briefing.session(Reader(store=store, settings=settings, now=NOW), "ademem")
    assert units(brief.text) <= max_chars
    assert brief.shown
    assert brief.text.count("- [convention] rule") == len(brief.shown)
    assert f"{90 - len(brief.shown)} more" in brief.text


@pytest.mark.parametrize("text", LONG.values(), ids=LONG)
def test_the_longest_standing_brief_leaves_the_context_whole(reader, tmp_path, text):
    fill_core(reader.store, tmp_path, text)
    insert(reader.store, *rules(60, text))

    assert units(briefing.session(reader, "ademem").text) <= reader.settings.max_chars


@pytest.mark.parametrize("text", LONG.values(), ids=LONG)
def test_news_and_agents_stay_below_what_the_client_shows(reader, text):
    insert(reader.store, *rules(60, text, pinned=True))

    for brief in (briefing.news(reader), briefing.agent(reader, "ademem")):
        assert brief.shown
        assert units(brief.text) <= reader.settings.max_chars
        assert brief.text.count("- [convention] rule") == len(brief.shown)


def test_what_is_pinned_stands_once_and_first(reader):
    (pinned,) = insert(reader.store, memory("pinned", pinned=True))
    insert(reader.store, memory("newer", created_at=NOW + timedelta(days=1)))

    brief = briefing.session(reader, "ademem")
    assert brief.shown[0] == pinned
    assert len(brief.shown) == len({memory.id for memory in brief.shown}) == 2
    assert brief.text.count(pinned.id) == 1


def test_the_important_comes_first_then_the_new(reader):
    insert(
        reader.store,
        memory("low", importance=Importance.LOW),
        memory("old", importance=Importance.HIGH, updated_at=NOW - timedelta(days=1)),
        memory("medium"),
        memory("new", importance=Importance.HIGH),
    )

    found = [entry.memory.content for entry in briefing.knowledge(reader)]
    assert found == ["new", "old", "medium", "low"]


@pytest.mark.parametrize(
    "hidden",
    [
        pytest.param({"status": Status.ARCHIVED}, id="archived"),
        pytest.param({"quarantine_reason": "an instruction"}, id="quarantined"),
        pytest.param({"superseded_by": "x"}, id="superseded"),
        pytest.param({"deleted_at": NOW}, id="deleted"),
        pytest.param({"scope": Scope.AGENT, "scope_owner_id": "Explore"}, id="an agent's own"),
    ],
)
def test_what_is_not_for_this_reader_is_neither_told_nor_counted(reader, hidden):
    insert(reader.store, memory("secret", pinned=True, **hidden), memory("public"))

    brief = briefing.session(reader, "ademem")
    assert [memory.content for memory in brief.shown] == ["public"]
    assert "more:" not in brief.text


def test_an_agent_hears_what_is_its_own(store):
    insert(store, memory("mine", scope=Scope.AGENT, scope_owner_id="Explore"), memory("ours"))
    settings = BriefingSettings()
    reader = Reader(store=store, settings=settings, now=NOW, agent="Explore")

    assert {memory.content for memory in briefing.agent(reader, "ademem").shown} == {"mine", "ours"}


def test_news_are_what_was_not_seen(store):
    seen, fresh = insert(store, memory("seen"), memory("fresh"))
    settings = BriefingSettings()
    reader = Reader(store=store, settings=settings, now=NOW, seen=frozenset({seen.id}))

    assert briefing.news(reader).shown == [fresh]
    nothing = Reader(store=store, settings=settings, now=NOW, seen=frozenset({seen.id, fresh.id}))
    assert briefing.news(nothing).text == ""
