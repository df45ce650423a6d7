"""A dataset, asked through the product."""

from __future__ import annotations

import pytest

from ademem.plugins.evaluation import measuring as evaluation
from ademem.plugins.evaluation.measuring import open_arena
from tests.plugins.evaluation import sets

PARROT = {"query": "Who adopted a parrot?", "relevant": ["D1:2"], "category": "pets"}
SHIP = {"query": "Which ship sank?", "relevant": ["D1:3"], "category": "adversarial"}


@pytest.fixture
def environment(tmp_path):
    """Where no model is installed, inside of somebody's session."""
    return {
        "HOME": str(tmp_path),
        "ADEMEM_MODELS_DIR": str(tmp_path),
        "CLAUDE_PROJECT_DIR": "/nowhere",
        "CLAUDE_CODE_SESSION_ID": "s1",
    }


def measured(data, environment):
    return evaluation.run(evaluation.read(data), environment)


def score(run, system, category, name):
    (row,) = [r for r in run.rows if (r.system, r.category) == (system, category)]
    return row.scores[name]


def test_what_the_product_finds_is_what_is_measured(environment):
    run = measured(sets.plain(PARROT, SHIP), environment)

    assert (run.stores, run.items, run.merged, run.refused) == (1, 3, 0, 0)
    assert run.mode == "lexical"
    assert score(run, "ademem", "pets", "R@1") == 1
    assert score(run, "ademem", "adversarial", "R@20") == 0


def test_questions_without_an_answer_are_left_out_of_the_whole(environment):
    run = measured(sets.plain(PARROT, SHIP), environment)
    overall = [row for row in run.rows if row.category == "overall"]

    assert {row.questions for row in overall} == {1}
    assert {row.system for row in overall} == {"ademem", "BM25 only"}


def test_the_same_dataset_gives_the_same_figures(environment):
    data = sets.locomo()

    assert measured(data, environment) == measured(data, environment)


def test_a_repeated_item_counts_as_the_memory_that_says_it(environment):
    again = [
        {"id": id, "text": "The parrot is grey", "session": "s", "date": ""} for id in ("a", "b")
    ]
    asked = {"query": "grey parrot", "relevant": ["b"]}
    run = measured(
        sets.as_bytes({"store": "s", "memories": again, "queries": [asked]}), environment
    )

    assert run.merged == 1
    assert score(run, "ademem", "overall", "R@1") == 1


def test_what_the_gate_refuses_is_reported_and_never_found(environment):
    items = [{"id": "a", "text": "\u200b"}, {"id": "b", "text": "The parrot is grey"}]
    asked = {"query": "grey parrot", "relevant": ["a"]}
    run = measured(
        sets.as_bytes({"store": "s", "memories": items, "queries": [asked]}), environment
    )

    assert run.refused == 1
    assert score(run, "ademem", "overall", "R@20") == 0


def test_without_a_model_words_alone_are_fused(environment):
    haystack = evaluation.read(sets.plain()).haystacks[0]
    with open_arena(haystack, environment) as arena:
        ids = [arena.ids((item.id,)) for item in haystack.items]
        by_bm25 = arena.rank_words('parrot "lentil soup" (')
        by_both = arena.fuse('parrot "lentil soup" (')

    assert [frozenset([id]) for id in by_bm25] == [ids[2], ids[1]]
    assert by_both == by_bm25


def test_nothing_is_left_of_the_projects(environment, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    measured(sets.plain(PARROT), environment)

    assert list(tmp_path.glob("ademem-eval-*")) == []
