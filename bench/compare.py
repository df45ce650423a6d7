"""Compare recall with plain rankings: `python bench/compare.py FILE [FILE ...]`.

Each file is one that `ademem eval run` reads. Every question is asked of the product, with the
installed models and without, and of four plain rankings of the same store. Printed are the means of
R@10 and nDCG@10, and how far the product is ahead, with the 95 % interval of a paired bootstrap
over questions.
"""

from __future__ import annotations

import os
import random
import re
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

from ademem.core.settings import load_configuration
from ademem.plugins.evaluation import measuring as evaluation
from ademem.search import embedding
from ademem.search.query import STOP_WORDS, readable
from ademem.store import memory_queries

METRICS = ("R@10", "nDCG@10")
DRAWS = 2_000
SEED = 1
WORDS_PART = 0.3
"""Part of BM25 in the weighted sum; the rest is the cosine."""
COLUMNS = "{title content tags file_scope_pattern topic_key}"
PRODUCT, ALONE = "ademem", "ademem, words"

Scores = dict[str, dict[str, list[float]]]
"""Of each system and metric, one score a question."""


def bm25(query: str, arena: evaluation.Corpus) -> dict[str, float]:
    """Score the rows that have any of the words, without stop words, as FTS5 does.

    The words of identifiers are the product's: they are left out.
    """
    words = re.findall(r"\w+", query.lower())
    telling = [word for word in words if word not in STOP_WORDS] or words
    if not telling:
        return {}
    any_word = " OR ".join(f'"{word}"' for word in telling)
    found = arena.store.db.execute(
        "select memory.id, -bm25(unified_memories_fts) from unified_memories_fts as found"
        " join unified_memories as memory on memory.seq = found.rowid"
        " where found.unified_memories_fts match ?",
        (f"{COLUMNS} : ({any_word})",),
    )
    return dict(tuple(row) for row in found)


def embed_texts(arena: evaluation.Corpus, model: embedding.Embedder) -> dict[str, np.ndarray]:
    """Vectors of the whole texts: that headings count more is the product's."""
    memories = memory_queries.everything(arena.store)
    rows = model.embed([embedding.embedded_text(memory) for memory in memories])
    return {memory.id: row for memory, row in zip(memories, rows, strict=True)}


def cosines(
    query: str, vectors: Mapping[str, np.ndarray], model: embedding.Embedder
) -> dict[str, float]:
    asked = model.embed([readable(query)])[0]
    return {id: float(row @ asked) for id, row in vectors.items()}


def ordered(scores: Mapping[str, float]) -> list[str]:
    return sorted(scores, key=lambda id: -scores[id])[: evaluation.DEPTH]


def by_reciprocal_rank(*scored: Mapping[str, float]) -> dict[str, float]:
    fused: defaultdict[str, float] = defaultdict(float)
    for scores in scored:
        for rank, id in enumerate(ordered(scores), 1):
            fused[id] += 1 / (evaluation.RANK_CONSTANT + rank)
    return fused


def weighted(words: Mapping[str, float], meaning: Mapping[str, float]) -> dict[str, float]:
    best = max(words.values(), default=0.0) or 1.0
    return {
        id: WORDS_PART * words.get(id, 0.0) / best + (1 - WORDS_PART) * meaning.get(id, 0.0)
        for id in words.keys() | meaning.keys()
    }


def ask(dataset: evaluation.Dataset, environment: Mapping[str, str]) -> Scores:
    model = embedding.load(load_configuration(None, environment).settings.embed, environment)
    found: Scores = defaultdict(lambda: defaultdict(list))

    def add(system: str, ranked: Sequence[str], relevant: frozenset[str]) -> None:
        scores = evaluation.scores(ranked, relevant)
        for metric in METRICS:
            found[system][metric].append(scores[metric])

    for haystack in dataset.haystacks:
        asked = [each for each in haystack.questions if each.category not in evaluation.APART]
        with (
            tempfile.TemporaryDirectory() as empty,
            evaluation.open_arena(haystack, {**environment, "ADEMEM_MODELS_DIR": empty}) as arena,
        ):
            for each in asked:
                relevant = arena.ids(each.relevant)
                add(ALONE, arena.search(each.query), relevant)
                add("BM25", ordered(bm25(each.query, arena)), relevant)
        if model is None:
            continue
        with evaluation.open_arena(haystack, environment, model) as arena:
            vectors = embed_texts(arena, model)
            for each in asked:
                relevant = arena.ids(each.relevant)
                words, meaning = bm25(each.query, arena), cosines(each.query, vectors, model)
                add(PRODUCT, arena.search(each.query), relevant)
                add("cosine", ordered(meaning), relevant)
                add("RRF", ordered(by_reciprocal_rank(words, meaning)), relevant)
                add("30/70", ordered(weighted(words, meaning)), relevant)
    return found


def interval(one: Sequence[float], other: Sequence[float]) -> tuple[float, float]:
    """95 % of the mean differences in samples of the questions."""
    differences = [mine - its for mine, its in zip(one, other, strict=True)]
    chance = random.Random(SEED)
    means = sorted(
        sum(chance.choices(differences, k=len(differences))) / len(differences)
        for _ in range(DRAWS)
    )
    return means[DRAWS // 40], means[-DRAWS // 40]


def mean(scores: Sequence[float]) -> float:
    return sum(scores) / len(scores)


def report(name: str, found: Scores, show: Callable[[str], None] = print) -> None:
    first = PRODUCT if PRODUCT in found else ALONE
    for metric in METRICS:
        ours = found[first][metric]
        show(f"{name}, {metric}, {len(ours)} questions")
        for system in sorted(found, key=lambda each: -mean(found[each][metric])):
            line = f"  {system:<14}{100 * mean(found[system][metric]):5.1f}"
            for reference in (first, ALONE):
                if system not in (PRODUCT, ALONE) and reference in found:
                    its = found[system][metric]
                    low, high = interval(found[reference][metric], its)
                    ahead = mean(found[reference][metric]) - mean(its)
                    line += (
                        f"   {reference} {100 * ahead:+.1f} [{100 * low:+.1f}, {100 * high:+.1f}]"
                    )
                if first == ALONE:
                    break
            show(line)


if __name__ == "__main__":
    for path in map(Path, sys.argv[1:]):
        report(path.stem, ask(evaluation.read(path.read_bytes()), dict(os.environ)))
