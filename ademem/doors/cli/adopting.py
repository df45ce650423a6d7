"""`ademem adopt`: instruction files of the project, read in place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Annotated, Any

from ademem.core.errors import UsageError
from ademem.core.text import counted, preview
from ademem.doors.cli import show
from ademem.doors.cli.commands import on_project
from ademem.doors.cli.options import flag, option
from ademem.doors.cli.parameters import DryRun, can_ask, confirm
from ademem.files.instructions.reading import Adopted, LeftOut
from ademem.operations import adopting
from ademem.operations.adopting import Adoption
from ademem.store.runtime import Runtime

MOST_LINES = 20
MANY_CHARS = 160

Keys = Annotated[
    list[str] | None,
    option("--at KEY", "With --id: where the line applies."),
]


@on_project()
def adopt(
    memories: Runtime,
    dry_run: DryRun = False,
    yes: bool = flag("--yes", "Lines that forbid or require may stop calls here."),
    no: bool = flag("--no", "No line may stop a call here."),
    id: str = option("--id ID", "One line, about which a person decides something.", ""),
    stop: bool = flag("--stop", "With --id: it stops calls in every turn."),
    ignore: bool = flag("--ignore", "With --id: it is never said."),
    plain: bool = flag("--plain", "With --id: nothing is decided about it any more."),
    keys: Keys = None,
) -> None:
    """Use CLAUDE.md and rules in place. AGENTS.md is read, too."""
    if yes and no:
        raise UsageError("--yes and --no exclude each other", "give one of them")
    decides = any((stop, ignore, plain, keys))
    if bool(id) != decides:
        raise UsageError(
            "a decision needs a line and what is decided",
            "ademem adopt --id ID --ignore, --stop, --plain or --at KEY",
        )
    if id:
        mark = adopting.mark_item(
            memories, id, stop=stop, ignore=ignore, plain=plain, at=tuple(keys or ())
        )
        return show.report({"id": id, "mark": mark}, [_describe_mark(id, mark)])
    if dry_run:
        return _report(adopting.preview_adoption(memories), dry_run=True)
    if yes or no:
        adopting.answer_adoption(memories, yes=yes)
    adoption = adopting.adopt_files(memories)
    _report(adoption, dry_run=False)
    return None if adoption.has_answer else _ask_about_stopping(memories, adoption.stopping)


def _ask_about_stopping(memories: Runtime, count: int) -> None:
    """Ask a person at a terminal whether lines of the team may stop calls."""
    if count and can_ask(memories):
        lines = counted(count, "line")
        if confirm(f"{lines} of your team's {_bind(count)} something: may they stop calls?"):
            adopting.answer_adoption(memories, yes=True)


def _bind(count: int) -> str:
    return "forbids or requires" if count == 1 else "forbid or require"


def _describe_mark(id: str, mark: Any) -> str:
    if mark is None:
        return f"nothing is decided about {id} any more"
    what = [
        *(["stops calls in every turn"] if mark.stop else []),
        *(["is never said"] if mark.ignored else []),
        *([f"applies at {', '.join(mark.bound)}"] if mark.bound else []),
    ]
    return f"{id} {' and '.join(what)}"


def _report(adoption: Adoption, *, dry_run: bool) -> None:
    read = adoption.outcome.reading
    show.report(to_json(adoption, dry_run=dry_run), _lines(adoption, dry_run), _notes(adoption))
    if not read.files and not show.as_json:
        show.echo("the project has no instruction files", err=True)


def _lines(adoption: Adoption, dry_run: bool) -> Iterator[str]:
    read = adoption.outcome.reading
    if not read.files:
        return
    verb = "would be adopted" if dry_run else "adopted"
    items, files = counted(len(read.items), "item"), counted(len(read.files), "file")
    yield f"{verb}: {items} of {files}, which stay the source"
    for file in read.files[:MOST_LINES]:
        yield f"  {file.path}: {counted(file.items, 'item')}"
    yield from _more(len(read.files))
    placed = sum(each.is_placed for each in read.items)
    unmerged = sum(not each.merged for each in read.items)
    binding = adoption.stopping
    yield f"  {placed:,} with a place, of which {binding:,} {_bind(binding)} something"
    if unmerged:
        yield f"  {counted(unmerged, 'item')} not on the default branch: found by search alone"


def _notes(adoption: Adoption) -> Iterator[str]:
    outcome = adoption.outcome
    by_why: dict[str, list[LeftOut]] = {}
    for each in outcome.reading.left_out:
        by_why.setdefault(each.why, []).append(each)
    reasons = sorted(by_why.items(), key=lambda each: -len(each[1]))
    for why, left in reasons[:MOST_LINES]:
        places = ", ".join(f"{each.path}:{each.line}" if each.line else each.path for each in left)
        yield f"not taken, {why}: {preview(places, MANY_CHARS)}"
    yield from _more(len(reasons))
    for found in adoption.disagreements[:MOST_LINES]:
        yield f"{found.path}:{found.line} {preview(found.why, MANY_CHARS)}"
    yield from _more(len(adoption.disagreements))
    yield from adoption.lost
    if adoption.is_taken and adoption.stopping and not adoption.has_answer:
        yield (
            f"{counted(adoption.stopping, 'line')} may stop calls once you say so, in your own"
            " terminal or as /ademem:adopt yes: `ademem adopt --yes`"
        )


def _more(count: int) -> Iterable[str]:
    return [f"  and {count - MOST_LINES:,} more: --json"] if count > MOST_LINES else []


def to_json(adoption: Adoption, *, dry_run: bool) -> dict[str, Any]:
    outcome = adoption.outcome
    read = outcome.reading
    return {
        "dry_run": dry_run,
        "files": [
            {"path": each.path, "format": each.format, "items": each.items} for each in read.files
        ],
        "count": len(read.items),
        "added": outcome.added,
        "changed": outcome.changed,
        "removed": outcome.removed,
        "may_stop": adoption.may_stop,
        "stopping": adoption.stopping,
        "items": [item_json(each) for each in read.items],
        "left_out": [
            {"path": each.path, "line": each.line, "why": each.why} for each in read.left_out
        ],
        "disagreements": list(adoption.disagreements),
        "marks": list(adoption.marks),
        "lost": [mark.id for mark in outcome.lost],
    }


def item_json(item: Adopted) -> dict[str, Any]:
    from ademem.search.binding_keys import show as show_key

    return {
        "id": item.id,
        "path": item.path,
        "first": item.first,
        "last": item.last,
        "heads": list(item.heads),
        "lead": item.lead,
        "text": item.text,
        "kind": item.kind,
        "folder": item.folder,
        "globs": list(item.scope.globs),
        "excluded": list(item.scope.excluded),
        "load": item.load,
        "places": [show_key(each) for each in item.places],
        "sources": list(item.sources),
        "merged": item.merged,
        "live": item.live,
    }
