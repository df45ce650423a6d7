"""`ademem eval` as people and CI call it."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from ademem import operations
from ademem.core.memory import Draft
from ademem.doors.cli import app
from ademem.operations import curation, writing
from tests.plugins.evaluation import sets

PARROT = {"query": "Who adopted a parrot?", "relevant": ["D1:2"], "category": "pets"}


@pytest.fixture
def call(tmp_path, monkeypatch):
    """Run a command line in an enrolled project; the exit code and what it printed."""
    monkeypatch.chdir(tmp_path)
    for name in ("CLAUDE_PROJECT_DIR", "ADEMEM_PROJECT", "CLAUDE_CODE_SESSION_ID"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("ADEMEM_MODELS_DIR", str(tmp_path / "models"))
    operations.init(str(tmp_path))

    def call(*words):
        result = CliRunner().invoke(app, ["eval", *words])
        return result.exit_code, result.stdout

    return call


@pytest.fixture
def known():
    """A memory of the project."""

    def known(text):
        with operations.open_memories() as memories:
            return writing.write(memories, Draft(content=text, promoted=True)).memory

    return known


def test_a_run_tells_what_was_measured_and_how_good_it_was(call, tmp_path):
    (tmp_path / "set.jsonl").write_bytes(sets.plain(PARROT))
    code, said = call("run", "set.jsonl")

    assert code == 0
    assert sets.digest(sets.plain(PARROT)) in said
    assert "jsonl: 1 store, 3 items, 0 merged, 0 refused; lexical" in said
    assert "overall (1 question)" in said
    assert "BM25 only" in said


def test_a_run_is_readable_by_programs(call, tmp_path):
    (tmp_path / "set.json").write_bytes(sets.locomo())
    code, said = call("run", "set.json", "--format", "locomo", "--json")
    found = json.loads(said)

    assert code == 0
    assert (found["format"], found["stores"], found["items"]) == ("locomo", 1, 3)
    assert {"system", "category", "questions", "scores"} == found["rows"][0].keys()


def test_the_gate_fails_when_a_memory_is_found_no_more(call, known):
    memory = known("Tokens expire in UTC")
    assert call("add", "tokens", memory.id) == (0, f"{memory.sync_id}: rank 1\n")
    assert call("gate") == (0, "1 question, recall@10 100.0 %\n")
    with operations.open_memories() as memories:
        curation.archive(memories, memory.id)

    code, said = call("gate")
    assert code == 1
    assert f"WORSE   {memory.id}  rank 1 → not found" in said


def test_the_gate_can_ask_for_a_recall(call, known):
    call("add", "tokens", known("Tokens expire in UTC").id)
    call("add", "zebra", known("The museum opens in spring").id)

    assert call("gate")[0] == 0
    assert call("gate", "--min-recall", "0.6")[0] == 1
    assert json.loads(call("gate", "--min-recall", "0.6", "--json")[1])["failed"] is True


def test_an_update_makes_the_ranks_of_now_the_ones_to_keep(call, known):
    memory = known("Tokens expire in UTC")
    call("add", "tokens", memory.id)
    with operations.open_memories() as memories:
        curation.edit(memories, memory.id, content="Sessions last an hour")

    assert call("gate")[0] == 1
    assert call("gate", "--update")[0] == 0
    assert call("gate")[0] == 0


def test_the_gate_measures_what_prompts_are_shown_of_a_dataset(call, tmp_path):
    store = {
        "store": "s",
        "memories": [{"id": "m1", "text": "Login tokens expire in UTC"}],
        "queries": [],
    }
    (tmp_path / "store.jsonl").write_text(json.dumps(store))
    prompt = {"prompt": "Fix: login tokens expire", "kind": "related", "relevant": ["m1"]}
    (tmp_path / "prompts.jsonl").write_text(json.dumps(prompt))
    words = ("gate", str(tmp_path / "prompts.jsonl"), "--memories", str(tmp_path / "store.jsonl"))
    code, printed = call(*words, "--json")

    assert code == 0
    assert json.loads(printed) == {
        "mode": "lexical",
        "right": 1.0,
        "failed": False,
        "kinds": [{"kind": "related", "prompts": 1, "shown": 1.0, "right": 1.0, "memories": 1.0}],
    }


def test_the_gate_fails_where_too_few_prompts_are_shown_the_right_memory(call, tmp_path):
    prompt = {"prompt": "Fix: login tokens expire", "relevant": ["m1"]}
    (tmp_path / "prompts.jsonl").write_text(json.dumps(prompt))

    assert call("gate", str(tmp_path / "prompts.jsonl"), "--min-recall", "0.5")[0] == 1
