"""Retrieval quality, measured through the production path on datasets of published formats."""

from __future__ import annotations

import math
import os
import re
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any

import orjson

from ademem import operations
from ademem.core import clock
from ademem.core.errors import UsageError
from ademem.core.settings import load_configuration
from ademem.core.text import bytes_hex
from ademem.core.value import Value, as_dict
from ademem.files import records
from ademem.guard.prompts import TurnClass, classify
from ademem.operations import files, searching, upkeep
from ademem.operations.searching import load_embedder
from ademem.search import dense as vectors
from ademem.search import embedding
from ademem.search.engine import suggest_for
from ademem.search.query import readable
from ademem.search.ranking import DEFAULTS
from ademem.store import memory_queries
from ademem.store.memories import list_by_number
from ademem.store.runtime import Runtime

DEPTH = 20
"""Hits that are looked at; what stands behind them counts as not found."""
OVERALL = "overall"
FIRST = clock.parse("2000-01-01")
OURS = ("CLAUDE_", "ADEMEM_PROJECT", "ADEMEM_DISABLE")
RANK_CONSTANT = 60
"""Constant of reciprocal rank fusion (Cormack, Clarke and Buettcher 2009)."""


def any_hit(ranked: Sequence[str], relevant: Collection[str], k: int) -> float:
    return float(any(id in relevant for id in ranked[:k]))


def recall_all(ranked: Sequence[str], relevant: Collection[str], k: int) -> float:
    return float(set(relevant) <= set(ranked[:k]))


def recall(ranked: Sequence[str], relevant: Collection[str], k: int) -> float:
    return len(set(relevant) & set(ranked[:k])) / len(relevant)


def reciprocal_rank(ranked: Sequence[str], relevant: Collection[str], k: int = DEPTH) -> float:
    ranks = (rank for rank, id in enumerate(ranked[:k], 1) if id in relevant)
    return 1 / next(ranks, math.inf)


def ndcg(ranked: Sequence[str], relevant: Collection[str], k: int) -> float:
    """Return the gain of 1 / log2(rank + 1) for each relevant id, over that of the best order."""
    gained = sum(1 / math.log2(at + 2) for at, id in enumerate(ranked[:k]) if id in relevant)
    return gained / sum(1 / math.log2(at + 2) for at in range(min(k, len(relevant))))


METRICS: dict[str, tuple[Callable[[Sequence[str], Collection[str], int], float], int]] = {
    **{f"any@{k}": (any_hit, k) for k in (5, 10)},
    **{f"all@{k}": (recall_all, k) for k in (5, 10)},
    **{f"R@{k}": (recall, k) for k in (1, 5, 10, 20)},
    "MRR": (reciprocal_rank, DEPTH),
    "nDCG@10": (ndcg, 10),
}


def scores(ranked: Sequence[str], relevant: Collection[str]) -> dict[str, float]:
    return {name: metric(ranked, relevant, k) for name, (metric, k) in METRICS.items()}


class Row(Value):
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
    merged: int
    model: str | None
    mode: str
    """hybrid or lexical: how `ademem` answered."""
    settings: dict[str, Any]
    rows: tuple[Row, ...]
    """Overall first, then by category."""


def run(
    dataset: Dataset,
    environment: Mapping[str, str],
    on_progress: Callable[[int, int], None] | None = None,
) -> Run:
    """Import each haystack into a separate project and ask.

    Questions without an answer count only in their own category. *on_progress* gets the number of
    stores that are done, and of all.
    """
    rankings: list[tuple[str, str, dict[str, float]]] = []
    counts: Counter[str] = Counter()
    modes: set[str] = set()
    settings = load_configuration(None, environment).settings.embed
    embedder = embedding.load_pair(settings, environment)
    systems = [name for name in BASELINES if embedder or name not in NEED_A_MODEL]
    for number, haystack in enumerate(dataset.haystacks, 1):
        with open_arena(haystack, environment, embedder) as arena:
            for question in haystack.questions:
                relevant = arena.ids(question.relevant)
                for name in systems:
                    ranked = BASELINES[name](arena, question.query)
                    rankings.append((name, question.category, scores(ranked, relevant)))
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
        settings=as_dict(DEFAULTS),
        rows=tuple(average(rankings)),
    )


def average(rankings: Sequence[tuple[str, str, dict[str, float]]]) -> Iterator[Row]:
    found: defaultdict[tuple[str, str], list[dict[str, float]]] = defaultdict(list)
    for system, category, row in rankings:
        found[category, system].append(row)
        if category not in APART:
            found[OVERALL, system].append(row)
    categories = sorted({category for _, category, _ in rankings})
    for category in (OVERALL, *(categories if len(categories) > 1 else ())):
        for system in BASELINES:
            if rows := found[category, system]:
                means = {name: sum(row[name] for row in rows) / len(rows) for name in METRICS}
                yield Row(system=system, category=category, questions=len(rows), scores=means)


class Corpus:
    """A haystack that was imported, or a project."""

    imported: records.Imported
    made: dict[str, str]
    """Memories that the items became; for one that the gate refused an id that nothing has."""

    def __init__(self, memories: Runtime, embedder: embedding.Embedder | None) -> None:
        self.memories, self.store = memories, memories.store
        self._embedder = embedder
        self.modes: set[str] = set()

    def ids(self, items: tuple[str, ...]) -> frozenset[str]:
        return frozenset(self.made[item] for item in items)

    def search(self, query: str) -> list[str]:
        results = searching.search(self.memories, query, limit=DEPTH)
        self.modes.add(results.mode)
        return [hit.memory.id for hit in results.hits]

    def rank_words(self, query: str) -> list[str]:
        words = re.findall(r"\w+", query)
        return memory_queries.match_any_word(self.store, words, DEPTH) if words else []

    def rank_cosines(self, query: str) -> list[str]:
        if self._embedder is None:
            return []
        cosines = vectors.Cosines(self._embedder.embed([readable(query)])[0], self._vectors)
        found = list_by_number(self.store, cosines.nearest(DEPTH))
        return [memory.id for memory in found]

    def fuse(self, query: str) -> list[str]:
        fusion: defaultdict[str, float] = defaultdict(float)
        for ranking in (self.rank_words(query), self.rank_cosines(query)):
            for rank, id in enumerate(ranking, 1):
                fusion[id] += 1 / (RANK_CONSTANT + rank)
        return sorted(fusion, key=lambda id: -fusion[id])[:DEPTH]

    @cached_property
    def _vectors(self) -> vectors.Vectors:
        """The vectors that the product made, without whitening."""
        assert self._embedder is not None
        return vectors.read_vectors(self.store, self._embedder.model_id, embedding.DIMENSIONS)


BASELINES = {
    "ademem": Corpus.search,
    "RRF": Corpus.fuse,
    "dense only": Corpus.rank_cosines,
    "BM25 only": Corpus.rank_words,
}
NEED_A_MODEL = ("RRF", "dense only")


@contextmanager
def open_arena(
    haystack: Haystack,
    environment: Mapping[str, str],
    embedder: embedding.Embedder | None = None,
) -> Iterator[Corpus]:
    dates = (clock.parse(item.date) for item in haystack.items if item.date)
    moment = max([FIRST, *dates]) + timedelta(days=1)  # questions come after the last item
    own = {name: text for name, text in environment.items() if not name.startswith(OURS)}
    with tempfile.TemporaryDirectory(prefix="ademem-eval-") as root:
        own["ADEMEM_DATA_DIR"] = os.path.join(root, "data")
        operations.init(root, environment=own)
        own["ADEMEM_JOBS_AUTO"] = "false"
        with operations.open_memories(root, environment=own, now=lambda: moment) as memories:
            lines = {item.id: orjson.dumps(_row_of(item)).decode() for item in haystack.items}
            arena = Corpus(memories, embedder)
            arena.imported = files.import_lines(memories, lines.values())
            upkeep.work(memories)
            arena.made = {
                id: records.memory_of(line, memories.store) or f"refused {id}"
                for id, line in lines.items()
            }
            yield arena


def _row_of(item: Item) -> dict[str, str | None]:
    return {
        "content": item.text,
        "id": item.id,
        "speaker": item.speaker or None,
        "source_session_id": item.session or None,
        "created_at": item.date or None,
        "status": "promoted",
    }


class Prompt(Value):
    text: str
    kind: str
    relevant: frozenset[str] = frozenset()
    """Ids of the memories, here or at their source, that are right to show; often none."""


class Kind(Value):
    """Shares are of 1."""

    kind: str
    prompts: int
    shown: float
    """Share of the prompts for which anything is shown."""
    right: float | None
    """Share of the prompts with relevant memories for which one of them is shown."""
    memories: float


class Report(Value):
    mode: str
    kinds: tuple[Kind, ...]
    right: float | None


def read_prompts(data: bytes) -> list[Prompt]:
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
            f"these are not prompts: {error!r}", 'lines of {"prompt", "kind", "relevant"}'
        ) from error


def measure_prompts(prompts: Sequence[Prompt], runtime: Runtime) -> Report:
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


APART = ("adversarial", "abstention")
"""Categories of questions that have no answer: reported, and left out of the whole."""

LOCOMO = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}


class Item(Value):
    id: str
    text: str
    speaker: str = ""
    session: str = ""
    date: str = ""
    """ISO 8601; empty when unknown."""


class Question(Value):
    query: str
    relevant: tuple[str, ...]
    """Ids of the items that answer it, at least one."""
    category: str = ""


class Haystack(Value):
    name: str
    items: tuple[Item, ...]
    questions: tuple[Question, ...]


class Dataset(Value):
    sha256: str
    format: str
    haystacks: tuple[Haystack, ...]


def read(data: bytes, format: str | None = None) -> Dataset:
    if not format and data.lstrip()[:1] == b"{":  # plain lines begin with an object
        format = "jsonl"
    elif not format:
        format = "longmemeval" if b'"haystack_sessions"' in data else "locomo"
    if format not in FORMATS:
        raise UsageError(f"no format {format!r}", ", ".join(FORMATS))
    try:
        haystacks = tuple(FORMATS[format](data))
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise UsageError(
            f"this is not a {format} file: {error!r}", "name its format with --format"
        ) from error
    return Dataset(sha256=bytes_hex(data), format=format, haystacks=haystacks)


def plain(data: bytes) -> Iterator[Haystack]:
    """One store a line."""
    for line in data.splitlines():
        if line.strip():
            store = orjson.loads(line)
            items = tuple(
                Item(
                    id=str(memory["id"]),
                    text=_with_caption(memory["text"], memory.get("caption")),
                    **{name: memory.get(name) or "" for name in ("speaker", "session", "date")},
                )
                for memory in store["memories"]
            )
            asked = (
                (query["query"], query["relevant"], query.get("category") or "")
                for query in store["queries"]
            )
            yield _haystack(str(store["store"]), items, asked)


def locomo(data: bytes) -> Iterator[Haystack]:
    """Each turn of a conversation is an item, each evidence of a question names one."""
    for sample in orjson.loads(data):
        items = tuple(_turns(sample["conversation"]))
        asked = (
            (qa["question"], _evidence(qa.get("evidence") or ()), LOCOMO[qa["category"]])
            for qa in sample["qa"]
        )
        yield _haystack(sample["sample_id"], items, asked)


def longmemeval(data: bytes) -> Iterator[Haystack]:
    """Each question has its own sessions; relevant are the turns marked as its answer."""
    for entry in orjson.loads(data):
        items: list[Item] = []
        answers: list[str] = []
        columns = (entry[f"haystack_{name}"] for name in ("session_ids", "dates", "sessions"))
        for name, date, turns in zip(*columns, strict=True):
            year, month, day, hour, minute = map(int, re.findall(r"\d+", date))
            at = datetime(year, month, day, hour, minute).isoformat()
            for number, turn in enumerate(turns, 1):
                id, text = f"{len(items)}:{name}:{number}", turn["content"]
                items.append(Item(id=id, text=text, speaker=turn["role"], session=name, date=at))
                if turn.get("has_answer"):
                    answers.append(id)
        wanted = set(entry["answer_session_ids"])
        answers = answers or [item.id for item in items if item.session in wanted]
        is_open = entry["question_id"].endswith("_abs")
        category = "abstention" if is_open else entry["question_type"]
        asked = ((entry["question"], answers, category),)
        yield _haystack(entry["question_id"], tuple(items), asked)


def _haystack(name: str, items: tuple[Item, ...], asked: Any) -> Haystack:
    """Leave out evidence that nothing has, and questions with none left."""
    ids = {item.id for item in items}
    questions = []
    for query, evidence, category in asked:
        relevant = tuple(dict.fromkeys(id for id in evidence if id in ids))
        if relevant:
            questions.append(Question(query=query, relevant=relevant, category=category))
    return Haystack(name=name, items=items, questions=tuple(questions))


def _evidence(given: Any) -> list[str]:
    """Several ids may stand in one text, some as `D30:05`."""
    return [
        f"D{int(session)}:{int(turn)}"
        for text in given
        for session, turn in re.findall(r"D(\d+):(\d+)", text)
    ]


def _turns(conversation: dict[str, Any]) -> Iterator[Item]:
    number = 1
    while turns := conversation.get(f"session_{number}"):
        spoken = conversation[f"session_{number}_date_time"]
        date = datetime.strptime(spoken, "%I:%M %p on %d %B, %Y").isoformat()
        for turn in turns:
            id, text = turn["dia_id"], _with_caption(turn["text"], turn.get("blip_caption"))
            yield Item(id=id, text=text, speaker=turn["speaker"], session=f"D{number}", date=date)
        number += 1


def _with_caption(text: str, caption: str | None) -> str:
    return f"{text} [photo: {caption}]" if caption else text


FORMATS = {"locomo": locomo, "longmemeval": longmemeval, "jsonl": plain}
