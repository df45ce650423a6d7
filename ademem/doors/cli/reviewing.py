"""The review of waiting memories and of contradictions, and the relations between memories."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

from ademem.core import anchor, who
from ademem.core.errors import AdememError, UsageError
from ademem.core.memory import Category, Memory, Status, claimed_name
from ademem.core.text import counted, preview
from ademem.core.untrusted import import_label
from ademem.core.value import Value, as_dict
from ademem.doors.cli import show
from ademem.doors.cli.commands import command, on_project, open_project
from ademem.doors.cli.derived import Asked, follow
from ademem.doors.cli.editor import editing
from ademem.doors.cli.options import argument, flag, option
from ademem.doors.cli.parameters import CategoryName, DryRun, Limit, Project, parse_choice
from ademem.operations import curation, memory_operations, searching
from ademem.operations.curation import EVERYTHING, Selection, Waiting
from ademem.store import adopted
from ademem.store.runtime import Runtime
from ademem.store.transitions import waits_for

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ademem.operations.placing import Misplaced
    from ademem.store.evidence import Evidence
    from ademem.store.kept_copies import Changed
    from ademem.store.verdicts import Verdict
    from ademem.synthesis.anchoring import Doubt


def _lost_lines(memories: Runtime) -> list[str]:
    """Return what was decided about lines of instruction files that are gone."""
    if not adopted.is_taken(memories.store):
        return []
    from ademem.sync import instruction_state

    return instruction_state.describe_lost(memories)


@command()
def review(
    words: list[str] | None = argument("WORDS", "Only those with these words.", None),
    limit: Limit = 100,
    category: CategoryName = None,
    type_: str | None = option("--type -t", "Only those of a category or with a tag."),
    older: str | None = option("--older TIME", "Only older ones: ISO 8601, or 45m, 3h, 2d."),
    list_: bool = flag("--list", "Only list them."),
    imported: bool = flag("--imported", "Unaccepted memories from the files or the hub."),
    accept: bool = flag("--accept", "Confirm all that are chosen, in one act."),
    reject: bool = flag("--reject", "Reject all that are chosen, in one act."),
    due: bool = flag("--due", "List those to be read again."),
    reviewed: str | None = option("--reviewed ID", "This one still holds."),
    settle: tuple[str, str] | None = option(
        "--settle ID OTHER", "Accept both memories of a conflict."
    ),
    changes: bool = flag("--changes", "What other people changed of what you stated."),
    take: str | None = option("--take ID", "Let the other person's version hold."),
    mine: str | None = option("--mine ID", "Let your version hold, for everybody."),
    dry_run: DryRun = False,
    project: Project = None,
) -> None:
    """Decide what waits, one by one. Without a terminal, list them and conflicts."""
    from ademem.files import enrolment
    from ademem.session import linked_files

    selection = _select(category, type_, older, words)
    is_narrowed = imported or selection != EVERYTHING
    decision = _read_decision(accept, reject, is_narrowed)
    with open_project(project) as memories:
        if changes:
            return _review_changes(memories, list_)
        if due:
            return show.memories(curation.list_due(memories, limit))
        if any((take, mine, settle, reviewed)):
            return _decide_one(memories, take, mine, settle, reviewed)
        enrolment.register_typed(memories)
        for line in (*linked_files.describe_missing(memories), *_lost_lines(memories)):
            show.say(line, err=True)
        list_waiting = curation.review_imported if imported else curation.review
        waiting = list_waiting(memories, limit, selection)
        if decision:
            return _decide_all(memories, waiting, decision, dry_run)
        return _review_each(memories, waiting, is_narrowed, list_)


def _read_decision(accept: bool, reject: bool, is_narrowed: bool) -> str:
    """Return what is decided about all that are chosen; empty if each is asked about."""
    if not (accept or reject):
        return ""
    if accept and reject:
        raise UsageError("--accept and --reject exclude each other", "give one of them")
    if not is_narrowed:
        raise UsageError("accept or reject which?", "WORDS, --category, --type or --older")
    return "promote" if accept else "reject"


def _select(
    category: str | None, type: str | None, older: str | None, words: list[str] | None
) -> Selection:
    from ademem.core.times import parse_time

    return Selection(
        category=parse_choice(Category, category),
        type=type,
        before=parse_time(older, datetime.now(UTC)) if older else None,
        words=" ".join(words or ()),
    )


def _decide_one(
    memories: Runtime,
    take: str | None,
    mine: str | None,
    settle: tuple[str, str] | None,
    reviewed: str | None,
) -> None:
    from ademem.operations import searching

    if take:
        return show.one(
            "taken:", curation.take_change(memories, take) or searching.get(memories, take)
        )
    if mine:
        return show.one("yours holds:", curation.keep_mine(memories, mine))
    if settle:
        done = curation.settle_conflict(memories, *settle)
        line = "both are kept as true" if done else "no conflict between them was known"
        return show.report({"settled": done}, [line], fails=not done)
    return show.one("still holds:", curation.mark_reviewed(memories, reviewed or ""))


def _review_each(memories: Runtime, waiting: Sequence[Memory], narrowed: bool, list_: bool) -> None:
    """Ask about each in a terminal of a person, else list them."""
    from ademem.operations import inspecting, placing

    doubts: list[Doubt | Misplaced] = []
    if not narrowed:
        doubts = [*inspecting.list_doubtful(memories), *placing.list_misplaced(memories)]
    if not (show.as_json or narrowed) and curation.asks_to_publish(memories):
        show.echo(PUBLISH_SKILLS)
    if _asks(memories, list_):
        queue = curation.list_queue(memories, with_skipped=True)
        if narrowed:
            queue = _choose(queue, waiting)
        if queue or doubts:
            return _run_dialogue(memories, queue, doubts)
    return _list_waiting(memories, waiting, doubts, narrowed)


def _choose(queue: Sequence[Waiting], chosen: Sequence[Memory]) -> list[Waiting]:
    ids = {each.id for each in chosen}
    return [each for each in queue if each.id in ids]


def _asks(memories: Runtime, list_: bool) -> bool:
    """Tell whether a person at a terminal is asked, where nothing wants a list."""
    if show.as_json or list_ or memories.is_read_only:
        return False
    return sys.stdout.isatty() and memories.by.is_person


PUBLISH_SKILLS = (
    "skills are written to .ade/skills, which Claude Code does not read:"
    " `ademem config set skills.publish true` writes them to .claude/skills, too;"
    " `… false` ends this question"
)


DECIDE = "`ademem review --take ID` lets theirs hold, `--mine ID` yours, for everybody"


def _review_changes(memories: Runtime, list_: bool) -> None:
    """Ask for a decision about each change in a terminal, else list them."""
    found = curation.list_kept_changes(memories)
    if show.as_json:
        return show.json({"count": len(found), "changes": list(map(_change_row, found))})
    if not found:
        return show.echo("nobody else changed what you stated", err=True)
    asks = _asks(memories, list_)
    for number, each in enumerate(found, 1):
        show.fenced(_change_lines(each, f"{number} of {len(found)}"))
        if asks and not _decide_change(memories, each):
            return None
    return None if asks else show.echo(DECIDE)


def _change_row(change: Changed) -> dict[str, Any]:
    return {
        "id": change.copy.id,
        "kind": change.kind,
        "author": claimed_name(change.author),
        "until": change.until and change.until.date().isoformat(),
        "yours": show.memory_json(change.copy),
        "theirs": change.shared and show.memory_json(change.shared),
    }


def _change_lines(change: Changed, place: str) -> Iterator[str]:
    from ademem.doors.views import word_diff

    author = claimed_name(change.author) or "another person"
    did = {"removed": "removed it", "text": "changed its text"}.get(
        change.kind, "changed its marks"
    )
    yield f"{place}: {author} {did} ({import_label(change.author)})"
    yield f"yours:  {show.line(change.copy)}"
    if change.until:
        yield f"it was deleted for good; yours is kept until {change.until.date().isoformat()}"
    if change.kind != "removed" and change.shared:
        yield f"theirs: {show.line(change.shared)}"
        if words := word_diff(change.copy.content, change.shared.content):
            yield f"  changes: {words}"


def _decide_change(memories: Runtime, change: Changed) -> bool:
    """Ask for one decision; return False at the end of the answers."""
    while True:
        try:
            answer = input("[t]ake theirs, [m]ine for everybody, [l]ater, [q]uit? ").strip().lower()
        except (EOFError, KeyboardInterrupt):
            show.echo()
            return False
        if answer[:1] == "t":
            curation.take_change(memories, change.copy.id)
        elif answer[:1] == "m":
            curation.keep_mine(memories, change.copy.id)
        elif answer[:1] not in ("l", "q"):
            continue
        return answer[:1] != "q"


Pairs = list[tuple[Memory, str]]


def _list_waiting(
    memories: Runtime,
    waiting: Sequence[Memory],
    doubts: Sequence[Doubt | Misplaced],
    narrowed: bool,
) -> None:
    conflicts = [] if narrowed else _list_conflicts(memories)
    in_pairs = {memory.id for memory, _ in conflicts if not memory.quarantine_reason}
    alone = [memory for memory in waiting if memory.id not in in_pairs]
    groups: tuple[tuple[Pairs, str], ...] = (
        ([(memory, waits_for(memory)) for memory in alone], ACCEPT),
        ([] if narrowed else [*conflicts, *_list_pairs(memories)], SETTLE),
        *_group_doubts(doubts),
    )
    found = list(chain.from_iterable(pairs for pairs, _ in groups))
    proof = searching.map_evidence(memories, [memory for memory, _ in found])
    if show.as_json:
        shown = [_waiting_row(*pair, proof) for pair in found]
        return show.json({"count": len(shown), "memories": shown})
    if not found:
        show.echo("nothing waits for your review", err=True)
    for pairs, hint in groups:
        if pairs:
            _show_pairs(pairs, proof)
            show.echo(hint)
    return None


def _show_pairs(pairs: Pairs, proof: Mapping[str, Sequence[Evidence]]) -> None:
    show.fenced(
        text
        for memory, why in pairs
        for text in (show.line(memory), f"    {why}", *_lines_below(memory, proof))
    )


def _waiting_row(
    memory: Memory, why: str, proof: Mapping[str, Sequence[Evidence]]
) -> dict[str, Any]:
    evidence = show.evidence_rows(memory, proof.get(memory.id, ()))
    return show.memory_json(memory) | {"why": why, "evidence": evidence}


ACCEPT = "`ademem promote ID` accepts one, `ademem edit` corrects it, `ademem reject` drops it"
SETTLE = (
    "`ademem promote ID` accepts a candidate; `ademem archive` or `ademem edit` ends a conflict;"
    " `ademem review --settle ID OTHER` records that both are true"
)
CORRECT = "`ademem edit ID --content TEXT --anchor FILE:LINES` corrects one"
MOVE = "`ademem at ID --at KEY` says where one belongs, or that it does belong there"


def _list_conflicts(memories: Runtime) -> Pairs:
    """Return both sides of each conflict, of a candidate also why it waits."""
    told = []
    for pair in curation.list_conflicts(memories):
        for id, other in ((pair.right, pair.left), (pair.left, pair.right)):
            memory = searching.get(memories, id)
            waits = "" if memory.quarantine_reason else waits_for(memory)
            why = f"conflicts with {other}: {pair.reason}".removesuffix(": ")
            told.append((memory, "; ".join(filter(None, (waits, why)))))
    return told


def _list_pairs(memories: Runtime) -> Pairs:
    """Return what else is related to another memory in a way that a person decides."""
    from ademem.operations import relating

    told = [
        (pair.right, f"and {pair.left}: {pair.reason}")
        for pair in curation.list_neighbours(memories)
    ]
    told += [
        (
            each.source,
            f"{each.actor} says {each.relation} {each.target} ({each.confidence:.0%})"
            f" {each.reason}; `ademem relations judge {each.id} VERB` decides",
        )
        for each in relating.list_proposals(memories)
    ]
    return [(searching.get(memories, id), why) for id, why in told]


def _group_doubts(doubts: Sequence[Doubt | Misplaced]) -> Iterator[tuple[Pairs, str]]:
    from ademem.operations.placing import Misplaced
    from ademem.synthesis.anchoring import Doubt

    yield (
        [
            (each.memory, each.why + (f"; corrected: {each.corrected}" if each.corrected else ""))
            for each in doubts
            if isinstance(each, Doubt)
        ],
        CORRECT,
    )
    yield (
        [
            (each.memory, f"does it belong there? {each.why}")
            for each in doubts
            if isinstance(each, Misplaced)
        ],
        MOVE,
    )


def _lines_below(memory: Memory, proof: Mapping[str, Sequence[Evidence]]) -> Iterator[str]:
    """Yield the occasions of a memory, and what speaks for one that no person confirmed."""
    if show.is_withheld(memory):
        return
    yield from (f"    {each}" for each in anchor.describe_occasions(memory.anchors))
    if memory.status is Status.CANDIDATE:
        yield from (f"    {each.line}" for each in proof.get(memory.id, ()))


def _run_dialogue(memories: Runtime, queue: list[Waiting], doubts: list[Doubt | Misplaced]) -> None:
    skipped = curation.list_skipped(memories)
    left = [each for each in queue if each.id not in skipped]
    in_doubt = [each for each in doubts if each.memory.id not in skipped]
    if count := len(queue) + len(doubts) - len(left) - len(in_doubt):
        show.echo(f"{count:,} skipped until tomorrow (`ademem review --list` lists them)")
    ordered = curation.continue_review(memories, left)
    if ordered != left:
        show.echo("the last review stopped here; what was before it comes last")
    from ademem.doors.cli import review_screen

    kind = review_screen.KeyReview if review_screen.can_read_keys() else Review
    kind(memories, [*ordered, *in_doubt]).run()


def _decide_all(memories: Runtime, waiting: Sequence[Memory], decision: str, dry_run: bool) -> None:
    event, decided = "", list(waiting)
    if not dry_run:
        who.require_person(memories.by, "a decision about several memories")
        event, decided = curation.decide_all(memories, waiting, decision)
    verb = "accepted" if decision == "promote" else "rejected"
    end = f"would be {verb}" if dry_run else verb + show.name_undo(event)
    rows = [show.memory_json(memory) for memory in decided]
    show.report(
        {"dry_run": dry_run, "event": event or None, "count": len(rows), "memories": rows},
        [*(show.line(memory, 100) for memory in decided), f"{len(decided):,} {end}"],
        fails=not decided,
    )


if TYPE_CHECKING:
    Item = Waiting | Doubt | Misplaced


class Subject(Value):
    """Something to decide: a memory with similar ones, in doubt or misplaced, or a conflict."""

    memory: Memory
    alike: tuple[Memory, ...] = ()
    conflict: str = ""
    doubt: Doubt | None = None
    misplaced: Misplaced | None = None

    @property
    def why(self) -> str:
        if self.misplaced:
            return f"does it belong there? {self.misplaced.why}"
        if self.doubt:
            return f"in doubt: {self.doubt.why}"
        return self.conflict or waits_for(self.memory)

    @property
    def choices(self) -> tuple[Choice, ...]:
        if self.misplaced:
            return PLACE_CHOICES
        if self.doubt:
            return DOUBT_CHOICES
        return CONFLICT_CHOICES if self.conflict else CHOICES


class Review:
    """A dialogue about waiting memories and conflicts; each decision can be undone until its end.

    The next review begins where this one was left.
    """

    def __init__(self, memories: Runtime, items: Sequence[Item]) -> None:
        self.memories = memories
        self.items = list(items)
        self.at = 0
        self.left = False
        self.done: list[tuple[int, Item, Callable[[], object], str]] = []
        """Position, item, way back and name of each decision."""

    def run(self) -> None:
        self._walk()
        self._end()

    def _walk(self) -> None:
        while self.at < len(self.items) and not self.left:
            subject = self._load(self.items[self.at])
            if subject is None:
                self.at += 1  # decided elsewhere in the meantime
                continue
            self._show(subject)
            self._decide(subject)

    def _end(self) -> None:
        """Note where the next review begins, and tell what was done."""
        rest = self.items[self.at :]
        left = (each for each in rest if isinstance(each, Waiting))
        curation.stop_review(self.memories, next(left, None))
        counts = Counter(name for *_, name in self.done)
        show.echo(", ".join(f"{name} {count}" for name, count in counts.items()) or "nothing done")

    def note(
        self, name: str, memory: Memory, take_back: Callable[[], object] | None = None
    ) -> None:
        """Record a decision; by default `undo` takes back the last act on the memory."""
        event = curation.list_revisions(self.memories, memory.id)[-1]["event_id"]
        back = take_back or (lambda: curation.undo(self.memories, event))
        self.done.append((self.at, self.items[self.at], back, name))
        show.say(f"{name} {show.line(memory, 80)}")

    def pass_on(
        self, name: str, memory: Memory, take_back: Callable[[], object] | None = None
    ) -> None:
        self.note(name, memory, take_back)
        self.at += 1

    def settle_pair(self) -> None:
        """Go on with the candidate of a pair, if it still waits."""
        item = self.items[self.at]
        if isinstance(item, Waiting):
            self.items[self.at] = item._replace(other="", conflict="")

    def find(self, words: str) -> None:
        selection, count = Selection(words=words), len(self.items)
        for at in ((self.at + offset) % count for offset in range(1, count + 1)):
            item = self.items[at]
            subject = self._load(item)
            if subject and any(map(selection.matches, _memories_of(subject))):
                self.at = at
                return
        show.echo("no waiting memory has these words")

    def _load(self, item: Item) -> Subject | None:
        """Read the item anew; None where it was decided."""
        from ademem.operations.placing import Misplaced
        from ademem.synthesis.anchoring import Doubt

        if isinstance(item, Doubt):
            return _read_doubt(self.memories, item)
        if isinstance(item, Misplaced):
            return _read_misplaced(self.memories, item)
        return (_read_pair if item.other else _read_alone)(self.memories, item)

    def _show(self, subject: Subject) -> None:
        from ademem.doors.views import word_diff
        from ademem.operations import searching

        memory = subject.memory
        kind = type(self.items[self.at])  # doubts are counted apart from the queue
        same = [at for at, each in enumerate(self.items) if isinstance(each, kind)]
        show.say(f"\n{same.index(self.at) + 1} of {len(same)}: {subject.why}\n")
        proof = searching.map_evidence(self.memories, _memories_of(subject))
        for each in _memories_of(subject):
            _show_memory(each, proof.get(each.id, ()))
        if memory.quarantine_reason:
            from ademem.doors.views import held
            from ademem.guard.injection.evidence import evidence_of

            for line in held.evidence_lines(evidence_of(memory.whole_text)):
                show.say(line)
        _show_alike(subject)
        if subject.doubt and (text := subject.doubt.corrected):
            show.say(f"corrected: {word_diff(memory.content, text) or text}")

    def _decide(self, subject: Subject) -> None:
        choices = subject.choices
        show.echo()
        try:
            answer = input(f"{', '.join(choice.shown for choice in choices)}? ").strip()
        except (EOFError, KeyboardInterrupt):
            show.echo()
            return leave(self, subject, "")
        if answer.startswith("/"):
            return self.find(answer[1:])
        name, _, argument = answer.partition(" ")
        for choice in choices:
            if name and choice.name.startswith(name.lower()):
                try:
                    return choice.act(self, subject, argument.strip())
                except AdememError as error:
                    return show.say(f"{error} ({error.hint})" if error.hint else str(error))
        for choice in choices:
            show.echo(f"  {choice.name:<7} {choice.does}")
        return show.echo(f"  {'/words':<7} go to the next one with these words")


def _read_doubt(memories: Runtime, item: Doubt) -> Subject | None:
    from ademem.operations import inspecting

    doubts = inspecting.list_doubtful(memories)
    same = (each for each in doubts if each.memory.id == item.memory.id)
    doubt = next((each for each in same if each.anchor == item.anchor), None)
    return Subject(memory=doubt.memory, doubt=doubt) if doubt else None


def _read_misplaced(memories: Runtime, item: Misplaced) -> Subject | None:
    from ademem.operations import placing

    misplaced = placing.list_misplaced(memories)
    same = (each for each in misplaced if each.memory.id == item.memory.id)
    still = next((each for each in same if each.place == item.place), None)
    return Subject(memory=still.memory, misplaced=still) if still else None


def _read_pair(memories: Runtime, item: Waiting) -> Subject | None:
    from ademem.operations import searching

    memory = searching.get(memories, item.id)
    pairs = [*curation.list_conflicts(memories), *curation.list_neighbours(memories)]
    if not any({pair.left, pair.right} == {item.id, item.other} for pair in pairs):
        return None
    other = searching.get(memories, item.other)
    return Subject(memory=memory, alike=(other,), conflict=item.conflict)


def _read_alone(memories: Runtime, item: Waiting) -> Subject | None:
    from ademem.operations import searching

    memory = searching.get(memories, item.id)
    if not (memory.live and waits_for(memory)):
        return None
    return Subject(memory=memory, alike=tuple(searching.find_similar(memories, memory)))


def _show_memory(memory: Memory, evidence: Sequence[Evidence]) -> None:
    show.whole(memory, evidence=evidence)
    if memory.source_session_id:
        show.say(f"session: {memory.source_session_id}")
    if memory.source_branch:
        show.say(f"branch: {memory.source_branch}")


def _show_alike(subject: Subject) -> None:
    from ademem.doors.views import word_diff

    for number, other in enumerate(subject.alike, 1):
        if not subject.conflict:
            show.say(f"similar {number}: {show.line(other, 100)}")
        if changes := word_diff(other.content, subject.memory.content):
            show.say(f"  changes: {changes}")


def _memories_of(subject: Subject) -> tuple[Memory, ...]:
    return (subject.memory, *subject.alike) if subject.conflict else (subject.memory,)


Act = Callable[["Review", Subject, str], None]
"""A decision; it gets the rest of the answer, too."""


class Choice(NamedTuple):
    name: str
    """An answer may be its first letters; each name begins with another letter."""
    does: str
    act: Act

    @property
    def shown(self) -> str:
        return f"[{self.name[0]}]{self.name[1:]}"


# A decision is about the revision that was shown; a Conflict has the present text shown next.


def promote(review: Review, subject: Subject, _rest: str, *, pinned: bool = False) -> None:
    id, revision = subject.memory.id, subject.memory.revision_count
    promoted = curation.promote(review.memories, id, pinned=pinned, revision=revision)
    review.pass_on("pinned" if pinned else "accepted", promoted)


def release(review: Review, subject: Subject, _rest: str) -> None:
    from ademem.operations import judging

    id, revision = subject.memory.id, subject.memory.revision_count
    released = judging.release(review.memories, id, revision=revision)
    event = curation.list_revisions(review.memories, id)[-1]["event_id"]
    take_back = partial(judging.hold_again, review.memories, id, event)
    review.pass_on("released", released, take_back)


def _edit(review: Review, subject: Subject, _rest: str) -> None:
    memory = subject.memory
    with editing(memory.content) as edited:
        if edited.strip() in ("", memory.content):
            return show.echo("nothing was changed")
        id, revision, text = memory.id, memory.revision_count, edited.strip()
        return review.note(
            "edited", curation.edit(review.memories, id, revision=revision, content=text)
        )


def reject(review: Review, subject: Subject, why: str) -> None:
    id, revision = subject.memory.id, subject.memory.revision_count
    review.pass_on("rejected", curation.refuse(review.memories, id, revision=revision, reason=why))


def merge(review: Review, subject: Subject, rest: str) -> None:
    if not subject.alike:
        return show.echo("no similar memory to merge it with")
    if not (rest or "1").isdecimal() or not 1 <= int(rest or "1") <= len(subject.alike):
        return show.echo(f"merge 1 to merge {len(subject.alike)}: which similar memory?")
    into = subject.alike[int(rest or "1") - 1]
    id, revision = subject.memory.id, subject.memory.revision_count
    with editing(f"{into.content}\n\n{subject.memory.content}") as edited:
        if not (text := edited.strip()):
            return show.echo("nothing was changed")
        merged = curation.merge(review.memories, id, into.id, text, revision=revision)
        return review.pass_on("merged", merged)


def _settle(review: Review, subject: Subject, rest: str) -> None:
    keep = next((keep for name, keep in SIDES.items() if rest and name.startswith(rest)), None)
    if keep is None:
        return show.echo("c both, c left (the first) or c right (the second)?")
    return keep(review, subject, "")


def _keep(review: Review, subject: Subject, _rest: str, *, second: bool = False) -> None:
    pair = subject.memory, subject.alike[0]
    kept, other = reversed(pair) if second else pair
    gone = curation.supersede(review.memories, other.id, kept.id, revision=other.revision_count)
    review.note("archived", gone)
    review.settle_pair()


def _keep_both(review: Review, subject: Subject, _rest: str) -> None:
    ids = (subject.memory.id, subject.alike[0].id)
    curation.settle_conflict(review.memories, *ids)
    review.note("resolved", subject.memory, lambda: curation.reopen_conflict(review.memories, *ids))
    review.settle_pair()


_keep_second = partial(_keep, second=True)
SIDES: dict[str, Act] = {"both": _keep_both, "left": _keep, "right": _keep_second}


def correct(review: Review, subject: Subject, _rest: str) -> None:
    doubt, before = subject.doubt, subject.memory.content
    assert doubt
    if doubt.corrected:
        return review.pass_on(
            "corrected", curation.correct(review.memories, doubt, doubt.corrected)
        )
    with editing(before) as edited:
        if edited.strip() in ("", before):
            return show.echo("nothing was changed")
        return review.pass_on("corrected", curation.correct(review.memories, doubt, edited.strip()))


def hold(review: Review, subject: Subject, _rest: str) -> None:
    assert subject.doubt
    held = curation.correct(review.memories, subject.doubt, subject.memory.content)
    review.pass_on("held", held)


def _place(review: Review, subject: Subject, key: str) -> None:
    from ademem.doors import undoable

    if not key:
        return show.echo("where KEY: src/**, `npm install`, act:deploy …")
    done = undoable.place(review.memories, subject.memory.id, None, (key,))
    review.pass_on("placed", subject.memory, partial(done.undo, review.memories))


def only_tell(review: Review, subject: Subject, _rest: str) -> None:
    from ademem.doors import undoable

    done = undoable.only_tell(review.memories, subject.memory.id, subject.memory.revision_count)
    review.pass_on("made a note", subject.memory, partial(done.undo, review.memories))


def accept_place(review: Review, subject: Subject, _rest: str) -> None:
    from ademem.doors import undoable

    assert subject.misplaced
    place = subject.misplaced.place.place
    done = undoable.accept_place(review.memories, subject.memory.id, place)
    review.pass_on("left there", subject.memory, partial(done.undo, review.memories))


def archive(review: Review, subject: Subject, _rest: str) -> None:
    review.pass_on("archived", curation.archive(review.memories, subject.memory.id))


def skip(review: Review, subject: Subject, _rest: str) -> None:
    id = subject.memory.id
    curation.skip(review.memories, id)
    review.pass_on("skipped", subject.memory, lambda: curation.unskip(review.memories, id))


def undo(review: Review) -> str:
    """Take the last decision back, and show its item again; return the decision's name."""
    from ademem.operations import inspecting
    from ademem.synthesis.anchoring import Doubt

    at, item, take_back, name = review.done[-1]
    take_back()
    review.done.pop()
    review.at, review.items[at] = at, item
    if isinstance(review.items[at], Doubt):
        inspecting.check_anchors(review.memories)  # an edit forgets what the last check found
    return name


def _undo(review: Review, _subject: Subject, _rest: str) -> None:
    if not review.done:
        return show.echo("nothing was decided yet")
    return show.echo(f"not {undo(review)} after all")


def leave(review: Review, _subject: Subject, _rest: str) -> None:
    review.left = True


ALWAYS = (
    Choice("skip", "leave it waiting until tomorrow", skip),
    Choice("undo", "take the last decision back", _undo),
    Choice("quit", "leave the rest waiting; the next review begins here", leave),
)
EDIT = Choice("edit", "correct its text in $EDITOR", _edit)
CHOICES = (
    Choice("accept", "confirm it, and approve it if it is quarantined", promote),
    EDIT,
    Choice("harmless", "release it from quarantine, and hold this text no more", release),
    Choice("merge", "make one memory of it and a similar one (merge 2)", merge),
    Choice("reject", "archive it, so that no capture writes it again (reject WHY)", reject),
    Choice("pin", "confirm it, and show it in every briefing", partial(promote, pinned=True)),
    *ALWAYS,
)
DOUBT_CHOICES = (
    Choice("correct", "write the corrected text, in $EDITOR if unclear", correct),
    EDIT,
    Choice("hold", "keep it as true, and compare it with the code of today", hold),
    Choice("archive", "archive it", archive),
    *ALWAYS,
)
PLACE_CHOICES = (
    Choice("where", "say where it belongs (where KEY)", _place),
    Choice("note", "only tell it: it denies no call any more", only_tell),
    Choice("belongs", "it does belong there", accept_place),
    Choice("archive", "archive it", archive),
    *ALWAYS,
)
CONFLICT_CHOICES = (
    Choice("1", "keep the first, and archive the second", _keep),
    Choice("2", "keep the second, and archive the first", _keep_second),
    Choice("both", "keep both as true", _keep_both),
    Choice("conflict", "resolve it: c both, c left or c right", _settle),
    Choice("merge", "make one memory of both in $EDITOR", merge),
    *ALWAYS,
)


@on_project()
def propose(
    memories: Runtime,
    branch: str | None = option("--branch", "A new one; else ademem/candidates."),
    dry_run: DryRun = False,
) -> None:
    """Commit candidates to a branch. They stand there as a sheet for review."""
    proposal = curation.propose(memories, branch, dry_run=dry_run)
    if dry_run:
        lines = [f"would commit to {proposal.branch}:\n", proposal.text]
    else:
        lines = [
            f"committed {counted(proposal.count, 'candidate')} to {proposal.branch}",
            f"`git push -u origin {proposal.branch}` sends them to be reviewed",
        ]
    show.report({"dry_run": dry_run} | as_dict(proposal), lines)


TEXT_CHARS = 80


@on_project("relations list")
def list_(
    memories: Runtime,
    id: str | None = argument("ID", "Of this memory; else all.", None),
    status: str | None = option("--status", "pending, judged, ignored or orphaned."),
    limit: Limit = 100,
) -> None:
    """List relations, the latest first."""
    from ademem.operations import relating

    found = relating.list_relations(memories, id, status, limit)
    show.listing("relations", found, _verdict_lines, "no relations")


@follow(memory_operations.judge, "relations judge", without=("judgment_id", "id"))
def judge(asked: Asked, id: str = argument("REL", "A proposal, or a memory with --other.")) -> None:
    """Record the relation between two memories."""
    judged = asked.call(**{"id" if asked.given.get("other") else "judgment_id": id})
    show.report(judged, [f"{judged['relation_id']} {judged['status']}: {judged['effect']}"])


@on_project("relations scan")
def scan(
    memories: Runtime,
    limit: Limit = 100,
) -> None:
    """List pairs of memories that are near in meaning."""
    found = curation.list_neighbours(memories)[:limit]
    rows = [{"earlier": each.left, "later": each.right, "why": each.reason} for each in found]
    lines = (f"{row['earlier']}  {row['later']}: {row['why']}" for row in rows)
    values = {"count": len(rows), "pairs": rows}
    show.report(values, lines, [f"{len(rows)} found"], fence=True)


@command("relations deferred")
def deferred(
    replay: bool = flag("--replay", "Apply those that can be."),
    drop: str = option("--drop ID", "Forget this one.", ""),
    project: Project = None,
) -> None:
    """List records of other stores that wait for a memory."""
    from ademem.operations import relating

    if replay and drop:
        raise UsageError("--replay and --drop exclude each other", "give one of them")
    with open_project(project) as memories:
        if drop:
            relating.drop_deferred(memories, drop)
        applied = relating.replay_deferred(memories) if replay else 0
        found = relating.list_deferred(memories)
    values = {"applied": applied, "count": len(found), "deferred": found}
    lines = (f"{row['id']}  {row['entity']}  {row['reason']}" for row in found)
    show.report(values, lines, [f"{applied} applied, {len(found)} wait"], fence=True)


def _verdict_lines(verdict: Verdict) -> Iterator[str]:
    pair = f"{verdict.source or '(deleted)'} {verdict.relation} {verdict.target or '(deleted)'}"
    yield f"{verdict.id}  {pair}  ({verdict.status}, {verdict.actor}, {verdict.confidence:.0%})"
    if verdict.reason:
        yield f"    {preview(verdict.reason, TEXT_CHARS)}"
