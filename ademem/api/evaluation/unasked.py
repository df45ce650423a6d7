"""Measure what the hook shows for prompts, by the same functions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import orjson

from ademem.api.searching import load_embedder
from ademem.core.errors import UsageError
from ademem.core.value import Value
from ademem.guard.prompts import TurnClass, classify
from ademem.search.engine import suggest_for
from ademem.store.runtime import Runtime


class Prompt(Value):
    text: str
    kind: str
    """A group of the report, such as `related`, `near` or `far`."""
    relevant: frozenset[str] = frozenset()
    """Ids of the memories, here or at their source, that are right to show; often none."""


class Kind(Value):
    """The prompts of one kind; shares are of 1."""

    kind: str
    prompts: int
    shown: float
    """Share of the prompts that any memory is shown for."""
    right: float | None
    """Share of those with relevant memories that one of them is shown for; None without any."""
    memories: float
    """Memories a prompt."""


class Report(Value):
    mode: str
    """hybrid or lexical: whether a model compared meanings."""
    kinds: tuple[Kind, ...]
    right: float | None
    """The share of all prompts that have relevant memories."""


def read_prompts(data: bytes) -> list[Prompt]:
    """Read lines of `{"prompt", "kind", "relevant"}`; raise UsageError for others."""
    try:
        lines = [orjson.loads(line) for line in data.splitlines() if line.strip()]
        return [
            Prompt(
                text=str(line["prompt"]),
                kind=str(line.get("kind") or "prompts"),
                relevant=frozenset(map(str, line.get("relevant") or ())),
            )
            for line in lines
        ]
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise UsageError(
            f"these are no prompts: {error!r}", 'lines of {"prompt", "kind", "relevant"}'
        ) from error


def measure(prompts: Sequence[Prompt], runtime: Runtime) -> Report:
    """Return what is shown for the prompts in an open project."""
    embedder = load_embedder(runtime)
    shown: defaultdict[str, list[tuple[Prompt, list[set[str]]]]] = defaultdict(list)
    for prompt in prompts:
        turn = classify(prompt.text, plan_mode=False, settings=runtime.settings.guard).turn
        is_asked = turn is not TurnClass.NONE
        found = suggest_for(prompt.text, runtime, embedder=embedder) if is_asked else []
        names = [{hit.memory.id, hit.memory.sync_id, hit.memory.source_id or ""} for hit in found]
        shown[prompt.kind].append((prompt, names))
    return Report(
        mode="hybrid" if embedder else "lexical",
        kinds=tuple(
            Kind(
                kind=kind,
                prompts=len(rows),
                shown=sum(bool(shown) for _, shown in rows) / len(rows),
                right=_share_right(rows),
                memories=sum(len(shown) for _, shown in rows) / len(rows),
            )
            for kind, rows in sorted(shown.items())
        ),
        right=_share_right([row for rows in shown.values() for row in rows]),
    )


def _share_right(rows: Sequence[tuple[Prompt, list[set[str]]]]) -> float | None:
    found = [
        any(names & prompt.relevant for names in shown) for prompt, shown in rows if prompt.relevant
    ]
    return sum(found) / len(found) if found else None
