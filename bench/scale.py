"""Costs of a search and of a write at sizes up to 100,000 memories.

    python bench/scale.py [--sizes 2000,20000,100000] [--questions N] [--folder DIR]

`bench/stores.py` makes the stores: rows by SQL, vectors drawn, since so many texts take long to
embed. A search runs as `ademem search` in a process that has the model loaded: the real model
embeds the question, a drawn vector near a memory takes the place of the result, and the rest is the
product's. All times are ratios to yardsticks of the same run, taken in turn with what they
measure: `embed`, the real model on the question, and `pass`, one product of numpy with the float32
matrix; a write is compared, in processor time, with one in a small store. `bench/processes.py` adds
what whole processes cost, in stores of their own, as far as a project may have so many memories.
With --folder the stores stay for the next run.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as the program sets it

import numpy as np
import processes
import stores

from ademem.capture import gate
from ademem.core import clock, project
from ademem.core.memory import Draft, Origin, Trust
from ademem.core.settings import GateSettings, Settings
from ademem.search import dense, embedding
from ademem.search.engine import Filters, search
from ademem.store import memories
from ademem.store.memories import Change
from ademem.store.opening import open_store

if TYPE_CHECKING:
    from collections.abc import Callable

    from stores import Question

    from ademem.search.embedding import Embedder
    from ademem.store import Store

SIZES = "2000,20000,100000"
WRITES = 1000
"""Memories written through the gate: the word index merges at once what hundreds left behind."""
SMALL = 2000
"""Memories of the store that a write is compared with."""
TEXTS = 100
PROCESSES = 20_000
"""Memories up to which whole processes are tried: ten times what a project may have."""
RUNS = 40
TOP = 10
ROUNDS = 3
"""How often each question is asked; the quickest counts, as others may use the machine too."""


class Drawn:
    """The real model does its work; what it says is replaced by the question's own vector."""

    model_id = stores.MODEL

    def __init__(self, real: Embedder) -> None:
        self.real = real
        self.question: Question | None = None

    def embed(self, texts: Any) -> Any:
        assert self.question is not None
        self.real.embed(texts)
        return np.array([self.question.vector])

    def has_word(self, word: str) -> bool:
        return self.real.has_word(word)


class Bench:
    def __init__(self, store: Store, real: Embedder, questions: int) -> None:
        self.store = store
        self.model = Drawn(real)
        self.questions = stores.questions(store, questions)

    def ask(self, question: Question) -> None:
        self.model.question = question
        search(question.text, self.store, Filters(), clock.now(), TOP, self.model)

    def meaning(self, question: Question) -> None:
        dense.Cosines(question.vector, self.vectors()).nearest(100)

    def lexical(self, question: Question) -> None:
        search(question.text, self.store, Filters(), clock.now(), TOP)

    def times(self) -> dict[str, list[float]]:
        """Seconds of every part, for every question, in turn; the quickest of some rounds."""
        matrix = self.vectors().matrix
        parts: dict[str, Callable[[Question], object]] = {
            "embed": lambda question: self.model.real.embed([question.text]),
            "pass": lambda question: matrix @ question.vector,
            "meaning": self.meaning,
            "lexical": self.lexical,
            "hybrid": self.ask,
        }
        for part in parts.values():
            part(self.questions[0])
        spent: dict[str, list[float]] = {name: [] for name in parts}
        for question in self.questions:
            rounds = [
                {name: timed(partial(part, question)) for name, part in parts.items()}
                for _ in range(ROUNDS)
            ]
            for name, all_times in spent.items():
                all_times.append(min(times[name] for times in rounds))
        return spent

    def vectors(self) -> dense.Vectors:
        return dense.load_vectors(self.store, stores.MODEL, stores.DIMENSIONS)


def timed(do: Callable[[], object]) -> float:
    started = time.perf_counter()
    do()
    return time.perf_counter() - started


def spread(values: list[float], yardstick: float) -> str:
    """Median and 95th percentile, in yardsticks."""
    return " ".join(f"{np.percentile(values, percent) / yardstick:.2f}" for percent in (50, 95))


def ratio(values: list[float], others: list[float]) -> str:
    """Of the medians and of the means."""
    of_medians = statistics.median(values) / statistics.median(others)
    return f"{of_medians:.2f} {statistics.mean(values) / statistics.mean(others):.2f}"


def worked(do: Callable[[], object]) -> float:
    """Seconds of the processor: others may use the disk, too."""
    started = time.process_time()
    do()
    return time.process_time() - started


def texts_per_second(store: Store, real: Embedder) -> float:
    rows = store.db.execute("select content from unified_memories limit ?", (TEXTS,)).fetchall()
    return len(rows) / timed(lambda: real.embed([row[0] for row in rows]))


def write(store: Store, small: Store, first: int) -> list[list[float]]:
    """Seconds of some memories through the gate, and the same in a small store, in turn.

    Now one comes first and now the other, since who comes second finds the text taken apart. The
    texts are new: names of those that an earlier run wrote are never given again.
    """
    origin = Origin(trust=Trust.USER, source_type="user", session_id="bench")
    maker = stores.Maker(0, seed=time.time_ns())
    spent: list[list[float]] = [[], []]
    for number in range(first, first + WRITES):
        draft = Draft(content=f"{maker.text()} {number}", origin=origin)
        both = list(zip(spent, (store, small), strict=True))
        for times, one in both if number % 2 else reversed(both):
            writing = partial(gate.write, draft, one, GateSettings(), clock.now())
            times.append(worked(writing))
    return spent


def delete_after(store: Store, last: int) -> None:
    change = Change(operation="delete", actor="user", at=clock.now())
    with store.transaction():
        for memory in memories.find(store, "seq > :last", last=last):
            memories.delete(store, memory, change)


def opened(folder: Path, name: str, size: int) -> Store:
    """A store of so many memories, made if it is not there, as a broken run may have left it."""
    root = folder / name
    (root / ".ade").mkdir(parents=True, exist_ok=True)
    store = open_store(project.at(str(root)), clock.now())
    if not store.db.execute("select 1 from unified_memories limit 1").fetchone():
        stores.fill(store, size)
    delete_after(store, size)
    return store


def in_store(size: int, folder: Path, real: Embedder, questions: int) -> dict[str, str]:
    with (
        closing(opened(folder, str(size), size)) as store,
        closing(opened(folder, "small", SMALL)) as small,
    ):
        dense.update_whitening(store, stores.MODEL, stores.DIMENSIONS)
        bench = Bench(store, real, questions)
        first = timed(bench.vectors)
        dense.forget()
        again = timed(bench.vectors)
        texts = texts_per_second(store, real)
        spent = bench.times()
        (last,) = store.db.execute("select max(seq) from unified_memories").fetchone()
        wrote, wrote_small = write(store, small, last)
        whole = os.path.getsize(project.at(str(folder / str(size))).database)
        delete_after(store, last)
        delete_after(small, SMALL)
        dense.forget()
    one, matrix = statistics.median(spent["embed"]), statistics.median(spent["pass"])
    return {
        "memories": f"{size:,}",
        "write, ms": spread(wrote, 1e-3),
        f"write / with {SMALL:,}": ratio(wrote, wrote_small),
        "embedded a second": f"{texts:.0f}",
        "embed, pass, ms": f"{one * 1e3:.2f} {matrix * 1e3:.2f}",
        **{
            f"{name} / pass": spread(spent[name], matrix)
            for name in ("meaning", "lexical", "hybrid")
        },
        "hybrid, ms": spread(spent["hybrid"], 1e-3),
        "hybrid / embed": spread(spent["hybrid"], one),
        "hybrid / (pass + embed)": spread(spent["hybrid"], matrix + one),
        "database, bytes a memory": f"{whole / size:.0f}",
        "vectors read first, again, ms": f"{first * 1e3:.1f} {again * 1e3:.1f}",
    }


def measured(size: int, folder: Path, real: Embedder, questions: int) -> dict[str, str]:
    print(f"{size:,} memories …", file=sys.stderr)
    found = in_store(size, folder, real, questions)
    cold, later = "-", "-"
    if size <= PROCESSES:
        slower, more_ms = processes.measured(folder, size, real.model_id, RUNS)
        cold, later = f"{slower:.2f}", f"{more_ms:.1f}"
    return found | {"cold recall / libraries": cold, "prompt: warm - words, ms": later}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default=SIZES)
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--folder", type=Path)
    given = parser.parse_args()
    real = embedding.load(Settings().embed, os.environ)
    if real is None:
        parser.exit(1, "no model is installed: `ademem model install`\n")
    if not Path(processes.program()).exists():
        parser.exit(1, f"there is no {processes.program()}: use the Python that has ademem\n")
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.folder or Path(temporary)
        columns = [
            measured(int(size), folder, real, given.questions) for size in given.sizes.split(",")
        ]
    for name in columns[0]:
        print(f"{name:30}" + "".join(f"{column[name]:>16}" for column in columns))


if __name__ == "__main__":
    main()
