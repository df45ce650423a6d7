"""Where a session learned what it says: by the time of the work, the worker may be elsewhere."""

from __future__ import annotations

from ademem.core.value import Value, replace
from ademem.store.mission_binding import VARIABLE, bound, mission_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ademem.core.memory import Draft
    from ademem.store.runtime import Runtime

NO_BRANCH = "-"
"""Of what is everybody's at once; git lets no branch begin so."""


class Place(Value):
    session_id: str
    branch: str = ""
    mission_id: str = ""

    @classmethod
    def of(cls, key: str) -> Place:
        """Read back what `key` wrote."""
        session_id, _, rest = key.partition(" ")
        branch, _, mission_id = rest.partition(" ")
        return cls(
            session_id=session_id,
            branch="" if branch == NO_BRANCH else branch,
            mission_id=mission_id,
        )

    @property
    def key(self) -> str:
        """The name of the work in `jobs`; neither sessions nor branches have blanks."""
        return f"{self.session_id} {self.branch or NO_BRANCH} {self.mission_id}".strip()

    def home(self, draft: Draft, runtime: Runtime) -> Draft:
        """The draft as one that was learned here."""
        draft = replace(draft, origin=replace(draft.origin, branch=self.branch or None))
        return bound(draft, {VARIABLE: self.mission_id}, runtime.store, runtime.now)


def here(session_id: str, runtime: Runtime) -> Place:
    """Where the process of a hook is."""
    return Place(
        session_id=session_id,
        branch=runtime.branch or "",
        mission_id=mission_of(runtime.environment) or "",
    )
