"""Golden questions and their runs on the page, and the plot of the cost."""

import html
import json
import re

import pytest

from ademem.core.clock import stamp
from ademem.doors.views.session import spent_days, spent_json
from ademem.operations import reports, searching
from ademem.plugins.evaluation import golden
from ademem.plugins.evaluation.golden import Golden, Ranks
from ademem.plugins.page.upkeep_pages import RUNS
from ademem.store.database import set_value
from tests import builders


def texts(page):
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", page)))


@pytest.fixture
def asked(browser):
    """A page of a project with one golden question."""
    browser.world.know("Invoices are sent by the night job", "Money is stored in cents")
    with browser.world.memories() as memories:
        memory = next(each for each in searching.list_memories(memories) if "Money" in each.content)
        golden.add(memories, "How is money stored?", [memory.id])
    browser.sync_id = memory.sync_id
    return browser


def ranks(browser):
    with browser.world.memories() as memories:
        return golden.load(memories.project)[0].ranks


def rerank(browser, rank):
    with browser.world.memories() as memories:
        given = Golden(query="How is money stored?", ranks={browser.sync_id: rank})
        golden.save(memories.project, [given])


def test_the_gate_records_a_run_with_its_baselines(asked):
    before = texts(asked.get("/eval").text)
    asked.post("/eval/gate", next="/eval")
    asked.post("/eval/gate", next="/eval")
    page = asked.get("/eval").text

    assert "not asked yet" in before
    assert "recorded place 1, now place 1" in texts(page)
    assert page.count("<tbody>") == 4
    assert re.findall(r"<h2>(\S+) over commits", page) == ["hits@5", "hits@10", "MRR", "nDCG@10"]
    assert re.findall(r'data-line="\d">([^<]+)<', page)[:2] == ["ademem", "BM25 only"]
    assert page.count("<code>no commit</code>") == 8
    assert page.count(">1.000<") >= 8


def test_many_questions_and_runs_fit_in_pages(browser):
    words = "with more words " * 15
    with browser.world.memories() as memories:
        known = builders.insert(
            memories.store, *(builders.memory(f"Lesson {at} {words}") for at in range(110))
        )
        golden.save(
            memories.project,
            [Golden(query=f"Question {each.id}", ranks={each.sync_id: 1}) for each in known],
        )
        means = dict.fromkeys(("any@5", "any@10", "MRR", "nDCG@10"), 0.5)
        run = {"at": stamp(memories.now), "questions": 110, "mode": "hybrid"}
        run["means"] = dict.fromkeys(("ademem", "BM25 only"), means)
        runs = [run | {"commit": f"{at:040}"} for at in range(30)]
        with memories.store.transaction() as db:
            set_value(db, golden.RUNS, json.dumps(runs))
    address, found = "/eval", []
    while address:
        answer = browser.get(address)
        assert len(answer.content) <= 64 * 1024
        found.append(re.findall(r"Question (\w+)<", answer.text))
        assert answer.text.count("</tr>") == 4 * (1 + RUNS)
        link = re.search(r'rel="next" href="([^"]+)"', answer.text)
        address = html.unescape(link[1]) if link else ""

    assert [len(rows) for rows in found] == [50, 50, 10]
    assert sorted(id for rows in found for id in rows) == sorted(each.id for each in known)


def test_a_worse_rank_is_reported_until_the_ranks_of_now_are_recorded(asked):
    rerank(asked, 0)
    asked.post("/eval/gate")
    worse = texts(asked.get("/eval").text)
    asked.post("/eval/update")
    better = texts(asked.get("/eval").text)
    updated = ranks(asked)
    asked.post("/undo")

    assert "1 memory ranked worse" in worse
    assert "none ranked worse" in better
    assert updated == {asked.sync_id: 1}
    assert ranks(asked) == {asked.sync_id: 0}


def test_an_empty_page_names_the_command_that_fills_it(browser):
    assert "ademem eval add" in texts(browser.get("/eval").text)
    assert browser.post("/eval/gate").status_code == 404


@pytest.mark.parametrize(
    ("before", "now", "state"),
    [
        (1, {"m": 1}, "same"),
        (1, {"m": 2}, "worse"),
        (1, {"m": None}, "worse"),
        (3, {"m": 1}, "better"),
        (None, {"m": 1}, "better"),
        (1, {}, "not asked"),
        (1, None, "not asked"),
    ],
)
def test_a_rank_is_compared_with_the_recorded_one(before, now, state):
    each = Ranks(golden=Golden(query="q", ranks={"m": before}), now=now)

    assert each.state_of("m") == state


def test_texts_and_calls_are_summed_by_day(browser):
    browser.world.know("Money is stored in cents")
    browser.world.fire("session_start", source="startup")
    with browser.world.memories() as memories:
        ledger = reports.get_ledger(memories)
    sent = spent_json(ledger, lambda memory: False)["tokens"]
    calls = [
        {"day": day, "tokens_in": 5, "tokens_out": 2}
        for day in ("2026-03-02", "2026-03-02", "2026-03-01")
    ]

    assert sent > 0
    assert spent_days(ledger, calls) == [
        {"day": "2026-03-02", "tokens": 0, "tokens_in": 10, "tokens_out": 4},
        {"day": "2026-03-01", "tokens": sent, "tokens_in": 5, "tokens_out": 2},
    ]


def test_the_cost_has_its_plot_beside_the_table(browser):
    browser.world.know("Money is stored in cents")
    browser.world.fire("session_start", source="startup")
    page = browser.get("/cost").text

    assert 'data-plot="days"' in page
    assert re.search(r'<table id="days">.*<th scope="row">2026-03-01', page, re.S)
