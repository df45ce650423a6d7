"""Two models beside each other: which of them compares a question with which memories."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ademem.core.settings import EmbedSettings
from ademem.search import dense
from ademem.search.embedding import DamagedModel, Pair
from ademem.search.engine import Filters, search
from ademem.store import embeddings
from tests.builders import NOW
from tests.search.spelling import Spelling, Translating, embed

GERMAN = "Wie werden Passwörter gehasht?"
NOTES = (
    "Passwords are hashed with argon2id",
    "The nightly export is written to a bucket",
    "Werden is the name of the office in Essen",
)


class Both(Pair):
    """A pair that counts how often its second model was wanted."""

    def __init__(self, second=None, use="auto"):
        self.loads = 0
        super().__init__(Spelling(), EmbedSettings(multilingual=use), lambda: self._count(second))

    def _count(self, second):
        self.loads += 1
        return second


@pytest.fixture
def notes(store, keep):
    kept = [keep(text) for text in NOTES]
    embed(store, *kept)
    embed(store, *kept, model=Translating)
    return kept


def first(store, question, embedder):
    return search(question, store, Filters(), NOW, embedder=embedder).hits[0].memory.content


def scores(store, question, embedder):
    hits = search(question, store, Filters(), NOW, embedder=embedder).hits
    return {hit.memory.id: hit.score for hit in hits}


def test_the_second_model_answers_in_another_language(store, notes):
    assert first(store, GERMAN, Spelling()) != NOTES[0]
    assert first(store, GERMAN, Both(Translating())) == NOTES[0]


def test_what_it_finds_answers_and_is_no_weak_hit(store, notes):
    hit = search(GERMAN, store, Filters(), NOW, embedder=Both(Translating())).hits[0]

    assert (hit.memory.content, hit.weak) == (NOTES[0], False)


def test_a_question_in_english_neither_loads_it_nor_changes(store, notes):
    pair = Both(Translating())

    assert scores(store, "how are passwords kept", pair) == scores(
        store, "how are passwords kept", Spelling()
    )
    assert pair.loads == 0


def test_a_question_in_english_finds_a_memory_that_the_first_does_not_read(store, keep, notes):
    note = keep("Rechnungen werden gerundet")
    embed(store, note)
    embed(store, note, model=Translating)
    embeddings.save_unread_rows(store, np.array([note.seq], "<i8").tobytes())

    assert first(store, "are invoices rounded?", Both(Translating())) == note.content
    assert first(store, "how are passwords hashed", Both(Translating())) == NOTES[0]


def test_both_answer_english_if_the_settings_say_so(store, notes):
    pair = Both(Translating(), use="all")

    assert scores(store, "how are passwords kept", pair) != scores(
        store, "how are passwords kept", Spelling()
    )
    assert pair.loads == 1


class Damaged(Translating):
    def embed_question(self, text):
        raise DamagedModel("half of it")


def raising():
    raise DamagedModel("half of it")


@pytest.mark.parametrize(
    "pair",
    [
        pytest.param(Both(None), id="not installed"),
        pytest.param(Both(Damaged()), id="cannot embed"),
        pytest.param(Pair(Spelling(), EmbedSettings(), raising), id="cannot be loaded"),
    ],
)
def test_without_it_the_first_model_answers_alone(store, notes, pair):
    assert scores(store, GERMAN, pair) == scores(store, GERMAN, Spelling())


def test_a_store_that_it_has_not_embedded_is_searched_with_the_first(store, keep):
    embed(store, keep(NOTES[0]))

    assert scores(store, GERMAN, Both(Translating())) == scores(store, GERMAN, Spelling())


def vectors(rows):
    """A few unit vectors of so many rows."""
    matrix = np.random.default_rng(len(rows)).standard_normal((len(rows), 4)).astype(np.float32)
    matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
    lengths = np.ones(len(rows), np.float32)
    return dense.Vectors(rows=np.array(rows), matrix=matrix, lengths=lengths, whitening=None)


def mean(values, usual):
    return (sum(values) + dense.PRIOR_ROWS * usual) / (len(values) + dense.PRIOR_ROWS)


row_numbers = st.lists(st.integers(1, 30), min_size=1, unique=True).map(sorted)


@given(row_numbers, row_numbers, st.sets(st.integers(1, 30)), st.sampled_from([0.0, 0.5, 1.0]))
def test_each_row_has_the_cosine_of_the_model_that_reads_it(rows, others, unread, share):
    question = np.array([1, 0, 0, 0], np.float32)
    a, b = (dense.Cosines(question, vectors(each)) for each in (rows, others))
    blended = dense.Blend(a, b, share, np.array(sorted(unread), np.int64))

    whitened, plain = blended.compare({*rows, *others})
    ours, _ = a.compare(rows)
    theirs, near = b.compare(others)
    means, near_means = (
        [
            mean([values[row] for row in values if (row in unread) is is_unread], mean(all_, usual))
            for is_unread in (False, True)
        ]
        for values, all_, usual in (
            (theirs, theirs.values(), dense.USUAL_WHITENED_MEAN),
            (near, near.values(), dense.USUAL_MEAN),
        )
    )
    assert whitened.keys() == plain.keys() == {*rows, *others}
    for row, found in whitened.items():
        part = 1.0 if row in unread or row not in ours else share
        part = part if row in theirs else 0.0
        second = theirs.get(row, 0) - means[row in unread]
        expected = (1 - part) * ours.get(row, 0) + part * second
        assert found == pytest.approx(expected, abs=1e-5)
        if part == 1:
            scaled = dense.SECOND_SCALE * (near[row] - near_means[row in unread])
            assert plain[row] == pytest.approx(dense.FIRST_MEAN + scaled, abs=1e-4)
    best = blended.nearest(len(whitened))
    assert [whitened[row] for row in best] == sorted(whitened.values(), reverse=True)
