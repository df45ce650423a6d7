"""What each section of a briefing tells, to whom."""

from datetime import timedelta

import pytest

from ademem.core.client import TurnKey
from ademem.core.memory import Category, Importance, Scope, Status
from ademem.core.settings import LEVELS, BriefingSettings
from ademem.core.value import replace
from ademem.files import project_brief
from ademem.session import briefing
from ademem.session.briefing import Reader
from ademem.store import logs, memories, relations, sessions
from ademem.store.memories import Change
from tests.builders import NOW, insert, memory, project

LATER = NOW + timedelta(hours=2)


def reader(store, **changes):
    settings = BriefingSettings(**changes.pop("settings", {}))
    return Reader(**{"store": store, "settings": settings, "now": LATER, "session": "s2"} | changes)


def contents(entries):
    return [entry.memory.content for entry in entries]


def show(store, times, *shown):
    """Brief as many sessions with these memories."""
    items = [logs.Shown(memory_id=memory.id) for memory in shown]
    for number in range(times):
        logs.log_shown(store, "briefing", items, NOW, key=TurnKey(session_id=f"shown {number}"))


def section(text, title):
    """The lines below a heading of a briefing."""
    return text.partition(f"## {title}\n")[2].partition("\n## ")[0].splitlines()


def test_what_a_later_memory_contradicts_is_not_shown(store):
    old = memory("billing is on 8081", created_at=NOW - timedelta(days=9))
    old, new = insert(store, old, memory("billing is on 9090"))
    relations.add(
        store,
        old,
        new,
        relations.SUPERSEDES,
        score=0.9,
        reason="8081 against 9090",
        actor="user",
        now=NOW,
    )
    assert contents(briefing.knowledge(reader(store))) == ["billing is on 9090"]
    assert contents(briefing.recent_knowledge(reader(store))) == ["billing is on 9090"]
    assert contents(briefing.fresh(reader(store))) == ["billing is on 9090"]

    relations.resolve(store, old, new, "user", NOW)
    assert len(briefing.knowledge(reader(store))) == 2


def test_of_two_that_contradict_each_other_the_later_is_shown_first_whatever_its_worth(store):
    old = memory("billing is on 8081", importance="high", created_at=NOW - timedelta(days=9))
    old, new, _ = insert(store, old, memory("billing is on 9090"), memory("search is on 7070"))
    kind = {"score": 0.5, "reason": "", "actor": "user", "now": NOW}
    relations.add(store, old, new, relations.CONFLICT, **kind)
    found = briefing.knowledge(reader(store))

    told = ["billing is on 9090", "billing is on 8081", "search is on 7070"]
    assert contents(found) == told
    assert found[0].worth == found[1].worth > found[2].worth


@pytest.mark.parametrize("stage", ["heard", "candidate", "supported"])
def test_what_no_person_confirmed_is_in_no_section(store, stage):
    insert(store, memory("billing is on 8081", status="candidate", stage=stage, promoted_at=None))

    for section in briefing.SECTIONS:
        assert contents(section.entries(reader(store))) == [], section.title
    assert contents(briefing.fresh(reader(store))) == []


def test_beside_a_confirmed_memory_stands_no_candidate_of_another_branch(store):
    old, new = insert(
        store,
        memory("billing is on 8081", created_at=NOW - timedelta(days=9)),
        memory("billing is on 9090", status="candidate", source_branch="feature"),
    )
    kind = {"score": 0.5, "reason": "", "actor": "user", "now": NOW}
    relations.add(store, old, new, relations.CONFLICT, **kind)

    assert contents(briefing.knowledge(reader(store))) == ["billing is on 8081"]


@pytest.mark.parametrize("level", LEVELS)
def test_a_level_tells_so_many_memories_of_a_kind(store, level, monkeypatch):
    monkeypatch.setattr(briefing, "RECENT_MEMORIES", 0)
    insert(store, *(memory(f"rule {n}", category=Category.CONVENTION) for n in range(60)))
    insert(store, *(memory(f"step {n}", category=Category.PROCEDURE) for n in range(60)))
    settings = {"level": level, "max_chars": 100_000}

    text = briefing.session(reader(store, settings=settings), "ademem").text
    assert (
        len([line for line in section(text, "Procedures") if line.startswith("- ")])
        == (LEVELS[level])
    )
    assert text.count("[convention]") == LEVELS[level]


@pytest.mark.parametrize(
    ("branch", "words"),
    [
        pytest.param("feature/passkey-login", ["passkey", "login"], id="words"),
        pytest.param("fix/ACME-123_Cart.totals", ["acme", "cart", "totals"], id="a ticket"),
        pytest.param("главная/вход", ["главная", "вход"], id="another script"),
        pytest.param("main", [], id="a trunk"),
        pytest.param("release/2.1", [], id="a number"),
        pytest.param('x"y OR z*', [], id="signs of a query"),
        pytest.param("a" * 30 + "-bbb-ccc-ddd-eee", ["a" * 30, "bbb", "ccc", "ddd"], id="many"),
        pytest.param("", [], id="none"),
    ],
)
def test_the_telling_words_of_a_branch_are_taken(branch, words):
    assert briefing.branch_words(branch) == words


def test_what_the_name_of_the_branch_says_is_shown_first_of_all_that_is_ranked(store):
    login = memory("Passkeys live in the login store", updated_at=NOW - timedelta(days=90))
    insert(store, login, *(memory(f"rule {n}") for n in range(40)))

    told = briefing.session(reader(store, branch="feature/passkey-login"), "ademem")
    assert [line for line in section(told.text, "On this branch") if login.id in line]
    assert "## On this branch" not in briefing.session(reader(store, branch="main"), "ademem").text


def test_of_what_fits_the_branch_the_better_fit_leads(store):
    one, both = insert(store, memory("login pages are old"), memory("login asks for a passkey"))

    found = briefing.by_branch(reader(store, branch="passkey-login"))
    assert contents(found) == [both.content, one.content]


@pytest.mark.parametrize(
    "hidden",
    [
        pytest.param({"status": Status.ARCHIVED}, id="archived"),
        pytest.param({"status": Status.CANDIDATE}, id="unconfirmed"),
        pytest.param({"quarantine_reason": "an order"}, id="quarantined"),
        pytest.param({"scope": Scope.AGENT, "scope_owner_id": "Explore"}, id="an agent's own"),
        pytest.param({"pinned": True}, id="pinned, which has its place"),
    ],
)
def test_a_branch_tells_only_what_is_established_and_for_everybody(store, hidden):
    insert(store, memory("login asks for a passkey", **hidden))

    assert briefing.by_branch(reader(store, branch="passkey-login")) == []


def test_procedures_have_a_place_of_their_own(store):
    insert(store, memory("release: tag, build, push", category=Category.PROCEDURE))
    who = reader(store)

    assert contents(briefing.procedures(who)) == ["release: tag, build, push"]
    assert briefing.knowledge(who) == []


def test_what_is_shown_too_often_and_never_used_gives_way(store):
    stale, *others = insert(
        store, memory("stale"), *(memory(f"rule {n}", confidence=0.7) for n in range(3))
    )
    show(store, 10, stale)
    assert contents(briefing.knowledge(reader(store)))[0] == "stale"

    show(store, 40, stale)
    assert contents(briefing.knowledge(reader(store)))[-1] == "stale"
    assert len(others) == 3


def test_what_sinks_makes_room_for_what_was_never_looked_at(store):
    important = [memory(f"old hat {n}", importance=Importance.HIGH) for n in range(9)]
    slight = memory("the slight one", importance=Importance.LOW)
    shown = insert(store, *important, slight)[:9]
    who = reader(store, settings={"level": "lite"})
    assert "the slight one" not in contents(briefing.knowledge(who))

    show(store, 200, *shown)
    assert contents(briefing.knowledge(who))[0] == "the slight one"


def test_what_is_pinned_never_sinks(store):
    pinned, *_ = insert(store, memory("pinned", pinned=True), *(memory(f"r {n}") for n in range(9)))
    show(store, 500, pinned)

    assert briefing.session(reader(store), "ademem").shown[0].id == pinned.id


def close(store, session="s1", at=NOW):
    sessions.start(store, session, source="startup", directory="", branch=None, now=at)
    sessions.end(store, session, "other", at)


def change(store, memory, at, operation="edit", **changes):
    done = Change(operation=operation, actor="user", at=at)
    return memories.update(store, replace(memories.get(store, memory.id), **changes), done)


def test_a_session_hears_what_changed_since_the_one_before(store):
    settled, moved, dead = insert(store, memory("settled"), memory("moved"), memory("dead"))
    close(store, at=NOW + timedelta(minutes=1))
    change(store, moved, LATER, content="moved to the cellar")
    change(store, dead, LATER, operation="archive", status=Status.ARCHIVED)

    told = [entry.text for entry in briefing.since_last_session(reader(store))]
    assert told[0] == "1 changed, 1 no longer valid since 2026-01-31 12:01 UTC"
    assert "moved to the cellar" in told[1]
    assert told[2] == "- no longer valid: dead"
    assert settled.content not in "".join(told)


@pytest.mark.parametrize(
    ("operation", "changes"),
    [
        pytest.param("merge", {"observation_count": 2}, id="seen once more"),
        pytest.param("edit", {"quarantine_reason": "an order"}, id="quarantined"),
        pytest.param("edit", {"scope": Scope.AGENT, "scope_owner_id": "x"}, id="an agent's own"),
    ],
)
def test_what_says_nothing_else_or_is_not_for_all_did_not_change(store, operation, changes):
    (known,) = insert(store, memory("known"))
    close(store, at=NOW + timedelta(minutes=1))
    change(store, known, LATER, operation, **changes)

    assert briefing.since_last_session(reader(store)) == []


def test_what_a_person_deleted_is_counted_and_not_repeated(store):
    (known,) = insert(store, memory("known"))
    close(store, at=NOW + timedelta(minutes=1))
    change(store, known, LATER, "delete", deleted_at=LATER)

    assert [entry.text for entry in briefing.since_last_session(reader(store))] == [
        "1 no longer valid since 2026-01-31 12:01 UTC"
    ]


def test_the_first_session_hears_of_no_change(store):
    insert(store, memory("known"))
    sessions.start(store, "s2", source="startup", directory="", branch=None, now=LATER)

    assert briefing.since_last_session(reader(store)) == []


def test_of_a_long_list_in_the_brief_whole_items_are_shown_and_the_rest_is_named(store, tmp_path):
    notes = [f"note {n} {'x' * 90}" for n in range(20)]
    project_brief.patch(store, project(tmp_path), {"notes": notes}, NOW)

    (entry,) = briefing.core_brief(reader(store))
    told = entry.text.removeprefix("Notes: ").partition(" (and ")[0].split("; ")
    assert told == notes[: len(told)]
    assert f"(and {20 - len(told)} more: `ademem core show`)" in entry.text


def test_what_found_no_room_is_named_by_its_section(store, monkeypatch):
    monkeypatch.setattr(briefing, "RECENT_MEMORIES", 0)
    insert(store, *(memory(f"pin {n} " + "x" * 300, pinned=True) for n in range(20)))

    brief = briefing.session(reader(store, settings={"max_chars": 2000}), "ademem")
    assert f"No room here for: {20 - len(brief.shown)} pinned" in brief.text


def test_memories_that_contradict_each_other_are_named_until_a_person_decided(store):
    left, right = insert(store, memory("Deploys go on Mondays"), memory("Deploys go on Fridays"))
    kind = {"score": 0.9, "reason": "days", "actor": "user", "now": NOW}
    relations.add(store, left, right, relations.CONFLICT, **kind)
    (entry,) = briefing.conflicts(reader(store))

    told = entry.text.partition(" contradicts ")
    assert "Deploys go on Fridays" in told[0]
    assert "Deploys go on Mondays" in told[2]
    relations.resolve(store, left, right, "user", NOW)
    assert briefing.conflicts(reader(store)) == []


def test_a_briefing_has_one_captured_error_at_most(store):
    errors = [f"Error {name}: the port is taken" for name in ("EADDRINUSE", "EACCES", "EPERM")]
    insert(store, *(memory(text, source_type="error_capture") for text in errors))
    text = briefing.session(reader(store), "ademem").text

    assert sum(error in text for error in errors) == 1
