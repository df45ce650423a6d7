"""Pages read rows by an index: none walks through the texts of all memories."""

import re
from datetime import UTC, datetime
from functools import partial

import pytest

from ademem.core.memory import Status, Tier
from ademem.operations import searching
from ademem.search.engine import Filters
from tests import builders

WALK = re.compile(r"SCAN (main\.)?(unified_memories|memory)$|project_created \(project_id=\?\)$")
"""A plan by which all rows are read, also by an index of which each row has the first value."""
LIST = "order by memory.created_at"
"""In the query of a list, which that index puts in order and which ends at its limit."""
LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)

PATHS = ("/", "/memories", "/memories?concern=unused", "/review", "/session/s1", "/injections")


@pytest.mark.parametrize("path", PATHS)
def test_no_page_walks_through_all_texts(browser, path):
    browser.world.context("session_start", source="startup")
    with browser.world.memories() as memories:
        builders.insert(memories.store, *(builders.memory(f"Lesson {at}") for at in range(50)))
    reads = next(iter(browser.site.projects.values())).reads
    asked = []
    reads._pool.submit(
        reads._run, lambda memories: memories.store.db.set_trace_callback(asked.append)
    ).result()
    assert browser.get(path).status_code == 200
    reads._pool.submit(
        reads._run, lambda memories: memories.store.db.set_trace_callback(None)
    ).result()
    with browser.world.memories() as memories:
        plans = [
            (row[3], query)
            for query in asked
            if "unified_memories" in query
            for row in memories.store.db.execute(f"explain query plan {query}")
        ]

    walked = [(plan, query) for plan, query in plans if WALK.search(plan) and LIST not in query]

    assert plans
    assert walked == []


@pytest.mark.parametrize(
    ("filters", "index"),
    [
        ({"statuses": (Status.ARCHIVED,)}, "project_status (project_id=? AND status=?)"),
        ({"since": LONG_AGO}, "project_created (project_id=? AND created_at>?)"),
        ({"concerns": ("unused",)}, "project_status (project_id=? AND status=?)"),
        (
            {"since": LONG_AGO, "tiers": (Tier.PINNED,)},
            "project_scope_tier (project_id=? AND scope=? AND tier=?)",
        ),
    ],
)
def test_a_list_and_its_count_read_the_part_of_an_index_that_fits(world, filters, index):
    with world.memories() as memories:
        asked = Filters(order="believed", **filters)
        queries = trace(memories, searching.list_memories, asked)
        queries += trace(memories, partial(searching.count_memories, most=9), asked)
        plans = list_plans(memories, queries)

    assert plans
    assert all(f"SEARCH memory USING INDEX idx_unified_memories_{index}" in plan for plan in plans)


@pytest.mark.parametrize("order", ["changed", "believed", "used"])
def test_a_list_without_an_index_of_its_order_reads_the_rows_as_they_lie(world, order):
    with world.memories() as memories:
        asked = Filters(statuses=(Status.PROMOTED, Status.CANDIDATE), order=order)
        (plan,) = list_plans(memories, trace(memories, searching.list_memories, asked))

    assert "SCAN memory" in plan


def trace(memories, read, filters):
    """Return the statements that a reading runs, with their values."""
    queries = []
    memories.store.db.set_trace_callback(queries.append)
    read(memories, filters)
    memories.store.db.set_trace_callback(None)
    return queries


def list_plans(memories, queries):
    return [
        [row[3] for row in memories.store.db.execute(f"explain query plan {query}")]
        for query in queries
        if "from unified_memories as memory" in query
    ]
