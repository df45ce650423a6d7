"""The map of questions: of which texts it is, and what a mapped question is near to."""

import json
from pathlib import Path

import numpy as np
import pytest

from ademem.core.settings import EmbedSettings
from ademem.search import embedding
from ademem.search.embedding import question_map
from ademem.search.embedding.language import is_english
from bench.question_map import DIGESTS, digests

STRANGERS = Path(__file__).parents[2] / "strangers"


def strangers(name):
    lines = (STRANGERS / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


@pytest.fixture
def rows():
    found = np.random.default_rng(7).standard_normal((9, embedding.DIMENSIONS)).astype(np.float32)
    return found / np.linalg.norm(found, axis=1, keepdims=True)


def test_the_map_is_the_one_trained_on_the_texts_of_the_repository():
    assert digests() == json.loads(DIGESTS.read_text(encoding="utf-8"))


def test_a_mapped_question_is_compared_as_it_is_and_as_the_map_moves_it(rows):
    known, (question, *notes) = question_map.load(), rows
    moved = (question - known.mean) @ known.moves
    moved /= np.linalg.norm(moved)

    for note in notes:
        expected = question @ note + question_map.SHARE * moved @ (note @ known.moves)
        assert known.aim(question) @ note == pytest.approx(expected, abs=1e-4)


def test_the_mean_question_itself_stays_as_it_is():
    known = question_map.load()

    np.testing.assert_array_equal(known.aim(known.mean), known.mean)


@pytest.mark.parametrize("content", [None, b"short", b"\0" * 200_000])
def test_a_map_that_cannot_be_read_is_a_damaged_model(tmp_path, monkeypatch, content):
    file = tmp_path / "questions.map"
    if content:
        file.write_bytes(content)
    monkeypatch.setattr(question_map, "FILE", str(file))

    with pytest.raises(embedding.DamagedModel, match="map of questions"):
        question_map.load.__wrapped__()


def test_questions_of_a_stranger_find_notes_where_neither_is_english(models):
    model = embedding.load_second(EmbedSettings(), models)
    if model is None:
        pytest.skip("ADEMEM_MODELS_DIR has no second model")
    notes = [each for each in strangers("audio_memories") if not is_english(each["text"])]
    places = {note["id"]: place for place, note in enumerate(notes)}
    rows = model.embed([note["text"] for note in notes])
    before = after = 0
    for each in (*strangers("audio_prompts"), *strangers("audio_searches")):
        if each["answer"] in places and not is_english(each["text"]):
            question, right = model.read_question(each["text"]), places[each["answer"]]
            before += (rows @ question).argmax() == right
            after += (rows @ question_map.load().aim(question)).argmax() == right

    assert after >= before >= 23  # of 28
