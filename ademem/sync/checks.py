"""Check that the files are valid and equal to the store."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import cached_property

from ademem.core import confined, git, regex
from ademem.core.memory import Category, Status
from ademem.core.project import Project
from ademem.core.repository import under_way
from ademem.core.settings import GateSettings, MirrorSettings
from ademem.core.text import sha256_hex, unique
from ademem.core.value import Value, as_dict, replace
from ademem.files import (
    BRIEF,
    FOLDER,
    INDEX,
    KNOWLEDGE,
    LINE_FILES,
    SHEET,
    enrolment,
    project_brief,
)
from ademem.files.markdown import parse_items
from ademem.files.project_brief import BadCore
from ademem.files.review_sheet import parse_sheet
from ademem.files.snapshot import conflict_problems, find_oversized, is_imported
from ademem.files.texts import OVERSIZE, Problem, Texts
from ademem.store import Store, admission, memory_queries
from ademem.store.runtime import is_writable
from ademem.store.transitions import describe_excess
from ademem.sync import rendering
from ademem.sync.branches import Place
from ademem.sync.importer import ImportReport
from ademem.sync.mirror import File, is_rendered, survey
from ademem.sync.searched_texts import find_secrets
from ademem.sync.tracked_files import (
    NOT_TEXT,
    load_fingerprints,
    present_text,
    read_checked,
    read_rendered,
    save_checked,
)

FIELDS = ("key", "type", "content", "source", "tags", "ts", "bead", "id")
"""Fields of a line that Beads reads, and the id; texts but for OTHER_TYPES."""
OTHER_TYPES = {"tags": list, "ts": int}

MISREAD = "was not understood"
REFRESH = "`ademem files refresh`"
SETTLE = "`git checkout -m -- .ade`, then `git add .ade` settles all that git left"
PUT = "put a regular file or folder of your own there, or remove it"


class Subject(Value):
    store: Store
    place: Place
    texts: Texts
    files: tuple[File, ...]
    """The files that are not as a refresh would leave them."""
    bounds: GateSettings
    fresh: bool = False
    """True if the store was made from these files alone."""
    conflicts: tuple[Problem, ...] = ()
    """Conflicts of a merge; entries and lines of their files are judged once they are settled."""

    def is_conflicted(self, path: str) -> bool:
        return any(problem.path == path for problem in self.conflicts)

    @property
    def topic_paths(self) -> list[str]:
        pages = (path for path in self.texts if path.startswith(FOLDER) and path.endswith(".md"))
        return [path for path in pages if path not in (INDEX, SHEET)]

    def is_refused(self, path: str) -> bool:
        return confined.refusal(self.place.root, path) is not None


def check(
    project: Project,
    store: Store,
    settings: MirrorSettings,
    bounds: GateSettings | None = None,
    *,
    read: ImportReport | None = None,
) -> tuple[Problem, ...]:
    """Return all problems; without any, a refresh would write nothing, or what can wait alone.

    With *read* the store was made of these files alone, so that they cannot be behind it.
    """
    place, bounds = Place(project, settings), bounds or GateSettings()
    if read is None and is_rendered(store, place):
        return _check_rendered(project, store, place, bounds)
    files = survey(store, place)
    texts = _read_texts(project, {file.path for file in files})
    subject = Subject(
        store=store,
        place=place,
        texts=texts,
        files=tuple(file for file in files if not file.is_current),
        bounds=bounds,
        fresh=read is not None,
        conflicts=_find_conflicts(texts),
    )
    found = _find_problems(subject, CHECKS)
    return found if read is None else _with_reasons(found, read, subject)


def _check_rendered(
    project: Project, store: Store, place: Place, bounds: GateSettings
) -> tuple[Problem, ...]:
    """Check files that a refresh left; where these had no problem before, ask git alone."""
    texts = _read_texts(project, {*load_fingerprints(project, store), SHEET, BRIEF})
    state = _state_of(project, texts, bounds)
    subject = Subject(store=store, place=place, texts=Texts(), files=(), bounds=bounds)
    if state == read_checked(project):
        return _find_problems(subject, CHECKS_OF_GIT)
    subject = replace(subject, texts=texts, conflicts=_find_conflicts(texts))
    found = _find_problems(subject, CHECKS)
    if not found:
        save_checked(project, state)
    return found


def _find_problems(subject: Subject, checks: Iterable[Check]) -> tuple[Problem, ...]:
    return tuple(problem for look in checks for problem in look(subject))


def _read_texts(project: Project, paths: Collection[str]) -> Texts:
    texts = present_text(project)
    return texts.only(sorted(texts.digests.keys() & paths))


def _find_conflicts(texts: Texts) -> tuple[Problem, ...]:
    return tuple(problem for path in texts for problem in conflict_problems(texts, path))


def _state_of(project: Project, texts: Texts, bounds: GateSettings) -> str:
    """Digest what the checks of texts read: files, and store, settings and rules as rendered."""
    digests = sorted(texts.digests.items())
    return sha256_hex(json.dumps((read_rendered(project), digests, as_dict(bounds))))


def _with_reasons(
    found: Iterable[Problem], read: ImportReport, subject: Subject
) -> tuple[Problem, ...]:
    """Let the reasons of the import replace the bare reports that a line was misread."""
    reasons = {(problem.path, problem.line): problem for problem in read.problems}
    kept = [
        problem
        for problem in found
        if (problem.path, problem.line) not in reasons or not problem.message.endswith(MISREAD)
    ]
    conflicted = {(problem.path, problem.line) for problem in subject.conflicts}
    others = (problem for at, problem in reasons.items() if at not in conflicted)
    both = dict.fromkeys((*kept, *others))
    return tuple(sorted(both, key=lambda problem: (problem.path, problem.line or 0)))


def refused_files(subject: Subject) -> Iterator[Problem]:
    for refused in confined.refusals(subject.place.root, subject.place.project.ade):
        path = confined.printable(os.path.relpath(refused.path, subject.place.root))
        yield Problem(path=path, line=None, message=f"{refused.reason}; {PUT}")


def outdated_files(subject: Subject) -> Iterator[Problem]:
    """Of a fresh clone report only what is not UTF-8, where no other check does."""
    for file in subject.files:
        if _has_its_own_check(file, subject):
            continue
        if not subject.fresh:
            if not file.can_wait and (file.ours or file.path != BRIEF):
                yield _describe_outdated(file)
        elif file.present == NOT_TEXT:
            yield Problem(path=file.path, line=None, message="is not UTF-8 text; restore it")


def _has_its_own_check(file: File, subject: Subject) -> bool:
    is_conflicted = subject.is_conflicted(file.path)
    return is_conflicted or OVERSIZE in (file.present or "") or subject.is_refused(file.path)


def _describe_outdated(file: File) -> Problem:
    line = None
    if file.present is None:
        message = f"is missing; {REFRESH} writes it"
    elif file.present == NOT_TEXT:
        message = f"is not UTF-8 text; delete it, then {REFRESH}"
    elif file.ours:
        act = "removes" if file.wanted is None else "updates"
        message = f"is out of date; {REFRESH} {act} it"
    else:
        way = f"{REFRESH[:-1]} --force` overwrites it"
        if is_imported(file.path):
            way = "`ademem files import` takes it over"
        message = f"was changed by hand or by git; {way}"
        line = _first_difference(file.present, file.wanted or "")
    passes = file.ours and file.present != NOT_TEXT
    return Problem(path=file.path, line=line, message=message, passes=passes)


def _first_difference(left: str, right: str) -> int:
    pairs = zip(left.split("\n"), right.split("\n"), strict=False)
    same = next((number for number, (a, b) in enumerate(pairs) if a != b), None)
    return min(left.count("\n"), right.count("\n")) + 1 if same is None else same + 1


def machine_files(subject: Subject) -> Iterator[Problem]:
    for path in admission.list_tracked(subject.place.project):
        inside = os.path.relpath(path, subject.place.root)
        recursive = "-r " if path.endswith("/") else ""
        message = f"is tracked by git; `git rm {recursive}--cached {inside}` takes it out"
        yield Problem(path=inside, line=None, message=message)


def untracked_lines(subject: Subject) -> Iterator[Problem]:
    ignored = git.text(subject.place.root, "check-ignore", "--", INDEX, KNOWLEDGE)
    if ignored.split() == [KNOWLEDGE]:
        message = "is ignored by git, so that others get the pages alone;"
        way = "`!.ade/memory/*.jsonl` at the end of .gitignore tracks it"
        yield Problem(path=KNOWLEDGE, line=None, message=f"{message} {way}")


def unreadable_brief(subject: Subject) -> Iterator[Problem]:
    if subject.is_refused(BRIEF):
        return
    try:
        project_brief.read_file(subject.place.project)
    except BadCore as error:
        yield Problem(path=BRIEF, line=None, message=f"{error}; {error.hint}")


def conflict_markers(subject: Subject) -> Iterator[Problem]:
    project = subject.place.project
    if not (subject.conflicts and under_way(project.root)):
        yield from subject.conflicts
        return
    settle = f"`ademem init`, then {SETTLE}" if enrolment.lacks_driver(project) else SETTLE
    for found in subject.conflicts:
        what = found.message.partition(";")[0]
        yield replace(found, message=f"{what}; {settle}")


def oversized_lines(subject: Subject) -> Iterator[Problem]:
    for path in filter(subject.texts.has_oversize, subject.texts):
        yield from find_oversized(path, subject.texts[path])


def wrong_lines(subject: Subject) -> Iterator[Problem]:
    lines = rendering.lines_in(subject.store, subject.place, subject.texts)
    ids = _IdCheck(subject, (one.id for one in lines))
    if subject.fresh:
        ids.missing = MISREAD
    for path in LINE_FILES:
        raw = () if subject.is_conflicted(path) else subject.texts.lines(path)
        for number, line in enumerate(raw, 1):
            message = _find_wrong(line, path, ids) if line else None
            if message and not line.startswith(OVERSIZE):
                yield Problem(path=path, line=number, message=message)


def _find_wrong(line: str, path: str, ids: _IdCheck) -> str | None:
    try:
        record = json.loads(line)
        types = {key: type(record[key]) for key in FIELDS}
        wrong = [key for key in FIELDS if types[key] is not OTHER_TYPES.get(key, str)]
        scope = record.get("scope") or "project"
        if scope != "project":
            return f"is of the scope {scope!r}; only memories of the project belong here"
        if wrong:
            return f"has a wrong {', '.join(wrong)}"
        return None if record.get("status") == Status.ARCHIVED else ids.check(record["id"], path)
    except (ValueError, KeyError, TypeError, RecursionError):
        return "is not an object with " + ", ".join(FIELDS)


def wrong_items(subject: Subject) -> Iterator[Problem]:
    lines = rendering.lines_in(subject.store, subject.place, subject.texts)
    ids = _IdCheck(subject, {memory.id for memory in lines.on_pages()})
    if subject.fresh:
        ids.missing = "has no line in knowledge.jsonl or knowledge.archive.jsonl"
    for path in subject.topic_paths:
        if subject.is_conflicted(path):
            continue
        for item in parse_items(subject.texts[path]):
            excess = describe_excess(item.content, item.title, subject.bounds)
            if message := ids.check(item.id, path) or excess:
                yield Problem(path=path, line=item.line, message=message)


def wrong_candidates(subject: Subject) -> Iterator[Problem]:
    sheet = subject.texts.get(SHEET)
    offered = rendering.each_offered(subject.store, subject.place) if sheet else ()
    ids = _IdCheck(subject, (memory.id for memory in offered))
    for candidate in parse_sheet(sheet or "").candidates:
        message = ids.check(candidate.id, SHEET, anything=subject.fresh)
        message = message or describe_excess(candidate.content, candidate.title, subject.bounds)
        if candidate.category and candidate.category not in set(Category):
            message = f"has the category {candidate.category!r}, which is none"
        if message:
            yield Problem(path=SHEET, line=candidate.line, message=message)


class _IdCheck:
    missing = "may not be shown here"

    def __init__(self, subject: Subject, allowed: Iterable[str]) -> None:
        self._subject, self._allowed = subject, frozenset(allowed)
        self._edited = {file.path for file in subject.files if not (subject.fresh or file.ours)}
        self._behind = {file.path for file in subject.files if file.can_wait and not subject.fresh}
        self._found: set[str] = set()

    def check(self, id: str | None, path: str, *, anything: bool = False) -> str | None:
        if id is None:
            return None
        if id in self._found:
            return f"is about {id}, like an earlier one"
        self._found.add(id)
        if anything or id in self._allowed or path in self._behind:
            return None
        is_known = path not in self._edited or memory_queries.existing(self._subject.store, [id])
        if not is_known and id in self._lined:  # the next import brings it with its line
            return None
        return f"is about {id}, which {self.missing}"

    @cached_property
    def _lined(self) -> set[str]:
        lines = (line for path in LINE_FILES for line in self._subject.texts.lines(path))
        return {name for line in lines for name in regex.findall(r'"id":"([^"]+)"', line)}


def secrets(subject: Subject) -> Iterator[Problem]:
    """Report secrets by line, or by file where several lines make one."""
    project = subject.place.project
    is_recorded = not subject.fresh and is_writable(project)
    for secret in find_secrets(subject.texts, project, is_recorded=is_recorded):
        message = (
            f"has what looks like a secret ({', '.join(unique(secret.names))}); take it out, and"
            " renew it if it was pushed"
        )
        yield Problem(path=secret.path, line=secret.line, message=message)


def ignored_files(subject: Subject) -> Iterator[Problem]:
    root, options = subject.place.root, ("-z", "--cached", "--ignored", "--exclude-standard")
    listed = git.text(root, "ls-files", *options, "--", ".ade", timeout_s=git.LONG_S)
    for path in filter(None, listed.split("\0")):
        if path.startswith(FOLDER):  # which the project excludes, and which belongs in git
            continue
        message = f"belongs to one machine and is in git; `git rm --cached {path}` takes it out"
        yield Problem(path=path, line=None, message=message)


def index_bounds(subject: Subject) -> Iterator[Problem]:
    text = subject.texts.get(INDEX) or ""
    lines, size = text.count("\n"), len(text.encode())
    bounds = subject.place.settings
    if lines > bounds.max_lines or size > bounds.max_bytes:
        message = (
            f"has {lines} lines and {size} bytes; {bounds.max_lines} and {bounds.max_bytes} are the"
            " most: shorten what stands between `ademem:keep` comments"
        )
        yield Problem(path=INDEX, line=None, message=message)


def index_links(subject: Subject) -> Iterator[Problem]:
    index = subject.texts.get(INDEX)
    for path in subject.topic_paths:
        first = regex.sub(r"\.\d+\.md$", ".md", os.path.basename(path))
        if index and f"`{first}`" not in index:
            message = f"has no line for {os.path.basename(path)}; {REFRESH} adds it"
            yield Problem(path=INDEX, line=None, message=message)


Check = Callable[[Subject], Iterator[Problem]]

CHECKS_OF_GIT: tuple[Check, ...] = (
    refused_files,
    machine_files,
    untracked_lines,
    ignored_files,
)
"""What git and the file system say, which is asked each time."""
CHECKS: tuple[Check, ...] = (
    *CHECKS_OF_GIT,
    outdated_files,
    unreadable_brief,
    conflict_markers,
    oversized_lines,
    wrong_lines,
    wrong_items,
    wrong_candidates,
    secrets,
    index_bounds,
    index_links,
)
