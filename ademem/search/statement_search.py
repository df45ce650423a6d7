"""Rank the memories nearest to a statement: what it may repeat, replace or contradict.

A search ranks what answers a question. Here two statements are compared as equals.
"""

from __future__ import annotations

from collections import Counter
from itertools import islice

from ademem.core import regex
from ademem.core.errors import suppress
from ademem.search.lexical import word_information
from ademem.search.query import STOP_WORDS
from ademem.store import full_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ademem.search.embedding import Embedder
    from ademem.store import Store

POOL = 50
"""Rows that are ranked, of which filters hide some."""
MOST_GRAMS = 120
"""Groups of three characters of a statement that are looked up; the rest of a longer one adds
little."""


def by_characters(text: str, store: Store) -> list[int]:
    """Return rows by the groups of three characters that they share, as forms of a word do.

    The order is that of the weighted Jaccard similarity, in which a group counts by the inverse
    frequency among the rows that BM25 ranks first: in a few rows BM25 takes any group for common.
    """
    mine = list_grams(text)
    found = full_text.rank_by_grams(store, mine, POOL)
    grams = {seq: set(list_grams(content)) for seq, content in found}
    holders = Counter(gram for held in grams.values() for gram in held)
    weight = {gram: word_information(len(grams), count) for gram, count in holders.items()}

    def share(seq: int) -> float:
        both = sum(weight[gram] for gram in grams[seq].intersection(mine))
        return both / (sum(weight.get(gram, 0.0) for gram in grams[seq].union(mine)) or 1.0)

    return sorted(grams, key=share, reverse=True)


def list_grams(text: str) -> list[str]:
    """Return the first groups of three characters of its words, with their edges."""
    words = (word for word in regex.findall(r"\w+", text.lower()) if word not in STOP_WORDS)
    grams = (f" {word} "[at : at + 3] for word in words for at in range(len(word)))
    return list(islice(dict.fromkeys(grams), MOST_GRAMS))


def by_meaning(text: str, store: Store, embedder: Embedder) -> list[int]:
    """Return rows by their whitened cosines, summed over both models; needs numpy.

    The second model reads the statement as it read the memories: a question it would compare with
    what answers it.
    """
    from ademem.search import dense
    from ademem.search.embedding import DamagedModel, Pair
    from ademem.store import embeddings

    totals: dict[int, float] = {}
    for model in (embedder, embedder.second if isinstance(embedder, Pair) else None):
        if model is None or not (size := embeddings.dimensions(store, model.model_id)):
            continue
        with suppress(DamagedModel):  # `doctor` reports it
            vectors = dense.load_vectors(store, model.model_id, size)
            cosines = dense.Cosines(model.embed([text])[0], vectors)
            for row, cosine in zip(cosines.rows.tolist(), cosines.whitened.tolist(), strict=True):
                totals[row] = totals.get(row, 0.0) + cosine
    return sorted(totals, key=totals.__getitem__, reverse=True)[:POOL]
