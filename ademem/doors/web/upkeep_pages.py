"""Pages on checks, settings and jobs, and the acts on them."""

from __future__ import annotations

from typing import Any

from ademem import api
from ademem.api import configuring, doctor, reports
from ademem.core.errors import Conflict, UsageError
from ademem.core.settings import key_of
from ademem.doors.undoable import Done, inverse
from ademem.doors.views import upkeep as views
from ademem.doors.web.route import Act, Page, PageRequest
from ademem.store.runtime import Runtime

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
        "age": views.to_age(memories.now - check.at) if check.at else "",
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
    rows = [views.to_setting(each, configuring.describe_keys()[each.key]) for each in found]
    chosen = request.query.get("key", "")
    if chosen and chosen not in {row["key"] for row in rows}:
        raise UsageError(f"there is no setting {chosen!r}", "`ademem config list` names all")
    return {
        "sections": views.by_section(rows),
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
    return next((views.to_text(each.value) for each in found if each.key == key), "")


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
