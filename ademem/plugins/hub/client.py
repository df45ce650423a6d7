"""This clone in the hub of a team: join and leave it, exchange with it, and its state."""

from __future__ import annotations

import platform
from typing import Any

from ademem.core.clock import stamp
from ademem.core.errors import Conflict
from ademem.core.value import Value
from ademem.plugins.hub import hub_state, leaving, rounds
from ademem.plugins.hub.hub_state import HubState, Parked
from ademem.plugins.hub.rounds import Hub, Round
from ademem.plugins.hub.settings import HubSettings
from ademem.store import is_in_hub, journal
from ademem.store.runtime import Runtime


class HubPreview(Value):
    mutations: tuple[dict[str, Any], ...]
    parked: tuple[Parked, ...]


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
    put_back_at: str
    """When it was last noticed that the hub was put back to an earlier state."""
    parked: tuple[Parked, ...]


def join(runtime: Runtime, url: str, code: str) -> HubState:
    """Enrol this clone in the project of an invitation; nothing is sent yet but its code."""
    if is_in_hub(runtime.store):
        raise Conflict("this project is in a hub already", "`ademem hub leave` ends that")
    return rounds.join(runtime.store, runtime.project, url, code, platform.node() or "a device")


def leave(runtime: Runtime) -> HubState | None:
    """The memories stay."""
    return rounds.leave(runtime.store, runtime.project)


def _hub(runtime: Runtime) -> Hub:
    settings = runtime.settings
    return Hub(
        runtime.store, runtime.project, settings.gate, settings.of(HubSettings), runtime.clock
    )


def sync(runtime: Runtime) -> Round:
    try:
        return _hub(runtime).run()
    except hub_state.LeaseHeld as error:
        raise Conflict("another process syncs with the hub now", "try again in a minute") from error


def open_page(runtime: Runtime) -> str:
    """Return the address of the project's page at the hub, which opens once and within a minute."""
    hub = _hub(runtime)
    path = str(hub.ask("POST", "/page").get("path"))
    if not path.startswith("/") or not path.isprintable():
        raise rounds.NotAHub
    return hub.state().url + path


def preview(runtime: Runtime) -> HubPreview:
    sender = _hub(runtime).sender()
    found = [leaving.prepare(entity, id, sender) for entity, id in leaving.waiting(sender)]
    return HubPreview(
        mutations=tuple(one for one in found if not isinstance(one, Parked)),
        parked=tuple(one for one in found if isinstance(one, Parked)),
    )


def get_status(runtime: Runtime) -> HubStatus | None:
    state = hub_state.read(runtime.store)
    if state is None:
        return None
    retry_at = max(state.retry_at, state.push_at)
    same = ("url", "person", "role", "lifecycle", "position", "pulled_at", "reason", "put_back_at")
    return HubStatus(
        **{name: getattr(state, name) for name in same},
        project=state.slug,
        waiting=len(journal.rows_since(runtime.store, state.target)),
        retry_at=retry_at if retry_at > stamp(runtime.clock()) else "",
        parked=tuple(hub_state.list_parked(runtime.store)),
    )
