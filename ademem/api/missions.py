"""Undertakings with memories of their own."""

from __future__ import annotations

from ademem.api.curation import Curation
from ademem.core.errors import UsageError
from ademem.core.memory import Scope
from ademem.core.value import replace
from ademem.store import mission_binding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ademem.core.memory import Draft, Memory
    from ademem.store.missions import Mission
    from ademem.synthesis.lifecycle.missions import Ended


class Missions(Curation):
    """From their beginning to what is left of them."""

    @property
    def mission(self) -> str | None:
        """The one that this process works for, by `ADEMEM_MISSION`."""
        return mission_binding.mission_of(self.runtime.environment)

    def at_home(
        self,
        draft: Draft,
        scope: str | None = None,
        owner: str | None = None,
        *,
        begin: bool = True,
    ) -> Draft:
        """The draft in the *scope* that was asked for, or else in that mission, if there is one.

        With *begin* a mission that nobody began begins with it. Raises UsageError for none at all.
        """
        if scope is None:
            if not begin:
                return mission_binding.placed(draft, self.runtime.environment)
            return mission_binding.bound(
                draft, self.runtime.environment, self.runtime.store, self._now()
            )
        if Scope.is_mission(scope):
            owner = owner or self.mission
            if not owner:
                raise UsageError("which mission?", f"--owner ID, or {mission_binding.VARIABLE}")
        return replace(draft, scope=scope, owner=owner)

    def start_mission(self, goal: str, *, id: str = "") -> Mission:
        from ademem.synthesis.lifecycle import missions

        return missions.start(goal, self._act(), id=id)

    def missions(self, *, running: bool = False) -> list[Mission]:
        """Newest first."""
        from ademem.store import missions

        return missions.listed(self.runtime.store, running=running)

    def get_mission(self, id: str) -> Mission:
        """Raises NoSuchMission."""
        from ademem.synthesis.lifecycle import missions

        return missions.known(self.runtime.store, id)

    def mission_entries(self, id: str) -> list[Memory]:
        """Its live memories, oldest first."""
        from ademem.synthesis.lifecycle import missions

        return missions.entries(self.runtime.store, id)

    def end_mission(self, id: str, outcome: str, *, reason: str = "") -> Ended:
        """End it with success, failure or cancelled; what it learned is copied accordingly."""
        from ademem.synthesis.lifecycle import missions

        return missions.end(id, outcome, reason, self._act(), self.runtime.settings)

    def promote_mission_entry(self, id: str) -> Memory:
        """Copy one memory of a mission to the project."""
        from ademem.synthesis.lifecycle import missions

        return missions.promote(id, self._act(), self.runtime.settings)
