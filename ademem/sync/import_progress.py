"""The report of an import, and the progress of one that runs in batches.

`run/import` has a line for the plan and one for each batch, so that whoever goes on, after a kill
or in another process, begins behind the last batch. Without a plan it says that an import waits.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from contextlib import suppress

from ademem.core import confined
from ademem.core.project import import_path
from ademem.core.text import counted
from ademem.core.value import Value
from ademem.files.snapshot import is_imported
from ademem.files.texts import Problem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any

    from ademem.core.project import Project


KINDS = ("added", "edited", "promoted", "rejected", "archived", "restored")
NAMED_IDS = 5
"""Ids of one kind in the summary."""


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
    problems: tuple[Problem, ...] = ()
    """Problems, whose text stays in the files."""
    refused: tuple[Problem, ...] = ()
    """Problems of valid text that cannot be imported."""
    oversized: tuple[Problem, ...] = ()
    """Problems of text too long to be read, whose files are not written."""

    @property
    def count(self) -> int:
        return len({id for kind in KINDS for id in getattr(self, kind)})

    @property
    def summary(self) -> str:
        """One line with the number and ids of the memories; empty for none."""
        if not self.count:
            return ""
        told = [f"{kind} {_list_ids(getattr(self, kind))}" for kind in KINDS if getattr(self, kind)]
        return f"{counted(self.count, 'memory')} from git and hand edits: {'; '.join(told)}."


def _list_ids(ids: tuple[str, ...]) -> str:
    more = f" and {len(ids) - NAMED_IDS} more" if len(ids) > NAMED_IDS else ""
    return ", ".join(ids[:NAMED_IDS]) + more


NAMED = 5
"""Files that are named with their waiting lines; more are summed up."""
PART_BYTES = 1 << 20


class Progress:
    def __init__(
        self,
        project: Project,
        pause: Callable[[], None] = lambda: None,
        tell: Callable[[int, int], None] | None = None,
    ) -> None:
        """Call *pause* between batches, and *tell* with the number of changes done and in all."""
        self._project = project
        self.pause = pause
        self.tell = tell
        self.event = ""
        """The act of all batches."""
        self.done = 0
        """Changes processed."""
        self.late_done = 0
        """Changes processed that had to wait for the others."""
        self.late: set[int] = set()
        """Numbers of changes that wait for the others."""
        self.changed: dict[str, list[str]] = {}
        """Ids of memories by kind of change."""
        self.problems: list[Problem] = []
        self.total = 0

    @property
    def is_begun(self) -> bool:
        return bool(_lines(self._project))

    def begin(self, plan: str, waiting: Mapping[str, int], event: str) -> None:
        """Continue the same *plan*, or begin a new one with counts of changes *waiting* by file.

        The act stays the same: what came of an earlier plan is part of it.
        """
        there = _lines(self._project)
        self.total = sum(waiting.values())
        self.event = event
        for line in there:
            self.event = line.get("event", self.event)
            for kind, ids in line.get("changed", {}).items():
                self.changed.setdefault(kind, []).extend(ids)
        known = there[0].get("plan") if there else None
        for line in there if known == plan else ():
            self.done += line.get("done", 0)
            self.late_done += line.get("late_done", 0)
            self.late |= set(line.get("late", ()))
            self.problems += [
                Problem(path=path, line=number, message=message)
                for path, number, message in line.get("problems", ())
            ]
        head = {"plan": plan, "event": self.event, "waiting": dict(waiting)}
        self._write([head, self._so_far(waiting, there if known == plan else ())])

    def batch(
        self,
        done: Mapping[str, int],
        late: Iterable[int],
        late_done: int,
        changed: Mapping[str, list[str]],
        problems: list[Problem],
    ) -> None:
        """Record a batch; *done* counts its changes by file."""
        count = sum(done.values())
        line = {
            "files": dict(done),
            "done": count,
            "late": list(late),
            "late_done": late_done,
            "changed": changed,
            "problems": [[it.path, it.line, it.message] for it in problems],
        }
        data = json.dumps(line, ensure_ascii=False, separators=(",", ":"))
        confined.append_line(self._project.root, import_path(self._project), data, 1 << 40)
        self.done += count
        self.problems += problems
        for kind, ids in changed.items():
            self.changed.setdefault(kind, []).extend(ids)
        if self.tell:
            self.tell(self.done, self.total)

    def end(self) -> None:
        """Remove the record of a complete import."""
        confined.remove(self._project.root, import_path(self._project))

    def _so_far(self, waiting: Mapping[str, int], there: Iterable[Mapping[str, Any]]) -> Any:
        files = dict.fromkeys(waiting, 0)
        for line in there:
            for path, count in line.get("files", {}).items():
                files[path] = files.get(path, 0) + count
        return {
            "files": files,
            "done": self.done,
            "late": sorted(self.late),
            "late_done": self.late_done,
            "changed": self.changed,
            "problems": [[it.path, it.line, it.message] for it in self.problems],
        }

    def _write(self, lines: Iterable[Any]) -> None:
        text = "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines)
        confined.write_text(self._project.root, import_path(self._project), text)


def hand_over(project: Project) -> None:
    """Leave the import to the worker; later hooks do not try it."""
    confined.touch(project.root, import_path(project))


def in_words(project: Project) -> list[str]:
    """Describe what waits by file: the rest of a plan, or all lines without one."""
    lines = _lines(project)
    if lines and "waiting" in lines[0]:
        left = Counter(lines[0]["waiting"])
        for line in lines[1:]:
            left.subtract(line.get("files", {}))
    else:
        left = _lines_of_files(project)
    waiting = {os.path.basename(path): count for path, count in left.items() if count > 0}
    if len(waiting) > NAMED:
        count, files = counted(sum(waiting.values()), "line"), counted(len(waiting), "file")
        return [f"{count} of {files} wait for the worker"]
    return [
        f"{counted(count, 'line')} of {name} {'waits' if count == 1 else 'wait'} for the worker"
        for name, count in sorted(waiting.items())
    ]


def _lines_of_files(project: Project) -> Counter[str]:
    from ademem.sync.survey import paths_of

    found: Counter[str] = Counter()
    for path in filter(is_imported, paths_of(project)):
        with suppress(OSError), confined.open_file(project.root, path) as file:
            while part := file.read(PART_BYTES):
                found[path] += part.count(b"\n")
    return found


def _lines(project: Project) -> list[dict[str, Any]]:
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


def _path(project: Project) -> str:
    return os.path.join(project.run, "import")
