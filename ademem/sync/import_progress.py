"""An import of files that goes on in batches: what it was planned from, and how far it came.

`run/import` has a line for the plan and one for each batch, so that whoever goes on, after a kill
or in another process, begins behind the last batch. Without a plan it says that an import waits.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from contextlib import suppress

from ademem.core import confined
from ademem.core.text import counted
from ademem.core.value import Value
from ademem.core.worktree import import_path
from ademem.files.reading import is_imported
from ademem.files.texts import Problem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any

    from ademem.core.project import Project


KINDS = ("added", "edited", "promoted", "rejected", "archived", "restored")
NAMED_IDS = 5
"""Memories of one kind that the summary names."""


class ImportReport(Value):
    """Ids of the memories that the files changed, by what became of them."""

    event: str = ""
    """The act that `ademem undo` takes back."""
    added: tuple[str, ...] = ()
    edited: tuple[str, ...] = ()
    promoted: tuple[str, ...] = ()
    rejected: tuple[str, ...] = ()
    archived: tuple[str, ...] = ()
    restored: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()
    """What was not understood, left in the files as it is."""
    refused: tuple[Problem, ...] = ()
    """Those of them that were understood, and cannot be taken over."""
    oversized: tuple[Problem, ...] = ()
    """Those that were too long to be read: the files that have them are not written."""

    @property
    def count(self) -> int:
        return len({id for kind in KINDS for id in getattr(self, kind)})

    @property
    def summary(self) -> str:
        """One line: how many memories came with the files, and which; empty for none."""
        if not self.count:
            return ""
        told = [f"{kind} {_list_ids(getattr(self, kind))}" for kind in KINDS if getattr(self, kind)]
        return f"{counted(self.count, 'memory')} from git and hand edits: {'; '.join(told)}."


def _list_ids(ids: tuple[str, ...]) -> str:
    more = f" and {len(ids) - NAMED} more" if len(ids) > NAMED_IDS else ""
    return ", ".join(ids[:NAMED_IDS]) + more


NAMED = 5
"""Files that are named with what waits in them; more are summed up."""
PART_BYTES = 1 << 20


class Progress:
    def __init__(
        self,
        project: Project,
        pause: Callable[[], None] = lambda: None,
        tell: Callable[[int, int], None] | None = None,
    ) -> None:
        """Call *pause* between two batches, and *tell* how many of how many changes are in."""
        self._project = project
        self.pause = pause
        self.tell = tell
        self.event = ""
        """The act that all batches are one of."""
        self.done = 0
        """Changes that were looked at."""
        self.late_done = 0
        """Of those that had to wait for the others, how many are in."""
        self.late: set[int] = set()
        """Numbers of those that have to wait."""
        self.changed: dict[str, list[str]] = {}
        """Ids of memories by what became of them."""
        self.problems: list[Problem] = []
        self.total = 0

    @property
    def is_begun(self) -> bool:
        return bool(_lines(self._project))

    def begin(self, plan: str, waiting: Mapping[str, int], event: str) -> None:
        """Go on with the same *plan*, or begin a new one that counts what is *waiting* by file.

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
        """Note what one batch did; *done* counts its changes by file."""
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
        """The files were taken over, and that is noted."""
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
    """Leave the import to the worker; the hooks after this one leave it alone."""
    confined.touch(project.root, import_path(project))


def in_words(project: Project) -> list[str]:
    """How much of each file waits: of a plan what is left, else all the lines there are."""
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
    """What was noted; a last line that was cut off is none."""
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
