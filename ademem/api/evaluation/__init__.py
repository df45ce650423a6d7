"""Retrieval quality, measured through the production path."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ademem.api.evaluation import metrics
from ademem.api.evaluation.arena import BASELINES, NEED_A_MODEL, Arena
from ademem.api.evaluation.datasets import APART, FORMATS, Dataset, Haystack, read
from ademem.core import configuration
from ademem.core.value import Value, as_dict
from ademem.search import embedding
from ademem.search.parameters import DEFAULTS, Parameters

__all__ = ["FORMATS", "Row", "Run", "read", "run"]

OVERALL = "overall"


class Asked(Value):
    """One question, one ranking."""

    system: str
    category: str
    scores: dict[str, float]


class Row(Value):
    """The means of one system over one category."""

    system: str
    category: str
    questions: int
    scores: dict[str, float]


class Run(Value):
    sha256: str
    format: str
    stores: int
    items: int
    refused: int
    """Items that the gate of the product did not take."""
    merged: int
    """Items that said what another says."""
    model: str | None
    """What the vectors are of; None when none is installed, and words decide."""
    mode: str
    """hybrid or lexical: how `ademem` answered."""
    settings: dict[str, Any]
    """The parameters of the ranking."""
    rows: tuple[Row, ...]


def run(
    dataset: Dataset,
    environment: Mapping[str, str],
    on_progress: Callable[[int, int], None] | None = None,
    parameters: Parameters = DEFAULTS,
) -> Run:
    """Import each haystack into a project of its own and ask; *on_progress* hears stores done."""
    asked: list[Asked] = []
    counts: Counter[str] = Counter()
    modes: set[str] = set()
    embedder = embedding.load(configuration.load(None, environment).settings.embed, environment)
    for number, haystack in enumerate(dataset.haystacks, 1):
        with Arena(haystack, environment, embedder, parameters) as arena:
            asked += _ask(haystack, arena)
            modes |= arena.modes
            counts["refused"] += arena.imported.rejected + len(arena.imported.errors)
            counts["merged"] += arena.imported.merged
        if on_progress:
            on_progress(number, len(dataset.haystacks))
    return Run(
        sha256=dataset.sha256,
        format=dataset.format,
        stores=len(dataset.haystacks),
        items=sum(len(haystack.items) for haystack in dataset.haystacks),
        refused=counts["refused"],
        merged=counts["merged"],
        model=embedder.model_id if embedder else None,
        mode="+".join(sorted(modes)),
        settings=as_dict(parameters),
        rows=tuple(_table(asked)),
    )


def _ask(haystack: Haystack, arena: Arena) -> Iterable[Asked]:
    for question in haystack.questions:
        relevant = arena.ids(question.relevant)
        for name, rank in BASELINES.items():
            if name in NEED_A_MODEL and not arena.has_vectors:
                continue
            yield Asked(
                system=name,
                category=question.category,
                scores=metrics.scores(rank(question.query, arena), relevant),
            )


def _table(asked: list[Asked]) -> Iterable[Row]:
    """Overall first, then by category; what has no answer counts only by itself."""
    categories = sorted({one.category for one in asked})
    for category in (OVERALL, *(categories if len(categories) > 1 else ())):
        for system in BASELINES:
            rows = [one.scores for one in asked if one.system == system and _is_of(one, category)]
            if rows:
                yield Row(
                    system=system,
                    category=category,
                    questions=len(rows),
                    scores=metrics.means(rows),
                )


def _is_of(one: Asked, category: str) -> bool:
    return one.category == category or (category == OVERALL and one.category not in APART)
