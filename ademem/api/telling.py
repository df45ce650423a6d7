"""What sessions are told, and what comes of it."""

from __future__ import annotations

from ademem.api.curation import Curation

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Telling(Curation):
    """Briefings, from the other side."""

    def digest(self) -> dict[str, Any]:
        """Commits of this worktree that no session made and none was told of.

        The keys are those of `ademem digest --json`.
        """
        from ademem import commits

        return commits.report(self.runtime.project, self.runtime.store, self._now())
