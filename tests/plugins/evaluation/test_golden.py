"""Golden recalls of one's own project."""

from __future__ import annotations

import json

import pytest

from ademem import operations
from ademem.core.errors import AdememError, NoSuchMemory, NotFound
from ademem.core.memory import Draft, Scope
from ademem.doors.calls import without_session
from ademem.operations import curation, searching, writing
from ademem.plugins.evaluation import golden
from tests.builders import NOW

TEXTS = ("Tokens expire in UTC", "The harbour museum opens in spring", "Lentil soup burns")
SECRET = "AKIA" + "A1B2C3D4E5F6G7H8"


@pytest.fixture
def memories(tmp_path):
    operations.init(str(tmp_path))
    environment = {"ADEMEM_JOBS_AUTO": "false", "HOME": str(tmp_path)}
    with operations.open_memories(
        str(tmp_path), environment=environment, now=lambda: NOW
    ) as opened:
        for text in TEXTS:
            writing.write(opened, Draft(content=text, promoted=True))
        yield opened


@pytest.fixture
def tokens(memories):
    (hit,) = searching.search(memories, "tokens expire").hits
    return hit.memory


def recorded(tmp_path):
    lines = (tmp_path / ".ade/eval.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def test_a_golden_recall_keeps_where_its_memory_ranks(memories, tokens, tmp_path):
    golden.add(memories, "When do  tokens expire?", [tokens.id])

    assert recorded(tmp_path) == [{"query": "When do tokens expire?", "ranks": {tokens.sync_id: 1}}]


def test_questions_stand_in_order_and_adding_twice_changes_nothing(memories, tokens, tmp_path):
    for query in ("tokens", "expire", "tokens"):
        golden.add(memories, query, [tokens.id])

    assert [row["query"] for row in recorded(tmp_path)] == ["expire", "tokens"]


def test_secrets_in_a_question_do_not_reach_the_file(memories, tokens, tmp_path):
    golden.add(memories, f"tokens like {SECRET}", [tokens.id])

    assert SECRET not in (tmp_path / ".ade/eval.jsonl").read_text()


def test_a_memory_of_one_person_is_not_named_in_a_tracked_file(memories):
    mine = writing.write(
        memories, Draft(content="I like tea", scope=Scope.AGENT, owner="me")
    ).memory

    with pytest.raises(AdememError, match="stays on this machine"):
        golden.add(memories, "tea", [mine.id])
    with pytest.raises(NoSuchMemory):
        golden.add(memories, "tea", ["0000"])


def test_an_unchanged_store_passes(memories, tokens):
    golden.add(memories, "tokens expire", [tokens.id])
    verdict = golden.check(memories)

    assert (verdict.golden, verdict.recall, verdict.moved) == (1, 1.0, ())
    assert not verdict.regressed


def test_a_memory_that_is_not_found_any_more_is_a_regression(memories, tokens):
    golden.add(memories, "tokens expire", [tokens.id])
    curation.archive(memories, tokens.id)
    verdict = golden.check(memories)

    (moved,) = verdict.moved
    assert (moved.sync_id, moved.before, moved.now) == (tokens.sync_id, 1, None)
    assert verdict.regressed
    assert verdict.recall == 0


@pytest.mark.parametrize(
    ("before", "slack", "regressed"),
    [
        pytest.param(1, 0, False, id="as it was"),
        pytest.param(3, 0, False, id="better"),
        pytest.param(None, 0, False, id="found at last"),
        pytest.param(0, 0, True, id="one place worse"),
        pytest.param(0, 1, False, id="within the slack"),
    ],
)
def test_only_a_worse_rank_is_a_regression(memories, tokens, before, slack, regressed):
    project = memories.project
    golden.save(project, [golden.Golden(query="tokens", ranks={tokens.sync_id: before})])

    assert golden.check(memories, slack=slack).regressed is regressed


def test_an_update_records_the_ranks_of_now_and_forgets_what_is_gone(memories, tokens, tmp_path):
    golden.add(memories, "tokens", [tokens.id])
    project = memories.project
    lines = [
        golden.Golden(query="tokens", ranks={tokens.sync_id: 7, "gone": 1}),
        golden.Golden(query="zebra", ranks={"gone": 1}),
    ]
    golden.save(project, lines)
    golden.update(memories)

    assert recorded(tmp_path) == [{"query": "tokens", "ranks": {tokens.sync_id: 1}}]
    assert not golden.check(memories).moved


def test_asking_leaves_no_trace(memories, tokens):
    golden.add(memories, "tokens", [tokens.id])
    changes = memories.store.db.total_changes
    golden.check(memories)

    assert memories.store.db.total_changes == changes
    assert "CLAUDE_CODE_SESSION_ID" not in without_session({"CLAUDE_CODE_SESSION_ID": "s"})


def test_a_run_keeps_the_means_of_each_system_and_the_ranks(memories, tokens):
    golden.add(memories, "tokens expire", [tokens.id])
    golden.add(memories, "zebra", [tokens.id])
    run = golden.measure(memories)

    assert golden.list_runs(memories) == [run]
    assert run["questions"] == 2
    assert set(run["means"]) == {"ademem", "BM25 only"}
    assert run["means"]["ademem"] == {"any@5": 0.5, "any@10": 0.5, "MRR": 0.5, "nDCG@10": 0.5}
    assert [each.now for each in golden.list_ranks(memories)] == [
        {tokens.sync_id: 1},
        {tokens.sync_id: None},
    ]


def test_old_runs_go(memories, tokens, monkeypatch):
    monkeypatch.setattr("ademem.plugins.evaluation.golden.MOST_RUNS", 2)
    golden.add(memories, "tokens expire", [tokens.id])
    for _ in range(3):
        golden.measure(memories)

    assert len(golden.list_runs(memories)) == 2


def test_without_golden_recalls_there_is_nothing_to_check(memories):
    for ask in (golden.check, golden.measure):
        with pytest.raises(NotFound, match="no golden recalls"):
            ask(memories)


@pytest.mark.parametrize(
    "line",
    ["{", "[]", '{"query": "a"}', '{"query": "a", "ranks": {}}', '{"query": "a", "ranks": 1}'],
)
def test_a_line_that_cannot_be_read_is_named(memories, tmp_path, line):
    (tmp_path / ".ade/eval.jsonl").write_text(f'{{"query": "a", "ranks": {{"m": 1}}}}\n{line}\n')

    with pytest.raises(AdememError, match=r"eval\.jsonl:2 is not a golden recall"):
        golden.check(memories)
