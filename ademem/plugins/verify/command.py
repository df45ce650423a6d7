"""The command `verify`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from ademem.core.errors import NO, UsageError
from ademem.core.text import preview
from ademem.doors.cli import show
from ademem.doors.cli.commands import command, open_project
from ademem.doors.cli.options import flag, option
from ademem.doors.cli.parameters import Project
from ademem.plugins.verify import reports
from ademem.plugins.verify.anchor_verification import Checked
from ademem.plugins.verify.operations import verify as verify_anchors
from ademem.plugins.verify.operations import verify_change

TEXT_CHARS = 80
FORMATS = ("text", "github", "sarif", "comment")
"""A report for people, annotations of a workflow, for code scanning, a comment in Markdown."""


@command()
def verify(
    fix: bool = flag("--fix", "Update anchors whose text moved."),
    diff: str | None = option(
        "--diff BASE..HEAD", "Only name memories that these commits make false."
    ),
    format: str = option("--format", f"One of {', '.join(FORMATS)}.", "text"),
    project: Project = None,
) -> None:
    """Check the anchors of memories. Exit code 1 if one does not hold."""
    if format not in FORMATS:
        raise UsageError(f"{format!r} is no format of a report", f"one of {', '.join(FORMATS)}")
    if fix and diff is not None:
        raise UsageError("--fix is for the working tree", "leave out --diff or --fix")
    with open_project(project) as memories:
        found = verify_change(memories, diff) if diff else verify_anchors(memories, fix=fix)
    if format != "text":
        return _report(found, format)
    none = "no memory is made false" if diff else "no memory has an anchor"
    show.listing("anchors", found, _anchor_lines, none, _anchor_json)
    raise SystemExit(0 if all(each.is_sound for each in found) else NO)


def _report(found: Iterable[Checked], format: str) -> None:
    unsound = reports.find_unsound(found)
    match format:
        case "github":
            lines = reports.to_annotations(unsound)
        case "sarif":
            lines = [json.dumps(reports.to_sarif(unsound), indent=2, ensure_ascii=False)]
        case _:
            lines = reports.to_comment(unsound).splitlines()
    for line in lines:
        show.echo(line)
    raise SystemExit(NO if unsound else 0)


def _anchor_json(each: Checked) -> dict[str, Any]:
    now = each.location.now
    return {
        "memory": each.memory.id,
        "anchor": each.location.noted.plain,
        "state": each.location.state,
        "now": now.plain if now else None,
        "fixed": each.fixed,
        "values": list(each.location.noted.values),
        "missing": [
            {
                "kind": missing.value.kind,
                "name": missing.value.name,
                "old": missing.value.token or missing.value.name,
                "new": missing.now or None,
            }
            for missing in each.location.missing
        ],
        "corrected": each.corrected,
    }


def _anchor_lines(each: Checked) -> Iterator[str]:
    place, now = each.location.noted, each.location.now
    moved = f" -> {now.where}" if now and now.where != place.where else ""
    state = "fixed" if each.fixed and moved else each.location.state
    text = preview(each.memory.content, TEXT_CHARS)
    yield f"{state:<8} {place.where}{moved}  {each.memory.id}  [{each.memory.category}] {text}"
    yield from (f"{'':<9}{missing.shown}" for missing in each.location.missing)
    if each.corrected:
        yield f"{'':<9}corrected: {preview(each.corrected, TEXT_CHARS)}"
