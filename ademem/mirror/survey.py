"""What every file of the mirror should say, and what it says."""

from __future__ import annotations

from ademem import confined, core
from ademem.core import BadCore
from ademem.mirror import base, entry, pages, selection, sheet, written
from ademem.mirror.reading import is_taken
from ademem.mirror.staging import Place
from ademem.store import made_at
from ademem.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ademem.core import CoreMemory
    from ademem.mirror.problem import Problem
    from ademem.project import Project
    from ademem.settings import MirrorSettings
    from ademem.store import Store

CORE = ".ade/cto/core-memory.json"

NOT_TEXT = "\0"
"""What a file reads as that is not UTF-8, or is refused."""


class File(Value):
    """One file of the mirror, by its path in the project."""

    path: str
    wanted: str | None = None
    """None: we wrote it once, and it is not needed any more."""
    present: str | None = None
    """None: there is no such file."""
    ours: bool = True
    """There is none, or it is as we wrote it."""

    @property
    def settled(self) -> bool:
        return self.wanted == self.present


def survey(
    project: Project,
    store: Store,
    settings: MirrorSettings,
    taken: Mapping[str, str] = {},
    place: Place | None = None,
    refused: Sequence[Problem] = (),
) -> tuple[File, ...]:
    """Every file that is wanted or was written by us, by its path; nothing is changed.

    *taken* are texts, by path, whose changes the store has by now: they count as ours. Lines that
    it *refused*, now or before, stay.
    """
    place = place or Place(project, settings)
    document, core_file = _core(project, store)
    texts = present(project)
    readable = {path: text for path, text in texts.items() if text != NOT_TEXT}
    lines = selection.lines_of(store, place)
    gone = list(selection.gone_of(store, place, pages.buried(readable)))

    def kept() -> set[str]:
        return refused_lines(taken, refused) | {*base.load(project, made_at(store)).refused}

    wanted = pages.render(lines, document, readable, settings, gone, kept)
    page = candidates(store, settings, readable.get(pages.SHEET), place)
    if page:
        wanted[pages.SHEET] = page
    before = written.load(project)
    found = [core_file]
    known = wanted.keys() | before.keys() | set(filter(is_taken, taken))
    for path in (known | texts.keys() & {pages.SHEET}) - {CORE}:
        there = texts.get(path)
        if there is None and confined.refusal(project.root, path):
            there = NOT_TEXT
        ours = (
            there is None
            or there == taken.get(path)
            or written.fingerprint(path, there) in before.get(path, ())
        )
        found.append(File(path=path, wanted=wanted.get(path), present=there, ours=ours))
    return tuple(sorted(found, key=lambda file: file.path))


def refused_lines(taken: Mapping[str, str], refused: Sequence[Problem]) -> set[str]:
    """The lines among what was read that could not be taken over."""
    lines = entry.lines_of(taken.get(pages.LINES, ""))
    return {lines[it.line - 1] for it in refused if it.path == pages.LINES and it.line}


def candidates(
    store: Store, settings: MirrorSettings, there: str | None, place: Place
) -> str | None:
    """The sheet; where it is not asked for, what the one that is *there* still offers, or none."""
    if not settings.candidates and there is None:
        return None
    old = sheet.read(there or "")
    waiting = selection.offered(store, place)
    if not settings.candidates:
        waiting = [memory for memory in waiting if memory.id in old.offered]
    needed = settings.candidates or waiting or old.loose
    return sheet.written(sheet.of(waiting[: settings.topic_entries], old)) if needed else None


def present(project: Project) -> dict[str, str]:
    """The files that are there and may be of the mirror, by their path; NOT_TEXT for odd bytes."""
    try:
        names = confined.names(project.root, project.memory)
    except OSError:
        names = []
    paths = [pages.FOLDER + name for name in names if name.endswith((".md", ".jsonl"))]
    texts = {path: _read(project, path) for path in (*paths, pages.BRIEF)}
    return {path: text for path, text in texts.items() if text is not None}


def _core(project: Project, store: Store) -> tuple[CoreMemory | None, File]:
    """The brief and its file, which is ours whoever changed it, for its changes are taken over."""
    present = _read(project, CORE)
    try:
        document, ours = core.newest(store, project), True
    except BadCore:
        document, ours = core.load(store), False
    wanted = core.file_text(document) if document else present
    return document, File(path=CORE, wanted=wanted, present=present, ours=ours)


def _read(project: Project, path: str) -> str | None:
    try:
        return confined.read_text(project.root, path)
    except (UnicodeDecodeError, OSError):
        return NOT_TEXT
