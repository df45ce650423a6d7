"""A review asks about memories whose code changed."""

import pytest

from ademem.core.memory import Draft
from ademem.operations import curation, inspecting, writing
from tests.doors.cli.conftest import ademem as ademem
from tests.doors.cli.test_reviewing import person as person


@pytest.fixture
def doubtful(person):
    """A confirmed memory of code that says something else by now; nothing else waits."""
    code = person.ademem.root / "client.py"
    code.write_text("TIMEOUT = 10\n", encoding="utf-8")
    text = "TIMEOUT = 10 seconds, as the proxy cuts longer calls"
    with person.memories() as memories:
        draft = Draft(content=text, anchors=("client.py:1",), promoted=True)
        id = writing.write(memories, writing.place_draft(memories, draft)).memory.id
        curation.decide_all(memories, curation.review(memories), "reject")
    code.write_text("RETRIES = 3\n\nTIMEOUT = 20\n", encoding="utf-8")
    person.ademem("verify")
    return id


def test_a_memory_in_doubt_gets_the_value_of_the_code(person, doubtful):
    shown, decided = person.answer("correct")

    assert "1 of 1: in doubt: the code changed at client.py:1: TIMEOUT: 10 -> 20\n" in shown
    assert "corrected: TIMEOUT = [-10-] {+20+} seconds, as the proxy" in shown
    assert decided.startswith("[c]orrect, [e]dit, [h]old, [a]rchive, [s]kip, [u]ndo, [q]uit? ")
    assert "corrected 1" in decided
    memory = person.get(doubtful)
    assert memory.content == "TIMEOUT = 20 seconds, as the proxy cuts longer calls"
    with person.memories() as memories:
        assert curation.list_revisions(memories, doubtful)[-1]["actor"] == "user"
        assert inspecting.list_doubtful(memories) == []
    (person.ademem.root / "client.py").write_text("TIMEOUT = 30\n", encoding="utf-8")
    assert "TIMEOUT: 20 -> 30" in person.ademem("verify")


@pytest.mark.parametrize(
    ("answer", "content", "is_live"),
    [
        pytest.param("edit", "Calls have no limit", True, id="words of the person"),
        pytest.param("hold", "TIMEOUT = 10 seconds, as the proxy cuts longer calls", True, id="so"),
        pytest.param(
            "archive", "TIMEOUT = 10 seconds, as the proxy cuts longer calls", False, id="no"
        ),
    ],
)
def test_a_memory_in_doubt_is_decided(person, doubtful, answer, content, is_live):
    person.edits("Calls have no limit")
    person.answer(answer, "quit")

    memory = person.get(doubtful)
    assert (memory.content, memory.live) == (content, is_live)
    with person.memories() as memories:
        assert inspecting.list_doubtful(memories) == []


def test_a_memory_in_doubt_is_asked_about_again_after_an_undo(person, doubtful):
    code = person.ademem.root / "worker.py"
    code.write_text("RETRIES = 3\n", encoding="utf-8")
    person.ademem("add", "RETRIES = 3 in the worker", "--anchor", "worker.py:1")
    code.write_text("RETRIES = 5\n", encoding="utf-8")
    person.ademem("verify")
    first, corrected, undone, _ = person.answer("correct", "undo", "quit")

    assert "1 of 2: in doubt: the code changed at client.py:1" in first
    assert "2 of 2: in doubt: the code changed at worker.py:1" in corrected
    assert "not corrected after all" in undone
    assert "1 of 2: in doubt: the code changed at client.py:1: TIMEOUT: 10 -> 20" in undone


def test_where_no_new_value_is_clear_a_correction_is_written_in_the_editor(person, doubtful):
    (person.ademem.root / "client.py").unlink()
    person.edits("The proxy cuts long calls")
    person.answer("correct")

    memory = person.get(doubtful)
    assert (memory.content, memory.anchors) == ("The proxy cuts long calls", ())
