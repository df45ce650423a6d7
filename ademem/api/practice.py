"""What can be asked of procedures and skills."""

from __future__ import annotations

from ademem.api.curation import Curation

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ademem.store.episodes import Episode
    from ademem.synthesis.procedures.export import Exported
    from ademem.synthesis.procedures.rows import Procedure
    from ademem.synthesis.skills.listing import Listed
    from ademem.synthesis.skills.registry import Scanned


class Practice(Curation):
    """How things are done here."""

    def episodes(self, limit: int | None = 20) -> list[Episode]:
        """What sessions did, newest first."""
        from ademem.store import episodes

        return episodes.listed(self.runtime.store, limit)

    def skills(self, *, gone: bool = False) -> list[Listed]:
        """The skill files that were found, by path; with *gone*, those that were, too."""
        from ademem.synthesis.skills import listing

        return listing.listed(self.runtime.store, gone=gone)

    def reindex_skills(self, *, dry_run: bool = False) -> Scanned:
        """Look through the folders of skills and bring the memories behind them up to date."""
        from ademem.synthesis.skills import registry

        return registry.scan(self.runtime, self._now(), dry_run=dry_run)

    def procedures(self, *, archived: bool = False) -> list[Procedure]:
        """What sessions did again and again, the most believed first."""
        from ademem.synthesis.procedures import rows

        return rows.listed(self.runtime.store, archived=archived)

    def procedure(self, id: str) -> Procedure:
        """Raises NoSuchMemory, or NoSuchProcedure for a memory of another kind."""
        from ademem.synthesis.procedures import rows

        return rows.get(self.runtime.store, id)

    def procedure_story(self, id: str) -> dict[str, list[Any]]:
        """Ids of the episodes it was learned from, and how its uses ended, newest first."""
        from ademem.store import procedures as table

        id = self.procedure(id).id
        sources = table.sources(self.runtime.store).get(id, [])
        return {"sources": sources, "history": table.history(self.runtime.store, id)}

    def procedure_outcome(self, id: str, outcome: str, reason: str = "") -> Procedure:
        """Count one use: `success` or `failure`. Raises CannotDo for one that was given up."""
        from ademem.synthesis.procedures import uses

        settings = self.runtime.settings.procedures
        return uses.told(self.procedure(id), outcome, reason, self._act(), settings)

    def export_procedures(
        self, id: str | None = None, *, publish: bool | None = None, dry_run: bool = False
    ) -> list[Exported]:
        """Write the confirmed ones, or this one, as skills; a person's asking confirms it.

        Raises Unconfirmed when an agent asks for a candidate.
        """
        from ademem.synthesis.procedures import export

        publish = self.runtime.settings.skills.publish if publish is None else publish
        job = export.Export(runtime=self.runtime, now=self._now(), publish=publish, dry_run=dry_run)
        return export.asked_for(id, job, self._act())
