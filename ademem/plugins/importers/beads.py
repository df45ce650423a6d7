"""Import the knowledge files of a Beads project, also damaged and half-merged ones.

Beads reads its archive and its live file together, and of two lines with one key the one with the
newer `ts`; a text that was learned again is in them twice.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from ademem.capture import learned
from ademem.capture.learned import Lesson, draft_of
from ademem.core import confined
from ademem.core.clock import UTC, datetime
from ademem.core.errors import UsageError, suppress
from ademem.core.memory import Draft, Origin, Trust
from ademem.core.project import Project
from ademem.core.redaction import redact
from ademem.core.settings import GateSettings
from ademem.core.text import unique
from ademem.core.value import Value, as_dict, replace
from ademem.files import records
from ademem.files.records import Import, Imported, text, texts, unix_moment
from ademem.files.texts import BadLine
from ademem.store import Store

Record = dict[str, Any]


FILES = ("knowledge.archive.jsonl", "knowledge.jsonl")
FOLDERS = ("", "memory", ".beads/memory")
NOT_IMPORTED = "not-imported.jsonl"
SOURCES = ("orchestrator", "supervisor")
OLDEST = datetime.fromtimestamp(0, UTC)
KEY_BYTES = 60
"""Bytes of a text that Beads makes a key of."""

_MARKER = re.compile(r"(<{7}|\|{7}|={7}|>{7})(?: |$)")


class Line(Value):
    path: str
    number: int
    text: str
    record: Record | None = None
    fault: str = ""


class Misread(Value):
    path: str
    line: int
    message: str
    text: str


class ImportedFiles(Imported):
    misread: tuple[Misread, ...] = ()


def import_files(
    source: str, store: Store, settings: GateSettings, now: datetime, event: str = ""
) -> ImportedFiles:
    """Import a project, a folder or a file of Beads in one act, oldest first; raises UsageError."""
    job = Import(store=store, settings=settings, now=now, event_id=event, cuts=[])
    lines = [line for root, path in _find_sources(source) for line in _read_lines(path, root)]
    counts: Counter[str] = Counter()
    misread: list[Misread] = []
    with store.transaction():
        for line in sorted(lines, key=_moment_of):
            try:
                counts[_import_line(line, job)] += 1
                misread += [_misread(line, cut) for cut in job.take_cuts()]
            except BadLine as error:
                misread.append(_misread(line, str(error)))
    misread.sort(key=lambda one: (one.path, one.line))
    errors = tuple((one.line, f"{one.path}: {one.message}") for one in misread)
    return ImportedFiles(event=event, errors=errors, misread=tuple(misread), **counts)


def _moment_of(line: Line) -> datetime:
    return (line.record and unix_moment(line.record)) or OLDEST


def _import_line(line: Line, job: Import) -> str:
    if line.record is None:
        raise BadLine(line.fault)
    key = records.key_of(line.record)
    return records.write_once(key, _draft(line.record), None, job).value


def save_misread(misread: Iterable[Misread], project: Project) -> None:
    path = os.path.join(project.log, NOT_IMPORTED)
    if rows := [json.dumps(as_dict(one), ensure_ascii=False) + "\n" for one in misread]:
        confined.write_text(project.root, path, "".join(rows), mode=0o600)
    else:
        confined.remove(project.root, path)


def fits(path: str) -> bool:
    if not os.path.isdir(path) and os.path.basename(path) not in FILES:
        return False
    with suppress(UsageError):
        root, newest = _find_sources(path)[-1]
        first = next(_read_lines(newest, root), None)
        found = (first and first.record) or {}
        return "key" in found and "sync_id" not in found  # our own lines have both
    return False


def _find_sources(source: str) -> list[tuple[str, str]]:
    """Return files, each behind the folder below which no link is followed; "" for a named one."""
    if not os.path.isdir(source):
        return [("", source)]
    root = os.path.realpath(source)
    for folder in FOLDERS:
        paths = [os.path.join(root, folder, name) for name in FILES]
        if found := [(root, path) for path in paths if confined.is_file(root, path)]:
            return found
    raise UsageError(f"no {FILES[1]} in {source}", "name the project, its .beads, or the file")


def _read_lines(path: str, root: str) -> Iterator[Line]:
    try:
        with confined.open_file(root, path) if root else open(path, "rb") as file:
            raw = file.read().removeprefix(b"\xef\xbb\xbf")
    except OSError as error:
        fault = f"cannot read {path}: {error.strerror or error}"
        raise UsageError(fault, "name a file or a folder") from error
    for number, one in enumerate(raw.split(b"\n"), 1):
        if one.strip():
            yield _parse_line(path, number, one)


def _parse_line(path: str, number: int, raw: bytes) -> Line:
    content = raw.decode("utf-8", "replace").strip()
    line = Line(path=path, number=number, text=content)
    if _MARKER.match(content):
        return replace(line, fault="marks a conflict of a merge; the lines of both sides are read")
    if "\ufffd" in content and "\ufffd".encode() not in raw:
        return replace(line, fault="is not UTF-8")
    try:
        return replace(line, record=records.read(content))
    except BadLine as error:
        return replace(line, fault=str(error))


def _misread(line: Line, message: str) -> Misread:
    name = os.path.basename(line.path)
    return Misread(path=name, line=line.number, message=message, text=redact(line.text).text)


def _draft(record: Record) -> Draft:
    """Make the draft that the same lesson learned here would make."""
    kind = (text(record, "type") or "").upper()
    content, key = record["content"], text(record, "key")
    if key is not None:
        # Beads makes a key of a text without one; without Latin letters it is empty.
        head = content.encode()[:KEY_BYTES].decode("utf-8", "ignore").lower()
        if key.partition("-")[2] == re.sub(r"[^a-z0-9]+", "-", head).strip("-"):
            key = None
    lesson = Lesson(
        content=content,
        prefix=kind if kind in learned.CATEGORY else "LEARNED",
        bead=text(record, "bead"),
        key=key,
        tags=unique(tag for tag in texts(record, "tags") if tag not in learned.VOCABULARY),
    )
    source = text(record, "source")
    origin = Origin(trust=Trust.IMPORT, source_type=source if source in SOURCES else records.SOURCE)
    return replace(draft_of(lesson, origin), created_at=unix_moment(record))
