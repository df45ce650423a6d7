"""The real model against the vectors it was published with."""

from pathlib import Path

import numpy as np
import pytest

from ademem.core.settings import EmbedSettings
from ademem.search import embedding
from ademem.search.embedding import cache, minilm
from ademem.search.embedding.published import reference_sentences, unpack_vector

GOLDEN = reference_sentences(str(Path(__file__).with_name("golden.json")))
MIN_COSINE = {"int8": 0.96, "fp32": 0.999}
MEAN_COSINE = {"int8": 0.985, "fp32": 0.999}
BOTH = pytest.mark.parametrize("dtype", ["int8", "fp32"])


def loaded(models, dtype):
    model = embedding.load(EmbedSettings(dtype=dtype), models)
    if model is None:
        pytest.skip(f"no {dtype} model in {models}")
    return model


def test_usage_data_is_switched_off_before_the_library_is_loaded():
    source = Path(minilm.__file__).read_text("utf-8")
    switched = source.index('os.environ["ORT_DISABLE_TELEMETRY"] = "1"')

    assert switched < source.index("import onnxruntime")
    assert source.index("onnxruntime.disable_telemetry_events()") < source.index("def ")


@BOTH
def test_every_sentence_has_the_published_vector(models, dtype):
    model = loaded(models, dtype)
    vectors = np.stack([model.vector(model.tokens(sentence["text"])) for sentence in GOLDEN])

    published = np.array([unpack_vector(sentence["vector"]) for sentence in GOLDEN])
    cosines = (vectors * published).sum(axis=1)
    print(f"{dtype}: cosine min {cosines.min():.6f}, mean {cosines.mean():.6f}")
    assert cosines.min() >= MIN_COSINE[dtype]
    assert cosines.mean() >= MEAN_COSINE[dtype]
    assert vectors.dtype == np.float32
    assert np.abs(np.linalg.norm(vectors, axis=1) - 1).max() < 1e-5


def test_every_sentence_is_cut_into_the_published_word_pieces(models):
    model = loaded(models, "int8")

    for sentence in GOLDEN:
        assert model.tokens(sentence["text"]) == sentence["tokens"], sentence["text"][:60]


@pytest.mark.parametrize(
    ("word", "known"),
    [
        pytest.param("pipeline", True, id="a word"),
        pytest.param("Version", True, id="a capital"),
        pytest.param("piepline", False, id="misspelt"),
        pytest.param("größe", False, id="of another language"),
    ],
)
def test_a_word_of_one_piece_is_known(models, word, known):
    assert loaded(models, "int8").has_word(word) is known


@BOTH
def test_a_vector_does_not_depend_on_its_company(models, dtype):
    model = loaded(models, dtype)
    texts = [sentence["text"] for sentence in GOLDEN[:8]]

    together = model.embed(texts)
    assert (together == np.concatenate([model.embed([text]) for text in texts])).all()


def test_a_model_loaded_for_one_question_gives_the_same_vectors(models):
    texts = [sentence["text"] for sentence in GOLDEN[:8]]

    whole = loaded(models, "int8").embed(texts)
    quick = embedding.open_model(cache.folder(models, "int8"), EmbedSettings(), once=True)
    assert np.abs(quick.embed(texts) - whole).max() < 1e-5


def test_half_a_character_reads_like_a_question_mark(models):
    model = loaded(models, "int8")

    assert model.tokens("caf\u00e9 \ud800") == model.tokens("caf\u00e9 ?")


@pytest.mark.parametrize(
    ("identifier", "words"),
    [
        pytest.param("`useOrders` refetches", "`use Orders` refetches", id="two words"),
        pytest.param("toUtcDay()", "to Utc Day()", id="three words"),
        pytest.param("an HTTPServer in JSON", "an HTTPServer in JSON", id="capitals stay"),
    ],
)
def test_an_identifier_is_read_as_its_words(models, identifier, words):
    model = loaded(models, "int8")

    assert (model.embed([identifier]) == model.embed([words])).all()
    assert minilm.split_identifiers(identifier) == words


def test_the_model_id_tells_number_format_and_reading(models):
    assert loaded(models, "int8").model_id == "all-MiniLM-L6-v2/int8/256/words/headings"


def test_no_texts_are_no_rows(models):
    assert loaded(models, "int8").embed([]).shape == (0, 384)


def test_where_no_model_is_installed_none_is_loaded(tmp_path):
    assert embedding.load(EmbedSettings(), {"ADEMEM_MODELS_DIR": str(tmp_path)}) is None
