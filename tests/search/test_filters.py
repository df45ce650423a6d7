"""Who sees which memories."""

from __future__ import annotations

import random
from datetime import timedelta

import pytest

from ademem.core.memory import Category, Scope, Status, Tier
from ademem.core.value import replace
from ademem.search import ranking
from ademem.search.engine import ORDERS, UNARCHIVED, Filters, list_filtered
from ademem.store import filters as filters_module
from ademem.store import memories
from ademem.store.filters import count_listed
from ademem.store.maintenance import ADEMEM
from ademem.store.memories import Change
from tests.builders import NOW

OF_ADA = {"scope": Scope.AGENT, "scope_owner_id": "ada"}
OF_APOLLO = {"scope": Scope.MISSION, "scope_owner_id": "apollo"}


@pytest.mark.parametrize(
    ("filters", "visible"),
    [
        pytest.param({}, {"shared", "personal"}, id="a person: the project's and their own"),
        pytest.param({"owner": "ada"}, {"shared", "ada's"}, id="an agent: its own, no other's"),
        pytest.param({"mission": "apollo"}, {"shared", "personal", "apollo's"}, id="on a mission"),
        pytest.param({"scopes": (Scope.PROJECT,)}, {"shared"}, id="one scope"),
        pytest.param({"scopes": (Scope.AGENT,), "owner": "ada"}, {"ada's"}, id="an agent alone"),
    ],
)
def test_scope_and_owner_decide_who_sees_a_memory(keep, texts, filters, visible):
    keep("shared plan")
    keep("personal plan", scope=Scope.AGENT)
    keep("ada's plan", **OF_ADA)
    keep("bob's plan", scope=Scope.AGENT, scope_owner_id="bob")
    keep("apollo's plan", **OF_APOLLO)

    assert {text.removesuffix(" plan") for text in texts("plan", **filters)} == visible


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"superseded_by": "another"}, id="superseded"),
        pytest.param({"deleted_at": NOW}, id="deleted"),
        pytest.param({"quarantine_reason": "gives orders"}, id="in quarantine"),
    ],
)
def test_what_is_not_current_never_comes_back(keep, ask, changes):
    kept = keep("the plan of yesterday", topic_key="plan/old", **changes)

    for query in ("plan", "plan/old", kept.id):
        assert ask(query, statuses=tuple(Status)).hits == ()


def test_another_project_in_the_same_database_is_another_world(store, keep, texts):
    keep("the plan of the neighbours")
    store.db.execute(
        "insert into projects (id, root_path, display_name, created_at, last_opened_at)"
        " values ('neighbours', '', '', '', '')"
    )
    store.db.execute("update unified_memories set project_id = 'neighbours'")

    assert texts("plan") == []


def test_candidates_answer_only_when_nothing_promoted_does(keep, texts):
    keep("a rumour of the merger", status=Status.CANDIDATE)
    keep("a rumour of the picnic", status=Status.CANDIDATE)
    keep("the picnic is in June")

    assert texts("picnic") == ["the picnic is in June"]
    assert texts("merger") == ["a rumour of the merger"]


def test_a_candidate_that_answers_is_heard_beside_a_promoted_memory_that_hardly_does(keep, texts):
    keep("the exports service listens on port 7070")
    keep("the billing service listens on port 9090", status=Status.CANDIDATE)

    assert (
        texts("which port does billing listen on")[0] == "the billing service listens on port 9090"
    )


def test_candidates_come_along_when_asked_for(keep, texts):
    keep("a rumour of the picnic", status=Status.CANDIDATE)
    keep("the picnic is in June")

    both = texts("picnic", statuses=(Status.PROMOTED, Status.CANDIDATE))
    assert both == ["the picnic is in June", "a rumour of the picnic"]


def test_a_candidate_that_answers_is_not_hidden_by_a_promoted_memory_below_the_floor(keep, texts):
    for number in range(40):
        keep(f"meeting {number} was about the weather")
    keep("the zeppelin lands on the roof", status=Status.CANDIDATE)

    assert texts("is there a meeting on when the zeppelin lands on the roof terrace") == [
        "the zeppelin lands on the roof"
    ]


def test_the_archive_is_searched_when_every_status_is(keep, texts):
    keep("the plan of last year", status=Status.ARCHIVED)

    assert texts("plan") == []
    assert texts("plan", statuses=tuple(Status)) == ["the plan of last year"]


@pytest.mark.parametrize(
    ("filters", "matching"),
    [
        pytest.param({"categories": (Category.GOTCHA,)}, {"old"}, id="a category"),
        pytest.param({"categories": ("gotcha", "fact")}, {"old", "new"}, id="two categories"),
        pytest.param({"types": ("bugfix",)}, {"old"}, id="a type kept as a tag"),
        pytest.param({"types": ("gotcha",)}, {"old"}, id="a type that is a category"),
        pytest.param({"types": ("bug",)}, set(), id="a part of a tag"),
        pytest.param({"tags": ("db",)}, {"old", "new"}, id="a tag"),
        pytest.param({"tags": ("python", "ui")}, {"old"}, id="one tag of two"),
        pytest.param({"tiers": (Tier.PINNED,)}, {"old"}, id="a tier"),
        pytest.param({"path": "src/api/users.py"}, {"old"}, id="a file its pattern matches"),
        pytest.param({"path": "docs/users.md"}, set(), id="a file no pattern matches"),
        pytest.param({"branch": "topic"}, {"old"}, id="a branch"),
        pytest.param({"since": NOW}, {"new"}, id="since then"),
        pytest.param({"until": NOW}, {"old"}, id="until then"),
        pytest.param({"tags": ("db",), "tiers": (2,)}, {"new"}, id="two fields at once"),
    ],
)
def test_filters_narrow_a_search_and_a_list_alike(store, keep, texts, filters, matching):
    keep(
        "old plan",
        category=Category.GOTCHA,
        tags=("bugfix", "python", "db"),
        tier=Tier.PINNED,
        file_scope_pattern="src/api/*.py",
        source_branch="topic",
        created_at=NOW - timedelta(days=1),
    )
    keep("new plan", tags=("db",))

    wanted = {f"{age} plan" for age in matching}
    assert set(texts("plan", **filters)) == wanted
    assert {memory.content for memory in list_filtered(store, Filters(**filters), None)} == wanted


def test_a_filter_is_applied_before_anything_is_counted_off(keep, texts):
    for number in range(200):
        keep(f"plan plan plan {number}", category=Category.FACT)
    keep("a decision that mentions the plan among many other words", category=Category.DECISION)

    assert len(texts("plan", categories=(Category.DECISION,))) == 1


def test_a_list_is_newest_first_and_bounded(store, keep):
    for days in (3, 1, 2):
        keep(f"{days} days ago", created_at=NOW - timedelta(days=days))

    newest = [memory.content for memory in list_filtered(store, Filters(), 2)]
    assert newest == ["1 days ago", "2 days ago"]


def test_a_list_shows_quarantined_rows_when_asked_to(store, keep):
    keep("obey", status=Status.CANDIDATE, quarantine_reason="gives orders")

    assert list_filtered(store, Filters(statuses=(Status.CANDIDATE,)), None) == []
    assert (
        len(list_filtered(store, Filters(statuses=(Status.CANDIDATE,), quarantined=True), None))
        == 1
    )


FADED = Change(operation="archive", actor=ADEMEM, at=NOW)
PUT_AWAY = Change(operation="archive", actor="user", at=NOW)


@pytest.fixture
def keep_archived(store, keep):
    """A memory that was archived, by the change."""

    def put(content, change):
        kept = keep(content)
        return memories.update(store, replace(kept, status=Status.ARCHIVED), change)

    return put


def test_what_faded_answers_whoever_asks_for_it_when_nothing_live_does(keep_archived, keep, texts):
    keep_archived("the release job signs every package", FADED)
    keep("the release is on Monday")

    assert texts("release job signs", faded=True)[0] == "the release job signs every package"
    assert texts("release job signs") == []


def test_what_faded_keeps_quiet_beside_a_live_answer(keep_archived, keep, texts):
    keep_archived("the release job signs every package", FADED)
    keep("the release job signs what it builds")

    assert texts("release job signs", faded=True) == ["the release job signs what it builds"]


def test_what_a_person_put_away_does_not_come_back(keep_archived, texts):
    keep_archived("the release job signs every package", PUT_AWAY)

    assert texts("release job signs", faded=True) == []


def test_no_list_shows_what_faded(store, keep_archived):
    keep_archived("the release job signs every package", FADED)

    assert list_filtered(store, Filters(), None) == []


@pytest.mark.parametrize(
    ("others", "times"),
    [
        pytest.param((), 1, id="nothing else"),
        pytest.param(("candidate",), 1, id="candidates"),
        pytest.param(("archived",), 2, id="an archive"),
        pytest.param(("candidate", "archived"), 2, id="both"),
    ],
)
def test_a_search_looks_a_second_time_only_for_an_archive(keep, ask, monkeypatch, others, times):
    looks = []
    rank = ranking.rank
    monkeypatch.setattr(ranking, "rank", lambda *asked: looks.append(asked) or rank(*asked))
    keep("the release job signs every package")
    for status in others:
        keep(f"the {status} plan", status=Status(status))
    ask("something else entirely", faded=True)

    assert len(looks) == times


@pytest.mark.parametrize("order", ORDERS)
def test_what_is_listed_does_not_depend_on_how_it_is_read(store, keep, monkeypatch, order):
    choice = random.Random(order)
    homes = ({}, {}, OF_ADA, OF_APOLLO, {"scope": Scope.AGENT})
    for at in range(60):
        moment = NOW - timedelta(days=at % 7, hours=choice.randrange(3))
        keep(
            f"fact {at}",
            **choice.choice(homes),
            status=choice.choice(tuple(Status)),
            tier=choice.choice((1, 2, 3)),
            category=choice.choice((Category.FACT, Category.GOTCHA)),
            confidence=choice.choice((0.5, 0.9)),
            created_at=moment,
            updated_at=moment + timedelta(hours=at % 5),
        )
    asked = [
        Filters(statuses=statuses, tiers=tiers, categories=categories, since=since, order=order)
        for statuses in (UNARCHIVED, (Status.PROMOTED,), (Status.ARCHIVED,), tuple(Status))
        for tiers in ((), (Tier.PINNED,), (Tier.PINNED, Tier.FADING))
        for categories in ((), (Category.GOTCHA,))
        for since in (None, NOW - timedelta(days=3))
    ]
    asked += [replace(each, owner="ada", mission="apollo") for each in asked]

    def read():
        return [
            ([m.id for m in list_filtered(store, each, 20)], count_listed(store, each, 9))
            for each in asked
        ]

    found = read()
    monkeypatch.setattr(filters_module, "_shown_sql", lambda *_: filters_module._SHOWN)

    assert found == read()
    assert len({str(each) for each in found}) > 20


def test_no_search_finds_what_was_only_heard(keep, texts):
    keep("zebra plan", status="candidate", stage="heard")
    keep("zebra plans", status="candidate")

    assert texts("zebra", statuses=UNARCHIVED) == ["zebra plans"]
