"""The index says of every row what the database says, whatever happened since it was written."""

from __future__ import annotations

import tempfile
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ademem.search import lexical, whitening
from ademem.search.index import ranks, words
from ademem.store import database, indexes
from tests.builders import open_project
from tests.examples import examples
from tests.search.index.world import World

VOCABULARY = "run runs running tests tested naïve Naive über alpha beta alphabet 42 数据库 foo_bar"
TEXTS = st.lists(st.sampled_from(VOCABULARY.split()), min_size=1, max_size=9).map(" ".join)
SESSIONS = st.sampled_from([None, "one", "two"])
ADD = st.tuples(
    st.just("add"), TEXTS, SESSIONS, st.none() | TEXTS, st.lists(TEXTS, max_size=2), st.booleans()
)
VOCABULARY_OF_STORE = (
    "create virtual table temp.vocabulary using fts5vocab(main, unified_memories_fts, row)"
)
WHICH = st.integers(0, 40)
STEPS = st.one_of(
    ADD,
    ADD,
    st.tuples(st.just("edit"), WHICH, TEXTS),
    st.tuples(st.just("move"), WHICH, SESSIONS),
    st.tuples(st.sampled_from(("hide", "remove", "embed", "embed other")), WHICH),
    st.just(("build",)),
)


def do(world, step):
    """One thing that may happen to a store; a memory that is gone stays so."""
    match step:
        case ("add", content, session, title, tags, vector):
            tags = tuple(dict.fromkeys(" ".join(tags).split()))
            id = world.add(content, session=session, title=title, tags=tags)
            if vector:
                world.embed(id)
        case ("edit", number, content):
            world.edit(f"m{number}", content)
        case ("move", number, session):
            world.move(f"m{number}", session)
        case ("hide", number):
            world.hide(f"m{number}")
        case ("remove", number):
            world.remove(f"m{number}")
        case ("embed", number):
            world.embed(f"m{number}")
        case ("embed other", number):
            world.embed(f"m{number}", "another")
        case ("build",):
            world.build()


def scores(index, held):
    return dict(
        zip(index.seqs(held.rows).tolist(), index.points(held, np.float64).tolist(), strict=True)
    )


def assert_says_what_the_database_says(index, world):
    reader = words.Reader()
    for word, spelled in zip(VOCABULARY.split(), reader.words(VOCABULARY.split()), strict=True):
        if len(spelled) == 1:
            held = index.held(spelled[0])
            assert scores(index, held) == pytest.approx(world.bm25(f'"{word}"'))
    for prefix in ("r", "tes", "alp", "z"):
        held = index.held(prefix, prefix=True)
        assert scores(index, held) == pytest.approx(world.bm25(f"{prefix} *"))

    seqs = np.array(list(world.sessions()), np.int64)
    rows = index.where(seqs)
    assert index.seqs(rows).tolist() == seqs.tolist()
    named = np.append(index.seqs(np.arange(len(index))), -1)
    for seq, around in zip(seqs.tolist(), index.neighbours(rows, 3), strict=True):
        found = [int(other) if other >= 0 else None for other in named[around]]
        assert found == world.neighbours(seq, 3)

    wanted = world.vector()
    cosines = index.cosines(wanted)
    known = np.flatnonzero(cosines > -np.inf)
    found = dict(zip(index.seqs(known).tolist(), cosines[known].tolist(), strict=True))
    assert found == pytest.approx(world.cosines(wanted), abs=1e-6)
    meanings = index.meanings(index.aimed(wanted))[known]
    through = whitening.seen(index.lens, index.vectors(known)) @ whitening.seen(index.lens, wanted)
    assert meanings == pytest.approx(through, abs=1e-4)


@settings(deadline=None, max_examples=examples(100))
@given(st.lists(ADD, max_size=25), st.lists(STEPS, max_size=25))
@example([], [("edit", 0, "run"), ("build",), ("add", "run", None, None, [], True)])
def test_scores_and_neighbours_are_those_of_the_database(first, later):
    with tempfile.TemporaryDirectory() as folder, closing(open_project(Path(folder))) as store:
        world = World(store)
        for step in first:
            do(world, step)
        world.embed(world.add("alpha"))
        world.build()
        anything_to_build = True
        for step in later:
            do(world, step)
            if step == ("build",):
                anything_to_build = bool(world.cosines(world.vector()))

        index = world.open()
        if index is None:
            assert not anything_to_build
        else:
            assert_says_what_the_database_says(index, world)


@settings(deadline=None, max_examples=examples(100))
@given(st.lists(st.text(max_size=30), min_size=1, max_size=8))
def test_any_text_has_the_words_that_fts5_finds_in_it(texts):
    with tempfile.TemporaryDirectory() as folder, closing(open_project(Path(folder))) as store:
        world = World(store)
        for text in texts:
            world.embed(world.add(text.encode("utf-8", "replace").decode().replace("\0", "")))
        world.build()

        index = world.open()
        assert index is not None
        read = words.Reader().words([text.replace("\0", "") for text in texts])
        spelled = {word for said in read for word in said}
        table = (
            "create virtual table temp.vocabulary using fts5vocab(main, unified_memories_fts, row)"
        )
        store.db.execute(table)
        known = store.db.execute("select term, doc from temp.vocabulary").fetchall()
        assert {term: len(index.held(term).rows) for term, _ in known} == dict(map(tuple, known))
        assert spelled <= {term for term, _ in known} | {"\ufffd"}


def test_a_word_said_very_often_counts_as_often(world):
    world.add("echo " * 9000)
    world.add("echo once")
    world.add("silence")
    world.embed(world.add("nothing"))
    world.build()
    index = world.open()

    assert scores(index, index.held("echo")) == pytest.approx(world.bm25("echo"))


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("库", id="one sign"),
        pytest.param("连接", id="two signs"),
        pytest.param("ไท", id="the beginning of a word"),
        pytest.param("超时", id="behind the part that FTS5 keeps"),
        pytest.param("时连", id="the end of one word and the beginning of the next"),
        pytest.param("缓存", id="nowhere"),
    ],
)
def test_no_text_is_overlooked_where_words_tell_which_to_read(world, text):
    for content in ("数据库连接池", "超时 连接", "ไทย", "plain", "池" * 20_000 + "超时"):
        world.add(content)
    gone = world.add("连接 数据库 超时")
    world.embed(world.add("nothing"))
    world.build()
    world.hide(gone)
    world.add("库 超时")
    index = world.open()
    among = index.seqs(index.containing(text)).tolist()

    wanted = lexical.containing(text, world.store.db, None)
    assert lexical.containing(text, world.store.db, among) == wanted
    assert len(among) <= len(wanted) + 1


def test_fields_and_tokenizer_are_those_of_the_full_text_index():
    (index,) = (index for index in indexes.INDEXES if index.name == words.TABLE)
    (schema,) = (Path(database.SCHEMA) / "0001_memories.sql",)

    assert ", ".join(words.FIELDS) == index.columns
    assert f"tokenize='{words.TOKENIZE}'" in schema.read_text(encoding="utf-8")


def test_vectors_that_cannot_be_one_count_as_none(world):
    ids = [world.add(name) for name in ("short", "endless", "sound")]
    for id in ids:
        world.embed(id)
    change = "update unified_memory_embeddings set embedding_blob = ? where memory_id = ?"
    world.store.db.execute(change, (b"1234", ids[0]))
    world.store.db.execute(change, (np.full(8, np.nan, "<f4").tobytes(), ids[1]))
    world.build()

    assert np.isfinite(world.open().cosines(world.vector())).tolist() == [False, False, True]


@given(
    st.lists(st.integers(-3, 3).map(lambda n: float(n) if n > -3 else -np.inf), max_size=400),
    st.integers(0, 20),
)
def test_the_top_is_that_of_sorting_everything(values, k):
    scores = np.array(values, np.float32)
    newness = np.random.default_rng(2).permutation(len(scores))
    order = sorted(range(len(scores)), key=lambda row: (values[row], newness[row]), reverse=True)
    best = [row for row in order if values[row] > -np.inf][:k]

    assert ranks.top(scores, k, lambda rows: newness[rows]).tolist() == best
