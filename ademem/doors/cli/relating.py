"""Commands about relations between memories."""

from __future__ import annotations

from collections.abc import Iterator

import typer

from ademem import api
from ademem.core.errors import UsageError
from ademem.core.text import preview
from ademem.doors.cli import show
from ademem.doors.cli.commands import app
from ademem.doors.cli.options import AsJson, Limit, Project, argument, flag, open_project, option
from ademem.store.verdicts import VERBS, Verdict

relations = typer.Typer(help="Relations between memories.", no_args_is_help=True)
app.add_typer(relations, name="relations")

TEXT_CHARS = 80


@relations.command("list")
def list_(
    id: str | None = argument("ID", "Of this memory; else all.", None),
    status: str | None = option("--status", "pending, judged, ignored or orphaned."),
    limit: Limit = 100,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """List relations, the latest first."""
    with open_project(project) as memories:
        found = api.list_relations(memories, id, status, limit)
    show.listing("relations", found, _lines, "no relations", as_json)


@relations.command()
def judge(
    id: str = argument("REL", "A proposal, or a memory with --other."),
    verb: str = argument("VERB", ", ".join(VERBS)),
    other: str = option("--other", "The other memory, without a proposal.", "", metavar="ID"),
    reason: str = option("--reason", "Why.", ""),
    evidence: str = option("--evidence", "What shows it.", ""),
    confidence: float = option("--confidence", "How sure it is.", 1.0, min=0, max=1),
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Say what two memories have to do with each other."""
    pair = {"id": id, "other": other} if other else {"judgment_id": id}
    with open_project(project) as memories:
        judged = api.judge(
            memories, verb, **pair, reason=reason, evidence=evidence, confidence=confidence
        )
    line = f"{judged['relation_id']} {judged['status']}: {judged['effect']}"
    show.report(judged, [line], as_json=as_json)


@relations.command()
def scan(
    apply: bool = flag("--apply", "Store the pairs that are found."),
    limit: int = option("--limit -n", "Memories of a page.", 100, min=1, max=100),
    cursor: int = option("--cursor", "The next page.", 0, min=0),
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Look for memories that contradict each other."""
    with open_project(project) as memories:
        found, rest = api.scan_relations(memories, apply=apply, limit=limit, cursor=cursor)
    rows = [
        {
            "earlier": pair.earlier.id,
            "later": pair.later.id,
            "relation": pair.relation,
            "score": pair.score,
            "why": pair.why,
        }
        for pair in found
    ]
    if as_json:
        return show.json({"applied": apply, "count": len(rows), "pairs": rows, "next_cursor": rest})
    show.fenced(
        f"{row['earlier']}  {row['relation']}  {row['later']}: {row['why']}" for row in rows
    )
    end = f"; `--cursor {rest}` goes on" if rest else ""
    return show.echo(f"{len(rows)} {'stored' if apply else 'found'}{end}", err=True)


@relations.command()
def deferred(
    replay: bool = flag("--replay", "Apply those that can be."),
    drop: str = option("--drop", "Forget this one.", "", metavar="ID"),
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """List records of other stores that wait for a memory."""
    if replay and drop:
        raise UsageError("--replay and --drop exclude each other", "give one of them")
    with open_project(project) as memories:
        if drop:
            api.drop_deferred(memories, drop)
        applied = api.replay_deferred(memories) if replay else 0
        found = api.list_deferred(memories)
    if as_json:
        return show.json({"applied": applied, "count": len(found), "deferred": found})
    show.fenced(f"{row['id']}  {row['entity']}  {row['reason']}" for row in found)
    return show.echo(f"{applied} applied, {len(found)} wait", err=True)


def _lines(verdict: Verdict) -> Iterator[str]:
    pair = f"{verdict.source or '(deleted)'} {verdict.relation} {verdict.target or '(deleted)'}"
    yield f"{verdict.id}  {pair}  ({verdict.status}, {verdict.actor}, {verdict.confidence:.0%})"
    if verdict.reason:
        yield f"    {preview(verdict.reason, TEXT_CHARS)}"
