"""Our own word pieces of ASCII text are those of the library."""

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ademem.core.settings import EmbedSettings
from ademem.search import embedding
from ademem.search.embedding import cache, minilm
from ademem.search.embedding.minilm import Pieces

VOCABULARY = {
    "[PAD]": 0,
    "[UNK]": 100,
    "[CLS]": 101,
    "[SEP]": 102,
    "un": 1,
    "##affa": 2,
    "##ble": 3,
    "unaff": 4,
    ",": 5,
    "é": 6,
    "a": 7,
}


@pytest.fixture
def small(tmp_path):
    (tmp_path / "tokenizer.json").write_text(json.dumps({"model": {"vocab": VOCABULARY}}))
    minilm.write_pieces(str(tmp_path / "tokenizer.json"), str(tmp_path))
    return Pieces(str(tmp_path))


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        pytest.param("", [], id="nothing"),
        pytest.param("un", [1], id="a whole word"),
        pytest.param("Un,UN", [1, 5, 1], id="case and punctuation"),
        pytest.param("unble", [1, 3], id="two pieces"),
        pytest.param("unaffable", [100], id="the longest piece leads nowhere"),
        pytest.param("u\x07n", [1], id="a control character"),
        pytest.param("a" * 101, [100], id="too long a word"),
    ],
)
def test_the_longest_piece_that_fits_is_taken(small, text, ids):
    assert small.tokens(text, 256) == [101, *ids, 102]


@pytest.mark.parametrize("text", ["caf\u00e9", "un [SEP] un"])
def test_what_it_cannot_know_is_left_to_the_library(small, text):
    assert small.tokens(text, 256) is None


def test_a_text_is_cut_so_that_its_end_mark_fits(small):
    assert small.tokens("un " * 300, 8) == [101, 1, 1, 1, 1, 1, 1, 102]


def test_files_that_do_not_belong_together_are_refused(small, tmp_path):
    (tmp_path / minilm.IDS).write_bytes(b"\0\0")

    with pytest.raises(ValueError, match="10 pieces, 1 ids"):
        Pieces(str(tmp_path))


@pytest.fixture(scope="module")
def both(models):
    settings = EmbedSettings()
    folder = cache.folder(models, settings.dtype)
    quick, whole = (embedding.open_model(folder, settings, once=once) for once in (True, False))
    assert quick._pieces is not None, "`ademem model install` prepares them"
    return quick, whole


ASCII = st.text(st.characters(codec="ascii"), max_size=300)
PROSE = st.lists(
    st.sampled_from(
        "The retry_policy isn't HTTP/2-safe: naïve x86 [mask] --no-verify 3.14 ".split()
    )
).map(" ".join)


@example("[SEP] [mask] [CLS")
@example("a\tb\r\nc\x0bd\x1ce\x7ff")
@example("x" * 100 + " " + "y" * 101)
@example("word " * 400)
@given(ASCII | PROSE)
def test_they_are_those_of_the_library(both, text):
    quick, whole = both

    assert quick.tokens(text) == whole.tokens(text)
