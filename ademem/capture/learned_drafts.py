"""LEARNED and its relatives: from a command line to candidates."""

from __future__ import annotations

import os
import stat

from ademem.capture import learned, provenance, record
from ademem.core.memory import Draft, Origin
from ademem.core.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ademem.capture.gate import Written
    from ademem.core.client import Payload
    from ademem.store.runtime import Runtime

FILE_BYTES = 64_000
"""Largest file `bd comment --file` is followed into."""


class Lesson(Value):
    """One learned sentence, from whichever door it came."""

    content: str
    prefix: str
    bead: str | None = None
    key: str | None = None
    tags: tuple[str, ...] = ()


def capture(payload: Payload, runtime: Runtime) -> list[Written]:
    """Every lesson of the command, each once however often the hook runs."""
    origin = Origin(
        trust=provenance.trust_of(payload, runtime),
        source_type=learned.source_of(payload.cwd),
        session_id=payload.session_id,
        agent_id=payload.agent_type or None,
    )
    found = learned.entries(
        payload.command, read_file=lambda path: _small_file(path, payload, runtime)
    )
    written = []
    for at, entry in enumerate(found):
        lesson = Lesson(content=entry.content, prefix=entry.prefix, bead=entry.bead)
        outcome = record.once(
            draft_of(lesson, origin), f"{payload.tool_use_id or payload.session_id}:{at}", runtime
        )
        if outcome:
            written.append(outcome)
    return written


def draft_of(lesson: Lesson, origin: Origin) -> Draft:
    """The same draft for the same sentence, learned by `bd comment` or by `ademem learn`."""
    return Draft(
        content=lesson.content,
        category=learned.CATEGORY[lesson.prefix],
        tags=(*learned.tags_of(lesson.content, lesson.prefix), *lesson.tags),
        bead=lesson.bead,
        knowledge_key=lesson.key or learned.key_of(lesson.prefix, lesson.content),
        origin=origin,
    )


def _small_file(path: str, payload: Payload, runtime: Runtime) -> str | None:
    """The text of a small regular file inside the project; None for anything else."""
    real = os.path.realpath(os.path.join(payload.cwd or runtime.project.root, path))
    if not real.startswith(runtime.project.root + os.sep):
        return None
    try:
        status = os.stat(real)
        if not stat.S_ISREG(status.st_mode) or status.st_size > FILE_BYTES:
            return None
        with open(real, encoding="utf-8") as file:
            return file.read()
    except (OSError, UnicodeDecodeError):
        return None
