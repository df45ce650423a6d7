"""Copies of what a person stated here and another person changed: in force until they decide.

The join of records holds everywhere: files, folder and hub carry its result, and no store writes it
back. Where it changes a memory that was stated here, the copy is a row of its own that no file and
no other store gets. The shared row, which shows the join, is a labelled candidate meanwhile.
"""

from __future__ import annotations

from ademem.core.anchor import command
from ademem.core.clock import stamp, timedelta
from ademem.core.errors import AdememError
from ademem.core.json_text import flat
from ademem.core.memory import STOP, Memory, Scope, Status, Trust
from ademem.core.text import sha256_hex
from ademem.core.value import Value, replace
from ademem.store import Store, ledger, memories, stamps, transitions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime

    from ademem.core.registers import Record
    from ademem.store.memories import Change
    from ademem.store.transitions import Act

KEPT_DAYS = 30
"""Days for which a copy stays of what was deleted for good elsewhere."""


class NoKeptCopy(AdememError):
    hint = "`ademem review --changes` lists them"

    def __init__(self, id: str) -> None:
        super().__init__(f"nobody else changed {id!r} since you stated it")


def find(store: Store, id: str) -> Memory | None:
    """Return the copy of the memory, which may be gone itself."""
    return next(iter(_BY_ORIGINAL(store, id=id)), None)


def find_all(store: Store) -> list[Memory]:
    return _ALL(store)


def count(store: Store) -> int:
    query = "select count(*) from unified_memories where project_id = ? and kept_of is not null"
    return int(store.column(query, (store.project_id,))[0])


_BY_ORIGINAL = memories.Query("kept_of = :id", by_key=True)
_ALL = memories.Query("kept_of is not null", "order by created_at, seq", by_key=True)


class Changed(Value):
    """A change by another person to a memory that was stated here."""

    copy: Memory
    shared: Memory | None
    """The version that everybody else has; None if it was deleted for good."""
    author: str
    kind: str
    """One of KINDS."""

    @property
    def until(self) -> datetime | None:
        """When the copy ends, if its memory was deleted for good."""
        return None if self.shared else self.copy.updated_at + timedelta(days=KEPT_DAYS)


KINDS = ("text", "removed", "marks")
"""Another text, not live any more, or other pin, path, commands or stop tag."""


def list_changes(store: Store) -> list[Changed]:
    found = []
    for copy in find_all(store):
        row = memories.raw_row(store.db, str(copy.kept_of))
        shared = memories.from_values(row) if row else None
        author = shared.claimed_author if shared else ""
        kind = _kind_of(copy, shared)
        found.append(Changed(copy=copy, shared=shared, author=author or "", kind=kind))
    return found


def _kind_of(stated: Memory, shared: Memory | None) -> str:
    if shared is None or not shared.live:
        return "removed"
    texts = ((each.title or None, each.content) for each in (stated, shared))
    return "text" if len({*texts}) > 1 else "marks"


def _note_trusted(store: Store, before: Memory, after: Memory | None, change: Change) -> None:
    if change.vouched is None or not _is_stated_here(store, before):
        return
    if after and _statement(before) == _statement(after):
        return
    ledger.note_trusted(store, before.id, change.vouched, _kind_of(before, after))


def disputed_ids(store: Store) -> frozenset[str]:
    """Return the ids of the memories of which there are copies."""
    query = "select kept_of from unified_memories where project_id = ? and kept_of is not null"
    return frozenset(store.column(query, (store.project_id,)))


def as_recorded(memory: Memory, record: Record) -> Memory:
    """Return a disputed memory as its record has it for everybody: confirmed, or pinned."""
    status, pinned = Status(record.value("status") or memory.status), bool(record.value("pinned"))
    tier = transitions.tier_of(status, pinned=pinned)
    return replace(memory, status=status, pinned=pinned, tier=tier) if memory.live else memory


def protect(store: Store, before: Memory, after: Memory, change: Change) -> Memory:
    """Return the row to show in place of *after*; keep, use up or leave the copy of *before*.

    *change* names its author if it is another person's whom this one does not trust.
    """
    copy = find(store, before.id)
    if copy is None:
        return _protect_stated(store, before, after, change)
    if _statement(copy) == _statement(after):
        _remove(store, copy)
        return _as_stated(store, after, copy)
    if change.author is None and change.actor == Trust.USER and _decides(before, after):
        _remove(store, copy)
        return replace(after, **transitions.promoted(after, change.at))
    return _disputed(after, change.author or before.claimed_author or "")


def _protect_stated(store: Store, before: Memory, after: Memory, change: Change) -> Memory:
    """Return the row to show; keep a copy of what was stated here and another person changes."""
    if change.author is None or not _is_stated_here(store, before):
        _note_trusted(store, before, after, change)
        return after
    if _statement(before) == _statement(after):
        return after
    _insert(store, before, change)
    return _disputed(after, change.author)


def keep_deleted(store: Store, before: Memory, change: Change) -> None:
    """Keep what was stated here and is deleted for good elsewhere, for KEPT_DAYS."""
    if find(store, before.id):
        update = "update main.unified_memories set updated_at = ? where kept_of = ?"
        store.db.execute(update, (stamp(change.at), before.id))
    elif change.author is not None and _is_stated_here(store, before):
        _insert(store, before, change)
    else:
        _note_trusted(store, before, None, change)


def take(id: str, act: Act) -> Memory | None:
    """Confirm the other person's version; return it, or None if they deleted it for good."""
    copy = _get(act.store, id)
    with act.store.transaction():
        _remove(act.store, copy)
        row = memories.raw_row(act.store.db, str(copy.kept_of))
        if row is None:
            return None
        shared = memories.from_values(row)
        return transitions.promote(shared.id, act) if shared.live else shared


def keep_mine(id: str, act: Act) -> Memory:
    """Give the person's version to everybody, as a new write; under a new id after a deletion."""
    copy = _get(act.store, id)
    with act.store.transaction():
        _remove(act.store, copy)
        row = memories.raw_row(act.store.db, str(copy.kept_of))
        if row is None:
            digest = sha256_hex("kept", str(copy.kept_of), stamp(act.now))
            again = replace(copy, id=digest[:12], sync_id=digest[:32], kept_of=None)
            return memories.insert(act.store, again, act.change("insert"))
        return transitions.restate(memories.from_values(row), copy, act)


def _get(store: Store, id: str) -> Memory:
    """Return the copy with this id, or of the memory with it."""
    if copy := find(store, id):  # whose memory may be gone
        return copy
    found = memories.get(store, id)
    copy = found if found.kept_of else find(store, found.id)
    if copy is None:
        raise NoKeptCopy(id)
    return copy


def remove_ended(store: Store, now: datetime) -> int:
    """Remove, without a trace, copies whose memory is gone for KEPT_DAYS; return their number."""
    since = now - timedelta(days=KEPT_DAYS)
    with store.transaction() as db:
        ended = [
            copy
            for copy in find_all(store)
            if copy.updated_at < since and memories.raw_row(db, str(copy.kept_of)) is None
        ]
        for copy in ended:
            _remove(store, copy)
    if ended:
        transitions.scrub(store)
    return len(ended)


def _is_stated_here(store: Store, memory: Memory) -> bool:
    """Return True if its text or confirmation is an act of this person in this store."""
    is_own = memory.claimed_author is None and memory.scope is Scope.PROJECT
    return is_own and memory.live and memories.is_of_person(store, memory)


def _statement(memory: Memory) -> tuple[object, ...]:
    """Return what another's change may not take: text, life, path, commands, pin and stop tag."""
    commands = sorted(text for text in memory.anchors if command(text))
    shown = memory.content, memory.title or None, memory.file_scope_pattern or None
    return *shown, memory.live, memory.pinned, STOP in memory.tags, commands


def _decides(before: Memory, after: Memory) -> bool:
    """Return True for an act of the person that confirms or rewrites the shared row."""
    if not after.live:
        return False
    confirms = after.status is Status.PROMOTED and after.claimed_author is None
    return confirms or (before.title, before.content) != (after.title, after.content)


def _disputed(memory: Memory, author: str) -> Memory:
    trust = Trust.IMPORT if memory.trust is Trust.USER else memory.trust
    memory = replace(memory, trust=trust, claimed_author=author, pinned=False)
    if not memory.live:
        return memory
    return replace(memory, promoted_at=None, **transitions.initial(promoted=False))


def _as_stated(store: Store, memory: Memory, copy: Memory) -> Memory:
    names = ("status", "tier", "promoted_at", "pinned", "claimed_author")
    stated = replace(memory, **{name: getattr(copy, name) for name in names})
    is_confirmed = memory.id in memories.find_confirmed(store, [memory.id])
    return stated if is_confirmed else replace(stated, trust=copy.trust)


def _insert(store: Store, before: Memory, change: Change) -> None:
    digest = sha256_hex("kept", before.id)
    copy = replace(
        before,
        id=digest[:12],
        sync_id=digest[:32],
        kept_of=before.id,
        trust=Trust.USER,
        revision_count=1,
        updated_at=change.at,
    )
    shown = replace(change, operation="insert", actor="system", reason=change.author)
    memories.insert(store, copy, shown, flat({stamps.DERIVED: before.id}))


def _remove(store: Store, copy: Memory) -> None:
    store.db.execute("delete from memory_revisions where memory_id = ?", (copy.id,))
    store.db.execute("delete from main.unified_memories where id = ?", (copy.id,))
