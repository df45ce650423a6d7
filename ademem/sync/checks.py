"""Check that the files are valid and equal to the store."""

from __future__ import annotations

import json
import os
import re

from ademem.core import confined, git
from ademem.core.memory import MAX_TITLED_BYTES, Category
from ademem.core.redaction import redact
from ademem.core.settings import GateSettings
from ademem.core.text import unique
from ademem.core.value import Value
from ademem.files import knowledge, markdown, pages, project_brief, review_sheet, selection
from ademem.files.branches import Place
from ademem.files.project_brief import BadCore
from ademem.files.snapshot import conflict_lines, is_imported, oversized
from ademem.files.texts import OVERSIZE, Problem
from ademem.store import admission
from ademem.sync.survey import CORE, NOT_TEXT, survey

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from ademem.core.memory import Memory
    from ademem.core.project import Project
    from ademem.core.settings import MirrorSettings
    from ademem.files.markdown import Entry
    from ademem.store import Store
    from ademem.sync.import_progress import ImportReport
    from ademem.sync.survey import File


def no_secrets(subject: Subject) -> Iterator[Problem]:
    """Report secrets by line, or by file where several lines make one."""
    for path, text in subject.texts.items():
        found = redact(text).found
        if not found:
            continue
        lines = ((number, redact(line).found) for number, line in enumerate(text.split("\n"), 1))
        named: list[tuple[int | None, tuple[str, ...]]] = [line for line in lines if line[1]]
        for number, names in named or [(None, found)]:
            message = (
                f"has what looks like a secret ({', '.join(unique(names))}); take it out, and"
                " renew it if it was pushed"
            )
            yield Problem(path=path, line=number, message=message)


def nobodys_own_lines(subject: Subject) -> Iterator[Problem]:
    """Report lines of agents and missions: files hold memories of the project alone."""
    for path in (pages.LINES, pages.FOLDER + knowledge.ARCHIVE):
        for number, raw in enumerate(subject.texts.get(path, "").splitlines(), 1):
            scope = _scope(raw)
            if scope not in (None, "project"):
                message = f"is of the scope {scope!r}; only what is the project's belongs here"
                yield Problem(path=path, line=number, message=message)


def nobodys_own_files(subject: Subject) -> Iterator[Problem]:
    """Report tracked files that `.ade/.gitignore` excludes."""
    for path in _tracked_though_ignored(subject.project):
        message = f"belongs to one machine and is in git; `git rm --cached {path}` takes it out"
        yield Problem(path=path, line=None, message=message)


def _scope(raw: str) -> object:
    try:
        record = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    return record.get("scope") if isinstance(record, dict) else None


def _tracked_though_ignored(project: Project) -> list[str]:
    """List the paths; none without git."""
    options = ("-z", "--cached", "--ignored", "--exclude-standard")
    listed = git.text(project.root, "ls-files", *options, "--", ".ade", timeout_s=git.LONG_S)
    return [path for path in listed.split("\0") if path]


LINES = (pages.FOLDER + knowledge.LIVE, pages.FOLDER + knowledge.ARCHIVE)
SHAPE = {
    "key": str,
    "type": str,
    "content": str,
    "source": str,
    "tags": list,
    "ts": int,
    "bead": str,
    "id": str,
}
"""Fields of a line, with their types."""

MISREAD = "was not understood"
REFRESH = "`ademem files refresh`"
PUT = "put a regular file or folder of your own there, or remove it"


class Subject(Value):
    """The input of the checks."""

    project: Project
    settings: MirrorSettings
    lines: tuple[Memory, ...]
    """The memories that may have lines."""
    offered: tuple[Memory, ...]
    """The candidates that the sheet may offer."""
    files: tuple[File, ...]
    bounds: GateSettings
    fresh: bool
    """True if the store was made from these files alone."""

    @property
    def texts(self) -> dict[str, str]:
        """The texts of the readable files."""
        return {
            file.path: file.present
            for file in self.files
            if file.present is not None and file.present != NOT_TEXT
        }


def check(
    project: Project,
    store: Store,
    settings: MirrorSettings,
    bounds: GateSettings | None = None,
    *,
    read: ImportReport | None = None,
) -> tuple[Problem, ...]:
    """Return all problems; without any, a refresh would write nothing.

    With *read* the store is what these files made of an empty one: then they cannot be behind it.
    """
    place = Place(project, settings)
    subject = Subject(
        project=project,
        settings=settings,
        lines=tuple(selection.lines_of(store, place)),
        offered=tuple(selection.list_offered(store, place)),
        files=survey(project, store, settings, place=place),
        bounds=bounds or GateSettings(),
        fresh=read is not None,
    )
    found = [problem for look in CHECKS for problem in look(subject)]
    return tuple(found) if read is None else _together(found, read.problems)


def _together(found: Iterable[Problem], told: Iterable[Problem]) -> tuple[Problem, ...]:
    """Sort by file and line; a reason replaces the bare report that a line was misread."""
    reasons = {(problem.path, problem.line): problem for problem in told}
    kept = [
        problem
        for problem in found
        if (problem.path, problem.line) not in reasons or not problem.message.endswith(MISREAD)
    ]
    both = dict.fromkeys((*kept, *reasons.values()))
    return tuple(sorted(both, key=lambda problem: (problem.path, problem.line or 0)))


def up_to_date(subject: Subject) -> Iterator[Problem]:
    for file in () if subject.fresh else subject.files:
        if file.settled or (file.path == CORE and not file.ours):
            continue
        if OVERSIZE in (file.present or ""):  # `readable_lines` tells where
            continue
        if _is_refused(subject, file.path):
            continue
        if file.present is None:
            message = f"is missing; {REFRESH} writes it"
            yield Problem(path=file.path, line=None, message=message, passes=True)
        elif file.present == NOT_TEXT:
            message = f"is not UTF-8 text; delete it, then {REFRESH}"
            yield Problem(path=file.path, line=None, message=message)
        elif file.ours:
            act = "removes" if file.wanted is None else "updates"
            message = f"is out of date; {REFRESH} {act} it"
            yield Problem(path=file.path, line=None, message=message, passes=True)
        else:
            way = (
                "`ademem files import` takes it over"
                if is_imported(file.path)
                else f"{REFRESH[:-1]} --force` overwrites it"
            )
            message = f"was edited by hand; {way}"
            line = _first_difference(file.present, file.wanted or "")
            yield Problem(path=file.path, line=line, message=message)


def readable_brief(subject: Subject) -> Iterator[Problem]:
    if _is_refused(subject, CORE):
        return
    try:
        project_brief.read_file(subject.project)
    except BadCore as error:
        yield Problem(path=CORE, line=None, message=f"{error}; {error.hint}")


def of_one_machine(subject: Subject) -> Iterator[Problem]:
    """Report tracked files that belong to one machine."""
    for path in admission.tracked(subject.project):
        inside = os.path.relpath(path, subject.project.root)
        recursive = "-r " if path.endswith("/") else ""
        message = f"is tracked by git; `git rm {recursive}--cached {inside}` takes it out"
        yield Problem(path=inside, line=None, message=message)


def no_conflict_markers(subject: Subject) -> Iterator[Problem]:
    for path, text in subject.texts.items():
        for number in conflict_lines({path: text}, path):
            message = "a conflict of a git merge; settle it and commit"
            yield Problem(path=path, line=number, message=message)


def readable_lines(subject: Subject) -> Iterator[Problem]:
    """Report lines that are too long to be read."""
    for path, text in subject.texts.items():
        yield from oversized(path, text)


def sound_lines(subject: Subject) -> Iterator[Problem]:
    """Report lines that are no object of the known shape, or about no memory that may be shown."""
    known = _Ids(memory.id for memory in subject.lines)
    if subject.fresh:
        known.missing = MISREAD
    for path in LINES:
        for number, line in enumerate(subject.texts.get(path, "").splitlines(), 1):
            try:
                record = json.loads(line)
                wrong = [key for key, kind in SHAPE.items() if type(record[key]) is not kind]
                message = f"has a wrong {', '.join(wrong)}" if wrong else None
                if not wrong and not knowledge.is_tombstone(record):
                    message = known.seen(record["id"])
            except (ValueError, KeyError, TypeError, RecursionError):
                message = "is not an object with " + ", ".join(SHAPE)
            if line.startswith(OVERSIZE):
                continue
            if message:
                yield Problem(path=path, line=number, message=message)


def readable_files(subject: Subject) -> Iterator[Problem]:
    """Report files that are not UTF-8 in a fresh clone, where no other check does."""
    for file in subject.files if subject.fresh else ():
        if file.present == NOT_TEXT and not _is_refused(subject, file.path):
            yield Problem(path=file.path, line=None, message="is not UTF-8 text; restore it")


def refused_files(subject: Subject) -> Iterator[Problem]:
    """Report paths that ademem refuses to open."""
    for refused in confined.refusals(subject.project.root, subject.project.ade):
        path = confined.printable(os.path.relpath(refused.path, subject.project.root))
        yield Problem(path=path, line=None, message=f"{refused.reason}; {PUT}")


def sound_entries(subject: Subject) -> Iterator[Problem]:
    """Report entries of topic files about no memory that may be shown, and second ones."""
    known = _Ids(memory.id for memory in subject.lines if selection.renders(memory))
    if subject.fresh:
        known.missing = f"has no line in {knowledge.LIVE} or {knowledge.ARCHIVE}"
    for path in _topic_files(subject):
        for found in markdown.parse(subject.texts.get(path, "")):
            message = known.seen(found.id) or _too_long(found, subject.bounds)
            if message:
                yield Problem(path=path, line=found.line, message=message)


def sound_sheet(subject: Subject) -> Iterator[Problem]:
    """Report entries of the sheet that are no candidate, come twice, or have no valid category."""
    known = _Ids(memory.id for memory in subject.offered)
    for item in review_sheet.parse_sheet(subject.texts.get(pages.SHEET, "")).items:
        message = known.seen(item.entry.id, anything=subject.fresh)
        message = message or _too_long(item.entry, subject.bounds)
        if item.category and item.category not in set(Category):
            message = f"has the category {item.category!r}, which is none"
        if message:
            yield Problem(path=pages.SHEET, line=item.entry.line, message=message)


def index_within_bounds(subject: Subject) -> Iterator[Problem]:
    text = subject.texts.get(pages.INDEX, "")
    lines, size = text.count("\n"), len(text.encode())
    bounds = subject.settings
    if lines > bounds.max_lines or size > bounds.max_bytes:
        message = (
            f"has {lines} lines and {size} bytes; {bounds.max_lines} and {bounds.max_bytes} are the"
            " most: shorten what stands between `ademem:keep` comments"
        )
        yield Problem(path=pages.INDEX, line=None, message=message)


def index_complete(subject: Subject) -> Iterator[Problem]:
    index = subject.texts.get(pages.INDEX, "")
    for path in _topic_files(subject):
        first = re.sub(r"\.\d+\.md$", ".md", os.path.basename(path))
        if index and path in subject.texts and f"`{first}`" not in index:
            message = f"has no line for {os.path.basename(path)}; {REFRESH} adds it"
            yield Problem(path=pages.INDEX, line=None, message=message)


def _is_refused(subject: Subject, path: str) -> bool:
    """Return True if `refused_files` reports the path."""
    return confined.refusal(subject.project.root, path) is not None


class _Ids:
    """Finds ids that are not allowed, or occur twice."""

    missing = "may not be shown here"
    """The message for an id that is not allowed."""

    def __init__(self, allowed: Iterable[str]) -> None:
        self._allowed = frozenset(allowed)
        self._seen: set[str] = set()

    def seen(self, id: str | None, *, anything: bool = False) -> str | None:
        if id is None:
            return None
        if id in self._seen:
            return f"tells of {id} a second time"
        self._seen.add(id)
        return None if anything or id in self._allowed else f"tells of {id}, which {self.missing}"


def _too_long(item: Entry, bounds: GateSettings) -> str | None:
    if item.title:
        size, most, unit = len(item.content.encode()), MAX_TITLED_BYTES, "bytes"
    else:
        size, most, unit = len(item.content), bounds.max_chars, "characters"
    return f"has {size:,} {unit}; {most:,} is the most, shorten it" if size > most else None


def _topic_files(subject: Subject) -> list[str]:
    return [
        file.path
        for file in subject.files
        if file.path.startswith(pages.FOLDER)
        and file.path.endswith(".md")
        and file.path not in (pages.INDEX, pages.SHEET)
    ]


def _first_difference(left: str, right: str) -> int:
    pairs = zip(left.split("\n"), right.split("\n"), strict=False)
    same = next((number for number, (a, b) in enumerate(pairs) if a != b), None)
    return min(left.count("\n"), right.count("\n")) + 1 if same is None else same + 1


CHECKS: tuple[Callable[[Subject], Iterator[Problem]], ...] = (
    refused_files,
    up_to_date,
    of_one_machine,
    readable_brief,
    no_conflict_markers,
    readable_lines,
    sound_lines,
    sound_entries,
    sound_sheet,
    readable_files,
    no_secrets,
    nobodys_own_lines,
    nobodys_own_files,
    index_within_bounds,
    index_complete,
)
