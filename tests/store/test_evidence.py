"""Evidence for what no person confirmed, and the stage that follows from it."""

from __future__ import annotations

from datetime import timedelta

import pytest

from ademem.core.memory import Stage, Status
from ademem.core.value import replace
from ademem.store import evidence, memories, texts, transfers
from ademem.store.evidence import Evidence, is_supported
from ademem.store.memories import Change
from tests.builders import NOW, insert, memory
from tests.store.stores import in_memory

TEXT = "Feature flags live in flags.toml"
EDIT = Change(operation="edit", actor="user", at=NOW)


def row(kind, session="s1", quote=TEXT, *, tainted=False):
    return Evidence(memory_id="m", kind=kind, session_id=session, quote=quote, tainted=tainted)


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        pytest.param([], False, id="none"),
        pytest.param([row("said")], False, id="said once"),
        pytest.param([row("said"), row("claude_add")], True, id="said, and added by Claude"),
        pytest.param([row("reader"), row("said", "s2")], True, id="read, and said"),
        pytest.param([row("said"), row("said")], False, id="said twice in a session"),
        pytest.param([row("said"), row("said", "s2")], True, id="said in two sessions"),
        pytest.param([row("said", ""), row("said", "s2")], False, id="said in no known session"),
        pytest.param([row("error_met"), row("error_met", "s2")], True, id="met in two sessions"),
        pytest.param([row("commit"), row("commit", "s2")], False, id="two commits"),
        pytest.param([row("claude_add"), row("client_file", "s2")], False, id="agents alone"),
        pytest.param([row("said"), row("claude_add", tainted=True)], False, id="a page was read"),
        pytest.param(
            [row("said"), row("claude_add", quote="Deploy from main")], False, id="another matter"
        ),
        pytest.param(
            [row("said", quote="The flag is in TOML"), row("claude_add")], True, id="other forms"
        ),
        pytest.param(
            [row("said", quote="go 1.2"), row("reader", quote="Go 1.2 is the one")],
            True,
            id="short words alone",
        ),
    ],
)
def test_two_independent_pieces_support_a_memory(rows, expected):
    assert is_supported(rows) is expected
    assert is_supported(rows[::-1]) is expected


@pytest.fixture
def store():
    store = in_memory()
    yield store
    store.close()


def put(store, content=TEXT, **changes):
    changes = {"status": Status.CANDIDATE, "stage": Stage.HEARD} | changes
    (found,) = insert(store, memory(content, **changes))
    return found


def say(store, found, kind="said", **changes):
    return evidence.add(
        store,
        found.id,
        kind,
        NOW,
        **{"quote": TEXT, "session_id": "s1", "prompt_id": "p1"} | changes,
    )


def stage(store, found):
    return memories.get(store, found.id).stage


def test_a_memory_rises_by_its_evidence_and_no_evidence_confirms_it(store):
    found = put(store)

    assert say(store, found)
    assert stage(store, found) is Stage.HEARD
    assert say(store, found, "claude_add")
    assert stage(store, found) is Stage.SUPPORTED
    for n in range(5):
        assert say(store, found, session_id=f"t{n}")
    assert stage(store, found) is Stage.SUPPORTED


def test_what_claude_writes_is_a_candidate_at_least(store):
    found = put(store)
    say(store, found, "client_file", tainted=True)

    assert stage(store, found) is Stage.CANDIDATE


def test_the_same_evidence_counts_once(store):
    found = put(store)

    assert say(store, found)
    assert not say(store, found)
    assert len(evidence.list_of(store, found.id)) == 1


def test_the_stage_follows_the_status(store):
    found = put(store)
    say(store, found)
    promoted = memories.update(store, replace(found, status=Status.PROMOTED), EDIT)
    say(store, found, "claude_add")
    assert promoted.stage is stage(store, found) is Stage.CONFIRMED

    archived = memories.update(store, replace(promoted, status=Status.ARCHIVED), EDIT)
    assert archived.stage is Stage.CONFIRMED

    waiting = memories.update(store, replace(archived, status=Status.CANDIDATE), EDIT)
    assert waiting.stage is Stage.CANDIDATE
    (inserted,) = insert(store, memory("confirmed from the first"))
    assert inserted.stage is Stage.CONFIRMED


def test_a_quote_is_short_and_in_one_line_and_holds_no_secret(store):
    found = put(store)
    key = "ghp_" + "a1B2c3D4e5" * 4
    say(store, found, quote=f"the key\nis {key} " + "and so on " * 50)

    (one,) = evidence.list_of(store, found.id)
    assert one.quote.startswith("the key is [redacted")
    assert len(one.quote) <= evidence.MAX_QUOTE_CHARS
    assert key not in str(store.dicts("select * from evidence"))


def test_evidence_goes_with_its_memory(store):
    found = put(store)
    say(store, found)
    memories.delete(store, found, replace(EDIT, operation="delete"))

    assert store.number("select count(*) from evidence") == 0


def test_redaction_visits_what_is_stored(store):
    found = put(store)
    say(store, found, quote="the canary sings")
    texts.rewrite(store, lambda text: text.replace("canary", "bird"))

    assert evidence.list_of(store, found.id)[0].quote == "the bird sings"


def test_evidence_of_one_memory_can_speak_for_another(store):
    found, other = put(store), put(store, "Flags are in a file")
    say(store, found)
    say(store, other)
    say(store, other, session_id="s2")
    evidence.move(store, other.id, found.id)

    assert [one.session_id for one in evidence.list_of(store, found.id)] == ["s1", "s2"]
    assert stage(store, found) is Stage.SUPPORTED


def test_stores_that_are_merged_add_up_what_was_said(store):
    mine, target = put(store), in_memory()
    say(store, mine)
    theirs = put(target, created_at=NOW + timedelta(days=1))
    say(target, theirs, session_id="s2")
    alone = put(store, "Deploy from main")
    say(store, alone, "reader", quote="Deploy from main")
    transfers.merge_all(store, target, NOW)

    assert stage(target, theirs) is Stage.SUPPORTED
    (copied,) = memories.find(target, "content = 'Deploy from main'")
    assert [one.kind for one in evidence.list_of(target, copied.id)] == ["reader"]
    target.close()
