"""Measurement of what the prompt hook shows."""

from __future__ import annotations

import json

import pytest

from ademem import operations
from ademem.core.errors import UsageError
from ademem.core.memory import Draft
from ademem.operations import searching, writing
from ademem.plugins.evaluation import measuring as evaluation
from tests.builders import NOW

TEXTS = ("Login tokens expire in UTC", "The harbour museum opens in spring")


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


def prompts(*lines):
    return evaluation.read_prompts("\n".join(map(json.dumps, lines)).encode())


def test_each_kind_has_the_shares_of_what_is_shown_and_of_what_is_right(memories):
    (tokens,) = searching.search(memories, "tokens", limit=1).hits
    found = evaluation.measure_prompts(
        prompts(
            {
                "prompt": "Fix: login tokens expire",
                "kind": "related",
                "relevant": [tokens.memory.id],
            },
            {"prompt": "Show when the harbour museum opens", "kind": "related", "relevant": ["x"]},
            {"prompt": "Draw a family tree", "kind": "far"},
            {"prompt": "thanks", "kind": "far", "relevant": []},
        ),
        memories,
    )
    far, related = found.kinds

    assert (far.prompts, far.shown, far.right, far.memories) == (2, 0.0, None, 0.0)
    assert (related.prompts, related.shown, related.right, related.memories) == (2, 1.0, 0.5, 1.0)
    assert (found.mode, found.right) == ("lexical", 0.5)


@pytest.mark.parametrize("data", [b"[]", b'{"query": "x"}', b"no json"])
def test_other_files_are_refused(data):
    with pytest.raises(UsageError, match="not prompts"):
        evaluation.read_prompts(data)
