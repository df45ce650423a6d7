"""Pages on checks, settings and jobs, and the acts on them."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any

from ademem import api
from ademem.api import configuring, doctor, reports
from ademem.core.errors import Conflict, UsageError
from ademem.core.settings import key_of
from ademem.core.text import counted
from ademem.doors.undoable import Done, inverse
from ademem.doors.web.route import Act, Page, PageRequest
from ademem.store.runtime import Runtime

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import timedelta

    from ademem.api.configuring import Described, Setting


def to_age(since: timedelta) -> str:
    """Return a length of time in the largest unit that it fills."""
    seconds = max(0, round(since.total_seconds()))
    for unit, length in (("day", 86_400), ("hour", 3600), ("minute", 60)):
        if seconds >= length:
            return counted(seconds // length, unit)
    return counted(seconds, "second")


def to_text(value: Any) -> str:
    """Return a value as a person types it."""
    if isinstance(value, bool):
        return str(value).lower()
    return ", ".join(value) if isinstance(value, (list, tuple)) else str(value)


def to_setting(setting: Setting, described: Described) -> dict[str, Any]:
    key = described.key
    choices = ("true", "false") if isinstance(key.default, bool) else key.choices
    has_range = key.least is not None and not choices
    return {
        "key": setting.key,
        "value": to_text(setting.value),
        "default": to_text(key.default),
        "is_default": setting.value == key.default,
        "source": setting.source,
        "owner": setting.owner,
        "is_shared": key.is_shared,
        "meaning": described.meaning,
        "choices": choices,
        "range": f"{key.least:,} to {key.most:,}" if has_range else "",
    }


def by_section(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    groups = groupby(rows, key=lambda row: row["key"].partition(".")[0])
    return [{"name": name, "rows": list(found)} for name, found in groups]


MODELS = (doctor.model_is_sound, doctor.second_model_is_sound)


def _patient(memories: Runtime) -> doctor.Patient:
    return doctor.Patient(
        project=memories.project, environment=memories.environment, now=memories.now
    )


def _doctor(memories: Runtime, request: PageRequest) -> dict[str, Any]:
    project = request.site.projects[request.project]
    check = project.check
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
        "repairs": project.repairs,
    }


def _check(_: Runtime, request: PageRequest) -> None:
    request.site.projects[request.project].check.start()


def _fix(memories: Runtime, request: PageRequest) -> None:
    project = request.site.projects[request.project]
    project.repairs = doctor.fix(_patient(memories))
    project.check.start()


def _settings(memories: Runtime, request: PageRequest) -> dict[str, Any]:
    root, environment = memories.project.root, memories.environment
    found, warnings = configuring.list_settings(root, environment=environment)
    rows = [to_setting(each, configuring.describe_keys()[each.key]) for each in found]
    chosen = request.query.get("key", "")
    if chosen and chosen not in {row["key"] for row in rows}:
        raise UsageError(f"there is no setting {chosen!r}", "`ademem config list` names all")
    return {
        "sections": by_section(rows),
        "chosen": next((row for row in rows if row["key"] == chosen), None),
        "warnings": [str(each) for each in warnings],
        "vectors": reports.vectors(memories),
        "models": [doctor.run_check(check, _patient(memories)) for check in MODELS],
    }


def _set(memories: Runtime, request: PageRequest) -> Done:
    key = request.form.get("key", "")
    return set_setting(memories, key, request.form.get("value", "").strip(), _value(memories, key))


def _value(memories: Runtime, key: str) -> str:
    found, _ = configuring.list_settings(memories.project.root, environment=memories.environment)
    return next((to_text(each.value) for each in found if each.key == key), "")


@inverse
def set_setting(memories: Runtime, key: str, text: str, before: str) -> Done:
    """Write a setting of all into the project's file, and a personal one into the person's own.

    Raises Conflict where it is not *before* any more.
    """
    if (present := _value(memories, key)) != before:
        raise Conflict(f"{key} was changed since", f"it is {present or 'empty'} now")
    configuring.set_value(
        key,
        text,
        "shared" if key_of(key).is_shared else "user",
        root=memories.project.root,
        environment=memories.environment,
    )
    given = {"key": key, "text": before, "before": _value(memories, key)}
    return Done(label=f"set {key}", way=set_setting.__name__, given=given)


def _run_jobs(memories: Runtime, _: PageRequest) -> None:
    api.work(memories)


def _retry_jobs(memories: Runtime, _: PageRequest) -> None:
    api.work(memories, retry=True)


PAGES = (
    Page(path="/doctor", name="Doctor", template="doctor.html", read=_doctor, live="check"),
    Page(path="/settings", name="Settings", template="settings.html", read=_settings),
)
ACTS = (
    Act(path="/doctor/check", do=_check, decides=False),
    Act(path="/doctor/fix", do=_fix),
    Act(path="/settings", do=_set),
    Act(path="/jobs/run", do=_run_jobs),
    Act(path="/jobs/retry", do=_retry_jobs),
)
