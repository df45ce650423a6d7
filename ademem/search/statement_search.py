"""Rank the memories nearest to a statement: what it may repeat, replace or contradict.

A search ranks what answers a question. Here two statements are compared as equals.
"""

from __future__ import annotations

from collections import Counter

from ademem.core import regex
from ademem.core.errors import suppress
from ademem.core.text import have_same_words, is_cjk
from ademem.search.lexical import choose_terms, read_postings, word_information
from ademem.search.query import list_grams, list_telling
from ademem.store import full_text
from ademem.store.full_text import Index

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ademem.search.embedding import Embedder
    from ademem.store import Store

POOL = 50
"""Rows that are ranked, of which filters hide some."""
BEGINNINGS = 3, 5
"""Characters of a word by which rows are looked up, as its forms begin alike; in a large store the
longer ones are the rare ones."""
MOST_POSTINGS = 100
"""Postings of beginnings that are read, the rarest first: no more in a large store."""


def by_characters(texts: Sequence[str], store: Store, *, is_stored: bool = False) -> list[int]:
    """Return rows by the groups of three characters that they share, as forms of a word do.

    *texts* are a statement, which may be a row itself, and its occasions, if any: a row is read
    with its own. The order is that of the weighted Jaccard similarity, in which a group counts by
    the inverse frequency among the rows that BM25 ranks first: in a few rows BM25 takes any group
    for common. Groups that a row does not share count as those of the statement do on average. The
    same words are first, also before fewer that have all groups.
    """
    mine = list_grams(*texts)
    found = full_text.read_texts(store, _find_rows(" ".join(texts), store, int(is_stored)))
    wordings = {
        seq: regex.sub(r"\W+", " ", f" {text} {more} ".lower()) for seq, text, more in found
    }
    shared = {seq: [gram for gram in mine if gram in text] for seq, text in wordings.items()}
    holders = Counter(gram for grams in shared.values() for gram in grams)
    weight = {gram: word_information(len(wordings), holders[gram]) for gram in mine}
    total = sum(weight.values())

    def share(seq: int) -> float:
        both = sum(weight[gram] for gram in shared[seq])
        return both / (total + total / len(mine) * len(wordings[seq]) - both)

    identical = {seq for seq, text, _ in found if have_same_words(texts[0], text)}
    return sorted(wordings, key=lambda seq: (seq in identical, share(seq)), reverse=True)


def _find_rows(text: str, store: Store, own: int) -> list[int]:
    """Return rows by the BM25 of the beginnings of its words, the newest of equals first.

    *own* rows are the text itself, of which a word that no other has finds nothing.
    """
    terms = dict(_list_terms(text))
    counts = full_text.count_rows(store, terms, MOST_POSTINGS + own + 1)
    others = {term: count - own for term, count in counts.items()}
    chosen = choose_terms(others, MOST_POSTINGS, always=1)
    _, bm25 = read_postings(store, chosen, terms, {})
    return sorted(sorted(bm25, reverse=True), key=bm25.__getitem__, reverse=True)[:POOL]


def _list_terms(text: str) -> Iterator[tuple[str, Index]]:
    """Yield beginnings of words; of a script without blanks each group of three characters."""
    for word in list_telling(text):
        if not is_cjk(word):
            for length in BEGINNINGS:
                yield f'"{word[:length]}"*', Index.WORDS
        else:
            for at in range(len(word) - 2):
                yield f'"{word[at : at + 3]}"', Index.GRAMS


def by_meaning(texts: Sequence[str], store: Store, embedder: Embedder) -> list[int]:
    """Return rows by their whitened cosines, summed over both models; needs numpy.

    *texts* are a statement and what else its stored vector would be the mean of.

    The second model reads the statement as it read the memories: a question it would compare with
    what answers it.
    """
    from ademem.search import dense
    from ademem.search.embedding import DamagedModel, Pair, join_vectors
    from ademem.store import embeddings

    totals: dict[int, float] = {}
    for model in (embedder, embedder.second if isinstance(embedder, Pair) else None):
        if model is None or not (size := embeddings.dimensions(store, model.model_id)):
            continue
        with suppress(DamagedModel):  # `doctor` reports it
            vectors = dense.load_vectors(store, model.model_id, size)
            cosines = dense.Cosines(join_vectors(model.embed(texts)), vectors)
            for row, cosine in zip(cosines.rows.tolist(), cosines.whitened.tolist(), strict=True):
                totals[row] = totals.get(row, 0.0) + cosine
    return sorted(totals, key=totals.__getitem__, reverse=True)[:POOL]
