"""`ademem at`, and `--at` of a new memory, by a person and by an agent."""

import io
import json
import sys

import pytest


def keys(ademem, id):
    return {each["key"]: each["strength"] for each in ademem.json("at", id)["at"]}


def add(ademem, text, *more):
    return ademem.json("add", text, "-c", "gotcha", *more)["memory"]["id"]


@pytest.fixture
def id(ademem):
    return add(ademem, "Rows of the zebra table are sorted by hand")


def choose(ademem, monkeypatch, text):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode()), "utf-8"))
    return ademem("at", "--from", "-")


def test_an_agent_adds_to_the_places_of_a_person_and_takes_none_away(ademem, id):
    ademem.inside()
    ademem("at", id, "--at", "lib/")
    assert keys(ademem, id) == {"lib/": "read"}
    ademem.outside()
    ademem("at", id, "--at", "src/auth.py")
    ademem.inside()
    ademem("at", id, "--at", "docs/")
    assert keys(ademem, id) == {"src/auth.py": "given", "docs/": "read"}

    for taken in (["--none"], ["--drop", "src/auth.py"]):
        assert "was placed by a person" in ademem("at", id, *taken)
        assert ademem.exit_code == 4
    ademem("at", id, "--drop", "docs/")
    assert keys(ademem, id) == {"src/auth.py": "given"}


def test_a_list_tells_where_each_memory_applies(ademem, id):
    ademem("at", id, "--at", "docs/")
    other = add(ademem, "Giraffes are counted twice in each report")

    rows = {row["id"]: row["at"] for row in ademem.json("list")["memories"]}
    assert [each["key"] for each in rows[id]] == ["docs/"]
    assert rows[other] == []
    assert ademem("list").splitlines()[-1] == "    at: docs/ (given)"


def test_an_agent_takes_its_own_places_away(ademem):
    ademem.inside()
    id = add(ademem, "Rows of the zebra table are sorted by hand")
    ademem("at", id, "--at", "docs/")
    ademem("at", id, "--none")

    assert keys(ademem, id) == {}


@pytest.mark.parametrize(
    "key", ["", "act:dance", "**", "`git`", "text:a", "a\nb", "*" * 13 + "a", "x" * 500]
)
def test_what_is_no_key_stores_nothing(ademem, id, key):
    ademem("at", id, "--at", "docs/")
    ademem("at", id, "--at", key)
    assert ademem.exit_code == 2
    ademem("add", "Giraffes are counted twice in each report", "--at", key)

    assert ademem.exit_code == 2
    assert keys(ademem, id) == {"docs/": "given"}
    assert len(ademem.json("list")["memories"]) == 1


def test_a_file_called_none_is_a_place(ademem):
    id = add(ademem, "Rows of the zebra table are sorted by hand", "--at", "none")

    assert keys(ademem, id) == {"./none": "given"}


@pytest.mark.parametrize(
    "choice",
    [
        pytest.param("garbage", id="no JSON"),
        pytest.param("[" * 100_000, id="too deep"),
        pytest.param("[1]", id="a number"),
        pytest.param('{"id": "\\ud800"}', id="half a character"),
        pytest.param('{"id": "ID", "at": "src/"}', id="a text for a list"),
        pytest.param('{"id": "ID", "at": ["src/", ""]}', id="an empty key"),
        pytest.param('{"id": "ID", "at": ["src/"], "none": true}', id="a place and none"),
        pytest.param('{"id": "ID", "none": "yes"}', id="a text for true"),
        pytest.param('{"id": "ID", "at": ["src/"]}\n{"id": "ID", "at": ["**"]}', id="one of two"),
    ],
)
def test_choices_that_cannot_be_read_change_nothing(ademem, monkeypatch, id, choice):
    ademem("at", id, "--at", "docs/")
    choose(ademem, monkeypatch, choice.replace("ID", id))

    assert ademem.exit_code == 2
    assert keys(ademem, id) == {"docs/": "given"}


def test_choices_are_stored_together(ademem, monkeypatch, id):
    other = add(ademem, "Giraffes are counted twice in each report")
    lines = [{"id": id, "at": ["`git push`"]}, {"id": other, "none": True}]
    choose(ademem, monkeypatch, "\n".join(map(json.dumps, lines)))

    assert ademem.exit_code == 0
    assert keys(ademem, id) == {"`git push`": "given"}
    assert keys(ademem, other) == {}
