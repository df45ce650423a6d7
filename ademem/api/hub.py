"""Exchange memories with the hub of a team."""

from __future__ import annotations

import platform
from typing import Any

from ademem.api import exchanging
from ademem.core.clock import stamp
from ademem.core.errors import Conflict
from ademem.core.value import Value
from ademem.store import hub_state, is_in_hub, journal
from ademem.store.hub_state import HubState, Parked
from ademem.store.runtime import Runtime
from ademem.sync.hub import leaving, rounds
from ademem.sync.hub.rounds import Hub, Round


class HubPreview(Value):
    mutations: tuple[dict[str, Any], ...]
    parked: tuple[Parked, ...]
    """Records that stay here, and why."""


class HubStatus(Value):
    url: str
    project: str
    person: str
    role: str
    lifecycle: str
    position: int
    """Number of the last mutation that was applied."""
    pulled_at: str
    waiting: int
    """Changes that the hub does not have; those of the first round are not counted."""
    retry_at: str
    reason: str
    parked: tuple[Parked, ...]


def join_hub(runtime: Runtime, url: str, code: str) -> HubState:
    """Enrol this clone in the project of an invitation; nothing is sent yet but its code."""
    if is_in_hub(runtime.store):
        raise Conflict("this project is in a hub already", "`ademem hub leave` ends that")
    return rounds.join(runtime.store, runtime.project, url, code, platform.node() or "a device")


def leave_hub(runtime: Runtime) -> HubState | None:
    """Forget the hub and what waits for it; the memories stay. None: there was none."""
    return rounds.leave(runtime.store, runtime.project)


def _hub(runtime: Runtime) -> Hub:
    settings = runtime.settings
    return Hub(runtime.store, runtime.project, settings.gate, settings.hub, runtime.clock)


def sync_hub(runtime: Runtime) -> Round:
    """Pull what others changed, and push what the hub does not have."""
    try:
        done = _hub(runtime).run()
    except hub_state.LeaseHeld as error:
        raise Conflict("another process syncs with the hub now", "try again in a minute") from error
    if done.changed:
        exchanging.relate(runtime)
    return done


def open_hub_page(runtime: Runtime) -> str:
    """Return the address of the project's page at the hub, which opens once and within a minute."""
    hub = _hub(runtime)
    path = str(hub.ask("POST", "/page").get("path"))
    if not path.startswith("/") or not path.isprintable():
        raise rounds.NotAHub
    return hub.state().url + path


def preview_hub(runtime: Runtime) -> HubPreview:
    """Return the mutations of the next round as they would leave, and change nothing."""
    sender = _hub(runtime).sender()
    found = [leaving.prepare(entity, id, sender) for entity, id in leaving.waiting(sender)]
    return HubPreview(
        mutations=tuple(one for one in found if not isinstance(one, Parked)),
        parked=tuple(one for one in found if isinstance(one, Parked)),
    )


def get_hub_status(runtime: Runtime) -> HubStatus | None:
    """Return where the exchange with the hub stands; None for a project in no hub."""
    state = hub_state.read(runtime.store)
    if state is None:
        return None
    retry_at = max(state.retry_at, state.push_at)
    return HubStatus(
        url=state.url,
        project=state.slug,
        person=state.person,
        role=state.role,
        lifecycle=state.lifecycle,
        position=state.position,
        pulled_at=state.pulled_at,
        waiting=len(journal.rows_since(runtime.store, state.target)),
        retry_at=retry_at if retry_at > stamp(runtime.clock()) else "",
        reason=state.reason,
        parked=tuple(hub_state.list_parked(runtime.store)),
    )
