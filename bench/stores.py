"""Stores of any size, the same each time: words by Zipf's law, sessions, vectors in clusters.

Rows are inserted by SQL, past the gate, and vectors are drawn, not computed: what is measured is
what happens with them afterwards. Triggers and indexes are the product's own, and each row has the
revision that the gate would have left.
"""

from __future__ import annotations

import itertools
import random
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ademem.core.json_text import flat
from ademem.store.memories import BOOKKEEPING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from ademem.store import Store

MODEL = "drawn"
DIMENSIONS = 384
VOCABULARY = 200_000
ZIPF = 1.05
MEMORY_WORDS = (8, 30)
SESSION_SIZE = 20
CLUSTER_SIZE = 20
SPREAD = 0.7
"""How far they are from its middle: their cosine to it is about 0.8."""
CHUNK = 10_000
STAMP = "2026-01-31T12:00:00.000000Z"
NAMES = Path(__file__).with_name("words.txt").read_text(encoding="utf-8").split()


class Question(NamedTuple):
    text: str
    vector: NDArray[np.float32]


class Maker:
    def __init__(self, size: int, seed: int = 7) -> None:
        self.size = size
        self.rng = np.random.default_rng(seed)
        self.ids = random.Random(seed)
        chances = 1 / np.arange(1, VOCABULARY + 1) ** ZIPF
        self._upto = np.cumsum(chances / chances.sum())
        self._seed = seed

    def rows(self) -> Iterator[tuple[list[str], NDArray[np.float32]]]:
        for start in range(0, self.size, CHUNK):
            rows = min(CHUNK, self.size - start)
            yield [self.text() for _ in range(rows)], self.vectors(np.arange(start, start + rows))

    def text(self) -> str:
        drawn = self.rng.random(self.rng.integers(*MEMORY_WORDS))
        return " ".join(map(spelled, np.searchsorted(self._upto, drawn).tolist())) + "."

    def vectors(self, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        """Around the middle of each memory's cluster, which is the same whenever it is asked."""
        clusters = rows // CLUSTER_SIZE
        first = int(clusters[0])
        middles = np.stack(
            [
                np.random.default_rng((self._seed, cluster)).standard_normal(DIMENSIONS)
                for cluster in range(first, int(clusters[-1]) + 1)
            ]
        )
        noise = self.rng.standard_normal((len(rows), DIMENSIONS))
        return unit(unit(middles)[clusters - first] + SPREAD * unit(noise))


def spelled(rank: int) -> str:
    """The word of a rank: one of the list, or two of them joined, or three."""
    parts = []
    while True:
        rank, part = divmod(rank, len(NAMES))
        parts.append(NAMES[part])
        if not rank:
            return "".join(parts)


def unit(vectors: NDArray[Any]) -> NDArray[np.float32]:
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    rows: NDArray[np.float32] = (vectors / lengths).astype(np.float32)
    return rows


def fill(store: Store, size: int, model: str = MODEL) -> None:
    """Put so many promoted memories, with vectors as if of *model*, into an empty store."""
    maker = Maker(size)
    numbers = itertools.count()
    for texts, vectors in maker.rows():
        with store.transaction() as db:
            for text, vector in zip(texts, vectors, strict=True):
                number = next(numbers)
                id = f"{maker.ids.getrandbits(64):016x}"
                session = f"s{number // SESSION_SIZE}"
                row = (id, id * 2, store.project_id, text, session, f"{number:x}")
                db.execute(
                    "insert into unified_memories (id, sync_id, project_id, scope, category,"
                    " content, status, source_session_id, dedupe_key, created_at, updated_at,"
                    " last_accessed_at)"
                    " values (?, ?, ?, 'project', 'fact', ?, 'promoted', ?, ?, ?, ?, ?)",
                    (*row, STAMP, STAMP, STAMP),
                )
                db.execute(
                    "insert into unified_memory_embeddings values (?, ?, ?, ?, ?, ?, 1.0, ?, ?)",
                    (id, id, store.project_id, model, vector.tobytes(), DIMENSIONS, STAMP, STAMP),
                )

    add_first_revisions(store)


def add_first_revisions(store: Store) -> None:
    with store.transaction() as db:
        rows = db.execute(
            "select * from unified_memories as memory where not exists"
            " (select 1 from memory_revisions where memory_id = memory.id) order by id"
        )
        for row in rows:
            known = {name: row[name] for name in row.keys() if name not in BOOKKEEPING}  # noqa: SIM118
            db.execute(
                "insert into memory_revisions (memory_id, revision, event_id, operation, actor,"
                " reason, snapshot, created_at)"
                " values (?, 1, lower(hex(randomblob(8))), 'insert', 'import',"
                " 'from import: insert', ?, ?)",
                (row["id"], flat(known), STAMP),
            )


def questions(store: Store, count: int, seed: int = 11) -> list[Question]:
    """Some words of a memory, out of order, and a vector near its own."""
    rng = random.Random(seed)
    noise = np.random.default_rng(seed)
    (last,) = store.db.execute("select count(*) from unified_memory_embeddings").fetchone()
    asked = []
    for _ in range(count):
        text, blob = store.db.execute(
            "select content, embedding_blob from unified_memories as memory"
            " join unified_memory_embeddings on memory_id = memory.id where memory.seq = ?",
            (rng.randint(1, last),),
        ).fetchone()
        words = sorted(set(text.rstrip(".").split()))
        near = np.frombuffer(blob, "<f4") + SPREAD * unit(noise.standard_normal(DIMENSIONS))
        picked = rng.sample(words, min(len(words), rng.randint(4, 9)))
        asked.append(Question(text=" ".join(picked), vector=unit(near)))
    return asked
