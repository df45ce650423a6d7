"""Recalls of one's own project that have to stay as good as they are: `.ade/eval.jsonl`."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any

import orjson

from ademem.core import confined
from ademem.core.clock import stamp
from ademem.core.errors import AdememError, NoSuchMemory, NotFound, suppress
from ademem.core.project import Project
from ademem.core.redaction import redact
from ademem.core.repository import commit
from ademem.core.text import sha256_hex
from ademem.core.value import Value, replace
from ademem.operations import searching
from ademem.operations.searching import load_embedder
from ademem.plugins.evaluation.measuring import (
    BASELINES,
    DEPTH,
    NEED_A_MODEL,
    OVERALL,
    Corpus,
    average,
    scores,
)
from ademem.store.database import set_value, value
from ademem.store.runtime import Runtime

FILE = "eval.jsonl"
RUNS, RANKS = "eval/runs", "eval/ranks"
"""Names of the recorded runs, and of the ranks of the last one, among the values of the store."""
MOST_RUNS = 200
SHOWN = ("any@5", "any@10", "MRR", "nDCG@10")
CUT = 10


class Golden(Value):
    query: str
    ranks: dict[str, int | None]
    """By sync id, as they were recorded; None: not among the first DEPTH."""


class Moved(Value):
    query: str
    sync_id: str
    before: int | None
    now: int | None
    worse: bool


class Ranks(Value):
    golden: Golden
    now: dict[str, int | None] | None
    """By sync id; None where the last run did not ask it."""

    def state_of(self, sync_id: str) -> str:
        """Return same, better, worse, or "not asked"."""
        if self.now is None or sync_id not in self.now:
            return "not asked"
        before, now = self.golden.ranks[sync_id], self.now[sync_id]
        return "same" if now == before else "worse" if is_worse(before, now) else "better"


class Verdict(Value):
    golden: int
    recall: float
    """Mean share of their memories within the first CUT."""
    moved: tuple[Moved, ...]

    @property
    def regressed(self) -> bool:
        return any(one.worse for one in self.moved)


def load(project: Project) -> list[Golden]:
    path, found = os.path.join(project.ade, FILE), []
    for number, line in enumerate((confined.read_text(project.root, path) or "").splitlines(), 1):
        if line.strip():
            try:
                row = orjson.loads(line)
                ranks = row["ranks"]
                if not ranks:
                    raise ValueError("no memory is named")
                found.append(Golden(query=row["query"], ranks=dict(ranks)))
            except (ValueError, KeyError, TypeError) as error:
                raise AdememError(
                    f"{path}:{number} is not a golden recall", "mend the line, or take it out"
                ) from error
    return sorted(found, key=lambda golden: golden.query)


def _load_some(memories: Runtime) -> list[Golden]:
    if found := load(memories.project):
        return found
    hint = '`ademem eval add "the question" ID` records one'
    raise NotFound("this project has no golden recalls", hint)


def save(project: Project, golden: Iterable[Golden]) -> None:
    """One line a question, in order, so that git merges them well."""
    lines = [
        orjson.dumps({"query": one.query, "ranks": dict(sorted(one.ranks.items()))}).decode()
        for one in sorted(golden, key=lambda one: one.query)
    ]
    path = os.path.join(project.ade, FILE)
    confined.write_text(project.root, path, "".join(f"{line}\n" for line in lines))


def add(memories: Runtime, query: str, ids: Sequence[str]) -> Golden:
    query = redact(" ".join(query.split())).text
    earlier = {one.query: one for one in load(memories.project)}
    wanted = set(earlier[query].ranks) if query in earlier else set()
    for memory in (searching.get(memories, id) for id in ids):
        if not memory.shareable:  # what no file may name cannot be checked elsewhere
            why = f"{memory.id} stays on this machine, and {FILE} is tracked"
            raise AdememError(why, "name memories of the project that are live")
        wanted.add(memory.sync_id)
    earlier[query] = Golden(query=query, ranks=_ranks(memories, query, wanted))
    save(memories.project, earlier.values())
    return earlier[query]


def update(memories: Runtime) -> Verdict:
    """Record the ranks of now, and forget memories that are gone."""
    verdict = check(memories)
    now = [
        replace(one, ranks=_ranks(memories, one.query, _here(memories, one.ranks)))
        for one in load(memories.project)
    ]
    save(memories.project, [one for one in now if one.ranks])
    return verdict


def check(memories: Runtime, *, slack: int = 0) -> Verdict:
    """Ask every question again, with *slack* places to lose; raises NotFound without any."""
    golden, moved, found = _load_some(memories), [], 0.0
    for one in golden:
        ranks = _ranks(memories, one.query, one.ranks)
        found += sum(now is not None and now <= CUT for now in ranks.values()) / len(ranks)
        for sync_id, before in sorted(one.ranks.items()):
            if (now := ranks[sync_id]) != before:
                worse = is_worse(before, now, slack)
                moved.append(
                    Moved(query=one.query, sync_id=sync_id, before=before, now=now, worse=worse)
                )
    return Verdict(golden=len(golden), recall=found / len(golden), moved=tuple(moved))


def measure(memories: Runtime) -> dict[str, Any]:
    """Ask every question of each system, and record means and ranks."""
    golden = _load_some(memories)
    embedder = load_embedder(memories)
    corpus = Corpus(memories, embedder)
    rankings, ranks = [], {}
    for one in golden:
        here = _here(memories, one.ranks)
        relevant = {here.get(sync_id, f"gone {sync_id}") for sync_id in one.ranks}
        for name, system in BASELINES.items():
            if embedder or name not in NEED_A_MODEL:
                rankings.append((name, FILE, scores(system(corpus, one.query), relevant)))
        ranks[sha256_hex(one.query)] = _ranks(memories, one.query, one.ranks)
    run = {
        "at": stamp(memories.clock()),
        "commit": commit(memories.project.root),
        "questions": len(golden),
        "mode": "+".join(sorted(corpus.modes)),
        "means": {
            row.system: {name: round(row.scores[name], 4) for name in SHOWN}
            for row in average(rankings)
            if row.category == OVERALL
        },
    }
    with memories.store.transaction() as db:
        runs = [*list_runs(memories), run][-MOST_RUNS:]
        set_value(db, RUNS, orjson.dumps(runs).decode())
        set_value(db, RANKS, orjson.dumps(ranks).decode())
    return run


def list_runs(memories: Runtime) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = orjson.loads(value(memories.store.db, RUNS) or "[]")
    return found


def list_ranks(memories: Runtime) -> list[Ranks]:
    last = orjson.loads(value(memories.store.db, RANKS) or "{}")
    return [
        Ranks(golden=one, now=last.get(sha256_hex(one.query))) for one in load(memories.project)
    ]


def is_worse(before: int | None, now: int | None, slack: int = 0) -> bool:
    return before is not None and (now is None or now > before + slack)


def _ranks(memories: Runtime, query: str, sync_ids: Iterable[str]) -> dict[str, int | None]:
    ranked = [hit.memory.sync_id for hit in searching.search(memories, query, limit=DEPTH).hits]
    return {id: ranked.index(id) + 1 if id in ranked else None for id in sync_ids}


def _here(memories: Runtime, sync_ids: Iterable[str]) -> dict[str, str]:
    here = {}
    for sync_id in sync_ids:
        with suppress(NoSuchMemory):
            memory = searching.get(memories, sync_id)
            here[memory.sync_id] = memory.id
    return here
