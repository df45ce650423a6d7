"""What can be asked of skills."""

from __future__ import annotations

from ademem.api.curation import Curation

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ademem.skills.listing import Listed
    from ademem.skills.registry import Scanned
    from ademem.store.episodes import Episode


class Practice(Curation):
    """How things are done here."""

    def episodes(self, limit: int | None = 20) -> list[Episode]:
        """What sessions did, newest first."""
        from ademem.store import episodes

        return episodes.listed(self.runtime.store, limit)

    def skills(self, *, gone: bool = False) -> list[Listed]:
        """The skill files that were found, by path; with *gone*, those that were, too."""
        from ademem.skills import listing

        return listing.listed(self.runtime.store, gone=gone)

    def reindex_skills(self, *, dry_run: bool = False) -> Scanned:
        """Look through the folders of skills and bring the memories behind them up to date."""
        from ademem.skills import registry

        runtime = self.runtime
        return registry.scan(
            runtime.project, runtime.store, runtime.settings.gate, self._now(), dry_run=dry_run
        )
