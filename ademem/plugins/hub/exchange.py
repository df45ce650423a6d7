"""The hub as one of the places with which `ademem sync` exchanges."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ademem.core.text import counted
from ademem.plugins.hub import client, hub_state
from ademem.plugins.hub.mutations import to_bytes
from ademem.store import is_in_hub

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from ademem.plugins.hub.client import HubStatus
    from ademem.plugins.hub.hub_state import Parked
    from ademem.store import Store
    from ademem.store.runtime import Runtime

    Report = tuple[Any, list[str]]

NAME = "hub"
HINT = "`ademem hub join` a server"
READER = "reader"


def is_enrolled(store: Store) -> bool:
    return is_in_hub(store)


def describe_refused(store: Store) -> str:
    """Return a line about the records that do not leave, empty without any."""
    parked = hub_state.list_parked(store)
    named = "; ".join(f"{one.entity} {one.id}, as {one.why} ({one.rule})" for one in parked[:5])
    return f"{counted(len(parked), 'record')} not for the hub: {named}" if parked else ""


def exchange(memories: Runtime) -> Report:
    done = client.sync(memories)
    received = f"{counted(done.received, 'change')} received, {done.changed} changed here"
    lines = [f"hub: {received}, {counted(done.sent, 'record')} sent"]
    if done.has_more:
        lines.append("hub: there is more to receive; `ademem sync` goes on")
    if done.event:
        lines.append(f"`ademem undo {done.event}` takes back what changed here")
    lines += _parked_lines(done.parked)
    state = client.get_status(memories)
    if state and state.waiting and state.role == READER:
        lines.append(f"hub: {_waiting_of(state)}")
    return done, lines


def preview(memories: Runtime) -> Report:
    plan = client.preview(memories)
    lines = [to_bytes(one).decode() for one in plan.mutations]
    return plan, [*lines, *_parked_lines(plan.parked)]


def show_status(memories: Runtime) -> Report:
    state = client.get_status(memories)
    if state is None:
        return None, []
    lines = [
        f"{state.url}: {state.lifecycle} as {state.person}, {state.role} of {state.project};"
        f" {_waiting_of(state)}"
    ]
    if state.reason:
        when = f"; tried again from {state.retry_at}" if state.retry_at else ""
        if state.lifecycle == "stopped":
            when = "; only `ademem sync` tries again"
        lines.append(f"  {state.reason}{when}")
    if state.put_back_at:
        lines.append(f"  its database had lost changes on {state.put_back_at}; they are sent again")
    return state, [*lines, *_parked_lines(state.parked)]


def _parked_lines(parked: Iterable[Parked]) -> list[str]:
    return [f"not sent: {one.entity} {one.id}, as {one.why} ({one.rule})" for one in parked]


def _waiting_of(state: HubStatus) -> str:
    records = counted(state.waiting, "record")
    if state.waiting and state.role == READER:
        return f"{records} not sent, as a reader sends nothing"
    return f"{records} to send"
