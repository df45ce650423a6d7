"""What sessions are told, and what comes of it."""

from __future__ import annotations

from ademem.api.curation import Curation
from ademem.core.memory import Trust
from ademem.files import agents as agents_
from ademem.files import standing_brief
from ademem.store import identities

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from ademem.files.agents import Agent
    from ademem.files.standing_brief import CoreMemory


class Telling(Curation):
    """Briefings, from the other side."""

    def digest(self) -> dict[str, Any]:
        """Commits of this worktree that no session made and none was told of.

        The keys are those of `ademem digest --json`.
        """
        from ademem.capture import commits

        return commits.report(self.runtime.project, self.runtime.store, self._now())

    def exposure(self, limit: int = 20) -> dict[str, Any]:
        """How often memories were shown unasked, and used; the keys of `ademem stats --json`."""
        from ademem.api import status

        return status.exposed(self.runtime, limit)

    def agents(self) -> list[Agent]:
        """Kinds of agents that worked here, have memories of their own, or a brief, by name."""
        return agents_.listed(self.runtime.store, self.runtime.project)

    def agent_core(self, name: str, *, labelled: bool = False) -> CoreMemory | None:
        """The standing brief of a kind of agent, as `core` has that of the project."""
        store, project = self.runtime.store, self.runtime.project
        found = agents_.brief(store, project, agents_.folder(name), self._file_source)
        return standing_brief.labelled(store, found) if labelled else found

    def update_agent_core(
        self, name: str, changes: Mapping[str, Any], *, expect_version: int | None = None
    ) -> CoreMemory:
        """Replace the given fields of it; raises when somebody was faster."""
        document = standing_brief.patch(
            self.runtime.store,
            self.runtime.project,
            changes,
            self._now(),
            expect_version=expect_version,
            by_person=self.speaker is Trust.USER,
            agent=agents_.folder(name),
            source=self._file_source,
        )
        identities.meet(self.runtime.store, name, self._now())
        return document
