"""Relations at the terminal."""


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
