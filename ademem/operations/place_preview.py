"""How often places would have brought a memory up in what sessions of the last days did."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta

from ademem.core.clock import parse
from ademem.core.memory import Memory
from ademem.core.value import Value
from ademem.guard.policy import SHELL_TOOLS
from ademem.guard.touch import Touch, touch
from ademem.search import binding_keys, meeting
from ademem.store import episodes, outcomes
from ademem.store.bindings import Binding
from ademem.store.episodes import Action
from ademem.store.runtime import Runtime

DAYS = 30
SHOWN = 5


class Reach(Value):
    """Calls of the last days that places meet."""

    read: int
    """Calls that were looked at."""
    met: int
    unwanted: int
    """Of these, those at which Claude overruled the memory, or a person called it wrong."""
    calls: tuple[str, ...]
    """The newest of those that are met, each once."""

    @property
    def rightly(self) -> int:
        return self.met - self.unwanted


def preview_places(runtime: Runtime, memory: Memory, keys: Iterable[str]) -> Reach:
    """Compare places with what the episodes of the last days have; raises NoKey, writes nothing."""
    root = runtime.project.root
    wanted = [binding_keys.parse_at(key, root) for key in keys]
    since = runtime.clock() - timedelta(days=DAYS)
    found = [
        action
        for episode in episodes.list_all(runtime.store)
        if episode.session_id and parse(episode.ended_at) >= since
        for action in reversed(episode.actions)
    ]
    met = [_name(each) for each in found if meets(_touch(each, runtime), wanted, root)]
    overruled = outcomes.list_unwanted(runtime.store, memory.id)
    return Reach(
        read=len(found),
        met=len(met),
        unwanted=sum(outcomes.line(call) in overruled for call in met),
        calls=tuple(dict.fromkeys(met))[:SHOWN],
    )


def meets(touched: Touch, wanted: Iterable[Binding], root: str) -> bool:
    """Tell whether a call meets one of the places."""
    return any(meeting.would_meet(touched, each, root) for each in wanted)


def _name(action: Action) -> str:
    """Name a call as the outcome of its denial does: a command as it is, others with their tool."""
    return action.target if action.tool in SHELL_TOOLS else f"{action.tool} {action.target}"


def _touch(action: Action, runtime: Runtime) -> Touch:
    name = "command" if action.tool in SHELL_TOOLS else "file_path"
    given = {name: action.target}
    return touch(action.tool, given, runtime.project.root, runtime.settings.guard)
