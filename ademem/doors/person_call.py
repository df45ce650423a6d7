"""The call of a person or an agent at a door that people use."""

from __future__ import annotations

from ademem.core.client import TurnKey, session_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from ademem.core.memory import Origin
    from ademem.core.project import Project
    from ademem.store.runtime import Runtime


class PersonCall:
    client, how, place, model = "", "--project", "search", "own"
    others: Mapping[str, Runtime] = {}

    def __init__(self, runtime: Runtime, door: str) -> None:
        self._runtime, self.door = runtime, door
        self.turn = TurnKey(session_id=session_of(runtime.environment))
        self.projects: tuple[Project, ...] = (runtime.project,)

    def origin(self) -> Origin:
        from ademem.operations import writing

        return writing.origin(self._runtime)
