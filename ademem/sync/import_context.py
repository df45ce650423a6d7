"""One import: its target and its sources, its report, and its progress where it runs in batches.

`run/import` has a line for the plan and one for each batch, so that the next process goes on behind
the last batch after a kill. Without a plan it means that an import waits.
"""

from __future__ import annotations

import json
import os
import time
from collections import Counter
from contextlib import suppress

from ademem.core import confined
from ademem.core.memory import Draft, Trust
from ademem.core.project import import_path
from ademem.core.text import counted, sha256_hex
from ademem.core.value import Value, replace
from ademem.files.snapshot import is_imported
from ademem.files.texts import Problem
from ademem.guard.injection import instruction_in, order_of
from ademem.store import ledger, memories, memory_queries, stamps, transitions
from ademem.store.transitions import Act, CannotDo
from ademem.sync.tracked_files import paths_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from datetime import datetime
    from typing import Any

    from ademem.core.memory import Memory
    from ademem.core.project import Project
    from ademem.core.registers import Record
    from ademem.core.settings import GateSettings
    from ademem.files.snapshot import PlacedItem
    from ademem.store import Store
    from ademem.sync.branches import Place
    from ademem.sync.git_history import GitHistory
    from ademem.sync.provenance import Provenance, Source
    from ademem.sync.tracked_files import MergeBase

SOURCE = "file"
KINDS = ("added", "edited", "promoted", "rejected", "archived", "restored")
NAMED_IDS = 5
"""Ids of one kind in the summary."""
NAMED_FILES = 5
"""Files that are named with their waiting lines; more are summed up."""
PART_BYTES = 1 << 20
NO_LIMIT = 1 << 40
PAUSE_S = 0.02


class ImportReport(Value):
    """The result of an import: ids of the memories it changed."""

    event: str = ""
    """The act that `ademem undo` takes back."""
    added: tuple[str, ...] = ()
    edited: tuple[str, ...] = ()
    promoted: tuple[str, ...] = ()
    rejected: tuple[str, ...] = ()
    archived: tuple[str, ...] = ()
    restored: tuple[str, ...] = ()
    unstamped: tuple[str, ...] = ()
    """Memories whose lines lost their stamps: an ademem that knows none wrote them."""
    problems: tuple[Problem, ...] = ()
    """Problems, whose text stays in the files."""
    refused: tuple[Problem, ...] = ()
    """Problems of valid text that cannot be imported."""
    oversized: tuple[Problem, ...] = ()
    """Problems of text too long to be read, whose files are not written."""
    outdated: tuple[str, ...] = ()
    """Files that git set back to an old rendering: the next one writes them anew."""

    @property
    def count(self) -> int:
        return len({id for kind in KINDS for id in getattr(self, kind)})

    @property
    def summary(self) -> str:
        """One line with the number and ids of the memories; empty for none."""
        parts = []
        for kind in KINDS:
            if ids := getattr(self, kind):
                more = f" and {len(ids) - NAMED_IDS} more" if len(ids) > NAMED_IDS else ""
                parts.append(f"{kind} {', '.join(ids[:NAMED_IDS])}{more}")
        memories = counted(self.count, "memory")
        return f"{memories} from git and hand edits: {'; '.join(parts)}." if parts else ""

    @property
    def advice(self) -> str:
        """Sentence about copies of the files that an older ademem writes; empty for none."""
        lines = counted(len(self.unstamped), "line")
        found = f"{lines} came from an older ademem, which writes no stamps: update it there."
        return found if self.unstamped else ""


class Difference(Value):
    """A difference between the files and the merge base."""

    position: tuple[str, int]
    """The file and the line where a problem is reported."""
    apply: Callable[[ImportContext], None]
    """Imports it."""


class ImportContext:
    """One import: its target, its sources, and its results so far."""

    def __init__(
        self,
        base: MergeBase,
        history: GitHistory,
        store: Store,
        settings: GateSettings,
        now: datetime,
        place: Place | None,
        provenance: Provenance,
        event: str,
    ) -> None:
        self.event = event
        branch = place.branch if place else None
        self.act = Act(store=store, now=now, actor=Trust.IMPORT, branch=branch, event_id=event)
        self.settings = settings
        self.history = history
        self.provenance = provenance
        self.place = place
        self.before = base.texts.digests
        self.done: dict[str, list[str]] = {}
        self.problems: list[Problem] = []
        self.ignored: list[Problem] = []
        """Problems that count as imported without an effect, so that they are reported once."""

    def continue_as(self, event: str) -> None:
        """Make further changes part of this act."""
        self.event = event
        self.act = replace(self.act, event_id=event)

    def pop_results(self) -> tuple[dict[str, list[str]], list[Problem]]:
        found = self.done, self.problems
        self.done, self.problems = {}, []
        return found

    def find(self, id: str | None) -> Memory | None:
        return memory_queries.by_id(self.act.store, id)

    def claim(self, placed: PlacedItem) -> bool:
        """Claim the item; return False if a killed import took it from the same file before."""
        return ledger.claim(self.act.store, SOURCE, self._key(placed), self.act.now)

    def write(self, draft: Draft, placed: PlacedItem) -> None:
        """Pass the item to the gate; a refused one is reported at each import."""
        from ademem.capture import gate  # edits of items need none

        act = self.act
        written = gate.write(draft, act.store, self.settings, act.now, event_id=self.event)
        if written.memory is None:
            ledger.release(act.store, SOURCE, self._key(placed))
            raise CannotDo(f"not kept ({written.rule}): {written.reason}")
        self.note("edited" if written.deduped else "added", written.memory.id)

    def _key(self, placed: PlacedItem) -> str:
        file = self.before.get(placed.path) or sha256_hex("")
        return sha256_hex(placed.path, file, str(placed.item.line), *map(str, placed.values))

    def waits_on(self, id: str | None, key: str | None) -> str | None:
        return self.place.waits_on(id, key) if self.place else None

    def act_of(self, source: Source) -> Act:
        return replace(self.act, actor=source.trust, claimed_author=source.author)

    def edit(self, known: Memory, changes: Mapping[str, Any], source: Source) -> None:
        """Edit the memory; raises CannotDo for instructions, which need a person's command."""
        if not changes:
            return
        order, others = None, dict(changes)
        if changes.keys() & {"title", "content"}:
            title, content = others.pop("title", known.title), others.pop("content", known.content)
            order = order_of(title, content)
        order = order or instruction_in("\n".join(map(str, filter(None, others.values()))))
        if order:
            raise CannotDo(
                f"{known.id} was edited to a text that {order}", "`ademem edit` takes it"
            )
        transitions.edit(known.id, self.act_of(source), self.settings, **changes)
        self.note("edited", known.id)

    def tick(self, known: Record) -> str:
        """Return the stamp of a change of the record that was made in the files."""
        return stamps.tick(self.act.store, self.act.now, above=known.last_stamp)

    def earlier_texts(self, id: str) -> list[str]:
        rows = memories.revisions(self.act.store, id)
        before = (row for row in rows if row["event_id"] != self.event)
        return list(dict.fromkeys(row["snapshot"]["content"] for row in before))

    def note(self, kind: str, id: str) -> None:
        self.done.setdefault(kind, []).append(id)


class Progress:
    """The recorded progress of an import in batches."""

    def __init__(
        self,
        project: Project,
        pause: Callable[[], None] | None = None,
        on_batch: Callable[[int, int], None] | None = None,
    ) -> None:
        """Call *pause* between batches, and *on_batch* with the changes done and in all.

        By default, other writers get PAUSE_S to use the database.
        """
        self._project = project
        self.pause = pause or (lambda: time.sleep(PAUSE_S))
        self._on_batch = on_batch
        self.event = ""
        """The act of all batches."""
        self.done = 0
        """Changes processed."""
        self.changed: dict[str, list[str]] = {}
        """Ids of memories by kind of change."""
        self.problems: list[Problem] = []
        self._total = 0

    @property
    def has_begun(self) -> bool:
        return bool(_read_record(self._project))

    def begin(self, plan: str, waiting: Mapping[str, int], event: str) -> None:
        """Continue the same *plan*, or begin a new one with counts of changes *waiting* by file.

        The act stays the same: changes of an earlier plan are part of it.
        """
        record = _read_record(self._project)
        self._total = sum(waiting.values())
        self.event = event
        for line in record:
            self.event = line.get("event", self.event)
            self._add_changed(line.get("changed", {}))
        files = Counter(dict.fromkeys(waiting, 0))
        for line in record if record and record[0].get("plan") == plan else ():
            files.update(line.get("files", {}))
            self.done += line.get("done", 0)
            self.problems += [
                Problem(path=path, line=number, message=message)
                for path, number, message in line.get("problems", ())
            ]
        head = {"plan": plan, "event": self.event, "waiting": dict(waiting)}
        so_far = _batch(files, self.done, self.changed, self.problems)
        text = "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in (head, so_far))
        confined.write_text(self._project.root, import_path(self._project), text)

    def add_batch(
        self,
        done: Mapping[str, int],
        changed: Mapping[str, list[str]],
        problems: list[Problem],
    ) -> None:
        """Record a batch; *done* counts its changes by file."""
        count = sum(done.values())
        line = _batch(done, count, changed, problems)
        data = json.dumps(line, ensure_ascii=False, separators=(",", ":"))
        confined.append_line(self._project.root, import_path(self._project), data, NO_LIMIT)
        self.done += count
        self.problems += problems
        self._add_changed(changed)
        if self._on_batch:
            self._on_batch(self.done, self._total)

    def end(self) -> None:
        confined.remove(self._project.root, import_path(self._project))

    def _add_changed(self, changed: Mapping[str, list[str]]) -> None:
        for kind, ids in changed.items():
            self.changed.setdefault(kind, []).extend(ids)


def _batch(
    files: Mapping[str, int],
    done: int,
    changed: Mapping[str, list[str]],
    problems: Iterable[Problem],
) -> dict[str, Any]:
    return {
        "files": dict(files),
        "done": done,
        "changed": dict(changed),
        "problems": [[it.path, it.line, it.message] for it in problems],
    }


def hand_over(project: Project) -> None:
    confined.touch(project.root, import_path(project))


def describe_waiting(project: Project) -> list[str]:
    """Describe the lines that wait by file: the rest of a plan, or all lines without one."""
    record = _read_record(project)
    left: Counter[str] = Counter()
    if record and "waiting" in record[0]:
        left.update(record[0]["waiting"])
        for line in record[1:]:
            left.subtract(line.get("files", {}))
    else:
        for path in filter(is_imported, paths_of(project)):
            with suppress(OSError), confined.open_file(project.root, path) as file:
                while part := file.read(PART_BYTES):
                    left[path] += part.count(b"\n")
    waiting = {os.path.basename(path): count for path, count in left.items() if count > 0}
    if len(waiting) > NAMED_FILES:
        count, files = counted(sum(waiting.values()), "line"), counted(len(waiting), "file")
        return [f"{count} of {files} wait for the worker"]
    return [
        f"{counted(count, 'line')} of {name} {'waits' if count == 1 else 'wait'} for the worker"
        for name, count in sorted(waiting.items())
    ]


def _read_record(project: Project) -> list[dict[str, Any]]:
    """Read the record up to a last line that was cut off."""
    found: list[dict[str, Any]] = []
    try:
        with confined.open_file(project.root, import_path(project)) as file:
            for raw in file:
                line = json.loads(raw)
                if not isinstance(line, dict):
                    break
                found.append(line)
    except (OSError, ValueError):
        pass
    return found
