"""Reports, read only: health, costs, knowledge, impressions, decisions; keys as in `--json`."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from ademem.core import confined
from ademem.core.client import mission_of
from ademem.core.clock import stamp
from ademem.core.errors import NotFound
from ademem.core.memory import Memory, Scope, Status
from ademem.core.project import Project, import_waits
from ademem.core.text import preview, with_title
from ademem.core.value import Value, as_dict
from ademem.operations import find_project, sessions
from ademem.store import (
    backup_files,
    effects,
    filters,
    jobs,
    logs,
    maintenance,
    missions,
    schema_version,
    statistics,
)
from ademem.store.maintenance import CONSOLIDATION, SWEEP
from ademem.store.runtime import Runtime, on_store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ademem.guard.mutation import Judgement
    from ademem.store import injections, outcomes

TOP_TAGS = 10
SHOWN_CHARS = 100


class NoSuchEffect(NotFound):
    hint = "`ademem why SESSION` shows each with its number"


list_effects = effects.collect


def reject_effect(runtime: Runtime, row: int) -> outcomes.Denied:
    """Count an effect no more, as a person says; raises NoSuchEffect.

    The place of its memory waits for a review: does it belong there?
    """
    from ademem.store import outcomes

    found = outcomes.mark_wrong(runtime.store, row)
    if found is None:
        raise NoSuchEffect(f"no effect has the number {row}")
    return found


def get_status(runtime: Runtime) -> dict[str, Any]:
    from ademem.core.repository import branch
    from ademem.operations import curation

    runtime.now = runtime.clock()
    store, settings = runtime.store, runtime.settings
    owners, pairs = statistics.by_owner(store), curation.list_conflicts(runtime)
    call = maintenance.last_call(store)
    saved = backup_files.list_all(runtime.project, runtime.environment)
    listed = statistics.listed(store, mission_of(runtime.environment))
    counts = statistics.count_rows(store)
    return {
        "project": store.project_id,
        "root": runtime.project.root,
        "database": runtime.project.database,
        "schema": schema_version(store),
        "bytes": counts["bytes"],
        "backup": saved[0].at if saved else None,
        "branch": branch(runtime.project.root),
        "scopes": {
            scope.value: {
                "count": sum(sizes),
                "fullest_owner": max(sizes, default=0),
                "limit": settings.lifecycle.limit_of(scope),
            }
            for scope in Scope
            for sizes in (owners.get(scope, []),)
        },
        "overfull": find_overfull(runtime),
        "memories": {
            "promoted": listed.get(Status.PROMOTED, 0),
            "candidates": listed.get(Status.CANDIDATE, 0),
        }
        | statistics.memories(store),
        "concerns": filters.count_concerns(store, mission_of(runtime.environment)),
        "effects": effects.count_days(runtime),
        "sessions": counts["sessions"],
        "prompts": counts["prompts"],
        "relations": statistics.relations(store),
        "refusals_7d": counts["refusals_7d"],
        "embeddings": vectors(runtime),
        "imports": imports(runtime.project),
        "jobs": work_due(runtime),
        "lifecycle": lifecycle(runtime, len(pairs)),
        "review": curation.count_queue(runtime, pairs),
        "guard": settings.guard.mode,
        "decisions": statistics.guard_decisions(store),
        "ai": {
            "provider": settings.ai.provider,
            "calls_today": maintenance.count_calls_today(store, runtime.now),
            "daily_calls": settings.ai.daily_calls,
            "last": f"{call['purpose']} {call['outcome']} at {call['at']}" if call else None,
            "error": call["error"] if call else None,
        },
    }


def imports(project: Project) -> list[str]:
    if not import_waits(project):
        return []
    from ademem.sync.importer import describe_waiting

    return describe_waiting(project)


def vectors(runtime: Runtime) -> dict[str, Any]:
    from ademem.store import embeddings
    from ademem.worker import running

    model = running.find_model(runtime)
    counts = embeddings.counts(runtime.store, model.id) if model else embeddings.NONE
    runs = [run for run in running.recent_runs(runtime.project) if run["job"] == "embed"]
    last = runs[-1] if runs else {}
    return {
        "model": model.id if model else None,
        "installed": model is not None,
        "embedded": counts.embedded,
        "queue_depth": counts.waiting,
        "parked": counts.parked,
        "batches_processed": sum(run.get("batches", 0) for run in runs),
        "embeddings_written": sum(run.get("embedded", 0) for run in runs),
        "failed_entries": sum(run.get("failed", 0) for run in runs),
        "last_batch_size": last.get("batch", 0),
        "max_batch_size_observed": max((run.get("largest", 0) for run in runs), default=0),
        "last_processed_at": last.get("at"),
    }


def work_due(runtime: Runtime) -> dict[str, Any]:
    from ademem import worker
    from ademem.worker import running

    context = running.JobContext(runtime, lambda: runtime.now, running.find_model(runtime))
    able = [kind.name for kind in running.kinds() if kind.able(context)]
    due = {name: len(jobs.list_due(runtime.store, name, runtime.now)) for name in able}
    runs = running.recent_runs(runtime.project)
    seconds = maintenance.read_work_seconds(runtime.store, runtime.now)
    most = runtime.settings.jobs.daily_s
    is_spent = 0 < most <= seconds
    return {
        "due": sum(due.values()),
        "kinds": [f"{name} ({count})" for name, count in due.items() if count],
        "failing": [worker.describe_failure(*job) for job in jobs.list_failing(runtime.store)],
        "parked": [worker.describe_failure(*job) for job in jobs.list_parked(runtime.store)],
        "seconds_today": round(seconds, 1),
        "daily_s": most,
        "postponed": jobs.list_postponed(runtime.store, runtime.now) if is_spent else [],
        "worker": "running" if worker.is_running(runtime.project) else "not running",
        "last": f"{runs[-1]['job']} {runs[-1]['outcome']} at {runs[-1]['at']}" if runs else None,
    }


def get_cost(runtime: Runtime, days: int = 30) -> dict[str, Any]:
    """`usd` is None while no call has a price."""
    from ademem.synthesis import reader

    since = runtime.now - timedelta(days=days - 1)
    calls, output = maintenance.sum_calls(runtime.store, since), logs.output(runtime.store, since)
    prices = [row["usd"] for row in calls if row["usd"] is not None]
    return {
        "days": days,
        "provider": runtime.settings.ai.provider,
        "calls_today": maintenance.count_calls_today(runtime.store, runtime.now),
        "daily_calls": runtime.settings.ai.daily_calls,
        "reader": runtime.settings.learn.reader,
        "read_today": maintenance.count_calls_today(runtime.store, runtime.now, reader.PURPOSE),
        "usd": round(sum(prices), 6) if prices else None,
        "tokens_in": sum(row["tokens_in"] for row in calls),
        "tokens_out": sum(row["tokens_out"] for row in calls),
        "characters": sum(row["characters"] for row in output),
        "ai": calls,
        "hooks": output,
    }


class Ledger(Value):
    days: int
    session: str
    by_event: tuple[injections.Spent, ...]
    by_session: tuple[injections.Spent, ...]
    by_day: tuple[injections.Spent, ...]
    by_memory: tuple[injections.Spent, ...]
    unused: tuple[injections.Spent, ...]
    """Those that cost most of which nothing was used."""
    memories: dict[str, Memory]
    """By id, as they are now; without those that were deleted for good."""
    effects: effects.Effects


COSTLY = 20


def get_ledger(runtime: Runtime, days: int = 30, session: str = "") -> Ledger:
    from ademem.store import injections

    store, since = runtime.store, runtime.now - timedelta(days=days - 1)
    if session:
        since = datetime.fromtimestamp(0, UTC)
        if not injections.spent_by(store, "session", since, session):
            sessions.get_session(runtime, session)
    most = injections.spent_on_memories(
        store, since, session, now=runtime.now, unused=False, limit=COSTLY
    )
    unused = injections.spent_on_memories(
        store, since, session, now=runtime.now, unused=True, limit=COSTLY
    )
    return Ledger(
        days=days,
        session=session,
        by_event=tuple(injections.spent_by(store, "event", since, session)),
        by_session=tuple(injections.spent_by(store, "session", since, session)),
        by_day=tuple(injections.spent_by(store, "day", since, session)),
        by_memory=tuple(most),
        unused=tuple(unused),
        memories=runtime.list_by_ids(each.name for each in (*most, *unused)),
        effects=list_effects(runtime, since, session=session),
    )


def lifecycle(runtime: Runtime, conflicts: int) -> dict[str, Any]:
    from ademem.worker import running

    store = runtime.store

    def describe(kind: str, counted: Mapping[str, str]) -> dict[str, Any] | None:
        if (run := maintenance.last(store, kind)) is None:
            return None
        head = {"at": run.completed_at, "trigger": run.trigger_reason, "outcome": run.outcome}
        counts = {name: run.counts[stored] for name, stored in counted.items()}
        return {**head, **counts, "error": run.error}

    merged = {"clusters": "found", "merged": "merged", "created": "created"}
    return {
        "last_sweep": describe(SWEEP, {name: name for name in maintenance.COUNTED}),
        "next_sweep": stamp(running.next_run(store, SWEEP, runtime.now)),
        "last_consolidation": describe(CONSOLIDATION, merged),
        "next_consolidation": stamp(running.next_run(store, CONSOLIDATION, runtime.now)),
        "conflicts": conflicts,
        "missions": [mission.id for mission in missions.list_all(store, running=True)],
    }


def get_health(runtime: Runtime) -> dict[str, Any]:
    counts, limit_of = statistics.by_scope(runtime.store), runtime.settings.lifecycle.limit_of
    kinds = ("tier1", "tier2", "tier3", "archived")
    scopes = []
    for scope in Scope:
        held = {kind: counts.get(scope, {}).get(kind, 0) for kind in kinds}
        current = sum(held.values()) - held["archived"]
        scopes.append({"scope": scope, "current": current, "max": limit_of(scope), "counts": held})
    return {
        "scopes": scopes,
        "last_sweep": get_last_run(runtime, SWEEP),
        "last_consolidation": get_last_run(runtime, CONSOLIDATION),
        "embeddings": vectors(runtime),
    }


find_changes = on_store(statistics.find_changes)
list_refusals = on_store(logs.list_refusals)
list_decisions = on_store(logs.list_decisions)


def get_last_run(runtime: Runtime, kind: str) -> dict[str, Any] | None:
    run = maintenance.last(runtime.store, kind, running=True)
    return as_dict(run) if run else None


def get_sync_status(runtime: Runtime) -> dict[str, Any]:
    from ademem import worker
    from ademem.core.repository import branch, commit
    from ademem.store import commits

    project, store = runtime.project, runtime.store
    head, here = commit(project.root), branch(project.root) or ""
    cursor = commits.get_cursor(store, project.root, here)
    failures = [*jobs.list_failing(store), *jobs.list_parked(store)]
    return {
        "syncing": worker.is_running(project) and jobs.exists(store, "digest"),
        "last_seen_head_sha": cursor.sha if cursor else None,
        "current_head_sha": head,
        "diverged": head is not None and (cursor is None or cursor.sha != head),
        "last_digest_at": cursor.seen_at if cursor else None,
        "last_digest_memory_id": None,
        "last_error": next((error for kind, _, error in failures if kind == "digest"), None),
    }


def get_knowledge(runtime: Runtime) -> dict[str, Any]:
    store = runtime.store
    rows = statistics.live_kinds(store)
    tags = Counter(tag for row in rows for tag in row["tags"].split())
    project = runtime.project
    files = {"ade.db": confined.status(project.home_root, project.database)}
    for name in ("knowledge.jsonl", "knowledge.archive.jsonl"):
        files[name] = confined.status(project.root, os.path.join(project.memory, name))
    return {
        "observations": statistics.observations(store),
        "entries": len(rows),
        "archived": statistics.memories(store)["archived"],
        "by_category": dict(Counter(row["category"] for row in rows).most_common()),
        "by_source": dict(Counter(row["source_type"] for row in rows).most_common()),
        "top_tags": dict(tags.most_common(TOP_TAGS)),
        "bytes": {name: there.st_size for name, there in files.items() if there},
    }


def get_impressions(runtime: Runtime, limit: int = 20) -> dict[str, Any]:
    store = runtime.store
    return {
        **dict(logs.impression_totals(store)),
        "patience": logs.PATIENCE,
        "by_memory": [
            {
                "id": row["id"],
                "category": row["category"],
                "text": None
                if row["quarantine_reason"]
                else preview(with_title(row["title"], row["content"]), SHOWN_CHARS),
                "shown": row["shown"],
                "used": row["used"],
                **{name: row[name] for name in logs.EFFECTS},
                "unused": row["unused"],
                "worth": 1.0 if row["pinned"] else round(logs.discount(row["unused"]), 3),
                "last_used_at": row["last_used_at"],
            }
            for row in logs.list_most_shown(store, limit)
        ],
    }


def get_guard_state(runtime: Runtime) -> dict[str, Any]:
    return {
        "mode": runtime.settings.guard.mode,
        "max_blocks": runtime.settings.guard.max_blocks,
        "fail": runtime.settings.guard.fail,
        "decisions": statistics.guard_decisions(runtime.store),
        "last": [
            f"{row['decision']} {row['tool']}: {row['target']}"
            for row in logs.list_decisions(runtime.store, 3)
        ],
        "turns": {
            f"{row['session_id']}{'/' + row['agent_id'] if row['agent_id'] else ''}": {
                "class": row["class"],
                "why": row["why"],
                "searched": row["searched_at"] is not None,
                "denied": len(row["denied"].split()),
            }
            for row in statistics.open_turns(runtime.store, limit=5)
        },
    }


def find_overfull(runtime: Runtime) -> str | None:
    """Name the memories that the next sweep archives above a limit, and how to keep them."""
    from ademem.worker import running

    settings = runtime.settings.lifecycle
    under_way = [mission.id for mission in missions.list_all(runtime.store, running=True)]
    over = statistics.above(runtime.store, settings.limit_of, under_way)
    if not over:
        return None
    above = ", ".join(f"{count:,} above {scope}_limit" for scope, count in over.items())
    when = stamp(running.next_run(runtime.store, SWEEP, runtime.now))[:16].replace("T", " ")
    keep = ", ".join(_without_limit(f"lifecycle.{scope}_limit", runtime) for scope in over)
    return (
        f"{above}: a sweep from {when} UTC on archives the lowest (`ademem sweep --dry-run`);"
        f" {keep} keeps them"
    )


def _without_limit(key: str, runtime: Runtime) -> str:
    """Return what to write to set no limit, in the source that sets it now."""
    from ademem.core.settings import load_configuration, setting_of

    here, root = runtime.project.config, runtime.project.root
    source = load_configuration(runtime.project, runtime.environment).origins.get(key, here)
    if setting_of(source):
        return f"{source}=0"
    path = os.path.relpath(source, root) if source.startswith(f"{root}{os.sep}") else source
    return f"{key} = 0 in {path}"


def get_digest(runtime: Runtime) -> dict[str, Any]:
    from ademem.capture.commits import report

    return report(runtime.project, runtime.store, runtime.clock())


def count_decisions(
    runtime: Runtime, sessions: Sequence[Mapping[str, Any]]
) -> dict[str, dict[str, int]]:
    since = min((row["started_at"] for row in sessions), default="")
    return logs.count_decisions(runtime.store, [row["id"] for row in sessions], since)


def judge_command(command: str, root: str | None = None) -> Judgement:
    from ademem.core.settings import load_configuration
    from ademem.guard.mutation import judge

    return judge(command, load_configuration(find_project(root), os.environ).settings.guard)
