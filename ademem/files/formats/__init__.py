"""Memories in and out of a store as JSON lines."""

from __future__ import annotations

from collections import Counter
from itertools import islice

from ademem.core.value import Value
from ademem.files.formats import own, plain
from ademem.files.formats.own import export_lines
from ademem.files.formats.record import BadLine, Import, Outcome, read
from ademem.store import imports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from datetime import datetime

    from ademem.core.memory import Status
    from ademem.core.settings import Settings
    from ademem.store import Store

__all__ = ["Imported", "export_lines", "import_lines", "memory_of"]

CHUNK = 1000
"""Lines of one transaction."""


class Imported(Value):
    inserted: int
    merged: int
    """Lines with the text of a memory, or imported before."""
    rejected: int
    """Lines refused by the gate, whose log has the reasons, or deleted here for good."""
    errors: tuple[tuple[int, str], ...]
    """Number and error of each line that could not be read."""


def import_lines(
    lines: Iterable[str],
    store: Store,
    settings: Settings,
    now: datetime,
    on_progress: Callable[[int], None] | None = None,
    *,
    status: Status | None = None,
    mission: str | None = None,
) -> Imported:
    """Import each line once; report a bad one and skip it.

    *status* is for the lines that have none, *mission* for those of a mission that do not name it.
    Chunks are committed one by one, and *on_progress* hears the number of lines read; what a broken
    import did not reach, the next one brings.
    """
    job = Import(store=store, settings=settings.gate, now=now, status=status, mission=mission)
    counts: Counter[Outcome] = Counter()
    errors: list[tuple[int, str]] = []
    numbered = enumerate(lines, 1)
    with imports.in_bulk(store):
        while chunk := list(islice(numbered, CHUNK)):
            with store.transaction():
                for number, line in chunk:
                    try:
                        if line.strip():
                            counts[_take(line, job)] += 1
                    except BadLine as error:
                        errors.append((number, str(error)))
            if on_progress:
                on_progress(chunk[-1][0])
    return Imported(
        inserted=counts[Outcome.INSERTED],
        merged=counts[Outcome.MERGED],
        rejected=counts[Outcome.REJECTED],
        errors=tuple(errors),
    )


def memory_of(line: str, store: Store) -> str | None:
    """Return the id of the memory that a plain line became or was merged into; None if refused."""
    return imports.credited(store, plain.SOURCE, plain.key_of(read(line)))


def _take(line: str, job: Import) -> Outcome:
    record = read(line)
    return own.restore(record, job) if own.is_own(record) else plain.write(record, job)
