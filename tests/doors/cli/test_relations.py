"""Relations at the terminal."""

import pytest


def test_a_candidate_is_listed_judged_and_shown_in_a_search(ademem):
    ademem("add", "The billing worker retries webhooks five times with a delay")
    added = ademem.json("add", "The billing worker retries failed webhooks, and pages the team")
    (candidate,) = added["candidates"]

    (pending,) = ademem.json("relations", added["memory"]["id"], "--status", "pending")["relations"]
    assert pending["id"] == candidate["judgment_id"]
    said = ademem("relations", "judge", candidate["judgment_id"], "scoped", "--reason", "in tests")
    assert "judged: an annotation of both" in said
    assert f"scoped: {candidate['id']}" in ademem("search", "pages the team")
    assert "in tests" in ademem("relations")


def test_a_verdict_of_an_agent_waits_in_the_review(ademem):
    first = ademem.json("add", "Migrations run with Flyway at deploy")["memory"]["id"]
    second = ademem.json("add", "Redis keeps sessions")["memory"]["id"]
    ademem.inside()
    judged = ademem.json("relations", "judge", second, "supersedes", "--other", first)
    ademem.outside()

    assert judged["status"] == "pending"
    why = [row["why"] for row in ademem.json("review")["memories"]]
    assert any(f"agent says supersedes {first}" in each for each in why)


def test_a_verdict_names_the_command_that_takes_it_back(ademem):
    first = ademem.json("add", "Migrations run with Flyway at deploy")["memory"]["id"]
    second = ademem.json("add", "Redis keeps sessions")["memory"]["id"]
    said = ademem("relations", "judge", second, "supersedes", "--other", first)
    assert f"`ademem restore {first}` brings it back" in said
    ademem("restore", first)
    assert first in ademem("list")

    ademem("relations", "judge", second, "conflicts_with", "--other", first)
    assert f"conflicts with {first}\n" in ademem("review", "--list")


def test_without_vectors_nothing_is_near(ademem, monkeypatch):
    monkeypatch.setenv("ADEMEM_RELATIONS_SURFACE", "false")
    ademem("add", "Deploys run on Mondays")
    ademem("add", "Deploys run on Thursdays")

    assert ademem.json("relations", "scan") == {"count": 0, "pairs": []}
    assert ademem.json("relations", "deferred") == {"applied": 0, "count": 0, "deferred": []}
    assert "no relation has the id" in ademem("relations", "deferred", "--drop", "rel-0")


@pytest.fixture
def stated(ademem):
    """Two memories, a confirmed one of the person and a waiting one of an agent."""
    confirmed = ademem.json("add", "Feature flags are read from the environment")["memory"]["id"]
    ademem.inside()
    waiting = ademem.json("add", "Giraffes are counted twice")["memory"]["id"]
    ademem.outside()
    return {"confirmed": confirmed, "waiting": waiting}


@pytest.mark.parametrize("known", ["confirmed", "waiting"])
@pytest.mark.parametrize("relation", ["replaces", "contradicts", "repeats"])
def test_an_undo_takes_back_a_text_with_what_it_was_stated_to_do(ademem, stated, known, relation):
    before, review = ademem.json("list"), ademem.json("review")
    id, text = stated[known], "Flags live in flags.toml"
    ademem("edit", stated["confirmed"], "--title", "Flags")
    ademem("add", text, f"--{relation}", id)
    done = ademem.json("log")["events"][0]
    ademem("undo")
    after = [(row["id"], row["status"]) for row in ademem.json("list")["memories"]]

    assert (
        done["operations"]
        == {
            "replaces": {"insert": 1, "supersede": 1},
            "contradicts": {"insert": 1},
            "repeats": {"merge": 1},
        }[relation]
    )
    assert after == [(row["id"], row["status"]) for row in before["memories"]]
    assert ademem("undo").splitlines()[0].endswith("edit 1 (title) by user")  # the act before
    assert ademem.json("review") == review


def test_an_undone_replacement_is_done_again_by_the_undo_of_its_undo(ademem, stated):
    new = ademem.json("add", "Flags are in flags.toml", "--replaces", stated["waiting"])
    ademem("undo")
    ademem("undo", ademem.json("log")["events"][0]["id"])

    listed = {row["id"] for row in ademem.json("list")["memories"]}
    assert listed == {stated["confirmed"], new["memory"]["id"]}


def test_an_undo_of_a_lesson_brings_back_what_it_replaced(ademem, stated):
    ademem("learn", "Flags are in flags.toml", "--replaces", stated["waiting"])
    ademem("undo")

    listed = {row["id"] for row in ademem.json("list")["memories"]}
    assert listed == set(stated.values())
