"""The job that exchanges with the hub."""

from __future__ import annotations

from ademem.plugins.hub.settings import HubSettings
from ademem.store import is_in_hub
from ademem.worker.running import Kind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ademem.core.clock import datetime
    from ademem.store.jobs import Job
    from ademem.worker.running import JobContext


def sync_hub(context: JobContext, _job: Job) -> datetime | None:
    """After a failure the state of the hub has the time of the next try."""
    from ademem.plugins.hub import hub_state
    from ademem.plugins.hub.rounds import Hub
    from ademem.plugins.hub.transport import HubError

    runtime, settings = context.runtime, context.runtime.settings
    while context.patient and context.pause and hub_state.is_changing(context.store, context.now()):
        context.pause()
    if not hub_state.is_due(context.store, context.now(), settings.of(HubSettings).pull_minutes):
        return None
    try:
        done = Hub(
            context.store, runtime.project, settings.gate, settings.of(HubSettings), context.now
        ).run()
    except hub_state.LeaseHeld:
        return context.now() + hub_state.LEASE
    except HubError:
        context.figures["failures"] = 1
        return None
    context.figures |= {"received": done.received, "changed": done.changed, "sent": done.sent}
    return None


def is_hub_needed(context: JobContext) -> bool:
    if not is_in_hub(context.store):
        return False
    from ademem.plugins.hub import hub_state

    minutes = context.runtime.settings.of(HubSettings).pull_minutes
    return hub_state.is_due(context.store, context.now(), minutes)


JOBS = (Kind(name="hub", run=sync_hub, needed=is_hub_needed),)
