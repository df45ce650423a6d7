"""Compare the files with the merge base, and import additions, edits, removals and decisions."""

from __future__ import annotations

from ademem.core import regex, registers
from ademem.core.caching import cache, cached_property
from ademem.core.clock import datetime, parse
from ademem.core.errors import suppress
from ademem.core.memory import STATED, Category, Draft, Memory, Origin, Status, Trust
from ademem.core.registers import Record, as_time, candidate_id
from ademem.core.text import sha256_hex
from ademem.core.value import Value, replace
from ademem.files import SHEET
from ademem.files.snapshot import KnowledgeLine, PlacedItem, Snapshot, Values, values_of
from ademem.files.texts import Problem
from ademem.guard.injection import instruction_in, instruction_in_titled
from ademem.store import judged_texts, ledger, memories, memory_queries, stamps, transitions
from ademem.store.memories import new_event
from ademem.store.transitions import Act, CannotDo

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator, Mapping
    from typing import Any

    from ademem.core.settings import GateSettings
    from ademem.files.markdown import ListItem
    from ademem.files.snapshot import MemoryLines
    from ademem.sync.branches import Place
    from ademem.sync.git_history import GitHistory
    from ademem.sync.merging import Variants
    from ademem.sync.provenance import Provenance, Source

    Changes = Mapping[str, Any]
    Position = tuple[str, int]

SOURCE = "file"
AT_WORK = "as an agent was at work"


class Difference(Value):
    position: Position
    apply: Callable[[ImportContext], None]


class ImportContext:
    def __init__(
        self, settings: GateSettings, now: datetime, place: Place | None, provenance: Provenance
    ) -> None:
        branch, by, store = place.branch if place else None, Trust.IMPORT, provenance.store
        self.act = Act(store=store, now=now, actor=by, branch=branch, event_id=new_event())
        self.settings = settings
        self.history = provenance.history
        self.provenance = provenance
        self.place = place
        self.before = provenance.base.texts.digests
        self.done: dict[str, list[str]] = {}
        self.problems: list[Problem] = []
        self.ignored: list[Problem] = []
        """Problems that count as imported without an effect, so that they are reported once."""

    def find(self, id: str | None) -> Memory | None:
        return memory_queries.by_id(self.act.store, id)

    def claim(self, placed: PlacedItem) -> bool:
        """Claim the item; return False if a killed import took it from the same file before."""
        return ledger.claim(self.act.store, SOURCE, self._key(placed), self.act.now)

    def write(self, draft: Draft, placed: PlacedItem) -> None:
        """Pass the item to the gate; a refused one is reported at each import."""
        from ademem.capture import gate  # edits of items need none

        act = self.act
        item, history = placed.item, self.history
        made = history.commit_of(item.id) if item.id else history.commit_with(item.content)
        if made and not draft.created_at:
            draft = replace(draft, created_at=min(made.at, act.now))
        written = gate.write(
            draft, act.store, self.settings, act.now, event_id=act.event_id, made=made
        )
        if written.memory is None:
            ledger.release(act.store, SOURCE, self._key(placed))
            raise CannotDo(f"not kept ({written.rule}): {written.reason}")
        self.note("edited" if written.deduped else "added", written.memory.id)

    def _key(self, placed: PlacedItem) -> str:
        file = self.before.get(placed.path) or sha256_hex("")
        return sha256_hex(placed.path, file, str(placed.item.line), *map(str, placed.values))

    def waits_on(self, id: str | None, key: str | None) -> str | None:
        return self.place.waits_on(id, key) if self.place else None

    def act_of(self, source: Source, id: str = "") -> Act:
        made = self.history.commit_of(id)
        by = {"actor": source.trust, "claimed_author": source.author, "by_other": source.by_other}
        by |= {"vouched": source.vouched}
        return replace(self.act, **by, made=made)

    def edit(self, current: Memory, changes: Changes, source: Source, position: Position) -> None:
        """Edit the memory; raises CannotDo for instructions, which need a person's command.

        What a person said or confirmed stays, and an agent's text is a candidate beside it.
        """
        if not changes:
            return
        others, found = dict(changes), None
        title, content = others.pop("title", current.title), others.pop("content", current.content)
        if len(others) < len(changes):
            found = judged_texts.find_instruction(self.act.store, title, content)
        found = found or instruction_in("\n".join(map(str, filter(None, others.values()))))
        if found:
            message = f"{current.id} was edited to a text that {found}"
            raise CannotDo(message, "`ademem edit` takes it")
        if "content" in changes:
            self.require_length(content, title)
        if self.is_for_person(current, source):
            return self.propose(current, changes, source, position)
        transitions.edit(current.id, self.act_of(source, current.id), self.settings, **changes)
        return self.note("edited", current.id)

    def propose(
        self, current: Memory, changes: Changes, source: Source, position: Position
    ) -> None:
        if not changes.keys() & {"title", "content"}:
            return self.keep(current, position, "edit")
        from ademem.capture import gate

        trust, branch = source.trust, self.waits_on(current.id, None)
        origin = Origin(trust=trust, source_type=trust.value, source_id=position[0], branch=branch)
        draft, act = gate.draft_change(current, changes, origin), self.act
        written = gate.propose(
            current, draft, act.store, self.settings, act.now, event_id=act.event_id
        )
        if written.memory is None or written.deduped:
            return self.keep(current, position, "edit")
        self.note("added", written.memory.id)
        message = f"{written.memory.id} waits beside {current.id}, {AT_WORK}"
        return self.ignore(position, message, "ademem review")

    def is_for_person(self, current: Memory, source: Source) -> bool:
        return source.by_agent and memories.is_of_person(self.act.store, current)

    def keep(self, current: Memory, position: Position, verb: str) -> None:
        """Report an agent's change that has no effect; the files are written as they were."""
        self.ignore(position, f"{current.id} stays, {AT_WORK}", f"ademem {verb} {current.id}")

    def ignore(self, position: Position, message: str, hint: str = "") -> None:
        path, line = position
        self.ignored.append(Problem(path=path, line=line, message=message, hint=hint))

    def require_length(self, content: str, title: str | None) -> None:
        if excess := transitions.describe_excess(content, title, self.settings):
            raise CannotDo(f"not kept: it {excess}")

    def tick(self, current: Record, other: Record) -> str:
        act, said = self.act, f"{current.id} {registers.values_of(other)}"
        made = self.history.commit_of(current.id)
        return stamps.tick(act.store, act.now, current.last_stamp, made=made, said=said)

    def note(self, kind: str, id: str) -> None:
        self.done.setdefault(kind, []).append(id)


def find_differences(before: Snapshot, now: Snapshot, history: GitHistory) -> Iterator[Difference]:
    """Yield the differences in the order of their import."""
    found = _Comparison(before, now, history)
    yield from found.find_lines()
    for id in now.placed:
        yield from found.find_edits(id)
    yield from found.find_removals()
    yield from found.find_decisions()
    for placed in (*now.placed[None], *now.proposed):
        yield _difference(placed, _add, placed=placed)


def _difference(
    found: PlacedItem | KnowledgeLine | Position, act: Any, /, **given: Any
) -> Difference:
    position = found if isinstance(found, tuple) else found.position
    return Difference(position=position, apply=lambda context: act(context, **given))


class _Comparison:
    def __init__(self, before: Snapshot, now: Snapshot, history: GitHistory) -> None:
        self._before, self._now, self._history = before, now, history
        self._combined_in = cache(self._read_merges)

    def find_lines(self) -> Iterator[Difference]:
        before, now = self._before, self._now
        changed = [id for id, it in now.lines.items() if not it.is_equal(before.lines.get(id))]
        raw_before = {line.raw for line in before.foreign}
        foreign = [line for line in now.foreign if line.raw not in raw_before]
        if changed or foreign:
            from ademem.sync import record_import  # edits of pages do not need it

            for id in changed:
                given = {"id": id, "lines": now.lines[id], "before": before.lines.get(id)}
                yield _difference(now.lines[id].last, record_import.import_record, **given)
            for line in foreign:
                yield _difference(line, record_import.import_plain_line, line=line)

    def find_edits(self, id: str) -> Iterator[Difference]:
        """Yield edits of the memory's items: what differs from both the base and its line."""
        items = self._now.placed[id]
        earlier = next(iter(self._before.placed[id]), None)
        if earlier and all(item.values == earlier.values for item in items):
            return
        count, edited = self._find_edited(id, earlier)
        is_edit = len(edited) == count and not self._is_overruled(id, count)
        for item in sorted(edited, key=lambda item: item.values):
            if is_edit:
                yield _difference(item, _edit_item, id=id, now=item, before=earlier)
                is_edit = earlier is not None and item.values[2] == earlier.values[2]
            elif item.values[2] not in self._now.all_texts():  # it has another already
                yield _difference(item, _add, placed=item, is_second=True)
            elif self._history.by_hand:
                yield _difference(item, _refuse_same, id=id, text=item.values[2])

    def _find_edited(
        self, id: str, earlier: PlacedItem | None
    ) -> tuple[int, tuple[PlacedItem, ...]]:
        """Return how many items there are, and those of no known version whose text did not lose.

        They are split where git combined several.
        """
        items, lines = self._now.placed[id], self._now.lines.get(id)
        versions = _list_versions(earlier, lines)
        if all(item.values in versions for item in items):
            return len(items), ()
        parts = (part for item in items for part in self._split(item, versions))
        distinct = {part.values: part for part in parts}
        edited = tuple(part for values, part in distinct.items() if values not in versions)
        if lines:
            edited = _without_lost(edited, len(distinct), lines, self._before.lines.get(id))
        return len(distinct), edited

    def _is_overruled(self, id: str, count: int) -> bool:
        """Return True if a new or changed line decides: over several items, or that it is over."""
        lines = self._now.lines.get(id)
        if lines is None or lines.is_equal(self._before.lines.get(id)):
            return False
        return count > 1 or lines.is_archived

    def find_removals(self) -> Iterator[Difference]:
        """Skip missing files, which are written again."""
        for id in dict.fromkeys((*self._before.placed, *self._before.lines)):
            if not self._now.has_item(id) and (removed := self._find_removed(id)):
                found, versions = removed
                given = {"id": id, "removed": found, "versions": versions}
                yield _difference(found, _archive, **given)

    def _find_removed(self, id: str) -> tuple[PlacedItem | KnowledgeLine, Container[Values]] | None:
        """Return what was removed with the memory, and the versions of the memory in it."""
        before, now = self._before, self._now
        items, lines, here = before.placed[id], before.lines.get(id), now.lines.get(id)
        pages_are_read = all(item.path in now.read for item in items)
        if items and pages_are_read and not (here and here.needs_no_item):
            return items[0], frozenset((items[0].values,))
        if lines and not (here or lines.is_archived) and lines.last.path in now.read:
            return lines.last, lines.values  # its page may be gone
        return None

    def find_decisions(self) -> Iterator[Difference]:
        yield from self._find_reviewed()
        yield from self._find_withdrawn()

    def _find_reviewed(self) -> Iterator[Difference]:
        before, now = self._before, self._now
        for id, offer in now.sheet.items():
            earlier = before.sheet.get(id)
            lines = now.lines.get(id) if earlier is None else None
            has_line = lines is not None and offer.values in lines.values
            if not offer.is_confirmed and (has_line or id in self._losing_ids):
                continue
            if earlier is None or earlier.state != offer.state:
                yield _difference(offer, _review, now=offer, before=earlier)

    def _find_withdrawn(self) -> Iterator[Difference]:
        before, now = self._before, self._now
        offered = now.offered | before.sheet.keys() if SHEET in now.read else set()
        for id in sorted(offered - now.sheet.keys()):
            earlier = before.sheet.get(id)
            if id in self._losing_ids:
                continue
            if not now.has_item(id):
                refused = {"id": id, "before": earlier, "offered": id in now.offered}
                yield _difference((SHEET, 1), _refuse, **refused)
            elif earlier and id in now.placed:  # moved to a topic file
                moved = now.placed[id][0]
                yield _difference(moved, _review, now=moved, before=earlier)

    @cached_property
    def _losing_ids(self) -> frozenset[str]:
        """The ids of texts that lost once and are those of their memories by now."""
        records = ((id, lines.record) for id, lines in self._now.lines.items())
        return frozenset(candidate_id(id, record.text[0]) for id, record in records if record)

    def _split(
        self, placed: PlacedItem, versions: Container[Values | None], skip: int = 0
    ) -> Iterator[PlacedItem]:
        """Yield the item, or what our driver had made of what git combined in it, if unknown."""
        item = replace(placed.item, line=0)
        for at, combined in enumerate(self._combined_in(placed.path)[skip:], skip + 1):
            if item in combined:
                for part in combined[item]:
                    version = replace(placed, item=replace(part, line=placed.item.line))
                    parts = self._split(version, versions, at)
                    yield from (one for one in parts if one.values not in versions)
                return
        yield placed

    def _read_merges(self, path: str) -> list[dict[ListItem, Variants]]:
        merges = []
        with suppress(OSError):
            merges = list(self._history.read_merges(path))
        if not merges:
            return []
        from ademem.sync.merging import find_combined  # most imports have no use for it

        return [find_combined(*versions) for versions in merges]


def _list_versions(earlier: PlacedItem | None, lines: MemoryLines | None) -> set[Values | None]:
    """Return the values of the base, None without it, and of the lines."""
    return {earlier.values if earlier else None} | (lines.values if lines else set())


def _without_lost(
    edited: Iterable[PlacedItem], count: int, lines: MemoryLines, before: MemoryLines | None
) -> tuple[PlacedItem, ...]:
    """Leave out texts that lost, which a page may still have; *count* is that of all items."""
    lost = lines.losing_texts
    if count == 1 and before:
        lost -= before.losing_texts
    return tuple(item for item in edited if item.values[2] not in lost)


def _refuse_same(context: ImportContext, id: str, text: str) -> None:
    """Refuse a person's text for a memory of which there is another item, as a change to it."""
    if memory_queries.is_said_elsewhere(context.act.store, id, text):
        raise CannotDo("another live memory says the same", "`ademem recall` finds it")


def _changed_fields(current: Memory, now: PlacedItem, before: PlacedItem | None) -> dict[str, Any]:
    """Return the fields that the item changes in the base, or else in the memory."""
    values = now.category, now.item.title, now.item.content, now.item.tags, now.item.path
    names = ("category", "title", "content", "tags", "file_scope_pattern")
    ours = values_of(current)
    found = zip(names, values, now.values, before.values if before else ours, ours, strict=True)
    return {name: value for name, value, new, *old in found if new not in (None, *old)}


def _edit_item(context: ImportContext, id: str, now: PlacedItem, before: PlacedItem | None) -> None:
    if (current := context.find(id)) is None:
        return _add(context, now)
    if current.superseded_by and now.values == values_of(current):
        return None
    source = context.provenance.of(now.path, current.id, (now.state,))
    if not current.live:
        if before or not context.history.has_returned(current.id):
            return None
        if source.by_agent and memories.is_removed_by_person(context.act.store, current):
            return context.keep(current, now.position, "restore")
        current = transitions.restore(current.id, context.act_of(source, current.id))
        context.note("restored", current.id)
    return context.edit(current, _changed_fields(current, now, before), source, now.position)


def _archive(
    context: ImportContext,
    id: str,
    removed: PlacedItem | KnowledgeLine,
    versions: Container[Values],
) -> None:
    """Archive the memory, unless it was changed after the *versions* that were removed."""
    current, position = context.find(id), removed.position
    if current is None or not current.live or values_of(current) not in versions:
        return None
    is_here = context.history.is_in_head(removed.path, removed.state)
    if not is_here and not context.history.has_change(current.id):
        return None
    commits = () if is_here else None
    source = context.provenance.of(removed.path, current.id, commits=commits)
    if context.is_for_person(current, source):
        return context.keep(current, position, "archive")
    act = context.act_of(source, current.id)
    transitions.archive(current.id, replace(act, made=None) if is_here else act)
    return context.note("archived", current.id)


def _add(context: ImportContext, placed: PlacedItem, is_second: bool = False) -> None:
    """Pass an item to the gate, as confirmed where it is in a page or ticked, unless an agent did.

    A second text about one memory is a candidate, and its sheet's word on its origin counts.
    """
    item = placed.item
    if is_second and item.id and _was_replaced(item.id, item.content, context):
        return
    context.require_length(item.content, item.title)
    if not context.claim(placed):
        return
    text = "" if item.id else item.content
    source = context.provenance.of(placed.path, item.id, (placed.state,), text)
    is_by_git = is_second and not context.history.by_hand
    origin, moment = _find_origin(placed, source, is_by_git=is_by_git)
    draft = Draft(
        category=placed.category or Category.FACT,
        title=item.title,
        content=item.content,
        tags=item.tags,
        path=item.path,
        promoted=placed.is_confirmed and not (is_second or source.by_agent),
        created_at=moment,
        origin=replace(origin, branch=context.waits_on(item.id, None)),
    )
    context.write(draft, placed)


def _was_replaced(id: str, content: str, context: ImportContext) -> bool:
    """Return True for a text that the memory had and that no commit wrote again."""
    rows = memories.revisions(context.act.store, id)
    before = (row["snapshot"]["content"] for row in rows if row["event_id"] != context.act.event_id)
    texts = [" ".join(text.split()) for text in dict.fromkeys(before)]
    text = " ".join(content.split())
    was_replaced = text in texts and (text != texts[-1] or len(texts) == 1)
    return was_replaced and not context.history.commits_writing(content)


def _find_origin(
    placed: PlacedItem, source: Source, *, is_by_git: bool
) -> tuple[Origin, datetime | None]:
    """Return origin and time; a person's own text is theirs, whatever it says."""
    item, is_offer = placed.item, placed.path == SHEET
    trust, kind, moment = _parse_origin(item.origin_text)
    # Of another store, put there by git, or to be set by a person's command alone.
    is_strange = is_by_git or (is_offer and bool(item.id))
    if source.by_person and not is_strange and not instruction_in_titled(item.title, item.content):
        trust, kind = Trust.USER, ""
    elif source.by_agent:
        trust = source.trust
    if kind in ("", STATED):
        kind = "file" if is_offer else trust.value
    origin = Origin(
        trust=trust, source_type=kind, source_id=placed.path, claimed_author=source.author
    )
    return origin, moment


def _review(context: ImportContext, now: PlacedItem, before: PlacedItem | None = None) -> None:
    """Apply corrections, then a tick; another branch's sheet is not a decision, but named."""
    id = str(now.item.id)
    if (current := _find_candidate(id, context)) is None:
        if context.find(id) is None and not memory_queries.is_dead_by_id(context.act.store, id):
            _add(context, now)
        return
    is_tick = now.is_confirmed and not (before and before.is_confirmed)
    history, commits = context.history, None
    if not history.has_file_change(SHEET):
        is_open = replace(now, item=replace(now.item, ticked=False))
        commits = history.commits_made_here(SHEET, now.state, is_open.state)
        if commits is None:
            if is_tick:
                message = f"{current.id} is ticked on another branch, which confirms nothing here"
                context.ignore(now.position, message, f"ademem promote {current.id}")
            return
    source = context.provenance.of(SHEET, current.id, (now.state,), commits=commits)
    context.edit(current, _changed_fields(current, now, before), source, now.position)
    if is_tick:
        store = context.act.store
        found = judged_texts.find_instruction_in(store, memories.get(store, current.id))
        if found:  # whoever ticked it
            raise CannotDo(f"{current.id} {found}", "`ademem promote` in a terminal confirms it")
        if source.by_agent:
            message = f"an agent ticked {current.id}, which confirms nothing: `ademem review` does"
            return context.ignore(now.position, message)
        transitions.promote(current.id, context.act_of(source))
        context.note("promoted", current.id)


def _refuse(context: ImportContext, id: str, before: PlacedItem | None, offered: bool) -> None:
    """Reject the candidate, unless it was changed after the version that was removed.

    Where a commit took item and offer away, another store had archived it: then it is not among
    those that the sheet itself lists as *offered*.
    """
    current = _find_candidate(id, context)
    if current is None or (before and _changed_fields(current, before, None)):
        return
    history = context.history
    is_here = before is not None and history.is_in_head(SHEET, before.state)
    source = context.provenance.of(SHEET, current.id, commits=() if is_here else None)
    if context.is_for_person(current, source):
        return context.keep(current, (SHEET, 1), "reject")
    act = context.act_of(source)
    if history.by_hand or (offered and (is_here or history.has_file_change(SHEET))):
        transitions.reject(current.id, act)
        context.note("rejected", current.id)
    elif history.has_change(current.id):
        transitions.archive(current.id, act)
        context.note("archived", current.id)


def _find_candidate(id: str | None, context: ImportContext) -> Memory | None:
    found = context.find(id)
    waits = found and found.live and found.status is Status.CANDIDATE
    return found if found and waits and not found.quarantine_reason else None


def _parse_origin(text: str) -> tuple[Trust, str, datetime | None]:
    """Parse trust, kind of source and time; a sheet cannot raise trust."""
    found = regex.fullmatch(r"(?:(tool|web) by )?([\w-]{1,40})(?:, (\S+))?", text)
    if not found:
        return Trust.IMPORT, "", None
    time = as_time(found[3])
    return Trust(found[1] or Trust.IMPORT), found[2], parse(time) if time else None
