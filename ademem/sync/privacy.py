"""Checks that the files, which everybody with the repository reads, hold nothing private."""

from __future__ import annotations

import json

from ademem.core import git
from ademem.core.redaction import redact
from ademem.core.text import unique
from ademem.files import knowledge, pages
from ademem.files.texts import Problem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from ademem.core.project import Project
    from ademem.sync.checking import Subject


def no_secrets(subject: Subject) -> Iterator[Problem]:
    """By line, or of the whole file when only several lines together make one."""
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
    """Only what is the whole project's has a line."""
    for path in (pages.LINES, pages.FOLDER + knowledge.ARCHIVE):
        for number, raw in enumerate(subject.texts.get(path, "").splitlines(), 1):
            scope = _scope(raw)
            if scope not in (None, "project"):
                message = f"is of the scope {scope!r}; only what is the project's belongs here"
                yield Problem(path=path, line=number, message=message)


def nobodys_own_files(subject: Subject) -> Iterator[Problem]:
    """What `.ade/.gitignore` keeps on its machine is not in git all the same."""
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
    """None without git."""
    options = ("-z", "--cached", "--ignored", "--exclude-standard")
    listed = git.text(project.root, "ls-files", *options, "--", ".ade", timeout_s=git.LONG_S)
    return [path for path in listed.split("\0") if path]
