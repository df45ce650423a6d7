"""Compare the wanted text of each tracked file with the present one."""

from __future__ import annotations

import io
import json
import os
from itertools import islice

from ademem.core import confined
from ademem.core.text import sha256_hex
from ademem.core.value import Value
from ademem.files import index, pages, project_brief, review_sheet, selection
from ademem.files.branches import Place
from ademem.files.pages import INDEX
from ademem.files.project_brief import BadCore
from ademem.files.snapshot import is_imported
from ademem.files.texts import OVERSIZE, Texts, lines_of
from ademem.store import made_at
from ademem.sync import merge_base

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import BinaryIO

    from ademem.core.project import Project
    from ademem.core.settings import MirrorSettings
    from ademem.files.project_brief import CoreMemory
    from ademem.files.texts import Problem
    from ademem.store import Store


CORE = ".ade/cto/core-memory.json"

NOT_TEXT = "\0"
"""The text in place of a file that is not UTF-8, or is refused."""

BLOCK_CHARS = 1024 * 1024
"""Characters that are read at once."""
LINE_CHARS = 256 * 1024
"""Characters of the longest line that is read."""


class File(Value):
    """A tracked file, by its path in the project."""

    path: str
    wanted: str | None = None
    """None: it is to be removed."""
    present: str | None = None
    """None: it does not exist."""
    ours: bool = True
    """True if it does not exist, or is as ademem wrote it."""

    @property
    def settled(self) -> bool:
        return self.wanted == self.present


def survey(
    project: Project,
    store: Store,
    settings: MirrorSettings,
    taken: Texts | None = None,
    place: Place | None = None,
    refused: Sequence[Problem] = (),
) -> tuple[File, ...]:
    """Return each file that is wanted or was written by ademem, by path; change nothing.

    *taken* are texts, by path, whose changes the store has by now: they count as ours. Lines that
    it *refused*, now or before, stay.
    """
    place = place or Place(project, settings)
    taken = taken or Texts(lambda _: None)
    document, core_file = _core(project, store)
    texts = present(project)
    readable = readable_of(texts)
    lines = selection.Lines(store, place)
    gone = list(selection.tombstones_of(store, place, pages.list_tombstones(readable)))

    def kept() -> set[str]:
        return refused_lines(taken, refused) | {*merge_base.load(project, made_at(store)).refused}

    wanted = pages.render(lines, document, readable, settings, gone, kept)
    page = candidates(store, settings, readable.get(pages.SHEET), place)
    if page:
        wanted[pages.SHEET] = page
    before = load_fingerprints(project)
    found = [core_file]
    known = wanted.keys() | before.keys() | set(filter(is_imported, taken))
    for path in (known | texts.digests.keys() & {pages.SHEET}) - {CORE}:
        want = wanted.get(path)
        same = want is not None and texts.digests.get(path) == sha256_hex(want)
        there = want if same else texts.get(path)  # one text in memory, not two
        if there is None and confined.refusal(project.root, path):
            there = NOT_TEXT
        ours = there is None or (
            OVERSIZE not in there
            and (
                (path in taken and texts.digests[path] == taken.digests[path])
                or fingerprint(path, there) in before.get(path, ())
            )
        )
        found.append(File(path=path, wanted=want, present=there, ours=ours))
    return tuple(sorted(found, key=lambda file: file.path))


def refused_lines(taken: Texts, refused: Sequence[Problem]) -> set[str]:
    """Return the lines that could not be imported."""
    numbers = {it.line for it in refused if it.path == pages.LINES and it.line}
    if not numbers or pages.LINES not in taken:
        return set()
    lines = enumerate(lines_of(taken, pages.LINES), 1)
    return {line for number, line in lines if number in numbers}


def candidates(
    store: Store, settings: MirrorSettings, there: str | None, place: Place
) -> str | None:
    """Render the sheet; where it is turned off, only what the one that is *there* still offers."""
    if not settings.candidates and there is None:
        return None
    if there and OVERSIZE in there:
        return there  # part of it could not be read, so that it stays as it is
    old = review_sheet.parse_sheet(there or "")
    shown = frozenset(old.offered)
    offered = selection.each_offered(store, place)
    asked = (memory for memory in offered if settings.candidates or memory.id in shown)
    waiting = list(islice(asked, settings.topic_entries))
    needed = settings.candidates or waiting or old.loose
    return review_sheet.render_sheet(review_sheet.make_sheet(waiting, old)) if needed else None


def present(project: Project) -> Texts:
    """Read the files that may be tracked ones, by path; NOT_TEXT for other encodings.

    A line that is too long reads as OVERSIZE and its size, and so does a file that is too large.
    """
    texts = Texts(lambda path: _read(project, path), stream=lambda path: _stream(project, path))
    for path in (*paths_of(project), pages.BRIEF):
        try:
            texts.add_streamed(path)
        except FileNotFoundError:
            continue
        except (UnicodeDecodeError, OSError):
            texts.add(path, NOT_TEXT)
    return texts


def paths_of(project: Project) -> list[str]:
    """List paths of files that may be pages or lines."""
    try:
        names = confined.names(project.root, project.memory)
    except OSError:
        return []
    return [pages.FOLDER + name for name in names if name.endswith((".md", ".jsonl"))]


def readable_of(texts: Texts) -> Texts:
    """Return those that are text."""
    odd = sha256_hex(NOT_TEXT)
    return texts.only(path for path, digest in texts.digests.items() if digest != odd)


def _core(project: Project, store: Store) -> tuple[CoreMemory | None, File]:
    """Return the brief and its file, which counts as ours: its edits are imported."""
    present = _read(project, CORE)
    try:
        document, ours = project_brief.newest(store, project), True
    except BadCore:
        document, ours = project_brief.load(store), False
    wanted = project_brief.file_text(document) if document else present
    return document, File(path=CORE, wanted=wanted, present=present, ours=ours)


def _read(project: Project, path: str) -> str | None:
    try:
        return "".join(_stream(project, path))
    except FileNotFoundError:
        return None
    except (UnicodeDecodeError, OSError):
        return NOT_TEXT


def _stream(project: Project, path: str) -> Iterator[str]:
    with confined.open_file(project.root, path) as file:
        yield from _clipped(file, confined.limit_of(project.root, path))


def _clipped(file: BinaryIO, most: int) -> Iterator[str]:
    """Yield the text in parts."""
    size = os.fstat(file.fileno()).st_size
    if size > most:
        yield f"{OVERSIZE}{size} of {most}"
        return
    if size <= LINE_CHARS:
        yield file.read(most + 1).decode("utf-8")
        return
    lines = io.TextIOWrapper(file, encoding="utf-8", newline="")
    block: list[str] = []
    room = BLOCK_CHARS
    while part := lines.readline(LINE_CHARS + 1):
        room -= len(part)
        if room < 0:
            yield "".join(block)
            block, room = [], BLOCK_CHARS
        if len(part) <= LINE_CHARS or part[-1] in "\r\n":
            block.append(part)
            continue
        length = len(part.encode())
        while part and part[-1] not in "\r\n":
            part = lines.readline(LINE_CHARS + 1)
            length += len(part.rstrip("\r\n").encode())
        end = part[len(part.rstrip("\r\n")) :]
        block.append(f"{OVERSIZE}{length} of {LINE_CHARS}{end}")
    lines.detach()
    yield "".join(block)


def load_fingerprints(project: Project) -> dict[str, list[str]]:
    """Read the fingerprints by path; with a damaged record every file counts as changed."""
    try:
        recorded = json.loads(confined.read_text(project.root, _fingerprints_path(project)) or "{}")
        return {str(path): list(prints) for path, prints in recorded.items()}
    except (ValueError, AttributeError, TypeError, confined.Refused):
        return {}


def save_fingerprints(project: Project, prints: Mapping[str, list[str]]) -> None:
    """Write the fingerprints; a path that is being written has two."""
    text = json.dumps(prints, indent=0, sort_keys=True) + "\n"
    confined.write_text(project.root, _fingerprints_path(project), text)


def fingerprint(path: str, text: str) -> str:
    """Digest a text; of the index without its hand-written regions."""
    return sha256_hex(index.text_outside(text) if path == INDEX else text)


def _fingerprints_path(project: Project) -> str:
    return os.path.join(project.run, "mirror.json")
