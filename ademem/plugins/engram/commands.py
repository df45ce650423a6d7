"""Engram's format of `ademem import` and `ademem export`, and `ademem sync --engram`."""

from __future__ import annotations

from typing import Any

import orjson

from ademem.core.errors import NotFound
from ademem.core.text import counted, join_counts
from ademem.core.value import as_dict
from ademem.doors.cli import show
from ademem.doors.cli.formats import Format, Source, progress_of, report_waiting
from ademem.files.readers import Comparison
from ademem.plugins.engram import documents, exchanging
from ademem.plugins.engram.chunks import Received, Sent
from ademem.plugins.exchange.command import held_back_lines
from ademem.store.runtime import Runtime


def _import(memories: Runtime, source: Source) -> None:
    report = exchanging.import_export(
        *(memories, source.path),
        project=source.project,
        dry_run=source.dry_run,
        on_progress=progress_of("item"),
    )
    report_waiting(memories, dry_run=source.dry_run)
    counts = as_dict(report)
    skipped, event = counts.pop("skipped"), counts.pop("event")
    would = "would be " if source.dry_run else ""
    lines = [f"engram: {would}{join_counts(counts) or 'nothing new'}{show.name_undo(event)}"]
    lines += [f"skipped {each.where}: {each.why}" for each in skipped]
    show.report({"dry_run": source.dry_run, "event": event, **counts, "skipped": skipped}, lines)


def _compare(memories: Runtime, source: Source) -> list[Comparison]:
    return exchanging.compare(memories, source.path, project=source.project)


def _export(memories: Runtime) -> tuple[list[dict[str, Any]], bytes]:
    document = exchanging.export(memories)
    return document["observations"], orjson.dumps(document, option=orjson.OPT_INDENT_2) + b"\n"


FORMATS = (
    Format(
        name="engram",
        run=_import,
        options=("--from-project", "--status"),
        fits=documents.fits,
        compare=_compare,
        export=_export,
    ),
)


def sync(
    memories: Runtime, *, status: bool, leave: bool, import_: bool, force: bool, dry_run: bool
) -> None:
    """Write a chunk into `.engram/`, or do one of the others."""
    if leave:
        _leave(memories)
    elif status:
        _show_status(exchanging.get_status(memories))
    elif import_:
        _show_received(exchanging.receive(memories, dry_run=dry_run))
    else:
        _show_sent(exchanging.send(memories, force=force, dry_run=dry_run), dry_run=dry_run)


def _leave(memories: Runtime) -> None:
    if not exchanging.leave(memories):
        raise NotFound("nothing was written for Engram", "`ademem sync --engram` does")
    line = "left Engram; its chunks stay, and so do the memories that came from it"
    show.report({"left": "engram"}, [line])


def _show_received(received: Received) -> None:
    names = ("inserted", "updated", "deleted", "sessions", "prompts", "relations")
    counts = {name: sum(getattr(one, name) for one in received.reports) for name in names}
    figures = join_counts(counts)
    lines = [f"{counted(len(received.read), 'chunk')} read: {figures or 'nothing new'}"]
    values = {"read": received.read, **counts, "problems": received.problems}
    show.report(values, lines, received.problems, fails=bool(received.problems))


def _show_sent(sent: Sent, *, dry_run: bool) -> None:
    if sent.observations or sent.mutations or sent.sessions:
        what = ", ".join(f".engram/chunks/{id}.jsonl.gz" for id in sent.chunks)
        figures = f"{counted(sent.observations, 'memory')}, {counted(sent.mutations, 'change')}"
        lines = [f"{'would send' if dry_run else f'wrote {what}:'} {figures}"]
    else:
        lines = ["Engram's chunks have everything"]
    lines += held_back_lines(sent.held_back)
    values = as_dict(sent) | {"dry_run": dry_run}
    show.report(values, lines, sent.problems, fails=bool(sent.problems))


def _show_status(found: exchanging.Status) -> None:
    waiting = found.waiting
    lines = [
        f".engram: {counted(found.chunks, 'chunk')}, {len(found.unread)} to import;"
        f" {counted(waiting.observations, 'memory')} and"
        f" {counted(waiting.mutations, 'change')} to send"
    ]
    if not found.is_enrolled:
        lines.append("`ademem sync --engram` writes a chunk, `--import` reads those that are there")
    if found.is_conflicted:
        lines.append(
            "the manifest has a conflict of git; the next import or export joins its sides"
        )
    show.report(as_dict(found), lines)
