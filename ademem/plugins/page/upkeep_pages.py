"""Pages on checks, settings, jobs and golden questions, and the acts on them."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from itertools import groupby
from typing import Any

from ademem.core.errors import Conflict, UsageError
from ademem.core.settings import key_of
from ademem.core.text import counted
from ademem.doors.reading import find_memory
from ademem.doors.undoable import Done, inverse
from ademem.operations import configuring, doctor, reports, upkeep
from ademem.plugins.page.entry import Act, Page, PageRequest
from ademem.plugins.page.memory_pages import golden_set, load_golden
from ademem.plugins.page.paging import cut
from ademem.store.runtime import Runtime


def to_age(since: timedelta) -> str:
    """Return a length of time in the largest unit that it fills."""
    seconds = max(0, round(since.total_seconds()))
    units = (("day", 86_400), ("hour", 3600), ("minute", 60), ("second", 1))
    unit, length = next((each for each in units if seconds >= each[1]), units[-1])
    return counted(seconds // length, unit)


def to_text(value: Any) -> str:
    """Return a value as a person types it."""
    if isinstance(value, bool):
        return str(value).lower()
    return ", ".join(value) if isinstance(value, (list, tuple)) else str(value)


def _patient(memories: Runtime) -> doctor.Patient:
    return doctor.Patient(
        project=memories.project, environment=memories.environment, now=memories.now
    )


def _doctor(memories: Runtime, request: PageRequest) -> dict[str, Any]:
    check = request.project.check
    if check.at is None and not (check.is_running or check.failure):
        check.start()
    is_running = check.is_running  # first, as it ends with the findings
    findings = sorted(check.findings, key=lambda finding: finding.ok)
    return {
        "is_running": is_running,
        "failure": check.failure,
        "at": check.at,
        "age": to_age(memories.now - check.at) if check.at else "",
        "findings": findings,
        "failed": sum(not finding.ok for finding in findings),
        "plan": doctor.plan_fix(_patient(memories), findings),
        "repairs": request.project.repairs,
    }


def _check(_: Runtime, request: PageRequest) -> None:
    request.project.check.start()


def _fix(memories: Runtime, request: PageRequest) -> None:
    request.project.repairs = doctor.fix(_patient(memories))
    request.project.check.start()


def _settings(memories: Runtime, request: PageRequest) -> dict[str, Any]:
    root, environment = memories.project.root, memories.environment
    found, warnings = configuring.list_settings(root, environment=environment)
    chosen = request.query.get("key", "")
    if chosen and chosen not in {each.key for each in found}:
        raise UsageError(f"there is no setting {chosen!r}", "`ademem config list` names all")
    groups = groupby(found, key=lambda each: each.key.partition(".")[0])
    return {
        "sections": [(name, list(group)) for name, group in groups],
        "chosen": next((each for each in found if each.key == chosen), None),
        "described": configuring.describe_keys(),
        "as_text": to_text,
        "offers": configuring.offer_reader(memories.project, environment),
        "warnings": [str(each) for each in warnings],
        "vectors": reports.vectors(memories),
        "models": [
            doctor.run_check(check, _patient(memories))
            for check in (doctor.model_is_sound, doctor.second_model_is_sound)
        ],
    }


def _set(memories: Runtime, request: PageRequest) -> Done:
    key = request.form.get("key", "")
    return set_setting(memories, key, request.form.get("value", "").strip(), _value(memories, key))


def _value(memories: Runtime, key: str) -> str:
    found, _ = configuring.list_settings(memories.project.root, environment=memories.environment)
    return next((to_text(each.value) for each in found if each.key == key), "")


@inverse
def set_setting(memories: Runtime, key: str, text: str, before: str) -> Done:
    """Write a setting where it belongs; raises Conflict where it is not *before* any more."""
    if (present := _value(memories, key)) != before:
        raise Conflict(f"{key} was changed since", f"it is {present or 'empty'} now")
    configuring.set_value(
        key,
        text,
        "shared" if key_of(key).is_shared else "user",
        root=memories.project.root,
        environment=memories.environment,
        by=memories.by,
    )
    given = {"key": key, "text": before, "before": _value(memories, key)}
    return Done(label=f"set {key}", way=set_setting.__name__, given=given)


def _run_jobs(memories: Runtime, _: PageRequest, *, retry: bool = False) -> None:
    upkeep.work(memories, retry=retry)


METRICS = {"any@5": "hits@5", "any@10": "hits@10", "MRR": "MRR", "nDCG@10": "nDCG@10"}
"""Metrics as they are shown, by their names in a run."""
RUNS = 20


def _evaluation(memories: Runtime, request: PageRequest) -> dict[str, Any]:
    from ademem.plugins.evaluation import golden

    ranks, runs = golden.list_ranks(memories), golden.list_runs(memories)[-RUNS:]
    states = [each.state_of(id) for each in ranks for id in each.golden.ranks]
    rows = [{"query": each.golden.query, "ranks": each} for each in ranks]
    questions, following = cut(rows, "query", request.query.get("after", ""))
    return {
        "questions": questions,
        "count": len(ranks),
        "next": following,
        "by_id": {id: find_memory(memories, id) for each in ranks for id in each.golden.ranks},
        "worse": states.count("worse"),
        "runs": runs[::-1],
        "systems": list(dict.fromkeys(name for run in runs for name in run["means"])),
        "metrics": METRICS,
    }


def _run_gate(memories: Runtime, _: PageRequest) -> None:
    from ademem.plugins.evaluation import golden

    golden.measure(memories)


def _update_golden(memories: Runtime, _: PageRequest) -> Done:
    from ademem.plugins.evaluation import golden

    before = load_golden(memories)
    verdict = golden.update(memories)
    if load_golden(memories):  # none is left where their memories are gone
        golden.measure(memories)
    label = f"record the ranks of now, {counted(len(verdict.moved), 'memory')} moved"
    return golden_set(memories, label, before)


PAGES = (
    Page("/eval", "eval.html", _evaluation, "Evaluation"),
    Page("/doctor", "doctor.html", _doctor, "Doctor", live="check"),
    Page("/settings", "settings.html", _settings, "Settings"),
)
ACTS = (
    Act("/doctor/check", _check, decides=False),
    Act("/doctor/fix", _fix),
    Act("/settings", _set),
    Act("/jobs/run", _run_jobs),
    Act("/jobs/retry", partial(_run_jobs, retry=True)),
    Act("/eval/gate", _run_gate),
    Act("/eval/update", _update_golden),
)
