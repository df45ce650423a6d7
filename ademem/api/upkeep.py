"""What keeps a memory small and true: done by itself in the background, or by hand."""

from __future__ import annotations

from ademem import worker as work_
from ademem.api.curation import Curation
from ademem.store import memories, relations
from ademem.worker import running

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from ademem.store.relations import Conflict
    from ademem.synthesis.lifecycle.consolidation import Consolidated
    from ademem.synthesis.lifecycle.sweeping import Swept


class Upkeep(Curation):
    """All memories at once."""

    def work(
        self,
        *,
        retry: bool = False,
        wait: bool = False,
        on_progress: Callable[[str], None] | None = None,
    ) -> list[str]:
        """Do what is due now and tell its kinds; *retry* includes what gave up.

        Another worker is left alone at what it does; with *wait* that is over when this returns.
        """
        shift = running.Shift(
            self.runtime, self._now, running.installed(self.runtime), tell=on_progress
        )
        return running.run_due(shift, retry=retry, wait=wait)

    @property
    def is_worked_on(self) -> bool:
        """Whether a worker is at it."""
        return work_.is_running(self.runtime.project)

    def sweep(self, *, dry_run: bool = False) -> Swept:
        """Age the memories now; its `id` is the event that `undo` takes back."""
        from ademem.synthesis.lifecycle import sweeping

        if dry_run:
            lifecycle = self.runtime.settings.lifecycle
            return sweeping.planned(self.runtime.store, lifecycle, self._now())
        return sweeping.sweep_alone(self.runtime, self._now())

    def overfull(self) -> str | None:
        """What the next sweep archives because a scope is beyond its limit, and how to keep it."""
        from ademem.api import status

        return status.overfull(self.runtime)

    def consolidate(self, *, dry_run: bool = False) -> Consolidated:
        """Merge now what means the same; its `id` is the event that `undo` takes back."""
        from ademem.search.embedding import model_id
        from ademem.synthesis.lifecycle import consolidation
        from ademem.synthesis.lifecycle.consolidation.writing import writer

        run = consolidation.Run(
            store=self.runtime.store,
            settings=self.runtime.settings,
            model=model_id(self.runtime.settings.embed),
            write=writer(self.runtime),
        )
        if dry_run:
            return consolidation.preview(run)
        return consolidation.consolidate_alone(self.runtime, run, self._now)

    def conflicts(self) -> list[Conflict]:
        """Pairs of live memories that contradict each other and wait for a person's word."""
        return relations.conflicts(self.runtime.store)

    def related(self, id: str) -> dict[str, list[str]]:
        """Ids of what the memory contradicts, was merged from and was merged into, by that name."""
        memory = memories.get(self.runtime.store, id)
        pairs = [(each.left, each.right) for each in self.conflicts()]
        others = [b if a == memory.id else a for a, b in pairs if memory.id in (a, b)]
        parts = memories.find(
            self.runtime.store, "superseded_by = :id", "order by seq", id=memory.id
        )
        into = [memory.superseded_by] if memory.superseded_by else []
        found = {
            "conflicts with": others,
            "merged from": [part.id for part in parts],
            "merged into": into,
        }
        return {name: ids for name, ids in found.items() if ids}

    def settle(self, id: str, other: str) -> bool:
        """Say that both can be true; False when nothing was said against it."""
        store = self.runtime.store
        left, right = memories.get(store, id), memories.get(store, other)
        return relations.settle(store, left, right, self.speaker, self._now())
