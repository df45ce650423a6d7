"""Evidence for memories that no person confirmed, which decides how far each of them is trusted.

Rows stay on this machine: no file, export or exchange has them. A row that is added again is there
once, and all rows of a memory go with it.
"""

from __future__ import annotations

from ademem.core.clock import stamp
from ademem.core.json_text import array
from ademem.core.memory import Stage, Status, stage_of
from ademem.core.redaction import redact
from ademem.core.text import clean, in_one_line, is_cjk, truncate, words
from ademem.core.value import StrEnum, Value, as_dict

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from ademem.store import Store

MAX_QUOTE_CHARS = 300
WRITTEN_OUTSIDE = "an unknown process wrote it down"
"""What is known of a text that was written in no session of a client."""
_STEM_CHARS = 4
"""Letters by which two forms of a word are the same one; shorter words are no evidence."""


class EvidenceKind(StrEnum):
    SAID = "said"
    """A person typed it."""
    CLAUDE_ADD = "claude_add"
    CLIENT_FILE = "client_file"
    READER = "reader"
    ERROR_MET = "error_met"
    COMMIT = "commit"


_IN_WORDS: dict[str, str] = {
    EvidenceKind.SAID: "you said it",
    EvidenceKind.CLAUDE_ADD: "Claude wrote it down",
    EvidenceKind.CLIENT_FILE: "Claude keeps it in its own memory",
    EvidenceKind.READER: "it was read in the session",
    EvidenceKind.ERROR_MET: "the same error was met",
    EvidenceKind.COMMIT: "a commit says it",
}


class Evidence(Value):
    memory_id: str
    kind: str
    session_id: str = ""
    prompt_id: str = ""
    message: str = ""
    """The message, file, error or commit that has the words."""
    quote: str = ""
    tainted: bool = False
    """True if the turn in which it was written had read an outside source."""
    at: str = ""

    @property
    def what(self) -> str:
        if self.kind == EvidenceKind.CLAUDE_ADD and not self.session_id:
            return WRITTEN_OUTSIDE
        return _IN_WORDS.get(self.kind, self.kind)

    @property
    def line(self) -> str:
        label = " (after reading an outside source)" if self.tainted else ""
        where = f" in {self.message}" if self.kind == EvidenceKind.CLIENT_FILE else ""
        quote = f": “{self.quote}”" if self.quote else ""
        return f"{self.what} on {self.at[:10]}{where}{label}{quote}"

    @property
    def row(self) -> dict[str, str | bool]:
        names = ("kind", "at", "quote", "session_id", "prompt_id", "message", "tainted")
        return {name: getattr(self, name) for name in names}


def is_supported(found: Sequence[Evidence]) -> bool:
    """Tell whether two of the rows are independent of each other."""
    return any(
        _are_independent(one, other) for at, one in enumerate(found) for other in found[at + 1 :]
    )


def _are_independent(one: Evidence, other: Evidence) -> bool:
    if one.kind == other.kind:
        sessions = {one.session_id, other.session_id} - {""}
        return len(sessions) == 2 and one.kind in (EvidenceKind.SAID, EvidenceKind.ERROR_MET)
    if EvidenceKind.SAID not in (one.kind, other.kind):
        return False
    return not (one.tainted or other.tainted) and share_word(one.quote, other.quote)


def share_word(one: str, other: str) -> bool:
    """Tell whether two texts have a word in common, in any of its forms."""
    return not _stems(one).isdisjoint(_stems(other))


def _stems(text: str) -> set[str]:
    found = words(text)
    long = {word[:_STEM_CHARS] for word in found if len(word) >= _STEM_CHARS or is_cjk(word)}
    return long or set(found)


def add(
    store: Store,
    memory_id: str,
    kind: str,
    now: datetime,
    *,
    quote: str,
    session_id: str = "",
    prompt_id: str = "",
    message: str = "",
    tainted: bool = False,
) -> bool:
    """Add a row and bring the stage of its memory in step; False if it was there."""
    row = Evidence(
        memory_id=memory_id,
        kind=EvidenceKind(kind),
        session_id=redact(session_id).text,
        prompt_id=redact(prompt_id).text,
        message=in_one_line(clean(redact(message).text)),
        quote=truncate(in_one_line(clean(redact(quote).text)), MAX_QUOTE_CHARS),
        tainted=tainted,
        at=stamp(now),
    )
    with store.transaction() as db:
        cursor = db.execute(
            "insert or ignore into evidence"
            " (memory_id, kind, session_id, prompt_id, message, quote, tainted, at) values"
            " (:memory_id, :kind, :session_id, :prompt_id, :message, :quote, :tainted, :at)",
            as_dict(row) | {"tainted": int(tainted)},
        )
        update_stage(store, memory_id)
    return cursor.rowcount > 0


def move(store: Store, source_id: str, target_id: str) -> None:
    """Let the rows of one memory speak for another one of the same store."""
    with store.transaction() as db:
        query = "update or ignore evidence set memory_id = ? where memory_id = ?"
        db.execute(query, (target_id, source_id))
        update_stage(store, target_id)


def update_stage(store: Store, memory_id: str) -> None:
    """Raise the stage of a memory that no person confirmed to what its evidence says."""
    found = list_of(store, memory_id)
    query = "select status, stage from main.unified_memories where id = ?"
    for status, before in store.tuples(query, (memory_id,)):
        stage = Stage(before)
        if is_supported(found):
            stage = Stage.SUPPORTED
        elif stage is Stage.HEARD and any(row.kind != EvidenceKind.SAID for row in found):
            stage = Stage.CANDIDATE
        if Status(status) is Status.CANDIDATE and stage_of(Status(status), stage) != before:
            update = "update main.unified_memories set stage = ? where id = ?"
            store.db.execute(update, (stage, memory_id))


def restart(store: Store, memory_id: str) -> None:
    """Drop what spoke for a text that has changed, as it does not speak for the new one."""
    with store.transaction() as db:
        db.execute("delete from evidence where memory_id = ?", (memory_id,))
        db.execute(
            "update main.unified_memories set stage = ? where id = ? and status = 'candidate'",
            (Stage.CANDIDATE, memory_id),
        )


def ids_of_turn(store: Store, kind: str, session_id: str, prompt_id: str) -> list[str]:
    """Return the ids of memories for which a turn brought evidence of this kind."""
    query = (
        "select distinct memory_id from evidence"
        " where kind = ? and session_id = ? and prompt_id = ? order by id"
    )
    return store.column(query, (kind, session_id, prompt_id))


def list_of(store: Store, memory_id: str) -> list[Evidence]:
    """Return the evidence for a memory, the earliest first."""
    return list_by_memory(store, [memory_id]).get(memory_id, [])


def list_by_memory(store: Store, ids: Iterable[str]) -> dict[str, list[Evidence]]:
    rows = store.db.execute(
        f"select {', '.join(Evidence._fields)} from evidence"
        " where memory_id in (select value from json_each(?)) order by at, id",
        (array(ids),),
    )
    found: dict[str, list[Evidence]] = {}
    for row in rows:
        values = dict(row) | {"tainted": bool(row["tainted"])}
        found.setdefault(row["memory_id"], []).append(Evidence(**values))
    return found
