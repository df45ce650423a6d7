"""What became of memories since somebody was here last."""

from __future__ import annotations

from ademem.core.text import opening
from ademem.session.briefing.reader import line, told
from ademem.store import revisions, sessions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ademem.session.briefing.reader import Reader
    from ademem.session.briefing.selection import Entry

LOOKED_AT = 200
"""Newest changes that are looked through; when there are as many, "at least" is said."""
CHARS = 160
"""Of what is no longer valid; what says something else now is told like any other."""


def since_last_session(reader: Reader) -> list[Entry]:
    """How much changed, then what says something else now, then what went."""
    moment = sessions.last_seen(reader.store, reader.now, but=reader.session)
    if moment is None:
        return []
    turned = revisions.since(reader.store, moment, LOOKED_AT)
    known = [
        (memory, is_new)
        for memory, is_new in turned
        if memory.scope == "project"
        and not memory.quarantine_reason
        and not memory.hidden
        and memory.source_branch in (None, reader.branch)
    ]
    fresh = [memory for memory, is_new in known if memory.live and is_new]
    other = [memory for memory, is_new in known if memory.live and not is_new]
    gone = [memory for memory, is_new in known if not memory.live and not is_new]
    shown = [memory for memory in gone if not memory.deleted_at]
    counts = ((fresh, "new"), (other, "changed"), (gone, "no longer valid"))
    said = ", ".join(f"{len(found)} {what}" for found, what in counts if found)
    if not said:
        return []
    least = "at least " if len(turned) == LOOKED_AT else ""
    return [
        line(f"{least}{said} since {moment[:16].replace('T', ' ')} UTC"),
        *(told(memory) for memory in other[: reader.level]),
        *(line(f"- no longer valid: {opening(m.content, CHARS)}") for m in shown[: reader.level]),
    ]
