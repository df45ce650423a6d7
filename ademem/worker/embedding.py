"""Embed memories, a batch at a time."""

from __future__ import annotations

import math
import sys
from contextlib import nullcontext
from functools import partial
from itertools import chain
from time import process_time

from ademem.core.clock import datetime, parse
from ademem.core.errors import AdememError
from ademem.search.embedding import (
    DIMENSIONS,
    embedded_text,
    embedded_texts,
    is_read_as_written,
    join_vectors,
    model_id,
    second_settings,
)
from ademem.search.embedding.language import is_english
from ademem.store import embeddings, jobs, maintenance, memory_queries, sessions
from ademem.store.embeddings import FAILURES, Vector
from ademem.worker.running import (
    Failure,
    JobContext,
    Model,
    attempt,
    is_spent,
    next_day,
    relate,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from ademem.core.memory import Memory
    from ademem.search.embedding import Embedder
    from ademem.store import Store

BATCH_IDLE = 50
BATCH_ACTIVE = 10
NORM_ERROR = 1e-3
SAMPLE = "a plain sentence that any working model can embed"


class ModelFails(AdememError):
    hint = "`ademem model status --verify` tells what is wrong with it"


def run(context: JobContext) -> datetime | None:
    model = context.model
    if model is None:
        return None
    store = context.store
    context.figures |= dict.fromkeys(("batches", "embedded", "failed", "batch", "largest"), 0)
    taken = _take_adopted(model, context)
    embedded = _embed_missing(model, context)
    from ademem.search import dense

    if not embeddings.counts(store, model.id).waiting:
        second = model_id(second_settings(context.runtime.settings.embed))  # even if not installed
        context.figures["dropped"] = embeddings.drop_others(store, [model.id, second])
        dense.update_whitening(store, model.id, DIMENSIONS)
    if taken or embedded:
        relate(context)
    if model.second and not is_spent(context) and _embed_missing(model.second, context):
        dense.update_whitening(store, model.second.id, DIMENSIONS)
    return _next_run(context, model)


def _take_adopted(model: Model, context: JobContext) -> int:
    """Take the vectors of ADE, which has the same model, of texts that are read here as there."""
    store, name = context.store, embeddings.ADE_MODEL.rpartition("/")[2]
    if not model.id.startswith(f"{name}/") or not embeddings.has_any(store, embeddings.ADE_MODEL):
        return 0
    plain = filter(is_read_as_written, embeddings.list_adopted(store))
    ids = [memory.id for memory in plain]
    return embeddings.take_adopted(store, model.id, ids, context.now())


def _next_run(context: JobContext, model: Model) -> datetime | None:
    """Return when to go on: on the next day with what the budget left, or to retry a failure."""
    store, now = context.store, context.now()
    ids = [each.id for each in (model, model.second) if each]
    if is_spent(context) and any(embeddings.counts(store, id).waiting for id in ids):
        return next_day(now)
    again = jobs.next_try(store, FAILURES, now)
    return parse(again) if again else None


def _embed_missing(model: Model, context: JobContext) -> bool:
    """Return whether a memory had no vector of the model."""
    batches = _batches(model.id, context)
    first = next(batches, None)
    if first is None:
        return False
    if (embedder := model.load()) is None:
        raise ModelFails(f"the model {model.id} is no longer installed")
    # Hooks are offered the first model, which loads the second one when a prompt needs it.
    offer = context.offer if model is context.model else None
    done = context.figures
    left = embeddings.counts(context.store, embedder.model_id).waiting if context.on_progress else 0
    unread = None if model is context.model else _UnreadRows(context.store)
    with offer(embedder) if offer else nullcontext():
        for batch in chain([first], batches):
            began = process_time()
            done["embedded"] += _embed(batch, embedder, context)
            if unread:
                unread.note(batch)
            maintenance.add_work_seconds(context.store, context.now(), process_time() - began)
            done["batches"] += 1
            done["batch"] = len(batch)
            done["largest"] = max(done["largest"], len(batch))
            if context.on_progress:
                left = max(left - len(batch), 0)
                context.on_progress(f"embedded {done['embedded']:,}, {left:,} to go")
            if is_spent(context):
                break
            if context.pause and len(batch) > 1:
                context.pause()
    return True


class _UnreadRows:
    """Rows that the first model does not read, read once a run and kept with each batch."""

    def __init__(self, store: Store) -> None:
        import numpy as np

        self._store = store
        self._kept = set(np.frombuffer(embeddings.unread_rows(store), "<i8").tolist())
        self._rows = memory_queries.existing_rows(store, self._kept)

    def note(self, batch: Sequence[Memory]) -> None:
        import numpy as np

        self._rows -= {memory.seq for memory in batch}
        self._rows |= {memory.seq for memory in batch if not is_english(embedded_text(memory))}
        if self._rows != self._kept:
            kept = np.array(sorted(self._rows), "<i8").tobytes()
            embeddings.save_unread_rows(self._store, kept)
            self._kept = set(self._rows)


def _batches(model: str, context: JobContext) -> Iterator[list[Memory]]:
    """Yield batches from the newest row to the oldest until none is left, then each failure."""
    below = sys.maxsize
    while True:
        limit = BATCH_ACTIVE if sessions.is_active(context.store, context.now()) else BATCH_IDLE
        # No more than are missing: else all rows are read for one that is not there.
        limit = min(limit, embeddings.counts(context.store, model).waiting)
        batch = embeddings.list_new(context.store, model, limit=limit, below=below)
        if batch:
            below = batch[-1].seq
            yield batch
        elif below < sys.maxsize:
            below = sys.maxsize
        else:
            break
    if jobs.exists(context.store, FAILURES):
        while batch := embeddings.list_retries(context.store, model, context.now(), limit=1):
            yield batch


def _embed(batch: list[Memory], embedder: Embedder, context: JobContext) -> int:
    """Return the number of stored vectors; a text that fails is tried alone later."""
    store, model = context.store, embedder.model_id
    with store.transaction():  # before the attempt, as a text may end the process
        for memory in batch:
            embeddings.count_failure(store, model, memory, jobs.ABANDONED, context.now())
    vectors, failed = [], 0
    for memory in batch:
        row = attempt(partial(_embed_texts, embedded_texts(memory), embedder))
        if isinstance(row, Failure):
            embeddings.name_failure(store, model, memory, row.error)
            failed += 1
        else:
            blob, norm = row.astype("<f4").tobytes(), math.sqrt(float(row @ row))
            vectors.append(Vector(memory=memory, blob=blob, dimensions=len(row), norm=norm))
    if failed:
        sample = attempt(partial(_embed_texts, [SAMPLE], embedder))
        if isinstance(sample, Failure):
            for memory in batch:
                embeddings.clear_failures(store, memory)
            raise ModelFails(f"the model {model} fails: {sample.error}")
    context.figures["failed"] += failed
    return embeddings.put(store, model, vectors, context.now())


def _embed_texts(texts: Sequence[str], embedder: Embedder) -> Any:
    """Return the mean of the texts' vectors at length 1; raises ValueError for no unit vectors."""
    rows = embedder.embed(texts)
    if rows.shape != (len(texts), DIMENSIONS):
        raise ValueError(f"{len(texts)} texts became {rows.shape} numbers")
    lengths = [math.sqrt(float(row @ row)) for row in rows]
    if not all(abs(length - 1) <= NORM_ERROR for length in lengths):  # NaN, too
        raise ValueError(f"its vector has the length {max(lengths)}")
    return join_vectors(rows)
