"""Copies of the files, made before a refresh removes a page or most entries."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence

from ademem.core import confined, regex
from ademem.core.errors import suppress
from ademem.core.project import Project
from ademem.files import LINE_FILES
from ademem.files.snapshot import item_ids, topic_of
from ademem.store import Store, ledger
from ademem.sync.tracked_files import NOT_TEXT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ademem.sync.mirror import File

NAME = "before-"
MOST_COPIES = 3
LEAST_ENTRIES = 10
"""Entries from which the removal of more than half of them is copied first."""

_LINE_ID = regex.compile(r'"id":"([\w-]+)"')


def copy_before(project: Project, store: Store, due: Sequence[File]) -> str:
    """Copy the files if the *due* ones lose much; return the folder, empty for none."""
    if not _lose_much(due):
        return ""
    last = max(_numbers(project), default=0)
    folder = os.path.join(project.run, f"{NAME}{last + 1}")
    for name, _ in confined.entries(project.root, project.memory):
        path = os.path.join(project.memory, name)
        with suppress(confined.Refused):  # it was not read, and stays as it is
            content = confined.read_bytes(project.root, path) or b""
            confined.write_bytes(project.root, os.path.join(folder, name), content)
    for number in sorted(_numbers(project))[:-MOST_COPIES]:
        confined.remove_folder(project.root, os.path.join(project.run, f"{NAME}{number}"))
    copied = os.path.relpath(folder, project.root)
    ledger.note_copy(store, project.root, copied)
    return copied


def _lose_much(due: Iterable[File]) -> bool:
    """That is a page, or more than half of at least LEAST_ENTRIES entries on pages or in lines."""
    changed = [file for file in due if file.present not in (None, NOT_TEXT)]
    if any(file.wanted is None and topic_of(file.path) for file in changed):
        return True
    return _loses_most(changed, lines=False) or _loses_most(changed, lines=True)


def _loses_most(changed: Iterable[File], lines: bool) -> bool:
    chosen = [file for file in changed if (file.path in LINE_FILES) == lines]
    gone = {id for file in chosen for id in _entry_ids(file.path, _lines_gone(file))}
    if 2 * len(gone) <= LEAST_ENTRIES:
        return False
    present = {id for file in chosen for id in _entry_ids(file.path, file.present or "")}
    wanted = {id for file in chosen for id in _entry_ids(file.path, file.wanted or "")}
    return len(present) >= LEAST_ENTRIES and 2 * len(present - wanted) > len(present)


def _lines_gone(file: File) -> str:
    present, wanted = ((text or "").split("\n") for text in (file.present, file.wanted))
    return "\n".join({*present}.difference(wanted))


def _entry_ids(path: str, text: str) -> Iterator[str]:
    if path in LINE_FILES:
        return (found[1] for found in _LINE_ID.finditer(text))
    return item_ids(text) if topic_of(path) else iter(())


def _numbers(project: Project) -> list[int]:
    names = confined.names(project.root, project.run)
    found = (name.removeprefix(NAME) for name in names if name.startswith(NAME))
    return [int(number) for number in found if number.isdecimal()]
