"""The branch and mission of a session: the worker that learns from it later may run elsewhere."""

from __future__ import annotations

from ademem.core.client import MISSION, mission_of
from ademem.core.value import Value, replace
from ademem.store.missions import assign_mission

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ademem.core.memory import Draft
    from ademem.store.runtime import Runtime

NO_BRANCH = "-"
"""Stands for a detached HEAD or no repository; git allows no branch of this name."""


class SessionLocation(Value):
    session_id: str
    branch: str = ""
    mission_id: str = ""

    @classmethod
    def parse(cls, key: str) -> SessionLocation:
        session_id, _, rest = key.partition(" ")
        branch, _, mission_id = rest.partition(" ")
        return cls(
            session_id=session_id,
            branch="" if branch == NO_BRANCH else branch,
            mission_id=mission_id,
        )

    @property
    def key(self) -> str:
        """The key of the `extract` job; neither session ids nor branches contain blanks."""
        return f"{self.session_id} {self.branch or NO_BRANCH} {self.mission_id}".strip()

    @property
    def episode_key(self) -> str:
        return f"{self.session_id} {self.mission_id}".strip()

    def assign(self, draft: Draft, runtime: Runtime) -> Draft:
        """Return the draft with this branch, in this mission."""
        draft = replace(draft, origin=replace(draft.origin, branch=self.branch or None))
        return assign_mission(draft, {MISSION: self.mission_id}, runtime.store, runtime.now)


def current_location(session_id: str, runtime: Runtime) -> SessionLocation:
    """Return the location of a session from one of its hooks."""
    return SessionLocation(
        session_id=session_id,
        branch=runtime.branch or "",
        mission_id=mission_of(runtime.environment) or "",
    )
