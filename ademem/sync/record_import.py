"""Records that come from other copies of a store: the gate for them, and knowledge.jsonl."""

from __future__ import annotations

from ademem.capture.gate import Gate, form, judge
from ademem.capture.gate.rules import instruction_beside, instruction_shaped
from ademem.capture.gate.writing import StoreLookup
from ademem.core import record_json
from ademem.core.memory import Draft, Memory, Origin, Status, Trust
from ademem.core.redaction import redact
from ademem.core.registers import (
    LIFE,
    LIVE,
    REJECTED,
    REMOVED,
    Record,
    as_time,
    has_writes_of,
    join,
    time_of,
    values_of,
)
from ademem.core.text import preview
from ademem.core.value import replace
from ademem.files.snapshot import KnowledgeLine, MemoryLines, join_records
from ademem.files.texts import BadLine
from ademem.store import Store, memories, replication, stamps, transitions
from ademem.store.transitions import CannotDo
from ademem.sync.merging import has_stamps, restamp, write_over

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime
    from typing import Any

    from ademem.core.settings import GateSettings
    from ademem.store.replication import Admit
    from ademem.sync.differences import ImportContext
    from ademem.sync.provenance import Source

RULES = (form.length, instruction_shaped, instruction_beside)
"""Rules of the gate for text that was redacted and is as untrusted as any file."""

_TEXTS = (
    *("title", "content", "file_scope_pattern", "tags", "anchors", "topic_key", "knowledge_key"),
    *("bead", "agent_id"),
)
"""Fields that may hold an instruction."""

_CLAIMS = (*_TEXTS, "category", "status", "pinned")


def make_admission_rule(
    store: Store,
    settings: GateSettings,
    now: datetime,
    author: str | None,
    *,
    promotes: bool = True,
) -> Admit:
    """Return the rule that admits rows; *author* is the claimed one, None for trusted files.

    Unless it *promotes*, what is confirmed elsewhere is a candidate here. What rows say, confirm or
    pin is labelled with the author. An instruction is quarantined, also where another store
    confirmed it, unless a person approved the same text here.
    """
    gate = Gate(lookup=StoreLookup(store), settings=settings, now=now)

    def admit(row: Memory, before: Memory | None) -> Memory:
        if _differ(row, before, _TEXTS):
            row = replace(row, quarantine_reason=_review_text(row, gate))
        if _differ(row, before, _CLAIMS):
            row = replace(row, claimed_author=author)
        confirms = row.status == Status.PROMOTED and _differ(row, before, ("status",))
        if row.live and (row.quarantine_reason or (confirms and not promotes)):
            initial = transitions.initial(promoted=False)
            row = replace(row, pinned=False, promoted_at=None, **initial)
        return row

    return admit


def _differ(row: Memory, before: Memory | None, names: Iterable[str]) -> bool:
    return before is None or any(getattr(row, name) != getattr(before, name) for name in names)


def _review_text(row: Memory, gate: Gate) -> str | None:
    """Return the reason for which the row is quarantined; None where it has none."""
    same = ("content", "title", "anchors", "topic_key", "knowledge_key", "bead")
    draft = Draft(
        tags=(" ".join(row.tags),),  # a row has the words of a tag apart
        path=row.file_scope_pattern,
        origin=Origin(trust=Trust.IMPORT, agent_id=row.agent_id),
        **{name: getattr(row, name) for name in same},
    )
    reviewed = judge(draft, gate, RULES).verdict.draft
    is_cut = reviewed.content != row.content
    return "is longer than a memory may be" if is_cut else reviewed.quarantine_reason


def import_record(
    context: ImportContext, id: str, lines: MemoryLines, before: MemoryLines | None
) -> None:
    store, line = context.act.store, lines.last
    row = memories.raw_row(store.db, id)
    for each in lines.lines:
        _check(each, is_known=row is not None)
    current = stamps.record_of_row(row) if row else replication.read(store, id)
    found = _read_changes(lines, before, current, context)
    joined = _join_news(current, found)
    if found is None or joined is None:
        return
    source = context.provenance.of_record(line.path, line.found, id, lines.raw)
    # As a store that is not trusted shows it, in which nothing is what the row says.
    memory = None if store.is_trusted and not source.by_agent else context.find(id)
    if source.by_agent:
        if memory and current and _is_for_person(memory, current, joined, store):
            return _leave_to_person(context, memory, found, joined.life, source, line)
        found = _undecided(found, current)
    change = replace(context.act_of(source), made=None).change(_name_operation(current, joined))
    change = replace(change, actor=context.act.actor)
    admit = _make_admission(context, source)
    applied = replication.apply(store, found, change, admit, read_before=(row, current))
    earlier = applied.before if store.is_trusted else memory
    if kind := _kind_of_change(earlier, applied.memory):
        context.note(kind, id)


def _join_news(current: Record | None, found: Record | None) -> Record | None:
    """Return both records as one; None where *found* has no news or only captures a rejected one.

    Another machine may have captured again what was rejected here.
    """
    if current is None or found is None:
        return found
    if has_writes_of(current, found):
        return None
    joined = join(current, found)
    revives = (current.life, joined.life) == (REJECTED, LIVE)
    return None if revives and joined.value("status") != Status.PROMOTED else joined


def _leave_to_person(
    context: ImportContext,
    memory: Memory,
    found: Record,
    life: str,
    source: Source,
    line: KnowledgeLine,
) -> None:
    """Propose an agent's text beside the memory; of another change only report it."""
    if life == LIVE and memory.live and found.texts:
        texts: dict[str, Any] = {"content": found.text[0], "title": found.text[1]}
        ours = {"content": memory.content, "title": memory.title}
        changes = texts if texts != ours else {}
        return context.propose(memory, changes, source, line.position)
    verb = {LIVE: "restore", REMOVED: "delete --hard"}.get(life, "archive")
    return context.keep(memory, line.position, verb)


def _name_operation(current: Record | None, joined: Record) -> str:
    lives = current is None or current.life == LIVE, joined.life == LIVE
    return {(False, True): "restore", (True, False): "archive"}.get(lives, "import")


def _kind_of_change(before: Memory | None, now: Memory | None) -> str | None:
    """Return the kind as the report names it; None where nothing that lives has changed."""
    was_live, is_live = before is not None and before.live, now is not None and now.live
    if was_live and is_live:
        return "edited" if now != before else None
    if is_live:
        return "restored" if before else "added"
    return "archived" if was_live else None


def _undecided(found: Record, current: Record | None) -> Record:
    """Return a record of an agent, which may add a text and confirms nothing."""
    kept = {"status": Status.CANDIDATE.value, "pinned": False}
    kept |= values_of(current) if current else {}
    names = found.registers.keys() & {"status", "pinned"}
    undecided = {name: (found.registers[name][0], kept[name]) for name in names}
    return replace(found, registers={**found.registers, **undecided})


def _make_admission(context: ImportContext, source: Source) -> Admit:
    admit_text = make_admission_rule(
        context.act.store, context.settings, context.act.now, source.author
    )

    def admit(row: Memory, before: Memory | None) -> Memory:
        row = admit_text(row, before)
        if before is None:
            row = replace(row, source_branch=context.waits_on(row.id, row.knowledge_key))
        elif row.quarantine_reason and not before.quarantine_reason:
            message = f"{row.id} comes with a text that {row.quarantine_reason}; it stays as it was"
            raise CannotDo(message, "`ademem edit` takes the text")
        if source.by_agent and row.trust is Trust.IMPORT:
            row = replace(row, trust=source.trust)
        return row

    return admit


def _is_for_person(memory: Memory, current: Record, joined: Record, store: Store) -> bool:
    """Return True for a change that no agent may make: see `store.transitions.OfPerson`."""
    if joined.life == REMOVED:
        return True
    theirs, ours = values_of(joined), values_of(current)
    if not memory.live and joined.life == LIVE:
        if memories.is_removed_by_person(store, memory):
            return True
        ours |= {LIFE: LIVE}  # it aged, and may come back as it was
    return theirs != ours and memories.is_of_person(store, memory)


def _check(line: KnowledgeLine, *, is_known: bool) -> None:
    """Raise BadLine for what no memory has; a known id was searched for secrets when it came."""
    found = line.found
    if record_json.is_newer(found):
        raise BadLine("was written by a newer ademem: update this one")
    is_id = record_json.is_id(found.get("id"))
    if not is_id or (not is_known and redact(str(found["id"])).found):
        raise BadLine("has no id of at most 64 letters, digits, - and _")
    if found["content"]:
        _check_values(found)
    if not as_time(found.get("updated_at")):
        raise BadLine("has an updated_at that is not an ISO 8601 time")


def _check_values(found: dict[str, Any]) -> None:
    missing = [name for name in ("key", "category", "updated_at") if not found.get(name)]
    if missing:
        raise BadLine(f"has no {', '.join(missing)}")
    if found.get("status") == Status.ARCHIVED:
        return
    for name in ("category", "status", "importance", "confidence", "pinned"):
        value = found.get(name)
        if value is not None and not record_json.is_valid(name, value):
            raise BadLine(f"has a {name} that it cannot have: {preview(repr(value), 40)}")


def _read_changes(
    lines: MemoryLines,
    lines_before: MemoryLines | None,
    current: Record | None,
    context: ImportContext,
) -> Record | None:
    """Return what the lines bring, with stamps for what was changed without; None for nothing."""
    after = lines.record
    if current is None or after is None:  # a tombstone stays in the files until there is a text
        return after if after and after.texts else None
    if has_stamps(after) and not has_writes_of(current, after):
        return after
    if opposite := _find_opposite(lines, lines_before, current):
        return _set_back(current, opposite, context)
    return _read_since_base(lines_before, after, current, context) if lines_before else after


def _find_opposite(
    lines: MemoryLines, lines_before: MemoryLines | None, current: Record
) -> Record | None:
    """Return of a union what contradicts the memory's life, where life and text are no news."""
    is_live = current.life == LIVE
    opposite = join_records(one for one in lines.records if (one.life == LIVE) is not is_live)
    if opposite is None or not has_writes_of(current, opposite):
        return None
    before = lines_before.record if lines_before else None
    was_live = before is not None and before.life == LIVE
    return opposite if was_live is is_live else None


def _set_back(current: Record, opposite: Record, context: ImportContext) -> Record | None:
    """Return the memory as git set it back; None where git did not."""
    if current.life == LIVE:
        is_set_back, target = context.history.is_reverted(current.id), replace(opposite, texts={})
    else:
        is_set_back, target = context.history.has_returned(current.id), opposite
    return write_over(current, target, context.tick(current, target)) if is_set_back else None


def _read_since_base(
    lines_before: MemoryLines, after: Record, current: Record, context: ImportContext
) -> Record | None:
    """Return what a line without new stamps changed since the merge base."""
    if (before := lines_before.record) is None:
        return after
    if not has_writes_of(before, after):
        _note_lost_stamps(before, after, context)
        return restamp(before, after)
    if context.history.has_left(lines_before.raw):  # it was set back
        return write_over(before, after, context.tick(current, after))
    return None


def _note_lost_stamps(before: Record, after: Record, context: ImportContext) -> None:
    is_later = time_of(after.last_stamp) >= time_of(before.last_stamp)
    if has_stamps(before) and is_later and not has_stamps(after):
        context.note("unstamped", after.id)  # an older ademem wrote it anew


def import_plain_line(context: ImportContext, line: KnowledgeLine) -> None:
    from ademem.files import records  # lines of ours do not need it

    found, path = line.found, line.path
    context.require_length(found["content"], records.text(found, "title"))
    source = context.provenance.of_record(path, found, None, [line.raw])
    if source.by_agent:
        found = found | {"status": Status.CANDIDATE}
    job = records.Import(
        store=context.act.store,
        settings=context.settings,
        now=context.act.now,
        event_id=context.act.event_id,
        branch=context.waits_on(None, str(found.get("key"))),
        trust=source.trust if source.by_agent else Trust.IMPORT,
        claimed_author=source.author,
        cuts=[],
    )
    if records.import_plain(found, job) is records.Outcome.REJECTED:
        raise CannotDo("not kept; `ademem log --refused` shows the reason")
