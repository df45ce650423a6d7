"""Commands that report: status with its topics, the guard's judgement, and measured recall."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from ademem.core.text import counted, join_counts, preview
from ademem.core.value import as_dict
from ademem.doors.cli import show
from ademem.doors.cli.commands import command, open_project
from ademem.doors.cli.derived import Asked, follow
from ademem.doors.cli.options import argument, option
from ademem.doors.cli.parameters import Project, warn
from ademem.operations import memory_operations, reports
from ademem.store.runtime import Runtime

COLUMNS, NAME_COLUMNS = 80, 10
FEW = 3
"""Most names on one line, and most lines of one warning."""


def _has_topic(given: dict[str, Any]) -> bool:
    return "topic" in given  # else the files that wait are part of the report


@follow(memory_operations.status, catches_up=_has_topic)
def status(asked: Asked) -> None:
    """Show counts, and what is due.

    Topics: commits (made outside of sessions), cost (of AI and hooks), guard (mode and turns),
    impressions (how often memories were shown and used).
    """
    topic, found = asked.given.get("topic", ""), asked.call()
    if topic == "impressions":
        return _show_impressions(found)
    return show.report(found, REPORTS[topic](found))


@command(on=partial(open_project, catch_up=False))
def cost(
    memories: Runtime,
    session: str = option("--session ID", "Texts of this session alone.", ""),
    days: int = option("--days", "Period.", 30, min=1, max=3650),
) -> None:
    """Show what memory costs, and what of it was used.

    Tokens of texts for models are estimated from characters. Memories that cost much and were
    never used are named, with the command that quiets them.
    """
    from ademem.doors.views.session import spent_json, spent_lines

    ledger, spent = reports.get_ledger(memories, days, session), reports.get_cost(memories, days)
    if show.as_json:
        return show.json(spent | {"injections": spent_json(ledger, show.is_withheld)})
    show.fenced(spent_lines(ledger, show.is_withheld))
    return None if session else show.report(spent, _cost_lines(spent))


def _status_lines(found: dict[str, Any]) -> Iterator[str]:
    """Yield a screen of 24 lines and 80 columns; `--json` has all of it."""
    from ademem.doors.views import effects

    if done := effects.sentence(found["effects"], found["effects"]["days"]):
        yield done
    for name, text in _describe_status(found):
        yield f"{name:<{NAME_COLUMNS}}{preview(text, COLUMNS - NAME_COLUMNS)}"


def _describe_status(found: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield names and texts; a text without a name goes on with the one above it."""
    yield from _describe_store(found)
    yield from _describe_model(found["embeddings"], found["jobs"])
    yield "imports", _list_some(found["imports"])
    yield from _describe_jobs(found["jobs"])
    yield "ageing", _describe_runs(found["lifecycle"], "sweep")
    yield "merging", _describe_runs(found["lifecycle"], "consolidation")
    ai = found["ai"]
    yield "AI", f"{ai['provider']}, {ai['calls_today']:,} of {ai['daily_calls']:,} calls today"
    yield from (("", f"{name}: {ai[name]}") for name in ("last", "error") if ai[name])


def _describe_store(found: dict[str, Any]) -> Iterator[tuple[str, str]]:
    from textwrap import wrap

    yield "project", f"{found['project']}, branch {found['branch'] or 'none'}"
    yield "folder", found["root"]
    backup = (found["backup"] or "none")[:10]
    size = f"{found['bytes']:,} bytes"
    yield "database", f"schema {found['schema']}, {size}, backup {backup}, {found['database']}"
    yield "memories", join_counts(found["memories"], zeros=True)
    scopes = found["scopes"].items()
    limits = (f"{name} {scope['fullest_owner']:,} of {scope['limit']:,}" for name, scope in scopes)
    yield "limits", "; ".join(limits)
    for line in wrap(found["overfull"] or "", COLUMNS - NAME_COLUMNS)[:FEW]:
        yield "", line
    yield "review", show.join_waiting(found["review"]) or "nothing waits"
    yield "concerns", ", ".join(f"{count:,} {name}" for name, count in found["concerns"].items())
    sessions = counted(found["sessions"], "session")
    yield "sessions", f"{sessions}; {counted(found['refusals_7d'], 'text')} refused in 7 days"
    yield "missions", _list_some(found["lifecycle"]["missions"])
    yield "guard", found["guard"]


def _describe_model(vectors: dict[str, Any], jobs: dict[str, Any]) -> Iterator[tuple[str, str]]:
    if not vectors["installed"]:
        yield "model", "not installed (`ademem model install`)"
        return
    counts = f"{vectors['embedded']:,} embedded, {vectors['queue_depth']:,} waiting"
    yield "model", f"{vectors['model']}: {counts}, {vectors['parked']:,} given up"
    if jobs["seconds_today"]:
        most = f" of {jobs['daily_s']:,}" if jobs["daily_s"] else ""
        later = f"; tomorrow: {_list_some(jobs['postponed'])}" if jobs["postponed"] else ""
        yield "", f"took {jobs['seconds_today']:,}{most} processor seconds today{later}"


def _describe_jobs(jobs: dict[str, Any]) -> Iterator[tuple[str, str]]:
    yield "jobs", f"{jobs['due']:,} due: {_list_some(jobs['kinds'])}; worker {jobs['worker']}"
    for name in ("failing", "parked"):
        if jobs[name]:
            yield "", f"{name}: {_list_some(jobs[name])}"
    if jobs["last"]:
        yield "", f"last: {jobs['last']}"


def _list_some(names: list[str]) -> str:
    more = len(names) - FEW
    return ", ".join([*names[:FEW], *([f"{more:,} more"] if more > 0 else [])]) or "none"


def _describe_runs(ageing: dict[str, Any], kind: str) -> str:
    last, after = ageing[f"last_{kind}"], ageing[f"next_{kind}"]
    before = f"{last['outcome']} at {last['at']}" if last else "never"
    return f"last {before}, next at {after}"


@command("guard explain")
def guard_explain(command: str = argument("CMD", "In quotes."), project: Project = None) -> None:
    """Show whether a shell command counts as a mutation, and why."""
    judgement = reports.judge_command(command, project)
    warn(project)
    line = f"{'mutates' if judgement.mutates else 'reads'}: {judgement.reason}"
    show.report(as_dict(judgement), [line])


def _commit_lines(found: dict[str, Any]) -> Iterator[str]:
    if found["rewritten_from"]:
        yield f"history was rewritten: {found['rewritten_from']} is no longer part of it"
    for each in found["commits"]:
        yield f"{each['sha'][:7]} {each['at'][:10]} {each['author']}: {each['subject']}"
    yield from (f"    {folder}: {count}" for folder, count in found["folders"].items())
    if not found["commits"]:
        yield "sessions made or were shown all commits"


def _show_impressions(found: dict[str, Any]) -> None:
    if show.as_json:
        return show.json(found)
    show.echo(
        f"shown: {counted(found['memories'], 'memory')}, {counted(found['shown'], 'time')};"
        f" used: {found['used_memories']:,}, {counted(found['used'], 'time')};"
        f" ranked lower, as unused: {found['sinking']:,}"
    )
    return show.fenced(
        f"{row['id']}  shown {row['shown']}, used {row['used']}{_effects_of(row)},"
        f" worth {row['worth']:.0%}  [{row['category']}] {row['text'] or '(waits for review)'}"
        for row in found["by_memory"]
    )


def _effects_of(row: dict[str, Any]) -> str:
    from ademem.doors.views import effects

    done = effects.listed({name: row[name] for name in ("prevented", "answered")})
    return f" ({done})" if done else ""


def _cost_lines(spent: dict[str, Any]) -> Iterator[str]:
    from ademem.synthesis import reader

    yield f"provider: {spent['provider']}"
    yield f"calls today: {spent['calls_today']} of {spent['daily_calls']}"
    yield f"reader: {spent['reader']}, {spent['read_today']} of {reader.DAILY} calls today"
    for row in spent["ai"]:
        yield (
            f"{row['day']}  {row['purpose']:<12} {row['answered']} of {row['calls']} answered,"
            f" {_tokens(row)}, {_usd(row['usd'])}"
        )
    asked = f"{_usd(spent['usd'])}, {_tokens(spent)}" if spent["ai"] else "nothing was asked"
    shown = counted(spent["characters"], "character")
    yield f"in {counted(spent['days'], 'day')}: {asked}; hooks put {shown} before the model"
    for row in spent["hooks"]:
        yield (
            f"{row['day']}  {row['event']:<22} {counted(row['answers'], 'answer'):>12}"
            f" {row['characters']:>10,} characters"
        )


def _tokens(row: dict[str, Any]) -> str:
    return f"{counted(row['tokens_in'], 'token')} in, {row['tokens_out']:,} out"


def _usd(usd: float | None) -> str:
    return "price unknown" if usd is None else f"${usd:.4f}"


REPORTS: dict[str, Callable[[dict[str, Any]], Iterator[str]]] = {
    "": _status_lines,
    "commits": _commit_lines,
    "cost": _cost_lines,
    "guard": show.table_lines,
}
"""Lines of each report of `status`."""
