"""A line of knowledge.jsonl and its record say the same, also where no stamp is known."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ademem.core.registers import Record, conflict_candidates, join, values_of, write
from ademem.files.knowledge import from_line, to_line
from tests.builders import memory, record_of
from tests.core.test_registers import BEN, JUNK, STRANGE, at, honest

MEMORY = memory(
    "Deploys run at noon.",
    tags=("deploy", "api"),
    anchors=("ci.py:1-2@12345678", "$ make"),
    knowledge_key="deploys",
)
LINE = to_line(record_of(MEMORY))


def test_a_line_from_before_there_were_stamps_stays_as_it_is():
    assert json.dumps(to_line(from_line(LINE))) == json.dumps(LINE)


def test_the_stamps_are_one_short_key_at_the_end():
    record = from_line(LINE)
    edited = write(record, {"content": "Deploys run at one."}, at(5))

    *fields, last = to_line(edited).items()

    changed = {name for name, value in fields if value != LINE[name]}
    assert changed == {"content", "updated_at"}
    assert last == (
        "stamps",
        {
            "0000-aaaaaaaa": ["life", "text"],
            f"{LINE['updated_at']}-0000-00000000": [],
            "over": [f"{LINE['updated_at']}-0000-00000000"],
        },
    )


def test_an_archived_memory_is_a_line_without_its_text():
    record = from_line(LINE)
    line = to_line(write(record, {"life": "superseded m2"}, at(5)))

    assert "noon" not in json.dumps(line)
    assert (line["type"], line["status"]) == ("tombstone", "archived")
    assert join(record, from_line(line)).life == "superseded m2"
    restored = write(record, {}, at(6), confirms=True)
    assert join(restored, from_line(line)) == restored


def test_a_text_that_an_archiving_did_not_know_stays_in_the_line_until_somebody_decides():
    record = from_line(LINE)
    edited = write(record, {"content": "Deploys run at one."}, at(5))
    archived = write(record, {"life": "rejected"}, at(6, BEN))

    joined = join(from_line(to_line(edited)), from_line(to_line(archived)))
    line = json.loads(json.dumps(to_line(joined)))
    assert (line["status"], line["content"]) == ("archived", "Deploys run at one.")
    assert from_line(line) == joined
    assert joined.value("status") == record.value("status")
    assert [one.content for one in conflict_candidates(joined)] == ["Deploys run at one."]
    assert "at one" not in json.dumps(to_line(write(joined, {"life": "archived"}, at(7))))


@given(honest())
def test_a_record_is_in_its_line(copies):
    for record in copies:
        line = json.loads(json.dumps(to_line(record)))
        if record.life == "live" or conflict_candidates(record):
            assert from_line(line) == record
        else:
            assert from_line(line).seen == record.seen
            assert from_line(line).registers["life"] == record.registers["life"]
            assert join(record, from_line(line)) == record


@given(STRANGE)
def test_what_a_stranger_wrote_is_in_its_line(record):
    values = {"life": "live", "category": "fact", "key": None, "source": "me", "bead": None}
    record = write(record, values, "2500-01-01T00:00:00.000Z-0000-aaaaaaaa")
    if record.texts:
        assert from_line(json.loads(json.dumps(to_line(record)))) == record


@pytest.mark.parametrize("line", [None, [], "text", {}, {"id": 7}, {"id": "a b"}])
def test_what_names_no_memory_is_no_record(line):
    assert from_line(line) is None


@given(st.dictionaries(st.sampled_from([*LINE, "stamps", "life", "values"]), JUNK))
def test_any_object_with_an_id_is_read(changes):
    record = from_line(LINE | changes | {"id": "m1"})

    assert isinstance(record, Record)
    assert isinstance(values_of(record), dict)
    json.dumps(to_line(record))
