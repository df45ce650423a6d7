"""A prompt that may state what outlives its task is noticed; orders and questions are not."""

import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ademem.capture.teaching import LONGEST, may_teach
from ademem.core import judge

HERE = Path(__file__).parent
NOTICED = {"tune": 1.0, "held_out": 0.95}
"""Floors, which are the figures of today: two thirds are prohibitions, one is in French."""


@pytest.mark.parametrize(
    "prompt",
    [
        "we squash on merge",
        "the demo account must not be deleted",
        "no, the port is 5433, not 5432",
        "before you push, the lock file has to be in step",
        "from now on every endpoint gets an entry in docs/api.md, ok?",
        "tickets with a letter at the end are foreign",
        "our runners have 4 GB and no swap",
        "it deadlocks because the modem shares the bus",
        "mind you, it has no internet",
        "don't hardcode the region, read it from settings",
        "Das Testsystem ist nur werktags erreichbar",
        "Wir haben uns auf Zod geeinigt",
        "ab jetzt alle Preise netto speichern",
        "bitte add a column\nby the way, releases are signed tags\nthen run the tests",
    ],
)
def test_a_statement_of_what_holds_is_noticed(prompt):
    assert may_teach(prompt)


@pytest.mark.parametrize(
    "prompt",
    [
        "au fait, l'export de nuit tourne sur le réplica, pas sur la base principale",
        "por cierto, las migraciones las aplica el equipo de datos, nosotros nunca",
        "кстати, ночной экспорт идёт с реплики, а не с основной базы",
        "ちなみに夜間エクスポートはプライマリではなくレプリカで動いています",
        "顺便说一下，夜间导出跑在副本上，不是主库",
    ],
)
def test_a_statement_in_another_language_is_noticed(prompt):
    assert may_teach(prompt) == prompt


@pytest.mark.parametrize(
    "prompt",
    [
        "lance les tests et montre-moi ce qu'ils affichent",
        "ejecuta otra vez la exportación y enséñame la salida",
        "もう一度エクスポートを実行して結果を見せて",
        "再跑一遍导出，把输出给我看",
    ],
)
def test_an_order_in_another_language_is_not(prompt):
    assert may_teach(prompt) is None


def test_without_a_judge_nothing_is_noticed(tmp_path, monkeypatch):
    monkeypatch.setattr(judge, "FOLDER", str(tmp_path))
    judge.load.cache_clear()
    try:
        assert may_teach("the demo account must not be deleted") is None
    finally:
        judge.load.cache_clear()


@pytest.mark.parametrize(
    "prompt",
    [
        "",
        "yes",
        "thanks, that's it",
        "add a page that lists all lifts with their opening hours",
        "write a function that always returns 42",
        "please rename the variable",
        "what does parse_header return when the line is empty",
        "don't we sort by shelf mark?",
        "it always crashes when I open the second hive",
        "that test is flaky again, it only passes at night",
        "it would be nice if the list were always visible",
        "maybe we should move to postgres some day",
        "for this commit leave the changelog alone",
        "don't touch the tests right now, just look at the parser",
        "never mind, leave it",
        "we lost the database yesterday",
        'rename the button to "Never ask again"',
        "Warum wird hier immer zweimal gerendert",
        "Lass das mal kurz so stehen",
        "Füge eine Spalte Gewicht hinzu",
        "> the API is down on Sundays",
        "    the API is down on Sundays",
        "look at this:\n```\nthe API is down on Sundays\n```",
        "TypeError: undefined is not a function",
    ],
)
def test_orders_questions_wishes_and_complaints_are_not(prompt):
    assert may_teach(prompt) is None


def test_the_sentence_is_returned_as_it_was_typed():
    prompt = "Fix the filter. Releases are signed tags, plus a note. Then go on."

    assert may_teach(prompt) == "Releases are signed tags, plus a note."


@pytest.mark.parametrize("name", NOTICED)
def test_most_statements_of_the_corpora_are_noticed_and_hardly_any_order(name):
    lines = (HERE / f"statements_{name}.tsv").read_text(encoding="utf-8").splitlines()
    rows = [line.split("\t") for line in lines]
    right = [bool(may_teach(prompt)) for label, prompt in rows if label == "+"]
    wrong = [prompt for label, prompt in rows if label != "+" and may_teach(prompt)]

    assert len(rows) >= 60
    assert sum(right) / len(right) >= NOTICED[name]
    assert wrong == []


def test_a_longer_sentence_is_pasted():
    assert may_teach("the port is 5433 " + "and so on " * (LONGEST // 10)) is None


@given(st.text(max_size=300))
def test_any_text_is_read(text):
    found = may_teach(text)

    assert found is None or found in text


def test_a_long_prompt_takes_a_millisecond():
    prompt = "please rename the variable in the parser and run the tests again. " * 300
    may_teach(prompt)
    best = min(_time(prompt) for _ in range(5))

    assert best < 0.005  # a prompt of 20,000 characters; 1 ms is for one of usual length
    usual = min(_time("the shell cuts off my address. " * 4) for _ in range(5))
    assert usual < 0.001


def _time(prompt):
    began = time.perf_counter()
    may_teach(prompt)
    return time.perf_counter() - began
