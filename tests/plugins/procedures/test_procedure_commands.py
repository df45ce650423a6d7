"""The commands about procedures."""

import pytest

from ademem.plugins.procedures import records
from ademem.plugins.procedures.records import Wording
from ademem.store.opening import open_store
from tests import builders

SAID = Wording(title="Ship it", trigger="asked to ship", markdown="1. Run `npm test`.")


@pytest.fixture
def id(ademem):
    store = open_store(builders.project(ademem.root), builders.NOW)
    options = {"sources": ["e1"], "successes": 3, "failures": 0}
    made = records.insert(SAID, store, builders.NOW, **options)
    store.close()
    return made.id


def test_an_empty_list_says_how_one_comes_about(ademem):
    assert "three sessions" in ademem("procedures", "list")
    assert ademem.json("procedures", "list") == {"count": 0, "procedures": []}


def test_list_and_show_tell_what_it_is_worth(ademem, id):
    assert "Ship it: use when asked to ship  (55%, 3 of 3 worked, candidate)" in ademem(
        "procedures", "list"
    )
    said = ademem("procedures", "list", id)
    assert "1. Run `npm test`." in said
    assert "learned from: e1" in said
    shown = ademem.json("procedures", "list", id)
    assert shown["markdown"] == "1. Run `npm test`."
    assert shown["sources"] == ["e1"]
    assert shown["history"] == []


def test_an_outcome_is_counted_with_its_reason(ademem, id):
    assert ademem.json("procedures", "outcome", id, "success")["confidence"] == 0.6175
    ademem("procedures", "outcome", id, "failure", "--reason", "the index was down")

    shown = ademem.json("procedures", "list", id)
    assert (shown["success_count"], shown["failure_count"]) == (4, 1)
    assert shown["history"][0]["reason"] == "the index was down"


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        pytest.param(("outcome", "{id}", "perhaps"), 2, id="no outcome"),
        pytest.param(("list", "nobody"), 1, id="no memory"),
        pytest.param(("export", "nobody"), 1, id="nothing to export"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line(ademem, id, arguments, code):
    said = ademem("procedures", *(given.format(id=id) for given in arguments))

    assert ademem.exit_code == code
    assert said.count("\n") == 1


def test_a_memory_of_another_kind_is_no_procedure(ademem):
    other = ademem.json("add", "Tabs are forbidden in this code")["memory"]["id"]

    assert "not a procedure" in ademem("procedures", "list", other)


def test_export_writes_a_skill_and_tells_where(ademem, id):
    said = ademem("procedures", "export", id, "--publish", "--dry-run")
    assert "would be written: .ade/skills/ship-it.md" in said
    assert not (ademem.root / ".ade/skills").exists()

    told = ademem.json("procedures", "export", id, "--publish")
    assert [each["path"] for each in told["files"]] == [
        ".ade/skills/ship-it.md",
        ".claude/skills/ship-it/SKILL.md",
    ]
    assert "unchanged: .ade/skills/ship-it.md" in ademem("procedures", "export")
    (listed,) = [each for each in ademem.json("skills", "list")["skills"] if "ade" in each["path"]]
    assert listed["source"] == "exported"


def test_an_agent_is_informed_that_a_person_has_to_confirm_it(ademem, id):
    ademem.inside()

    said = ademem("procedures", "export", id)
    assert ademem.exit_code == 4
    assert "ademem promote" in said
