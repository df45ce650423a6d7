"""A search answers the same with and without an index."""

from __future__ import annotations

import os
import tempfile
from contextlib import closing
from pathlib import Path
from zlib import crc32

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ademem.core.memory import DIALOGUE, Status
from ademem.core.settings import SearchSettings
from ademem.search import filters, index
from ademem.search.engine import Filters, search
from ademem.search.index import file, source
from ademem.store import search_files
from tests.builders import NOW, open_project
from tests.examples import examples
from tests.search.index.world import DIMENSIONS, MODEL, World

WORDS = "login tokens expire expired cache redis sqlite wal lock busy deploy flag"
PLACES = "naïve foo_bar 数据库 连接 数据 库连接池 东京タワー 한국어 ไทย 接 test tests tested"
RUN = "数据库连接池在超时之后会被关闭所以每次请求都要重新打开一个新的连接才能继续工作否则会一直等"
SAID = st.lists(st.sampled_from([*WORDS.split(), *PLACES.split()]), min_size=1, max_size=8)
PARTS = st.tuples(st.integers(0, 40), st.integers(1, 45)).map(lambda at: RUN[at[0] :][: at[1]])
TEXTS = st.one_of(SAID.map(" ".join), SAID.map("".join), PARTS)
MEMORIES = st.lists(
    st.tuples(
        TEXTS,
        st.sampled_from([None, "one", "two", "three"]),
        st.sampled_from([*Status]),
        st.booleans(),
        st.integers(0, 3),
    ),
    min_size=1,
    max_size=40,
)
QUERIES = st.one_of(TEXTS, SAID.map(lambda words: f'"{" ".join(words)}" sqlite'))


class Hashing:
    """Texts with the same words have vectors near each other."""

    model_id = MODEL

    def embed(self, texts):
        rows = [
            sum(
                np.random.default_rng(crc32(word.encode())).standard_normal(DIMENSIONS)
                for word in ["", *text.split()]
            )
            for text in texts
        ]
        return np.array([row / np.linalg.norm(row) for row in rows], np.float32)


def fill(world, memories):
    """No two vectors are the same: of equals either may come first, as the arithmetic rounds."""
    for content, session, status, dialogue, vector in memories:
        tags = (DIALOGUE,) if dialogue else ()
        text = f"{content} {next(world.numbers)}"
        id = world.add(text, session=session, status=status, tags=tags)
        if vector:
            world.embed(id, vector=Hashing().embed([text])[0])


def ask(world, query, **shown):
    return search(query, world.store, SearchSettings(), Filters(**shown), NOW, 30, Hashing())


def without_index(patch):
    patch.setattr(index, "open_index", lambda *_: None)


def assert_same(one, other):
    assert [hit.memory.id for hit in one.hits] == [hit.memory.id for hit in other.hits]
    for mine, theirs in zip(one.hits, other.hits, strict=True):
        assert mine.signals == pytest.approx(theirs.signals, abs=1e-4)


@settings(deadline=None, max_examples=examples(150))
@given(
    MEMORIES,
    QUERIES,
    st.sampled_from([(), ("promoted",), ("candidate", "archived")]),
    st.sets(st.integers(0, 9), max_size=3),
)
def test_the_same_hits_in_the_same_order(memories, query, statuses, hidden):
    with (
        tempfile.TemporaryDirectory() as folder,
        closing(open_project(Path(folder))) as store,
        pytest.MonkeyPatch.context() as patch,
    ):
        world = World(store)
        fill(world, memories)
        world.embed(world.add("sqlite"))
        world.build()
        fill(world, memories[:3])
        for number in hidden:
            world.hide(f"m{number}")
        found = ask(world, query, statuses=statuses)
        without_index(patch)

        assert_same(found, ask(world, query, statuses=statuses))
        assert found.mode == "hybrid"


@pytest.fixture
def crowd(world):
    """Many who may not be seen, before the few who may."""
    for number in range(300):
        status = Status.ARCHIVED if number % 50 else Status.PROMOTED
        id = world.add(f"sqlite wal lock {number}", status=status)
        world.embed(id, vector=Hashing().embed([f"sqlite wal lock {number}"])[0])
    world.build()
    return world


def test_texts_that_only_contain_what_was_asked_are_not_lost_in_a_crowd(crowd, monkeypatch):
    for number in range(200):
        crowd.add(f"登录令牌{number}会过期")
    found = ask(crowd, "令牌 sqlite")
    assert any("令牌" in hit.memory.content for hit in found.hits)
    without_index(monkeypatch)

    assert_same(found, ask(crowd, "令牌 sqlite"))


@pytest.mark.parametrize(
    ("looks", "are_few"),
    [
        pytest.param(source.LOOKS, lambda *_: False, id="at first"),
        pytest.param((), lambda *_: False, id="by filters"),
        pytest.param(source.LOOKS, filters.are_few, id="by their few statuses"),
    ],
)
def test_rows_that_filters_hide_take_no_place(crowd, monkeypatch, looks, are_few):
    monkeypatch.setattr(source, "LOOKS", looks)
    monkeypatch.setattr(filters, "are_few", are_few)
    found = ask(crowd, "sqlite wal lock", statuses=("promoted",))

    assert len(found.hits) == 6
    without_index(monkeypatch)
    assert_same(found, ask(crowd, "sqlite wal lock", statuses=("promoted",)))


def test_a_file_that_turns_out_to_be_damaged_is_given_up(crowd, monkeypatch):
    expected = ask(crowd, "sqlite wal")
    embedded = []
    embed = Hashing.embed
    monkeypatch.setattr(Hashing, "embed", lambda *given: embedded.append(given) or embed(*given))
    (listed,) = search_files.listed(crowd.store, MODEL)
    path = os.path.join(search_files.folder(crowd.store), listed.name)
    arrays = dict(file.read(path))
    with file.new(path) as handle:
        for name, array in arrays.items():
            handle.add(name, array + 1_000_000 if name == "rows" else array)
    assert crowd.open() is not None

    assert_same(ask(crowd, "sqlite wal"), expected)
    assert not os.path.exists(path)
    assert len(embedded) == 1


@pytest.mark.parametrize(
    "query",
    [
        pytest.param("m17", id="an id"),
        pytest.param("sqli", id="the beginning of a word"),
        pytest.param("qlit", id="the inside of words"),
        pytest.param('"wal lock" m', id="a phrase"),
        pytest.param("17", id="one word"),
        pytest.param("the", id="a stop word"),
        pytest.param("-", id="no word"),
        pytest.param("login token", id="nothing that is there"),
    ],
)
def test_any_kind_of_query(crowd, monkeypatch, query):
    statuses = ("promoted", "archived")
    found = ask(crowd, query, statuses=statuses)
    without_index(monkeypatch)

    assert_same(found, ask(crowd, query, statuses=statuses))
