"""What archiving, deleting and editing a memory do to everything that follows from it."""

from __future__ import annotations

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    initialize,
    invariant,
    rule,
)

from ademem.core.clock import stamp
from ademem.core.errors import NoSuchMemory
from ademem.core.memory import Status
from ademem.core.value import replace
from ademem.store import memories
from ademem.store.memories import Change
from tests import builders
from tests.builders import NOW, memory
from tests.examples import examples
from tests.store.stores import in_memory

INDEXES = ("unified_memories_fts", "unified_memories_trigram")


def change(operation):
    return Change(operation=operation, actor="user", at=NOW)


def edit(store, row, **changes):
    return memories.update(store, replace(row, **changes), change("edit"))


def archive(store, row):
    return edit(store, row, status=Status.ARCHIVED)


def soft_delete(store, row):
    return edit(store, row, deleted_at=NOW)


def restore(store, row):
    return edit(store, soft_delete(store, row), deleted_at=None)


def hard_delete(store, row):
    memories.delete(store, row, change("delete"))


def hard_delete_of_a_deleted(store, row):
    hard_delete(store, soft_delete(store, row))


def touch(store, row):
    memories.touch(store, row, 1.0, NOW)


def embed(store, row):
    store.db.execute(
        "insert into unified_memory_embeddings values (?, ?, ?, 'MiniLM', x'00', 1, 1.0, ?, ?)",
        (row.id, row.id, store.project_id, stamp(NOW), stamp(NOW)),
    )


def relate(store, row, other):
    store.db.execute(
        "insert into memory_relations (sync_id, project_id, source_id, target_id, relation,"
        " judgment_status, created_at, updated_at)"
        " values ('r', ?, ?, ?, 'related', 'judged', ?, ?)",
        (store.project_id, row.sync_id, other.sync_id, stamp(NOW), stamp(NOW)),
    )


def found(store, word):
    return [
        store.db.execute(
            f"select count(*) from {index} where {index} match ?", (f'"{word}"',)
        ).fetchone()[0]
        for index in INDEXES
    ]


def check(db):
    """Each index says exactly what its table says; raises when one does not."""
    for index in INDEXES:
        db.execute(f"insert into {index}({index}) values ('integrity-check')")


GONE, KEPT, ORPHANED = 0, 1, "orphaned"


@pytest.mark.parametrize(
    ("act", "words", "vectors", "relation", "operations", "tombstones"),
    [
        pytest.param(touch, KEPT, KEPT, "judged", ["insert"], 0, id="an access"),
        pytest.param(archive, KEPT, KEPT, "judged", ["insert", "edit"], 0, id="archive"),
        pytest.param(soft_delete, GONE, KEPT, "judged", ["insert", "edit"], 0, id="soft delete"),
        pytest.param(restore, KEPT, KEPT, "judged", ["insert", "edit", "edit"], 0, id="restore"),
        pytest.param(hard_delete, GONE, GONE, ORPHANED, ["delete"], 1, id="hard delete"),
        pytest.param(
            hard_delete_of_a_deleted,
            GONE,
            GONE,
            ORPHANED,
            ["delete"],
            1,
            id="soft, then hard delete",
        ),
    ],
)
def test_each_act_has_one_effect_everywhere(
    store, act, words, vectors, relation, operations, tombstones
):
    row, other = builders.insert(store, memory("zebra crossing"), memory("another thing"))
    embed(store, row)
    relate(store, row, other)
    act(store, row)

    assert found(store, "zebra") == [words, words]
    assert found(store, "another") == [1, 1]
    counts = store.db.execute(
        "select (select count(*) from unified_memory_embeddings),"
        " (select count(*) from tombstones), (select judgment_status from memory_relations)"
    ).fetchone()
    assert tuple(counts) == (vectors, tombstones, relation)
    assert [r["operation"] for r in memories.revisions(store, row.id)] == operations
    check(store.db)


@pytest.mark.parametrize(
    ("changes", "vectors"),
    [
        pytest.param({"content": "new text"}, GONE, id="content"),
        pytest.param({"title": "New title"}, GONE, id="title"),
        pytest.param({"tags": ("one", "two")}, KEPT, id="tags"),
        pytest.param({"file_scope_pattern": "*.py"}, KEPT, id="path"),
        pytest.param({"confidence": 0.1}, KEPT, id="confidence"),
        pytest.param({"content": "zebra crossing"}, KEPT, id="the text it had"),
    ],
)
def test_only_another_text_makes_a_vector_stale(store, changes, vectors):
    (row,) = builders.insert(store, memory("zebra crossing"))
    embed(store, row)
    edit(store, row, **changes)

    query = "select count(*) from unified_memory_embeddings"
    assert store.db.execute(query).fetchone()[0] == vectors
    check(store.db)


@pytest.mark.parametrize("field", ["title", "content", "tags", "file_scope_pattern", "topic_key"])
def test_an_edited_field_is_found_by_its_new_words_only(store, field):
    old = {"tags": ("quagga",)} if field == "tags" else {field: "quagga"}
    new = {"tags": ("okapi",)} if field == "tags" else {field: "okapi"}
    (row,) = builders.insert(
        store, memory("zebra", **old) if field != "content" else memory("quagga")
    )
    edit(store, row, **new)

    assert found(store, "quagga") == [0, 0]
    assert found(store, "okapi")[0] == 1


def test_an_access_rewrites_no_index_entry(store):
    (row,) = builders.insert(store, memory())
    writes = "select sum(length(block)) from unified_memories_fts_data"
    before = store.db.execute(writes).fetchone()[0], store.db.total_changes
    touch(store, row)

    assert store.db.execute(writes).fetchone()[0] == before[0]
    assert store.db.total_changes == before[1] + 1


def test_a_hard_deleted_memory_leaves_no_word_of_itself(store):
    secret = "xylophone"
    (row,) = builders.insert(
        store,
        memory(
            f"{secret} text",
            title=f"{secret} title",
            tags=(secret,),
            topic_key=f"{secret}/key",
            knowledge_key=secret,
            file_scope_pattern=f"{secret}/*.py",
            anchors=(f"{secret}.py:1-2",),
            write_gate_reason=secret,
            quarantine_reason=secret,
        ),
    )
    edit(store, row, content=f"{secret} edited")
    hard_delete(store, row)
    for index in INDEXES:
        store.db.execute(f"insert into {index}({index}) values ('optimize')")

    assert secret not in "\n".join(store.db.iterdump())
    (end,) = memories.revisions(store, row.id)
    assert end["snapshot"]["sync_id"] == row.sync_id


def test_a_memory_that_comes_back_and_goes_again_keeps_one_tombstone(store):
    (row,) = builders.insert(store, memory())
    hard_delete(store, row)
    builders.insert(store, memory())

    assert [r["operation"] for r in memories.revisions(store, row.id)] == ["delete", "insert"]
    hard_delete(store, row)
    assert store.db.execute("select count(*) from tombstones").fetchone()[0] == 1


TEXTS = st.sampled_from(["alpha beta", "beta gamma", "gamma delta", "Äpfel über", "漢字の話", ""])


class Histories(RuleBasedStateMachine):
    """Whatever happens to memories, in any order, the indexes and the history agree with them."""

    rows = Bundle("rows")

    @initialize()
    def open(self):
        self.store = in_memory()
        self.revisions = {}
        self.born = 0

    @rule(target=rows, text=TEXTS, title=st.none() | TEXTS)
    def insert(self, text, title):
        self.born += 1
        id = f"m{self.born}"
        row = memory(text, id=id, sync_id=id, dedupe_key=id, title=title)
        (row,) = builders.insert(self.store, row)
        embed(self.store, row)
        self.revisions[id] = 1
        return id

    @rule(
        id=rows,
        changes=st.fixed_dictionaries(
            {},
            optional={
                "content": TEXTS,
                "title": st.none() | TEXTS,
                "tags": st.sampled_from([(), ("alpha",), ("alpha", "beta")]),
                "topic_key": st.none() | TEXTS,
                "status": st.sampled_from(tuple(Status)),
                "deleted_at": st.sampled_from([None, NOW]),
            },
        ),
    )
    def update(self, id, changes):
        changes = changes | (
            {"topic_key": f"{id}/{topic}"}
            if (topic := changes.get("topic_key")) is not None
            else {}
        )
        edit(self.store, memories.get(self.store, id), **changes)
        self.revisions[id] += 1

    @rule(id=rows)
    def touch(self, id):
        touch(self.store, memories.get(self.store, id))

    @rule(id=consumes(rows))
    def delete(self, id):
        hard_delete(self.store, memories.get(self.store, id))
        self.revisions[id] = 1

    @invariant()
    def indexes_agree(self):
        check(self.store.db)

    @invariant()
    def history_has_every_change(self):
        query = "select memory_id, count(*) from memory_revisions group by memory_id"
        assert dict(map(tuple, self.store.db.execute(query))) == self.revisions

    @invariant()
    def the_newest_revision_is_the_row(self):
        for row in memories.find(self.store, "true"):
            snapshot = memories.revisions(self.store, row.id)[-1]["snapshot"]
            assert (snapshot["content"], snapshot["title"]) == (row.content, row.title)

    @invariant()
    def vectors_have_their_memory(self):
        assert self.store.db.execute("pragma foreign_key_check").fetchall() == []

    def teardown(self):
        self.store.close()


TestHistories = Histories.TestCase
TestHistories.settings = settings(max_examples=examples(25), stateful_step_count=30)


def test_a_row_that_is_gone_cannot_be_changed(store):
    (row,) = builders.insert(store, memory())
    hard_delete(store, row)

    with pytest.raises(NoSuchMemory):
        edit(store, row, content="again")
