"""Find the past sessions of a project and its worktrees, and read their calls and prompts.

A row is read once, in whichever resumed, forked or compacted copy it stands. What was not carried
out, as a hook denied it or it failed validation, is left out.
"""

from __future__ import annotations

import heapq
import os

from ademem.capture import errors, transcript
from ademem.capture.transcript import Call, Message, Prompt, Result
from ademem.core import client, client_memory, project
from ademem.core.errors import suppress
from ademem.core.json_text import loads
from ademem.core.transcript_lines import read_lines
from ademem.core.value import Value
from ademem.guard.policy import SHELL_TOOLS, WRITING_TOOLS
from ademem.plugins.replay.counting import Change, Done

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from ademem.store.runtime import Runtime

    Step = Prompt | Message | Done

SUFFIX = ".jsonl"
HEAD_LINES = 200
"""Lines in which a transcript says where its session worked."""
MOST_PENDING = 500
_REJECTED = "User rejected tool use"
"""Structured result of a call that the person refused, in Claude Code 2.1.332."""
_NOT_WANTED = "doesn't want to proceed with this tool use"
"""Part of what the model is told of it, also where the person says what to do in its place."""
_EXIT = "Exit code"
"""Beginning of the result of a command that ran and failed."""
_OUR_LINES = (b"hook_system_message", b"hook_additional_context")


class Transcript(Value):
    path: str
    session: str
    folder: str
    """Where it worked first; empty if its first rows do not say it."""
    began: str
    is_unattended: bool
    """A program started it: print mode, an SDK."""


def find(runtime: Runtime, since: str = "") -> list[Transcript]:
    """Return the transcripts of the project and its worktrees, the oldest first.

    Those that did not change *since* a stamp are left out.
    """
    roots = list_roots(runtime)
    folder = os.path.join(client.config_dir(runtime.environment), "projects")
    slugs = tuple(map(client_memory.slug, roots))
    found = []
    for name in _names(folder):
        if name in slugs or name.startswith(tuple(f"{slug}-" for slug in slugs)):
            paths = (os.path.join(folder, name, each) for each in _names(f"{folder}/{name}"))
            found += [_read_head(path, roots) for path in paths if path.endswith(SUFFIX)]
    homes: dict[str, bool] = {"": True}
    heads = [
        head
        for head in found
        if head and _is_ours(head.folder, runtime, homes) and not _is_older(head.path, since)
    ]
    return sorted(heads, key=lambda head: (head.began, _changed_s(head.path)))


def _is_ours(folder: str, runtime: Runtime, known: dict[str, bool]) -> bool:
    """Tell whether the nearest enrolled folder above is the project's, and keep it in *known*."""
    if folder not in known:
        nearest = project.of_file(os.path.join(folder, SUFFIX))
        known[folder] = nearest is None or nearest.home == runtime.project.home
    return known[folder]


def list_roots(runtime: Runtime) -> list[str]:
    """Return the folders of the project: its own, the main one and those of its worktrees."""
    own = runtime.project
    others = (each.root for each in project.worktrees(own))
    return list(dict.fromkeys(map(os.path.realpath, (own.root, own.main, *others))))


def _names(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


def _changed_s(path: str) -> float:
    try:
        return os.stat(path).st_mtime
    except OSError:
        return 0.0


def _is_older(path: str, since: str) -> bool:
    from ademem.core.clock import UTC, datetime, stamp

    return bool(since) and stamp(datetime.fromtimestamp(_changed_s(path), UTC)) < since


def _read_head(path: str, roots: Iterable[str]) -> Transcript | None:
    """Return what the first rows say; None for a session of another project."""
    session = os.path.basename(path).removesuffix(SUFFIX)
    head = Transcript(path=path, session=session, folder="", began="", is_unattended=False)
    with suppress(OSError):
        for number, line in enumerate(read_lines(path)):
            if number == HEAD_LINES:
                break
            row = _parse(line) if b'"cwd"' in line else None
            if row is None or not isinstance(folder := row.get("cwd"), str):
                continue
            if not any(f"{folder}/".startswith(f"{root}/") for root in roots):
                return None
            return Transcript(
                path=path,
                session=session,
                folder=folder,
                began=str(row.get("timestamp", "")),
                is_unattended=str(row.get("entrypoint", "")).startswith("sdk"),
            )
    return head


def _parse(line: bytes) -> dict[str, Any] | None:
    try:
        row = loads(line.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
    return row if isinstance(row, dict) else None


class Reader:
    """Read transcripts one after another, each row once."""

    def __init__(self, since: str = "") -> None:
        self.since = since
        self.skipped_lines = self.skipped_files = 0
        self.with_ademem: set[str] = set()
        """Sessions in which hooks of ademem ran."""
        self._seen: set[int] = set()
        """Digests of ids of rows and calls."""

    def read(self, found: Transcript) -> Iterator[Step]:
        """Yield the steps of a session, those of its subagents among them."""
        paths = (found.path, *transcript.subagent_transcripts(found.path))
        parts = [self._read_file(path, found.session) for path in paths]
        return heapq.merge(*parts, key=lambda step: step.at)

    def _read_file(self, path: str, session: str) -> Iterator[Step]:
        pending: dict[str, Call] = {}
        try:
            for line in read_lines(path, on_long=self._skip):
                if row := self._read_row(line, session):
                    yield from self._steps(row, pending)
        except OSError:  # the client removed it
            self.skipped_files += 1

    def _skip(self) -> None:
        self.skipped_lines += 1

    def _skip_row(self) -> dict[str, Any] | None:
        self._skip()
        return None

    def _read_row(self, line: bytes, session: str) -> dict[str, Any] | None:
        """Return a row that may be of a conversation, and was not read before."""
        if b"ademem" in line and any(name in line for name in _OUR_LINES):
            self.with_ademem.add(session)
        if line[:1] != b"{" or line[-2:-1] != b"}":
            return self._skip_row()
        if not transcript.MATTERS.search(line):
            return None
        row = _parse(line)
        if row is None or not isinstance(row.get("message", {}), dict):
            return self._skip_row()
        is_new = self._is_new(row.get("uuid"))
        return row if is_new and str(row.get("timestamp", "")) >= self.since else None

    def _is_new(self, id: object) -> bool:
        """Tell whether an id was not seen before; a row without one is new."""
        if not isinstance(id, str):
            return True
        digest = hash(id)
        is_new = digest not in self._seen
        self._seen.add(digest)
        return is_new

    def _steps(self, row: dict[str, Any], pending: dict[str, Call]) -> Iterator[Step]:
        _shorten_results(row)
        for event in transcript.row_events(row):
            match event:
                case Prompt() | Message():
                    yield event
                case Call() if event.id and self._is_new(event.id):
                    pending[event.id] = event
                    if len(pending) > MOST_PENDING:
                        del pending[next(iter(pending))]
                case Result():
                    call = pending.pop(event.call_id, None)
                    if call and (done := as_done(call, event, row.get("toolUseResult"))):
                        yield done


def _shorten_results(row: dict[str, Any]) -> None:
    """Keep of each result the beginning, which tells if its call was carried out."""
    content = row.get("message", {}).get("content")
    for block in content if isinstance(content, list) else ():
        if isinstance(block, dict) and block.get("type") == "tool_result":
            text = block.get("content")
            if isinstance(text, str):
                block["content"] = text[: errors.REFUSAL_CHARS]


def as_done(call: Call, result: Result, noted: object) -> Done | None:
    """Return a call with its result, and what the client *noted* of it; None if it never ran."""
    at = result.at
    if noted == _REJECTED or (result.failed and _NOT_WANTED in result.text[: errors.REFUSAL_CHARS]):
        return Done(call=call, at=at, is_rejected=True)
    if result.failed:
        has_run = call.tool in SHELL_TOOLS and result.text.startswith(_EXIT)
        return Done(call=call, at=at, has_failed=True) if has_run else None
    details = noted if isinstance(noted, dict) else {}
    if call.tool not in WRITING_TOOLS:
        return Done(call=call, at=at, has_failed=details.get("interrupted") is True)
    creates = details.get("type") == "create"
    return Done(call=call, at=at, change=_read_change(call, details), creates=creates)


def _read_change(call: Call, noted: dict[str, Any]) -> Change:
    named = call.text("file_path") or call.text("notebook_path")
    path = os.path.normpath(os.path.join(call.folder, named))
    before, after, new = (noted.get(name) for name in ("originalFile", "content", "newString"))
    old = noted.get("oldString")
    before = before if isinstance(before, str) else None
    if not isinstance(after, str):
        after = None
        if before is not None and isinstance(old, str) and isinstance(new, str) and old:
            after = before.replace(old, new, -1 if noted.get("replaceAll") else 1)
    return Change(path=path, before=before, after=after)
