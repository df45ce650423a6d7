"""What the store tells the rules, on a real database."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ademem.capture.gate.lookup import StoreLookup
from ademem.core.memory import Scope, Status
from ademem.core.settings import GateSettings
from ademem.core.text import jaccard, words
from ademem.store import memories, signatures
from ademem.store.memories import Change
from tests.builders import NOW, insert, memory
from tests.capture.gate.lookup import SETTINGS, reviewed
from tests.examples import examples

TEXT = "the importer reads every file twice because the first pass only counts lines"

CHINESE = "数据库文件不能放在网络共享上，否则会损坏索引"


@pytest.mark.parametrize(
    ("fields", "seen"),
    [
        pytest.param({}, True, id="a promoted memory"),
        pytest.param({"status": Status.CANDIDATE}, True, id="a candidate"),
        pytest.param({"status": Status.ARCHIVED}, False, id="an archived one"),
        pytest.param({"deleted_at": NOW}, False, id="a deleted one"),
        pytest.param({"superseded_by": "another"}, False, id="a superseded one"),
        pytest.param({"scope": Scope.AGENT, "scope_owner_id": "ada"}, False, id="somebody's own"),
    ],
)
def test_only_live_memories_of_the_same_owner_stand_on_the_shelf(store, fields, seen):
    insert(store, memory(TEXT, topic_key="import", knowledge_key="learned-import", **fields))
    shelf = StoreLookup(store, SETTINGS)
    draft = reviewed(TEXT, topic_key="import", knowledge_key="learned-import")

    found = (shelf.by_topic(draft), shelf.by_key(draft), shelf.exact(draft), *shelf.near(draft))

    assert len(found) == 3 + seen
    assert all(bool(memory) is seen for memory in found)


def test_an_owner_sees_what_is_theirs(store):
    insert(store, memory(TEXT, scope=Scope.AGENT, scope_owner_id="ada"))
    shelf = StoreLookup(store, SETTINGS)

    assert shelf.exact(reviewed(TEXT, scope="agent", owner="ada"))
    assert not shelf.exact(reviewed(TEXT, scope="agent", owner="bob"))


def test_a_quarantined_memory_is_found_by_its_text_but_not_by_likeness(store):
    insert(store, memory(TEXT, quarantine_reason="gives a role"))
    shelf = StoreLookup(store, SETTINGS)

    assert shelf.exact(reviewed(TEXT))
    assert not shelf.near(reviewed(TEXT))


@pytest.mark.parametrize(
    ("known", "draft"),
    [
        pytest.param(TEXT, f"{TEXT} first", id="a word more"),
        pytest.param(TEXT, TEXT.replace("twice ", ""), id="a word less"),
        pytest.param(TEXT, TEXT.upper(), id="upper case"),
        pytest.param("short text", "short text", id="two words"),
        pytest.param(
            "max_chars, FTS5: “quotes” AND (NEAR)*", "max_chars FTS5 quotes AND NEAR", id="signs"
        ),
        pytest.param(CHINESE, CHINESE.removesuffix("索引"), id="Chinese, two signs less"),
        pytest.param(CHINESE, CHINESE.replace("网络", "网路"), id="Chinese, one sign changed"),
    ],
)
def test_a_near_duplicate_is_found_by_the_words_of_the_draft(store, known, draft):
    (row,) = insert(store, memory(known))

    assert StoreLookup(store, SETTINGS).near(reviewed(draft)) == [row]


WORD = st.sampled_from([a + b + c for a in "bdkt" for b in "aeiou" for c in "lmnr"])


@settings(max_examples=examples(40), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    text=st.lists(WORD, min_size=1, max_size=40, unique=True),
    gone=st.sets(st.integers(0, 39), max_size=4),
    more=st.lists(WORD, max_size=3),
)
def test_no_near_duplicate_is_overlooked(store, text, gone, more):
    other = [word for at, word in enumerate(text) if at not in gone] + more
    known, draft = " ".join(text), " ".join(other)
    with store.transaction():
        insert(store, memory(known))
        found = [row.content for row in StoreLookup(store, SETTINGS).near(reviewed(draft))]
        store.db.execute("delete from unified_memories")

    if jaccard(words(known), words(draft)) >= SETTINGS.near_duplicate:
        assert found == [known]


@pytest.mark.parametrize("text", ["", "…", "___", '"', "AND OR NOT", "a" * 3000])
def test_any_text_may_be_asked_for(store, text):
    assert StoreLookup(store, SETTINGS).near(reviewed(text)) == []


def meet(store, text):
    """Let the one memory have the signatures of another text, as two in a large store may."""
    own = signatures.of("project", None, None, text)
    ((seq, sketch),) = store.db.execute(
        "select distinct seq, sketch from unified_memory_signatures"
    )
    store.db.execute("delete from unified_memory_signatures")
    store.db.executemany(
        "insert into unified_memory_signatures values (?, ?, ?)",
        [(number, seq, sketch) for number in own],
    )


@pytest.mark.parametrize(
    ("known", "found"),
    [
        pytest.param(f"{TEXT} first", True, id="a word more"),
        pytest.param(f"{TEXT} unless it is told how many there are", False, id="many words more"),
        pytest.param(CHINESE, False, id="another text"),
    ],
)
@pytest.mark.parametrize("sketched", [True, False])
def test_what_shares_too_few_words_can_be_left_out(store, known, found, sketched):
    insert(store, memory(known))
    meet(store, TEXT)
    if not sketched:
        store.db.execute("update unified_memory_signatures set sketch = null")
    shelf = StoreLookup(store, SETTINGS)

    assert len(shelf.near(reviewed(TEXT))) == 1
    assert len(shelf.near(reviewed(TEXT), 0.85)) == found


def test_of_a_text_whose_sketch_tells_no_row_is_read(store):
    (row,) = insert(store, memory(CHINESE))
    meet(store, TEXT)

    assert signatures.alike(store.db, TEXT, "project", None, 0.85) == set()
    assert signatures.alike(store.db, TEXT, "project", None, 0.0) == {row.seq}


def test_a_memory_of_an_older_release_is_found_and_gets_its_sketch_with_the_next_change(store):
    (row,) = insert(store, memory(TEXT))
    sketches = "select distinct sketch from unified_memory_signatures"
    (before,) = store.db.execute(sketches)
    store.db.execute("update unified_memory_signatures set sketch = null")

    assert StoreLookup(store, SETTINGS).near(reviewed(f"{TEXT} first"), 0.85) == [row]
    memories.update(store, row, Change(operation="pin", actor="user", at=NOW))
    assert list(store.db.execute(sketches)) == [before]


def unsign(store):
    """What a release without signatures left behind."""
    store.db.execute("delete from unified_memory_signatures")
    store.db.execute("insert into unified_memory_unsigned select max(seq) from unified_memories")


def test_memories_from_before_there_were_signatures_are_found_by_their_words(store):
    old, _ = insert(store, memory(TEXT), memory("something else"))
    unsign(store)

    assert StoreLookup(store, SETTINGS).near(reviewed(f"{TEXT} first")) == [old]


def test_old_and_new_memories_are_found_together_the_newest_first(store):
    (old,) = insert(store, memory(TEXT))
    unsign(store)
    (new,) = insert(store, memory(f"{TEXT} now"))

    assert StoreLookup(store, SETTINGS).near(reviewed(f"{TEXT} first")) == [new, old]


def test_new_memories_sign_the_old_ones_on_the_way(store):
    old = insert(store, *(memory(f"{TEXT} {'again ' * 3}{n}") for n in range(40)))
    signed = pairs(store)
    unsign(store)
    for n in range(3):
        insert(store, memory(f"note {n}"))

    assert signed < pairs(store)
    assert signatures.last_unsigned(store.db) is None
    assert len(old) == 40


def pairs(store):
    return set(map(tuple, store.db.execute("select * from unified_memory_signatures")))


def test_a_threshold_that_signatures_do_not_tell_is_looked_up_by_words(store):
    (row,) = insert(store, memory(TEXT))
    draft = reviewed(f"{TEXT} and then some more of them")

    assert jaccard(words(draft.content), words(TEXT)) < 0.85
    assert StoreLookup(store, GateSettings(near_duplicate=0.6)).near(draft) == [row]


def test_a_near_duplicate_is_found_among_any_number_of_others_of_its_kind(store):
    (row,) = insert(store, memory(TEXT))
    insert(store, *(memory(f"the importer reads every file of module_{n}") for n in range(200)))

    assert StoreLookup(store, SETTINGS).near(reviewed(f"{TEXT} first")) == [row]


@settings(
    max_examples=examples(25),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    known=st.lists(st.lists(WORD, min_size=1, max_size=9), min_size=1, max_size=12),
    draft=st.lists(WORD, min_size=1, max_size=9),
)
def test_what_the_words_find_the_signatures_find_too(store, known, draft):
    text = " ".join(draft)
    with store.transaction():
        rows = insert(
            store,
            *(
                memory(" ".join(one), id=f"m{n}", sync_id=f"m{n}", dedupe_key=f"m{n}")
                for n, one in enumerate(known)
            ),
        )
        by_signature = StoreLookup(store, SETTINGS).near(reviewed(text))
        unsign(store)
        by_words = StoreLookup(store, SETTINGS).near(reviewed(text))
        store.db.execute("delete from unified_memory_unsigned")
        store.db.execute("delete from unified_memories")

    alike = [row for row in reversed(rows) if jaccard(words(row.content), words(text)) >= 0.85]
    assert [row for row in by_signature if row in alike] == alike
    assert {row.id for row in by_words if row in alike} <= {row.id for row in by_signature}
